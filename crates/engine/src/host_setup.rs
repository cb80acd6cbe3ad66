//! Host setup: adds Waylore's hooks to the settings files of a host, and removes them again.
//!
//! A change is planned first (the command line shows it) and applied afterwards. When connecting,
//! the original file and the written one are kept in a backup folder, so that disconnecting can
//! restore the original byte by byte. The crate `agents` knows the format of each host's settings.

use std::path::{Path, PathBuf};

use agents::{
    FilePlace, HOSTS, HookTrust, HostSetup, InstalledHook, SettingsBackup, SettingsError,
    SettingsFile, SettingsScope, text_after_disconnect,
};
use store::write_private_file;

use crate::Error;

/// A planned change to a file of a host's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostChange {
    pub path: PathBuf,
    /// Current content; `None` if there is no file.
    pub before: Option<String>,
    /// New content; `None` if the file is to be removed.
    pub after: Option<String>,
}

impl HostChange {
    /// Returns whether the change does nothing.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }
}

/// Returns whether the settings that came with a project register another program, or an address, under
/// the name of our MCP server. For the host, they take precedence over the user's own.
pub(crate) fn has_foreign_namesake(root: &Path) -> bool {
    let setup = HostSetup { program: "waylore", version: None };
    let is_taken = |file: &SettingsFile| {
        let FilePlace::Project(path) = file.place else { return false };
        let settings = read_file(&root.join(path)).ok().flatten();
        settings.is_some_and(|it| (file.install)(&it, &setup) == Err(SettingsError::NameTaken))
    };
    HOSTS.iter().flat_map(|it| it.files_in(SettingsScope::Project)).any(is_taken)
}

/// Plans to add our hooks to a settings file.
pub fn plan_connect(
    file: &SettingsFile,
    path: &Path,
    setup: &HostSetup<'_>,
) -> Result<HostChange, Error> {
    let before = read_file(path)?;
    let text = before.clone().unwrap_or_default();
    let after = (file.install)(&text, setup).map_err(|it| settings_error(path, &it))?;
    Ok(HostChange { path: path.to_owned(), before, after: Some(after) })
}

/// Plans to remove our hooks from a settings file: restores the original bytes if the file is
/// unchanged since we wrote it, otherwise removes only our entries. `backup_dir` is the folder of
/// the backup.
pub fn plan_disconnect(
    file: &SettingsFile,
    path: &Path,
    backup_dir: &Path,
) -> Result<HostChange, Error> {
    let before = read_file(path)?;
    let change = |before, after| Ok(HostChange { path: path.to_owned(), before, after });
    // The host or the user removed the file: there is nothing to restore.
    let Some(text) = before.clone() else { return change(None, None) };
    let after = text_after_disconnect(file, &text, read_backup(backup_dir)?.as_ref())
        .map_err(|it| settings_error(path, &it))?;
    change(before, after)
}

/// Plans to add the entries that make a host trust these hooks.
pub fn plan_trust(
    trust: &HookTrust,
    path: &Path,
    hooks: &[InstalledHook],
) -> Result<HostChange, Error> {
    let before = read_file(path)?;
    let text = before.clone().unwrap_or_default();
    let after = (trust.write_trust)(&text, hooks).map_err(|it| settings_error(path, &it))?;
    Ok(HostChange { path: path.to_owned(), before, after: Some(after) })
}

/// Applies a planned change. When connecting, `backup_dir` is the folder for the original content
/// and the written one.
pub fn apply_host_change(change: &HostChange, backup_dir: Option<&Path>) -> Result<(), Error> {
    // Another program may have written the file between planning and applying.
    if read_file(&change.path)? != change.before {
        return Err(Error::refuse(
            format!("`{}` has changed meanwhile", change.path.display()),
            "run the command again".to_owned(),
        ));
    }
    if let (Some(backup_dir), Some(after)) = (backup_dir, &change.after) {
        // If the file is still as we wrote it, `update` keeps the earlier original: a second connect
        // must not take our own entries for it.
        let SettingsBackup { before, written } =
            SettingsBackup::update(read_backup(backup_dir)?, change.before.as_deref(), after);
        match before {
            Some(before) => write_private_file(&original_path(backup_dir), before.as_bytes())?,
            None => remove_file(&original_path(backup_dir))?,
        }
        write_private_file(&written_path(backup_dir), written.as_bytes())?;
        record_new_folders(&change.path, backup_dir)?;
    }
    match &change.after {
        Some(after) => Ok(write_private_file(&change.path, after.as_bytes())?),
        None => remove_file(&change.path),
    }
}

/// Removes the folders that connecting created for a settings file and that are empty now.
/// `backup_dir` is the folder of its backup.
pub fn remove_new_folders(backup_dir: &Path) -> Result<(), Error> {
    let list = new_folders_path(backup_dir);
    let Some(folders) = read_file(&list)? else { return Ok(()) };
    // The innermost folder is first. Others may have put files there since; then it stays.
    for folder in folders.lines() {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
    remove_file(&list)
}

/// Records the folders above a settings file that writing it will create, the innermost first.
fn record_new_folders(path: &Path, backup_dir: &Path) -> Result<(), Error> {
    let is_missing = |it: &&Path| !it.as_os_str().is_empty() && !it.exists();
    let missing: Vec<_> = path.ancestors().skip(1).take_while(is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = missing.iter().map(|it| it.display().to_string()).collect();
    let lines = lines.join("\n") + "\n";
    Ok(write_private_file(&new_folders_path(backup_dir), lines.as_bytes())?)
}

fn read_file(path: &Path) -> Result<Option<String>, Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path, &error)),
    }
}

fn settings_error(path: &Path, why: &SettingsError) -> Error {
    let what = match why {
        SettingsError::Unreadable(why) => {
            format!("`{}` cannot be parsed: {why}", path.display())
        }
        SettingsError::UnexpectedShape(part) => {
            format!("the `{part}` in `{}` are not in a form we know", path.display())
        }
        SettingsError::NameTaken => {
            format!("another server is called `waylore` in `{}`", path.display())
        }
    };
    Error::refuse(
        what,
        "nothing was changed; correct the file, then run the command again".to_owned(),
    )
}

/// Reads the backup in a folder; `None` if none was ever written.
fn read_backup(backup_dir: &Path) -> Result<Option<SettingsBackup>, Error> {
    let Some(written) = read_file(&written_path(backup_dir))? else { return Ok(None) };
    Ok(Some(SettingsBackup { before: read_file(&original_path(backup_dir))?, written }))
}

/// Path of the copy of the file as it was before we changed it.
fn original_path(backup_dir: &Path) -> PathBuf {
    backup_dir.join("before")
}

/// Path of the list of folders that did not exist before.
fn new_folders_path(backup_dir: &Path) -> PathBuf {
    backup_dir.join("new_folders")
}

/// Path of the copy of the file as we wrote it last.
fn written_path(backup_dir: &Path) -> PathBuf {
    backup_dir.join("written")
}

fn remove_file(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io_error(path, &error)),
    }
}

fn io_error(path: &Path, error: &std::io::Error) -> Error {
    Error::refuse(
        format!("`{}` cannot be used: {error}", path.display()),
        "make it readable and writable, then run the command again".to_owned(),
    )
}
