//! Erasing for good, and proving it by looking for what was erased.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use model::{Memory, MemoryId};
use store::Store;

use crate::carry::everything;
use crate::{Engine, Error, Found};

/// What was removed, and the proof.
#[derive(Clone, Debug)]
pub struct Purged {
    pub memories: Vec<MemoryId>,
    pub proof: Proof,
}

/// A byte search of the whole data folder, after the fact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    pub files: usize,
    pub bytes: u64,
    /// How many pieces of erased text were looked for.
    pub pieces: usize,
    /// Files in which one was found; must be empty.
    pub found_in: Vec<PathBuf>,
}

/// The length of the pieces looked for: long enough to be nobody else's, short enough to survive
/// a text being split over pages.
const PIECE: usize = 24;

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
            it.notebook
                .store
                .versions(it.memory.id)
                .await?
                .iter()
                .for_each(|old| pieces.extend(pieces_of(old)));
        }
        let mut res = Vec::new();
        for notebook in self.notebooks() {
            let of_this = |it: &&Found| it.notebook.reach == notebook.reach;
            let ids: Vec<MemoryId> = doomed.iter().filter(of_this).map(|it| it.memory.id).collect();
            if !ids.is_empty() {
                notebook.store.erase(ids.clone(), self.now).await?;
                res.extend(ids);
            }
            // What a memory that stays also says is not a trace of the erased one.
            for kept in everything(&notebook.store).await? {
                let mut said = pieces_of(&kept);
                for old in notebook.store.versions(kept.id).await? {
                    said.extend(pieces_of(&old));
                }
                for piece in &said {
                    pieces.remove(piece);
                }
            }
        }
        Ok(Purged { memories: res, proof: self.search_bytes(&pieces)? })
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
        let (memories, pieces) = contents(&store).await;
        let dir = store.home().dir.clone();
        drop(store);
        self.close_project();
        remove_dir(&dir)?;
        self.user.drop_project(id).await?;
        self.project = crate::ProjectState::New { print: source::fingerprint(&self.place) };
        Ok(Purged { memories, proof: self.search_bytes(&pieces)? })
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
        Ok(Purged { memories, proof: search_bytes(&root, &pieces)? })
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
        search_bytes(&self.config.data, pieces)
    }
}

/// What a store holds, as far as it can still be read: purging must work on damaged files too.
async fn contents(store: &Store) -> (Vec<MemoryId>, HashSet<Vec<u8>>) {
    let memories =
        if store.exists() { everything(store).await.unwrap_or_default() } else { Vec::new() };
    let pieces = memories.iter().flat_map(pieces_of).collect();
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

/// Pieces of a memory's text that would betray it.
fn pieces_of(memory: &Memory) -> Vec<Vec<u8>> {
    let bytes = memory.content.as_bytes();
    if bytes.len() <= PIECE {
        return vec![bytes.to_vec()];
    }
    bytes.windows(PIECE).step_by(PIECE / 2).map(<[u8]>::to_vec).collect()
}

/// Looks for the pieces in every file below `root`.
fn search_bytes(root: &Path, pieces: &HashSet<Vec<u8>>) -> Result<Proof, Error> {
    let mut res = Proof { pieces: pieces.len(), ..Proof::default() };
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
                continue;
            }
            let bytes = match fs::read(&path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => {
                    return Err(Error::Store(store::Error::Io { path, why: error.to_string() }));
                }
            };
            res.files += 1;
            res.bytes += bytes.len() as u64;
            if holds_any(&bytes, pieces) {
                res.found_in.push(path);
            }
        }
    }
    Ok(res)
}

/// One pass per piece length; most pieces share one.
fn holds_any(bytes: &[u8], pieces: &HashSet<Vec<u8>>) -> bool {
    let lengths: HashSet<usize> = pieces.iter().map(Vec::len).filter(|it| *it > 0).collect();
    lengths.into_iter().any(|length| bytes.windows(length).any(|it| pieces.contains(it)))
}
