//! What is kept when a file of settings is changed, so that it can be put back byte for byte.

use super::{SettingsFile, Unfit};

/// The bytes from before, and those that were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// `None`: there was no file.
    pub before: Option<String>,
    pub written: String,
}

impl Kept {
    /// What to keep when `after` is written over `before`. Of a file that we wrote last, what was there
    /// before that is what counts.
    pub fn over(known: Option<Self>, before: Option<&str>, after: &str) -> Self {
        let written = after.to_owned();
        match known {
            Some(known) if Some(known.written.as_str()) == before => Self { written, ..known },
            _ => Self { before: before.map(str::to_owned), written },
        }
    }
}

/// What disconnecting leaves of a file that holds `now`: the bytes from before when nobody has touched it
/// since, otherwise all but ours. `None`: the file goes.
pub fn left(file: &SettingsFile, now: &str, kept: Option<&Kept>) -> Result<Option<String>, Unfit> {
    if let Some(kept) = kept.filter(|it| it.written == now) {
        return Ok(kept.before.clone());
    }
    let after = (file.without)(now)?;
    let is_gone = after.is_empty() && !now.is_empty();
    Ok((!is_gone).then_some(after))
}
