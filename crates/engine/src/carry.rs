//! Taking memories along: everything out. They come back in by `intake`, as anything else does.

use std::collections::HashMap;
use std::path::Path;

use model::{Memory, MemoryId};
use store::{Contents, Filter, Store};

use crate::texts::redacted;
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
    /// Those of which a text, now or in an earlier version, held what today's rules take for a
    /// secret. In this package it is masked; in the notebook it still stands.
    pub redacted: Vec<MemoryId>,
}

impl Engine {
    /// Everything in the project's notebook, or the user's: forgotten and deprecated ones too. No
    /// secret leaves with it, whenever it came in.
    pub async fn export(&self, reach: Reach) -> Result<Package, Error> {
        let project = Some(self.project.name().to_owned()).filter(|_| reach == Reach::Project);
        let mut res = Package {
            project,
            reach,
            memories: Vec::new(),
            versions: Vec::new(),
            settings: Vec::new(),
            redacted: Vec::new(),
        };
        for notebook in self.within(Some(reach)) {
            res.memories = everything(&notebook.store).await?;
            res.memories.reverse();
            let mut past: HashMap<MemoryId, Vec<Memory>> = HashMap::new();
            for version in notebook.store.every_version().await? {
                past.entry(version.id).or_default().push(version);
            }
            for memory in &mut res.memories {
                let mut versions = past.remove(&memory.id).unwrap_or_default();
                versions.sort_by_key(|it| it.version);
                let masked = std::iter::once(&mut *memory).chain(&mut versions).map(mask);
                if masked.filter(|it| *it).count() > 0 {
                    res.redacted.push(memory.id);
                }
                if memory.version > 1 {
                    res.versions.push((memory.id, versions));
                }
            }
            res.settings = notebook.store.settings().await?;
            // Where the project lies on this machine is nobody else's business.
            res.settings.retain(|it| !it.0.starts_with("identity."));
            res.settings.iter_mut().for_each(|it| it.1 = secrets::redact(&it.1).text);
        }
        Ok(res)
    }

    /// Writes a checked copy of the whole database, history and vectors included, to `path`.
    pub async fn archive(&self, reach: Reach, path: &Path) -> Result<Contents, Error> {
        let Some(store) = self.store_at(reach).filter(Store::exists) else {
            return Err(Error::nothing("there is nothing to write yet"));
        };
        let backup = store.backup(self.now).await?;
        let contents = store.verify_backup(&backup)?;
        let io =
            |it: std::io::Error| store::Error::Io { path: path.to_owned(), why: it.to_string() };
        store::write_private(path, &std::fs::read(&backup.path).map_err(io)?)?;
        Ok(contents)
    }
}

/// Masks the secrets of a memory; says whether it had any.
fn mask(memory: &mut Memory) -> bool {
    let Some(masked) = redacted(memory) else { return false };
    *memory = masked;
    true
}

/// Every memory of a store in every state, newest first.
pub(crate) async fn everything(store: &Store) -> Result<Vec<Memory>, Error> {
    let filter =
        Filter { statuses: model::Status::ALL.to_vec(), ..Filter::standing(u32::MAX >> 1) };
    Ok(store.list(filter).await?)
}
