//! The data folder: what lies where, and that only its owner can read it.

use std::path::{Path, PathBuf};

use model::ProjectId;

use crate::{Error, os};

/// `$XDG_DATA_HOME/waylore`, or wherever the person put it.
#[derive(Clone, Debug)]
pub struct DataDir {
    pub root: PathBuf,
}

impl DataDir {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn user(&self) -> Home {
        Home { dir: self.root.clone(), file: "user.db" }
    }

    pub fn project(&self, id: ProjectId) -> Home {
        Home { dir: self.root.join("projects").join(id.to_string()), file: "memory.db" }
    }

    /// The structural layer of a project: derived, so nothing in it is missed.
    pub fn graph(&self, id: ProjectId) -> Home {
        Home { file: "graph.db", ..self.project(id) }
    }

    /// The projects that have a folder here, whether or not the registry knows them.
    pub fn projects(&self) -> Vec<ProjectId> {
        let entries = std::fs::read_dir(self.root.join("projects")).into_iter().flatten().flatten();
        let mut res: Vec<ProjectId> =
            entries.filter_map(|it| it.file_name().to_str()?.parse().ok()).collect();
        res.sort_unstable();
        res
    }
}

/// Where one database lives with its companions.
#[derive(Clone, Debug)]
pub struct Home {
    pub dir: PathBuf,
    file: &'static str,
}

impl Home {
    pub fn database(&self) -> PathBuf {
        self.dir.join(self.file)
    }

    pub fn backups(&self) -> PathBuf {
        self.dir.join("backups")
    }

    /// Where a restore puts what it replaced.
    pub(crate) fn replaced(&self) -> PathBuf {
        self.dir.join("replaced")
    }

    /// A database that is being prepared to take the place of this one.
    pub(crate) fn staging(&self) -> PathBuf {
        self.beside("restoring")
    }

    /// A prepared database. From here on it is decided that it takes the place of this one.
    pub(crate) fn staged(&self) -> PathBuf {
        self.beside("restored")
    }

    pub(crate) fn mark(&self) -> PathBuf {
        self.beside("mark")
    }

    pub(crate) fn beside(&self, extension: &str) -> PathBuf {
        self.database().with_extension(extension)
    }

    pub(crate) fn wal(&self) -> PathBuf {
        self.beside("db-wal")
    }

    pub(crate) fn shm(&self) -> PathBuf {
        self.beside("db-shm")
    }

    /// Creates what is missing, owner-only; refuses a folder that is somebody else's.
    pub(crate) fn prepare(&self) -> Result<(), Error> {
        for dir in self.own_dirs() {
            if let Some(owner) = os::foreign_owner(dir) {
                return Err(Error::ForeignOwner { path: dir.to_owned(), owner });
            }
            os::private_dir(dir).map_err(|it| Error::io(dir, &it))?;
        }
        Ok(())
    }

    /// The folders that are ours: the root, `projects`, and the project's own.
    fn own_dirs(&self) -> Vec<&Path> {
        let depth = if self.file == "user.db" { 1 } else { 3 };
        let mut res: Vec<&Path> = self.dir.ancestors().take(depth).collect();
        res.reverse();
        res
    }
}
