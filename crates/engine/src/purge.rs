//! Erasing for good, and proving it by looking for what was erased.

mod proof;

use std::collections::HashSet;
use std::path::PathBuf;

use model::{Memory, MemoryId};
use store::{Action, Change, Inbox, Store};

use crate::carry::everything;
use crate::change::by_user;
use crate::correct::EXCLUDE;
use crate::texts::{ever, secrets_of, texts};
use crate::{Engine, Error, Found, project};
pub use proof::Proof;
use proof::{is_encrypted, pieces_of, search_bytes, spare};

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
        let (mut encrypted, mut inside) = (false, false);
        for notebook in self.notebooks() {
            let of_this = |it: &&Found| it.notebook.reach == notebook.reach;
            let ids: Vec<MemoryId> = doomed.iter().filter(of_this).map(|it| it.memory.id).collect();
            if !ids.is_empty() {
                notebook.store.erase(ids.clone(), self.now).await?;
                inside |= notebook.store.holds(ids.clone()).await?;
                encrypted |= is_encrypted(&notebook.store).await;
                res.extend(ids);
            }
            spare(&mut pieces, &notebook.store).await?;
        }
        self.forget_exclusions(&res).await?;
        let proof = search_bytes(&self.config.data, &self.others(), &pieces)?;
        Ok(Purged { memories: res, proof: Proof { encrypted, inside, ..proof } })
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
            self.write(&store, by_user(Action::Settings, self.now, changes)).await?;
        }
        Ok(())
    }

    /// Takes a secret out of every memory, version and backup of every project and the user.
    pub async fn purge_secret(&self, secret: &str) -> Result<Purged, Error> {
        let secret = secret.trim().to_owned();
        if secret.len() < 6 {
            return Err(Error::refused(
                "the secret is shorter than 6 characters",
                "give the whole secret",
            ));
        }
        let wanted = secret.clone();
        let clean = move |text: &str| {
            text.contains(&wanted).then(|| text.replace(&wanted, "[REDACTED: purged]"))
        };
        self.scrub(HashSet::from([secret]), clean).await
    }

    /// Takes out everything that looks like a secret by today's rules, wherever it is kept.
    pub async fn purge_secrets_found(&self) -> Result<Purged, Error> {
        let mut found = HashSet::new();
        for store in self.every_store() {
            // What cannot be read is met again, and reported, when it is to be cleaned.
            let all = ever(&store).await.unwrap_or_default();
            found.extend(all.iter().flat_map(secrets_of));
        }
        let clean = |text: &str| {
            let redacted = secrets::redact(text);
            (!redacted.findings.is_empty()).then_some(redacted.text)
        };
        self.scrub(found, clean).await
    }

    /// Removes everything this project has, and that it ever was here.
    pub async fn purge_project(&mut self) -> Result<Purged, Error> {
        let Some(id) = self.project.id() else {
            return Err(Error::nothing("nothing is stored for this project"));
        };
        let store = self.store_of(id);
        let (memories, mut pieces) = contents(&store).await;
        let encrypted = is_encrypted(&store).await;
        let database = store.path();
        drop(store);
        self.close_project();
        self.drop_waiting()?;
        self.data().remove_project(id)?;
        self.user.erase_project(id).await?;
        spare(&mut pieces, &self.user).await?;
        let others = self.others();
        self.project = crate::ProjectState::New { print: project::fingerprint(&self.place) };
        let proof = search_bytes(&self.config.data, &others, &pieces)?;
        Ok(Purged { memories, proof: Proof { encrypted, inside: database.exists(), ..proof } })
    }

    /// Removes everything of ours from the data folder, and the folder with it if that was all.
    pub async fn purge_everything(self) -> Result<Purged, Error> {
        let (mut memories, mut pieces, mut encrypted) = (Vec::new(), HashSet::new(), false);
        let mut databases = Vec::new();
        for store in self.every_store() {
            let (of_store, more) = contents(&store).await;
            memories.extend(of_store);
            pieces.extend(more);
            encrypted |= is_encrypted(&store).await;
            databases.push(store.path());
        }
        let data = self.data();
        drop(self);
        data.remove_everything()?;
        let inside = databases.iter().any(|it| it.exists());
        let proof = search_bytes(&data.root, &[], &pieces)?;
        Ok(Purged { memories, proof: Proof { encrypted, inside, ..proof } })
    }

    /// Cleans every store of `wanted`, and looks for it afterwards. One that cannot be cleaned keeps
    /// no other from being so.
    async fn scrub(
        &self,
        wanted: HashSet<String>,
        clean: impl Fn(&str) -> Option<String> + Clone + Send + 'static,
    ) -> Result<Purged, Error> {
        let (mut memories, mut failed) = (Vec::new(), None);
        let (mut encrypted, mut inside) = (false, false);
        Inbox::of(&self.data()).scrub(&clean)?;
        for store in self.every_store() {
            match store.scrub(clean.clone()).await {
                Ok(cleaned) => memories.extend(cleaned),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if let Some(error) = failed {
            return Err(error.into());
        }
        for store in self.every_store() {
            encrypted |= is_encrypted(&store).await;
            inside |= ever(&store).await?.iter().any(|it| says(it, &wanted));
        }
        let pieces = wanted.into_iter().map(String::into_bytes).collect();
        let proof = search_bytes(&self.config.data, &[], &pieces)?;
        Ok(Purged { memories, proof: Proof { encrypted, inside, ..proof } })
    }

    /// The user's store and those of all projects, as far as there are any.
    fn every_store(&self) -> Vec<Store> {
        let here = self.project.id();
        let open = |id| match self.project_store() {
            Some(own) if here == Some(id) => own,
            _ => self.store_of(id),
        };
        let projects = self.data().projects().into_iter().map(open);
        std::iter::once(self.user.clone()).chain(projects).filter(Store::exists).collect()
    }
}

fn says(memory: &Memory, wanted: &HashSet<String>) -> bool {
    texts(memory).iter().any(|(_, text)| wanted.iter().any(|it| text.contains(it.as_str())))
}

/// What a store holds, as far as it can still be read: purging must work on damaged files too.
async fn contents(store: &Store) -> (Vec<MemoryId>, HashSet<Vec<u8>>) {
    if !store.exists() {
        return (Vec::new(), HashSet::new());
    }
    let memories = everything(store).await.unwrap_or_default();
    let versions = store.every_version().await.unwrap_or_default();
    let pieces = memories.iter().chain(&versions).flat_map(pieces_of).collect();
    (memories.iter().map(|it| it.id).collect(), pieces)
}
