//! Backup of a settings file that connecting changes, so that disconnecting can restore it byte for
//! byte. The engine stores the backup; this file decides what is in it and what is restored.

use super::{SettingsError, SettingsFile};

/// Content of a settings file before connecting, and the content that connecting wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsBackup {
    /// `None` if there was no file.
    pub before: Option<String>,
    pub written: String,
}

impl SettingsBackup {
    /// The backup to store when connecting replaces `before`, the current text of the file, with
    /// `after`. If the current text is what we wrote last (`previous.written`), the user's own text is
    /// in `previous.before`, and the new backup keeps it.
    pub fn update(previous: Option<Self>, before: Option<&str>, after: &str) -> Self {
        let written = after.to_owned();
        match previous {
            Some(previous) if Some(previous.written.as_str()) == before => {
                Self { written, ..previous }
            }
            // The first time, or someone else has changed the file since.
            Some(_) | None => Self { before: before.map(str::to_owned), written },
        }
    }
}

/// Text of a settings file after disconnecting; `None` if the file is deleted.
///
/// A file that nothing else has changed since returns to its backup. Otherwise only our entries go.
pub fn text_after_disconnect(
    file: &SettingsFile,
    current: &str,
    backup: Option<&SettingsBackup>,
) -> Result<Option<String>, SettingsError> {
    if let Some(backup) = backup.filter(|it| it.written == current) {
        return Ok(backup.before.clone());
    }
    let after = (file.uninstall)(current)?;
    // A file that is empty already has nothing of ours in it and stays.
    let is_deleted = after.is_empty() && !current.is_empty();
    Ok((!is_deleted).then_some(after))
}
