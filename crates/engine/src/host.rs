//! Connecting a host: its settings with our hooks in them, and the way back.

use std::path::{Path, PathBuf};

use agents::{Unfit, connected, disconnected, registered, unregistered};
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

/// What connecting would change. `program` is the absolute path of what the host is to run.
pub fn connect_plan(settings: &Path, program: &str) -> Result<HostChange, Error> {
    added(settings, |text| connected(text, program))
}

/// What registering our server would change.
pub fn register_plan(settings: &Path, program: &str) -> Result<HostChange, Error> {
    added(settings, |text| registered(text, program))
}

fn added(
    settings: &Path,
    edit: impl Fn(&str) -> Result<String, Unfit>,
) -> Result<HostChange, Error> {
    let before = read(settings)?;
    let text = before.clone().unwrap_or_default();
    let after = edit(&text).map_err(|it| unfit(settings, &it))?;
    Ok(HostChange { path: settings.to_owned(), before, after: Some(after) })
}

/// What disconnecting would change: back to the bytes from before when nobody has touched the file
/// since, otherwise only our entries go.
pub fn disconnect_plan(settings: &Path, kept: &Path) -> Result<HostChange, Error> {
    removed(settings, kept, disconnected)
}

/// What taking our server out would change, in the same way.
pub fn unregister_plan(settings: &Path, kept: &Path) -> Result<HostChange, Error> {
    removed(settings, kept, unregistered)
}

fn removed(
    settings: &Path,
    kept: &Path,
    edit: impl Fn(&str) -> Result<String, Unfit>,
) -> Result<HostChange, Error> {
    let before = read(settings)?;
    let path = settings.to_owned();
    let Some(text) = before.clone() else {
        return Ok(HostChange { path, before: None, after: None });
    };
    if read(&written(kept))?.as_ref() == Some(&text) {
        return Ok(HostChange { path, before, after: read(&original(kept))? });
    }
    let after = edit(&text).map_err(|it| unfit(settings, &it))?;
    Ok(HostChange { path, before, after: Some(after) })
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
        match &change.before {
            // Connected before: what was there before that is what counts.
            Some(before) if read(&written(kept))?.as_ref() == Some(before) => {}
            Some(before) => write_private(&original(kept), before.as_bytes())?,
            None => remove(&original(kept))?,
        }
        write_private(&written(kept), after.as_bytes())?;
    }
    match &change.after {
        Some(after) => Ok(write_private(&change.path, after.as_bytes())?),
        None => remove(&change.path),
    }
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
        Unfit::NotJson(why) => format!("`{}` is not what it should be: {why}", path.display()),
        Unfit::OddHooks => format!("the `hooks` in `{}` are not in a form we know", path.display()),
        Unfit::OddServers => {
            format!("the `mcpServers` in `{}` are not in a form we know", path.display())
        }
        Unfit::NameTaken => format!("another server is called `waylore` in `{}`", path.display()),
    };
    Error::refused(what, "nothing was changed; correct the file, then say it again".to_owned())
}
