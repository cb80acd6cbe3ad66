//! Taking a data folder away: only files that have one of our names, and folders that are then empty.
//!
//! Opens nothing, so that it also works on what is damaged or has lost its key. Who calls it has
//! closed the stores first. A call that was interrupted is made again.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use model::ProjectId;

use crate::layout::{DataDir, Home};
use crate::lock::Turnstile;
use crate::{Error, Inbox, backup, journal, os};

/// What stands beside a database, by how its name goes on: data first, locks last.
const COMPANIONS: &[&str] = &[
    "db",
    "db-wal",
    "db-shm",
    "db-journal",
    "restored",
    "restored-wal",
    "restored-shm",
    "restored-journal",
    "restoring",
    "restoring-wal",
    "restoring-shm",
    "restoring-journal",
    "erasing",
    "converting",
    "ledger",
    "mark",
    "door",
    "gate",
    "lock",
];

/// Folders beside the databases, and which files in them are ours: what sessions were shown, and the
/// lock of whoever serves.
type IsOurs = fn(&str) -> bool;
const FOLDERS: &[(&str, IsOurs)] = &[
    ("shown", |it| it.len() == 32 && it.bytes().all(|it| it.is_ascii_hexdigit())),
    ("serve", |it| it == "lock" || it.starts_with("maintained-")),
];

impl DataDir {
    /// Deletes everything that is ours in this folder, and each folder that is then empty. Whatever
    /// somebody else put there stays, and with it the folders it lies in.
    pub fn remove_everything(&self) -> Result<(), Error> {
        for id in self.projects() {
            self.remove_project(id)?;
        }
        remove_if_empty(&self.root.join("projects"))?;
        remove_home(&self.user())?;
        Inbox::of(self).clear()?;
        for (folder, is_ours) in FOLDERS {
            remove_files(&self.root.join(folder), is_ours)?;
            remove_if_empty(&self.root.join(folder))?;
        }
        remove_files(&self.root, is_edited)?;
        remove_if_empty(&self.root)
    }

    /// Deletes everything that is ours in the folder of one project, and the folder if it is then empty.
    pub fn remove_project(&self, id: ProjectId) -> Result<(), Error> {
        let home = self.project(id);
        remove_files_of(&self.graph(id))?;
        remove_home(&home)?;
        remove_if_empty(&home.dir)
    }
}

fn remove_home(home: &Home) -> Result<(), Error> {
    if !home.database().exists() {
        return remove_files_of(home);
    }
    // Another process finishes what it is writing; then it finds its file gone.
    let turnstile = Turnstile::open(home)?;
    let _turn = turnstile.enter()?;
    remove_files_of(home)
}

fn remove_files_of(home: &Home) -> Result<(), Error> {
    remove_files(&journal::folder(home), journal::is_ours)?;
    remove_if_empty(&journal::folder(home))?;
    remove_files(&home.backups(), backup::is_ours)?;
    remove_if_empty(&home.backups())?;
    let database = home.database();
    remove_files(&home.replaced(), |it| backup::is_set_aside(&database, it))?;
    remove_if_empty(&home.replaced())?;
    for companion in COMPANIONS {
        let path = home.beside(companion);
        os::remove(&path).map_err(|it| Error::io(&path, &it))?;
    }
    Ok(())
}

/// A memory that was being edited, `edit-1234abcd.md`, or one that was being written then.
fn is_edited(name: &str) -> bool {
    let Some((id, rest)) = name.strip_prefix("edit-").and_then(|it| it.split_once('.')) else {
        return false;
    };
    let is_id = !id.is_empty() && id.bytes().all(|it| it.is_ascii_hexdigit());
    is_id && (rest == "md" || (rest.starts_with("md.") && rest.ends_with(".writing")))
}

fn remove_files(dir: &Path, is_ours: impl Fn(&str) -> bool) -> Result<(), Error> {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_file = entry.file_type().is_ok_and(|it| it.is_file());
        if is_file && entry.file_name().to_str().is_some_and(&is_ours) {
            os::remove(&entry.path()).map_err(|it| Error::io(&entry.path(), &it))?;
        }
    }
    Ok(())
}

/// Removes a folder in which nothing is left; one that is a link is somebody's arrangement and stays.
fn remove_if_empty(dir: &Path) -> Result<(), Error> {
    match fs::remove_dir(dir) {
        Ok(()) => Ok(()),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory => Ok(()),
            _ => Err(Error::io(dir, &error)),
        },
    }
}
