//! Removes a data folder: only files with names this program gives, and folders that are then
//! empty.
//!
//! Opens no database, so that damaged files and files without their key can be removed, too. The
//! caller has closed the stores first. An interrupted call can simply be repeated.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use model::ProjectId;

use crate::data_dir::{DataDir, DatabasePaths};
use crate::failed_sessions::FAILED_SESSIONS_EXTENSION;
use crate::file_lock::FairFileLock;
use crate::index_snapshot::{SCRATCH_EXTENSION, SNAPSHOT_EXTENSION};
use crate::injection_spool::INJECTION_SPOOL_EXTENSION;
use crate::line_seal::SEALED_MARKER;
use crate::{Error, Inbox, backup, journal, os};

/// Extensions of the files beside a database, `db` being the database itself. Locks come last: they
/// protect the rest while it is removed.
const COMPANION_EXTENSIONS: &[&str] = &[
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
    FAILED_SESSIONS_EXTENSION,
    INJECTION_SPOOL_EXTENSION,
    SNAPSHOT_EXTENSION,
    SCRATCH_EXTENSION,
    "door",
    "gate",
    "lock",
];

/// Decides by its name whether a file belongs to this program.
type FileNameTest = fn(&str) -> bool;
/// Folders beside the databases, with a test for their files: shown logs and the daemon's locks.
const OWN_FOLDERS: &[(&str, FileNameTest)] = &[
    // A shown log is named by half a hash in hexadecimal, see `shown_log_file`.
    ("shown", |it| it.len() == 32 && it.bytes().all(|it| it.is_ascii_hexdigit())),
    ("serve", |it| it == "lock" || it == "last-error" || it.starts_with("maintained-")),
];

/// Removes every file of this program in the data folder.
pub(crate) fn remove_everything(data: &DataDir) -> Result<(), Error> {
    for id in data.list_projects() {
        remove_project(data, id)?;
    }
    remove_if_empty(&data.root.join("projects"))?;
    remove_database(&data.user_paths())?;
    Inbox::in_data_dir(data, None).clear()?;
    for (folder, is_ours) in OWN_FOLDERS {
        remove_matching_files(&data.root.join(folder), is_ours)?;
        remove_if_empty(&data.root.join(folder))?;
    }
    remove_matching_files(&data.root, |it| is_edit_file(it) || it == SEALED_MARKER)?;
    remove_if_empty(&data.root)
}

/// Removes every file of this program in the folder of one project.
pub(crate) fn remove_project(data: &DataDir, id: ProjectId) -> Result<(), Error> {
    let paths = data.project_paths(id);
    // The graph lies in the same folder and needs no lock: it is derived data.
    remove_database_files(&data.graph_paths(id))?;
    remove_database(&paths)?;
    remove_if_empty(&paths.dir)
}

/// Removes a database with its companions, journals and backups. Waits for a writing process.
fn remove_database(paths: &DatabasePaths) -> Result<(), Error> {
    if !paths.database().exists() {
        return remove_database_files(paths);
    }
    // Waits until another process has finished its write; afterwards that process finds its file
    // gone.
    let write_lock = FairFileLock::open(paths)?;
    let _guard = write_lock.acquire()?;
    remove_database_files(paths)
}

fn remove_database_files(paths: &DatabasePaths) -> Result<(), Error> {
    remove_matching_files(&journal::journals_folder(paths), journal::is_journal_file)?;
    remove_if_empty(&journal::journals_folder(paths))?;
    remove_matching_files(&paths.backups_folder(), backup::is_backup_file)?;
    remove_if_empty(&paths.backups_folder())?;
    let database = paths.database();
    remove_matching_files(&paths.replaced_folder(), |it| backup::is_replaced_file(&database, it))?;
    remove_if_empty(&paths.replaced_folder())?;
    for companion in COMPANION_EXTENSIONS {
        let path = paths.with_extension(companion);
        os::remove_file_if_exists(&path).map_err(|it| Error::from_io(&path, &it))?;
    }
    Ok(())
}

/// Returns whether a file holds a memory that is being edited, such as `edit-1234abcd.md`, or is
/// the scratch file of such a file.
fn is_edit_file(name: &str) -> bool {
    let Some((id, extension)) = name.strip_prefix("edit-").and_then(|it| it.split_once('.')) else {
        return false;
    };
    let is_id = !id.is_empty() && id.bytes().all(|it| it.is_ascii_hexdigit());
    let is_scratch = extension.starts_with("md.") && extension.ends_with(".writing");
    is_id && (extension == "md" || is_scratch)
}

/// Removes the files of a folder whose name `is_ours` accepts.
fn remove_matching_files(dir: &Path, is_ours: impl Fn(&str) -> bool) -> Result<(), Error> {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        // Symbolic links are not followed: what they point to is not ours.
        let is_file = entry.file_type().is_ok_and(|it| it.is_file());
        if is_file && entry.file_name().to_str().is_some_and(&is_ours) {
            os::remove_file_if_exists(&entry.path())
                .map_err(|it| Error::from_io(&entry.path(), &it))?;
        }
    }
    Ok(())
}

/// Removes an empty folder. A symbolic link stays: the user put it there.
fn remove_if_empty(dir: &Path) -> Result<(), Error> {
    match fs::remove_dir(dir) {
        Ok(()) => Ok(()),
        Err(error) => match error.kind() {
            // Missing already, holds files that are not ours, or a symbolic link.
            ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory => Ok(()),
            _ => Err(Error::from_io(dir, &error)),
        },
    }
}
