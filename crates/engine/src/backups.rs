//! Backups: creates, lists, checks and restores the backups of notebooks, and converts all
//! databases between encrypted and plain. The files themselves are written by `store`.

use model::DAY_MS;
use store::{BackupContents, BackupFile, EncryptionKey, Store, StoreReader};

use crate::{Error, NotebookScope, Project, ProjectReader};

/// Databases smaller than this are backed up right after a command, because that takes less time
/// than a user notices.
const MAX_INSTANT_BACKUP_BYTES: u64 = 8 << 20;

/// Name under which the database that a restore replaced can be restored.
pub const REPLACED_BACKUP_NAME: &str = "replaced";

/// A backup, and its contents or the reason why it cannot be restored.
pub type CheckedBackup = (BackupFile, Result<BackupContents, store::Error>);

/// Backs up every notebook that exists.
pub(crate) async fn backup_all(
    project: &Project,
) -> Result<Vec<(NotebookScope, BackupFile)>, Error> {
    let mut backups = Vec::new();
    for notebook in project.notebooks() {
        let store = project.notebook_writer(&notebook);
        backups.push((notebook.scope, store.backup(project.now).await?));
    }
    Ok(backups)
}

/// Backs up the small databases whose newest backup is too old. Large ones wait for `maintain`.
pub(crate) async fn backup_if_due(project: &Project, every_days: u32) -> Result<(), Error> {
    for notebook in project.notebooks() {
        let store = project.notebook_writer(&notebook);
        let is_small =
            std::fs::metadata(store.path()).is_ok_and(|it| it.len() < MAX_INSTANT_BACKUP_BYTES);
        if is_small && is_backup_due(project, &store, every_days) {
            store.backup(project.now).await?;
        }
    }
    Ok(())
}

/// Returns whether the newest backup is older than `every_days`.
pub(crate) fn is_backup_due(reader: &ProjectReader, store: &StoreReader, every_days: u32) -> bool {
    // No backup at all, or none with a known age.
    let Some(created_at) = store.backups().into_iter().find_map(|it| it.created_at) else {
        return true;
    };
    let is_old = created_at <= reader.now.plus_millis(-i64::from(every_days) * DAY_MS);
    // A backup from the future was made while the clock was wrong, so its real age is unknown.
    is_old || created_at > reader.now
}

/// Lists the backups of a notebook, newest first, each opened and checked.
pub(crate) fn list_backups(project: &Project, scope: NotebookScope) -> Vec<CheckedBackup> {
    let Some(store) = open_database(project, scope) else { return Vec::new() };
    let check = |it: BackupFile| {
        let contents = store.verify_backup(&it);
        (it, contents)
    };
    store.backups().into_iter().map(check).collect()
}

/// Returns the database that the last restore replaced, opened and checked.
pub(crate) fn replaced_database(project: &Project, scope: NotebookScope) -> Option<CheckedBackup> {
    let store = open_database(project, scope)?;
    let backup = store.replaced_database().into_iter().next()?;
    let contents = store.verify_backup(&backup);
    Some((backup, contents))
}

/// Replaces the database by a backup. The previous database is set aside and can be restored as
/// [`REPLACED_BACKUP_NAME`].
pub(crate) fn restore_backup(
    project: &mut Project,
    scope: NotebookScope,
    name: &str,
) -> Result<BackupContents, Error> {
    let store = open_database(project, scope).ok_or_else(|| {
        Error::refuse(
            "this project is not registered, so it has no backups",
            "`waylore restore-backup --user` restores the registry that listed it",
        )
    })?;
    let has_name = |it: &BackupFile| it.name == name || it.name.trim_end_matches(".db") == name;
    let mut backup = store.backups().into_iter().find(has_name);
    if backup.is_none() {
        // The database that the last restore replaced has a fixed name besides its file name.
        let is_replaced = |it: &BackupFile| name == REPLACED_BACKUP_NAME || has_name(it);
        backup = store.replaced_database().into_iter().find(is_replaced);
    }
    let Some(backup) = backup else {
        return Err(Error::refuse(
            format!("no backup is called `{name}`"),
            "`waylore restore-backup` lists them",
        ));
    };
    // Handles on the old file would go on reading and writing it after it was replaced.
    project.close_project();
    Ok(store.restore(&backup, project.now)?)
}

/// Encrypts every database with the key `to`, or decrypts all if there is none. Returns their
/// number.
pub(crate) fn change_encryption(
    project: Project,
    to: Option<&EncryptionKey>,
) -> Result<usize, Error> {
    let (data, now, key) = (project.data_dir(), project.now, project.config.key.clone());
    // No handle may be open on a file that is about to be replaced.
    drop(project);
    for id in data.list_projects() {
        // The code graph is derived data. Indexing again is faster than conversion.
        store::remove_code_graph(&data.graph_paths(id))?;
    }
    let projects = data
        .list_projects()
        .into_iter()
        .map(|id| Store::project(data.project_paths(id), key.clone(), now));
    let user = Store::user(data.user_paths(), key.clone(), now);
    let mut n_converted = 0;
    for store in std::iter::once(user).chain(projects).filter(|it| it.exists()) {
        store.change_key(to.cloned())?;
        n_converted += 1;
    }
    // After the databases: a key that does not open them must not touch the rest.
    store::convert_text_files(&data, key.as_ref(), to)?;
    Ok(n_converted)
}

/// Returns a handle on the database of a notebook, whether the file exists or not; `None` if the
/// project is not registered. For the user's database it is a new handle: `restore` consumes it,
/// and the project needs its own.
pub(crate) fn open_database(project: &Project, scope: NotebookScope) -> Option<Store> {
    match scope {
        NotebookScope::User => {
            let paths = project.data_dir().user_paths();
            Some(Store::user(paths, project.config.key.clone(), project.now))
        }
        NotebookScope::Project => project.project_store_writer(),
    }
}
