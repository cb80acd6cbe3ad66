//! Connecting a host: its settings with our hooks in them, and the way back.

use std::path::{Path, PathBuf};

use agents::{Kept, OurHook, SettingsFile, Setup, Trust, Unfit, left};
use store::write_private;

use crate::Error;

/// A change to a host's settings that nobody has made yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostChange {
    pub path: PathBuf,
    /// What the file holds; `None` when there is none.
    pub before: Option<String>,
    /// What it is to hold; `None` when it is to go.
    pub after: Option<String>,
}

impl HostChange {
    /// Whether there is anything to do.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }
}

/// What connecting would change in a file of a host's settings.
pub fn connect_plan(
    file: &SettingsFile,
    path: &Path,
    setup: &Setup<'_>,
) -> Result<HostChange, Error> {
    let before = read(path)?;
    let text = before.clone().unwrap_or_default();
    let after = (file.with)(&text, setup).map_err(|it| unfit(path, &it))?;
    Ok(HostChange { path: path.to_owned(), before, after: Some(after) })
}

/// What disconnecting would change: back to the bytes from before when nobody has touched the file
/// since, otherwise only what is ours goes.
pub fn disconnect_plan(file: &SettingsFile, path: &Path, kept: &Path) -> Result<HostChange, Error> {
    let before = read(path)?;
    let change = |before, after| Ok(HostChange { path: path.to_owned(), before, after });
    let Some(text) = before.clone() else { return change(None, None) };
    let after = left(file, &text, kept_in(kept)?.as_ref()).map_err(|it| unfit(path, &it))?;
    change(before, after)
}

/// What trusting these hooks would change.
pub fn trust_plan(trust: &Trust, path: &Path, hooks: &[OurHook]) -> Result<HostChange, Error> {
    let before = read(path)?;
    let text = before.clone().unwrap_or_default();
    let after = (trust.with)(&text, hooks).map_err(|it| unfit(path, &it))?;
    Ok(HostChange { path: path.to_owned(), before, after: Some(after) })
}

/// Makes a change. When connecting, `kept` is the folder that keeps the bytes from before and ours.
pub fn change_host(change: &HostChange, kept: Option<&Path>) -> Result<(), Error> {
    if read(&change.path)? != change.before {
        return Err(Error::refused(
            format!("`{}` has changed meanwhile", change.path.display()),
            "say it again".to_owned(),
        ));
    }
    if let (Some(kept), Some(after)) = (kept, &change.after) {
        let Kept { before, written: ours } =
            Kept::over(kept_in(kept)?, change.before.as_deref(), after);
        match before {
            Some(before) => write_private(&original(kept), before.as_bytes())?,
            None => remove(&original(kept))?,
        }
        write_private(&written(kept), ours.as_bytes())?;
    }
    match &change.after {
        Some(after) => Ok(write_private(&change.path, after.as_bytes())?),
        None => remove(&change.path),
    }
}

/// What a folder keeps; `None` when nothing was ever written.
fn kept_in(kept: &Path) -> Result<Option<Kept>, Error> {
    let Some(written) = read(&written(kept))? else { return Ok(None) };
    Ok(Some(Kept { before: read(&original(kept))?, written }))
}

fn original(kept: &Path) -> PathBuf {
    kept.join("before")
}

fn written(kept: &Path) -> PathBuf {
    kept.join("written")
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unreadable(path, &error)),
        _ => Ok(()),
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::refused(
        format!("`{}` cannot be used: {error}", path.display()),
        "see to it that it can be read and written, then say it again".to_owned(),
    )
}

fn unfit(path: &Path, why: &Unfit) -> Error {
    let what = match why {
        Unfit::Unreadable(why) => format!("`{}` is not what it should be: {why}", path.display()),
        Unfit::Odd(part) => {
            format!("the `{part}` in `{}` are not in a form we know", path.display())
        }
        Unfit::NameTaken => format!("another server is called `waylore` in `{}`", path.display()),
    };
    Error::refused(what, "nothing was changed; correct the file, then say it again".to_owned())
}
