//! Erasing for good, and proving it by looking for what was erased.

mod proof;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use model::MemoryId;
use store::{Action, Change, Store};

use crate::carry::everything;
use crate::change::by_user;
use crate::correct::EXCLUDE;
use crate::{Engine, Error, Found};
pub use proof::Proof;
use proof::{pieces_of, search_bytes, spare};

/// What was removed, and the proof.
#[derive(Clone, Debug)]
pub struct Purged {
    pub memories: Vec<MemoryId>,
    pub proof: Proof,
}

impl Engine {
    pub async fn purge_memories(&self, ids: &[String]) -> Result<Purged, Error> {
        let mut doomed: Vec<Found> = Vec::new();
        for id in ids {
            let found = self.find(id).await?;
            if !doomed.iter().any(|it| it.memory.id == found.memory.id) {
                doomed.push(found);
            }
        }
        let mut pieces = HashSet::new();
        for it in &doomed {
            pieces.extend(pieces_of(&it.memory));
            let versions = it.notebook.store.versions(it.memory.id).await?;
            pieces.extend(versions.iter().flat_map(pieces_of));
        }
        let mut res = Vec::new();
        for notebook in self.notebooks() {
            let of_this = |it: &&Found| it.notebook.reach == notebook.reach;
            let ids: Vec<MemoryId> = doomed.iter().filter(of_this).map(|it| it.memory.id).collect();
            if !ids.is_empty() {
                notebook.store.erase(ids.clone(), self.now).await?;
                res.extend(ids);
            }
            spare(&mut pieces, &notebook.store).await?;
        }
        self.forget_exclusions(&res).await?;
        let proof = search_bytes(&self.config.data, &self.others(), &pieces)?;
        Ok(Purged { memories: res, proof })
    }

    /// The folders of other projects. They never held what this one erases; if one of them says the
    /// same, that is its own memory.
    fn others(&self) -> Vec<PathBuf> {
        let others = self.data().projects().into_iter().filter(|it| Some(*it) != self.project.id());
        others.map(|it| self.data().project(it).dir).collect()
    }

    /// There is nothing left to keep out of this project.
    async fn forget_exclusions(&self, erased: &[MemoryId]) -> Result<(), Error> {
        let excluded = self.excluded().await?;
        let moot = erased.iter().filter(|it| excluded.contains(it));
        let unset = |id: &MemoryId| Change::Setting { key: format!("{EXCLUDE}{id}"), value: None };
        let changes: Vec<Change> = moot.map(unset).collect();
        if let Some(store) = self.project_store().filter(|_| !changes.is_empty()) {
            store.apply(by_user(Action::Settings, self.now, changes)).await?;
        }
        Ok(())
    }

    /// Takes a secret out of every memory, version and backup of this project and the user.
    pub async fn purge_secret(&self, secret: &str) -> Result<Purged, Error> {
        if secret.trim().len() < 6 {
            return Err(Error::refused(
                "the secret is shorter than 6 characters",
                "give the whole secret",
            ));
        }
        let secret = secret.trim().to_owned();
        let wanted = secret.clone();
        let clean = move |text: &str| {
            text.contains(&wanted).then(|| text.replace(&wanted, "[REDACTED: purged]"))
        };
        let memories = self.scrub(clean).await?;
        let pieces = HashSet::from([secret.into_bytes()]);
        Ok(Purged { memories, proof: self.search_bytes(&pieces)? })
    }

    /// Takes out everything that looks like a secret by today's rules.
    pub async fn purge_secrets_found(&self) -> Result<Purged, Error> {
        let mut pieces = HashSet::new();
        for notebook in self.notebooks() {
            for memory in everything(&notebook.store).await? {
                for found in secrets::scan(&memory.content) {
                    pieces.insert(memory.content.as_bytes()[found.start..found.end].to_vec());
                }
            }
        }
        let clean = |text: &str| {
            let redacted = secrets::redact(text);
            (!redacted.findings.is_empty()).then_some(redacted.text)
        };
        let memories = self.scrub(clean).await?;
        Ok(Purged { memories, proof: self.search_bytes(&pieces)? })
    }

    /// Removes everything this project has, and that it ever was here.
    pub async fn purge_project(&mut self) -> Result<Purged, Error> {
        let Some(id) = self.project.id() else {
            return Err(Error::Refused {
                what: "nothing is stored for this project".to_owned(),
                hint: None,
            });
        };
        let store = self.store_of(id);
        let (memories, mut pieces) = contents(&store).await;
        let dir = store.home().dir.clone();
        drop(store);
        self.close_project();
        remove_dir(&dir)?;
        self.user.erase_project(id).await?;
        spare(&mut pieces, &self.user).await?;
        let others = self.others();
        self.project = crate::ProjectState::New { print: source::fingerprint(&self.place) };
        Ok(Purged { memories, proof: search_bytes(&self.config.data, &others, &pieces)? })
    }

    /// Removes the whole data folder.
    pub async fn purge_everything(self) -> Result<Purged, Error> {
        let (mut memories, mut pieces) = contents(&self.user).await;
        for id in self.data().projects() {
            let (of_project, more) = contents(&self.store_of(id)).await;
            memories.extend(of_project);
            pieces.extend(more);
        }
        let root = self.config.data.clone();
        drop(self);
        remove_dir(&root)?;
        Ok(Purged { memories, proof: search_bytes(&root, &[], &pieces)? })
    }

    async fn scrub(
        &self,
        clean: impl Fn(&str) -> Option<String> + Clone + Send + 'static,
    ) -> Result<Vec<MemoryId>, Error> {
        let mut res = Vec::new();
        for notebook in self.notebooks() {
            res.extend(notebook.store.scrub(clean.clone()).await?);
        }
        Ok(res)
    }

    fn search_bytes(&self, pieces: &HashSet<Vec<u8>>) -> Result<Proof, Error> {
        search_bytes(&self.config.data, &[], pieces)
    }
}

/// What a store holds, as far as it can still be read: purging must work on damaged files too.
async fn contents(store: &Store) -> (Vec<MemoryId>, HashSet<Vec<u8>>) {
    let memories =
        if store.exists() { everything(store).await.unwrap_or_default() } else { Vec::new() };
    let mut pieces: HashSet<Vec<u8>> = memories.iter().flat_map(pieces_of).collect();
    for memory in memories.iter().filter(|it| it.version > 1) {
        let versions = store.versions(memory.id).await.unwrap_or_default();
        pieces.extend(versions.iter().flat_map(pieces_of));
    }
    (memories.iter().map(|it| it.id).collect(), pieces)
}

fn remove_dir(path: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::Store(store::Error::Io { path: path.to_owned(), why: error.to_string() }))
        }
        _ => Ok(()),
    }
}
