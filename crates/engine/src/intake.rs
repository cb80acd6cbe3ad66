//! Taking memories in from a file: every text passes the door, and nothing is believed for its own sake.

mod record;

use std::collections::{HashMap, HashSet};

use model::{Actor, MAX_LABEL, Memory, MemoryId, PerMille, ProjectId, RelationTarget, clean_label};
use store::{Action, Batch, Change, Store};

use crate::carry::everything;
use crate::{Engine, Error, Notebook, OnSecret, Reach};
use record::admitted;

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

/// What nobody vouches for is believed this much at most.
const FROM_A_FILE: PerMille = PerMille::new(850);

/// What a record meets here.
#[derive(Default)]
struct Stock {
    store: Option<Store>,
    here: HashMap<MemoryId, Memory>,
    /// By their exact text, those that are here or came before in the same file.
    texts: HashMap<String, MemoryId>,
    /// The ids of the other notebook: one id must not mean two memories.
    elsewhere: HashSet<MemoryId>,
    /// What had to take another id.
    renamed: HashMap<MemoryId, MemoryId>,
}

impl Engine {
    /// Takes records in. What comes from a file is external: unless the person vouches for it, it is
    /// tainted and waits for review.
    pub async fn import(
        &mut self,
        records: Vec<ImportRecord>,
        how: Intake,
    ) -> Result<Imported, Error> {
        let mut stock = self.stock(how.reach).await?;
        let mut res = Imported { taken: Vec::new(), problems: Vec::new(), written: false };
        let mut fresh = Vec::new();
        for ImportRecord { at, memory } in records {
            match memory.and_then(|it| admitted(*it, how.on_secret)) {
                Ok(memory) => res.taken.push(self.place(&mut stock, &mut fresh, memory).await?),
                Err(what) => res.problems.push(ImportProblem { at, what }),
            }
        }
        let refused = !res.problems.is_empty() && !how.skip;
        if refused || how.dry_run || fresh.is_empty() {
            return Ok(res);
        }
        let Notebook { project, store, .. } = self.notebook(how.reach).await?;
        let change = |it: Memory| {
            let it = Box::new(as_import(it, project, &stock.renamed, &how));
            if stock.here.contains_key(&it.id) { Change::Replace(it) } else { Change::Insert(it) }
        };
        let changes: Vec<Change> = fresh.into_iter().map(change).collect();
        let detail = Some(format!("{} memories", changes.len()));
        let (action, actor) = (Action::Import, author(&how));
        store.apply(Batch { key: None, action, actor, detail, now: self.now, changes }).await?;
        res.written = true;
        Ok(res)
    }

    async fn stock(&self, reach: Reach) -> Result<Stock, Error> {
        let mut res = Stock::default();
        for notebook in self.notebooks() {
            let memories = everything(&notebook.store).await?;
            if notebook.reach != reach {
                res.elsewhere.extend(memories.iter().map(|it| it.id));
                continue;
            }
            for memory in memories {
                // An import that was undone may be made again.
                if !was_taken_back(&notebook.store, &memory).await? {
                    res.texts.insert(memory.content.clone(), memory.id);
                }
                res.here.insert(memory.id, memory);
            }
            res.store = Some(notebook.store);
        }
        Ok(res)
    }

    /// Decides about one record.
    async fn place(
        &self,
        stock: &mut Stock,
        fresh: &mut Vec<Memory>,
        mut memory: Memory,
    ) -> Result<Taken, Error> {
        if let Some(store) = &stock.store
            && store.is_erased(memory.id).await?
        {
            return Ok(Taken::Erased(memory.id));
        }
        if let Some(known) = stock.texts.get(&memory.content) {
            return Ok(Taken::Known(*known));
        }
        if let Some(here) = stock.here.get(&memory.id) {
            if stock.texts.contains_key(&here.content) {
                return Ok(Taken::Known(memory.id));
            }
            memory.version = here.version;
        }
        if stock.elsewhere.contains(&memory.id) {
            let id = MemoryId::new(self.now, (self.config.random)());
            stock.renamed.insert(memory.id, id);
            memory.id = id;
        }
        if fresh.iter().any(|it| it.id == memory.id) {
            return Ok(Taken::Known(memory.id));
        }
        stock.texts.insert(memory.content.clone(), memory.id);
        let id = memory.id;
        fresh.push(memory);
        Ok(Taken::Added(id))
    }
}

/// Whether a memory is forgotten because what created it was undone.
async fn was_taken_back(store: &Store, memory: &Memory) -> Result<bool, Error> {
    if memory.states.deleted_at.is_none() {
        return Ok(false);
    }
    let last = store.entries_of(memory.id).await?.pop();
    Ok(last.is_some_and(|(entry, _)| entry.action == Action::Undo))
}

fn as_import(
    memory: Memory,
    project: Option<ProjectId>,
    renamed: &HashMap<MemoryId, MemoryId>,
    how: &Intake,
) -> Memory {
    let mut res = Memory { project, ..memory };
    for relation in &mut res.relations {
        if let RelationTarget::Memory(id) = &mut relation.target {
            *id = *renamed.get(id).unwrap_or(id);
        }
    }
    if !how.vouched {
        res.flags.tainted = true;
        res.flags.needs_review = true;
        res.flags.user_verified = false;
        // To pin is a person's to do, and a file's opinion of itself is worth no more than any file's.
        res.flags.pinned = false;
        res.confidence = res.confidence.at_most(FROM_A_FILE);
        res.created_by = author(how);
    }
    if promote::instruction_like(&res.content).is_some() {
        res.flags.needs_review = true;
    }
    res
}

/// Who the record says it was; a nameless file must not make an entry that cannot be read back.
fn author(how: &Intake) -> Actor {
    let name = clean_label(&secrets::redact(&how.file).text, MAX_LABEL);
    Actor::Import(if name.is_empty() { "a file".to_owned() } else { name })
}
