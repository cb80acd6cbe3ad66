//! Taking memories along: everything out. They come back in by `intake`, as anything else does.

use std::path::Path;

use model::{Memory, MemoryId};
use store::{Contents, Filter, Store};

use crate::{Engine, Error, Reach};

/// Everything a notebook holds.
#[derive(Clone, Debug)]
pub struct Package {
    pub project: Option<String>,
    pub reach: Reach,
    pub memories: Vec<Memory>,
    /// The earlier versions of those that have any, oldest first.
    pub versions: Vec<(MemoryId, Vec<Memory>)>,
    pub settings: Vec<(String, String)>,
}

impl Engine {
    /// Everything in the project's notebook, or the user's: forgotten and deprecated ones too.
    pub async fn export(&self, reach: Reach) -> Result<Package, Error> {
        let project = Some(self.project.name().to_owned()).filter(|_| reach == Reach::Project);
        let mut res = Package {
            project,
            reach,
            memories: Vec::new(),
            versions: Vec::new(),
            settings: Vec::new(),
        };
        for notebook in self.within(Some(reach)) {
            res.memories = everything(&notebook.store).await?;
            res.memories.reverse();
            for memory in res.memories.iter().filter(|it| it.version > 1) {
                let versions = notebook.store.versions(memory.id).await?;
                res.versions.push((memory.id, versions));
            }
            res.settings = notebook.store.settings().await?;
            // Where the project lies on this machine is nobody else's business.
            res.settings.retain(|it| !it.0.starts_with("identity."));
        }
        Ok(res)
    }

    /// Writes a checked copy of the whole database, history and vectors included, to `path`.
    pub async fn archive(&self, reach: Reach, path: &Path) -> Result<Contents, Error> {
        let Some(store) = self.store_at(reach).filter(Store::exists) else {
            return Err(Error::Refused {
                what: "there is nothing to write yet".to_owned(),
                hint: None,
            });
        };
        let backup = store.backup(self.now).await?;
        let contents = store.verify_backup(&backup)?;
        let io =
            |it: std::io::Error| store::Error::Io { path: path.to_owned(), why: it.to_string() };
        store::write_private(path, &std::fs::read(&backup.path).map_err(io)?)?;
        Ok(contents)
    }
}

/// Every memory of a store in every state, newest first.
pub(crate) async fn everything(store: &Store) -> Result<Vec<Memory>, Error> {
    let filter =
        Filter { statuses: model::Status::ALL.to_vec(), ..Filter::standing(u32::MAX >> 1) };
    Ok(store.list(filter).await?)
}
