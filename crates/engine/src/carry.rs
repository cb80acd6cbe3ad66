//! Taking memories along: everything out, and back in through the same door as anything else.

use std::collections::HashSet;
use std::path::Path;

use model::{Actor, MAX_CONTENT, Memory, MemoryId, clean_text};
use store::{Action, Batch, Change, Contents, Filter, Store};

use crate::admit::{self, OnSecret};
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

/// One record of a file, as far as it could be read.
#[derive(Clone, Debug)]
pub struct ImportRecord {
    /// Its place in the file, counted from one.
    pub at: usize,
    pub memory: Result<Box<Memory>, String>,
}

/// A record that was not taken, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportProblem {
    pub at: usize,
    pub what: String,
}

/// How a file is taken in.
#[derive(Clone, Debug)]
pub struct Intake {
    /// The name of the file, for the record.
    pub file: String,
    pub reach: Reach,
    /// The person says these are their own words: nothing is tainted.
    pub vouched: bool,
    /// Good records are taken beside bad ones; otherwise one bad record keeps everything out.
    pub skip: bool,
    pub on_secret: OnSecret,
    pub dry_run: bool,
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    Added(MemoryId),
    /// A memory with this id or exactly this text is here already.
    Known(MemoryId),
    /// It was erased here for good and stays away.
    Erased(MemoryId),
}

/// What became of a file.
#[derive(Clone, Debug)]
pub struct Imported {
    pub taken: Vec<Taken>,
    pub problems: Vec<ImportProblem>,
    /// Whether anything was written.
    pub written: bool,
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

    /// Takes records in. What comes from a file is external: unless the person vouches for it, it is
    /// tainted and waits for review.
    pub async fn import(
        &mut self,
        records: Vec<ImportRecord>,
        how: Intake,
    ) -> Result<Imported, Error> {
        let notebook = self.notebook(how.reach).await?;
        let known =
            if notebook.store.exists() { everything(&notebook.store).await? } else { Vec::new() };
        let mut ids: HashSet<MemoryId> = known.iter().map(|it| it.id).collect();
        let mut texts: HashSet<String> = known.into_iter().map(|it| it.content).collect();
        let mut res = Imported { taken: Vec::new(), problems: Vec::new(), written: false };
        let mut changes = Vec::new();
        for record in records {
            let at = record.at;
            let memory = match record.memory.and_then(|it| admitted(*it, how.on_secret)) {
                Ok(memory) => memory,
                Err(what) => {
                    res.problems.push(ImportProblem { at, what });
                    continue;
                }
            };
            if !ids.insert(memory.id) || !texts.insert(memory.content.clone()) {
                res.taken.push(Taken::Known(memory.id));
                continue;
            }
            if notebook.store.is_erased(memory.id).await? {
                res.taken.push(Taken::Erased(memory.id));
                continue;
            }
            res.taken.push(Taken::Added(memory.id));
            let memory = as_import(memory, notebook.project, &how);
            changes.push(Change::Insert(Box::new(memory)));
        }
        let refused = !res.problems.is_empty() && !how.skip;
        if refused || how.dry_run || changes.is_empty() {
            return Ok(res);
        }
        let detail = Some(format!("{} memories", changes.len()));
        let actor = Actor::Import(how.file.clone());
        let batch =
            Batch { key: None, action: Action::Import, actor, detail, now: self.now, changes };
        notebook.store.apply(batch).await?;
        res.written = true;
        Ok(res)
    }
}

/// Every memory of a store in every state, newest first.
pub(crate) async fn everything(store: &Store) -> Result<Vec<Memory>, Error> {
    let filter =
        Filter { statuses: model::Status::ALL.to_vec(), ..Filter::standing(u32::MAX >> 1) };
    Ok(store.list(filter).await?)
}

/// Passes every text of a record through the door.
fn admitted(memory: Memory, on_secret: OnSecret) -> Result<Memory, String> {
    let said = |it: Error| match it {
        Error::Secret { places } => {
            let at: Vec<String> = places
                .iter()
                .map(|it| format!("{} ({}, line {})", it.kind, it.part, it.line))
                .collect();
            format!("holds what looks like a secret: {}", at.join(", "))
        }
        other => other.to_string(),
    };
    let mut res = memory;
    res.content =
        admit::text_of("content", &res.content, MAX_CONTENT, on_secret).map_err(said)?.text;
    res.tags = admit::labels("tag", &res.tags).map_err(said)?;
    res.modules = admit::labels("module", &res.modules).map_err(said)?;
    if let Some(reason) = &res.states.deprecated_reason {
        res.states.deprecated_reason = Some(crate::change::reason(reason));
    }
    if let Some(payload) = &res.payload {
        let text = clean_text(&payload.to_json().to_string(), MAX_CONTENT * 8)
            .map_err(|it| it.to_string())?;
        if !secrets::scan(&text).is_empty() {
            return Err("its payload holds what looks like a secret".to_owned());
        }
    }
    // The injected forms are always derived here, never taken from a file.
    res.summary = promote::summary(&res.content, &res.kind);
    res.citation = promote::citation(&res.content);
    Ok(res)
}

fn as_import(memory: Memory, project: Option<model::ProjectId>, how: &Intake) -> Memory {
    let mut res = Memory { project, ..memory };
    if !how.vouched {
        res.flags.tainted = true;
        res.flags.needs_review = true;
        res.flags.user_verified = false;
        res.created_by = Actor::Import(how.file.clone());
    }
    if promote::instruction_like(&res.content).is_some() {
        res.flags.needs_review = true;
    }
    res
}
