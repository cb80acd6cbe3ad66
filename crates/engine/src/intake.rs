//! Taking memories in from a file: every text passes the door, and nothing is believed for its own sake.

mod record;

use std::collections::{HashMap, HashSet};

use model::{
    Actor, Counters, MAX_LABEL, Memory, MemoryId, PerMille, ProjectId, RelationTarget, Source,
    Timestamp, Visibility,
};
use store::{Action, Batch, Change, Store};

use crate::carry::everything;
use crate::change::by_user;
use crate::{Engine, Error, Notebook, OnSecret, Reach, admit};
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
    here: HashMap<MemoryId, Memory>,
    /// Of the ids in the file, those that were erased here for good.
    erased: HashSet<MemoryId>,
    /// The ids that came before in the same file.
    taken: HashSet<MemoryId>,
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
        self.refuse_closed()?;
        let read = |it: &ImportRecord| it.memory.as_ref().ok().map(|it| it.id);
        let mut stock = self.stock(how.reach, records.iter().filter_map(read).collect()).await?;
        let mut res = Imported { taken: Vec::new(), problems: Vec::new(), written: false };
        let mut fresh = Vec::new();
        for ImportRecord { at, memory } in records {
            match memory.and_then(|it| admitted(*it, how.on_secret)) {
                Ok(memory) => res.taken.push(self.place(&mut stock, &mut fresh, memory)),
                Err(what) => res.problems.push(ImportProblem { at, what }),
            }
        }
        let refused = !res.problems.is_empty() && !how.skip;
        if refused || how.dry_run || fresh.is_empty() {
            return Ok(res);
        }
        let Notebook { project, store, .. } = self.notebook(how.reach).await?;
        let change = |it: Memory| {
            let it = Box::new(as_import(it, project, &stock.renamed, &how, self.now));
            if stock.here.contains_key(&it.id) { Change::Replace(it) } else { Change::Insert(it) }
        };
        let changes: Vec<Change> = fresh.into_iter().map(change).collect();
        let batch = Batch {
            actor: author(&how),
            detail: Some(format!("{} memories", changes.len())),
            ..by_user(Action::Import, self.now, changes)
        };
        self.write(&store, batch).await?;
        res.written = true;
        Ok(res)
    }

    async fn stock(&self, reach: Reach, ids: Vec<MemoryId>) -> Result<Stock, Error> {
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
            res.erased.extend(notebook.store.erased(ids.clone()).await?);
        }
        Ok(res)
    }

    /// Decides about one record.
    fn place(&self, stock: &mut Stock, fresh: &mut Vec<Memory>, mut memory: Memory) -> Taken {
        if stock.erased.contains(&memory.id) {
            return Taken::Erased(memory.id);
        }
        if let Some(known) = stock.texts.get(&memory.content) {
            return Taken::Known(*known);
        }
        if let Some(here) = stock.here.get(&memory.id) {
            if stock.texts.contains_key(&here.content) {
                return Taken::Known(memory.id);
            }
            memory.version = here.version;
        }
        if stock.elsewhere.contains(&memory.id) {
            let id = MemoryId::new(self.now, (self.config.random)());
            stock.renamed.insert(memory.id, id);
            memory.id = id;
        }
        if !stock.taken.insert(memory.id) {
            return Taken::Known(memory.id);
        }
        stock.texts.insert(memory.content.clone(), memory.id);
        let id = memory.id;
        fresh.push(memory);
        Taken::Added(id)
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

/// The memory as it is kept. It is touched now, whoever vouches for it: decay counts from here, so that
/// an old export does not come back faded. When it was made stays on record.
fn as_import(
    memory: Memory,
    project: Option<ProjectId>,
    renamed: &HashMap<MemoryId, MemoryId>,
    how: &Intake,
    now: Timestamp,
) -> Memory {
    let mut res = Memory { project, updated_at: now, ..memory };
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
        // Nobody here said it or saw it happen: of all sources, the one that is trusted least.
        res.source = Source::ObserverInferred;
        res.visibility = Visibility::Personal;
        res.counters = Counters::default();
        res.half_life_days = None;
        res.states.stale_at = None;
        res.created_at = res.created_at.min(now);
        res.created_by = author(how);
    }
    if promote::instruction_like(&res.content).is_some() {
        res.flags.needs_review = true;
    }
    res
}

/// Who the record says it was; a nameless file must not make an entry that cannot be read back.
fn author(how: &Intake) -> Actor {
    let name = admit::masked(&how.file, MAX_LABEL);
    Actor::Import(if name.is_empty() { "a file".to_owned() } else { name })
}
