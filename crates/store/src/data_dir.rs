//! Layout of the data folder. All of its files are readable by their owner only.
//!
//! `user.db` lies in the root, and each project has a folder `projects/<id>` with `memory.db` and
//! `graph.db`. A database has companion files beside it, with the same name and another extension;
//! the folders `backups`, `replaced` and `journals` belong to it as well.

use std::path::{Path, PathBuf};

use model::ProjectId;

use crate::{Error, data_removal, os};

/// File name of the user's own database.
const USER_DATABASE: &str = "user.db";

/// The data folder: `$XDG_DATA_HOME/waylore`, or the folder the user chose.
#[derive(Clone, Debug)]
pub struct DataDir {
    pub root: PathBuf,
}

impl DataDir {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The user's own database, with the registry of projects.
    pub fn user_paths(&self) -> DatabasePaths {
        DatabasePaths { dir: self.root.clone(), file: USER_DATABASE }
    }

    /// The memories of one project.
    pub fn project_paths(&self, id: ProjectId) -> DatabasePaths {
        DatabasePaths { dir: self.root.join("projects").join(id.to_string()), file: "memory.db" }
    }

    /// The code graph of a project. It is derived from the source files, so it can be deleted.
    pub fn graph_paths(&self, id: ProjectId) -> DatabasePaths {
        DatabasePaths { file: "graph.db", ..self.project_paths(id) }
    }

    /// Lists the projects that have a folder here, registered or not.
    pub fn list_projects(&self) -> Vec<ProjectId> {
        let entries = std::fs::read_dir(self.root.join("projects")).into_iter().flatten().flatten();
        let mut projects: Vec<ProjectId> =
            entries.filter_map(|it| it.file_name().to_str()?.parse().ok()).collect();
        projects.sort_unstable();
        projects
    }

    /// Deletes every file of this program in the data folder, and each folder that is then empty.
    /// Other files stay, and with them their folders.
    pub fn remove_everything(&self) -> Result<(), Error> {
        data_removal::remove_everything(self)
    }

    /// Deletes every file of this program in the folder of one project, and the folder if it is
    /// then empty.
    pub fn remove_project(&self, id: ProjectId) -> Result<(), Error> {
        data_removal::remove_project(self, id)
    }
}

/// Paths of one database and its companion files.
#[derive(Clone, Debug)]
pub struct DatabasePaths {
    pub dir: PathBuf,
    file: &'static str,
}

impl DatabasePaths {
    pub fn database(&self) -> PathBuf {
        self.dir.join(self.file)
    }

    /// The data folder that the database lies in.
    pub(crate) fn data_dir(&self) -> DataDir {
        let folders = self.own_folders();
        DataDir::new(*folders.first().unwrap_or(&self.dir.as_path()))
    }

    pub fn backups_folder(&self) -> PathBuf {
        self.dir.join("backups")
    }

    /// Folder of the database that the last restore replaced.
    pub(crate) fn replaced_folder(&self) -> PathBuf {
        self.dir.join("replaced")
    }

    /// A database that is being prepared to replace this one. After a crash it is discarded.
    pub(crate) fn staging_database(&self) -> PathBuf {
        self.with_extension("restoring")
    }

    /// A prepared database. Its existence commits the replacement: after a crash it is finished.
    pub(crate) fn staged_database(&self) -> PathBuf {
        self.with_extension("restored")
    }

    /// The high-water mark.
    pub(crate) fn mark_file(&self) -> PathBuf {
        self.with_extension("mark")
    }

    /// A companion file: the database's path with another extension.
    pub(crate) fn with_extension(&self, extension: &str) -> PathBuf {
        self.database().with_extension(extension)
    }

    /// `SQLite`'s write-ahead log.
    pub(crate) fn wal(&self) -> PathBuf {
        self.with_extension("db-wal")
    }

    /// `SQLite`'s shared-memory index of the log.
    pub(crate) fn shm(&self) -> PathBuf {
        self.with_extension("db-shm")
    }

    /// Creates missing folders, private to their owner. Refuses a folder of another user.
    pub(crate) fn create_folders(&self) -> Result<(), Error> {
        for dir in self.own_folders() {
            if let Some(owner) = os::foreign_owner(dir) {
                return Err(Error::ForeignOwner { path: dir.to_owned(), owner });
            }
            os::private_dir(dir).map_err(|it| Error::from_io(dir, &it))?;
        }
        Ok(())
    }

    /// Folders that this program creates: the root, `projects`, and the project's own.
    fn own_folders(&self) -> Vec<&Path> {
        // `user.db` lies in the root itself, project databases two levels below.
        let n_folders = if self.file == USER_DATABASE { 1 } else { 3 };
        let mut folders: Vec<&Path> = self.dir.ancestors().take(n_folders).collect();
        // Outermost first, the order in which they are created.
        folders.reverse();
        folders
    }
}
