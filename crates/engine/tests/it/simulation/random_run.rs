//! A random run: a script that is generated line by line, the world it is played in, and a snapshot
//! of the notebooks after each line, on which the invariants are checked.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{HybridTimestamp, Memory, MemoryId, MemoryStatus, Timestamp, UsageCounters};
use testkit::{RandomScript, SECRET_NAMES, TestWorld, fake_secret};
use waylore_engine::{
    DisabledStages, Error, MemoryFilter, NotebookScope, Project, RankingStage, SearchPurpose,
    SearchQuery,
};

/// A run with everything that the invariants need.
pub(crate) struct RandomRun {
    seed: u64,
    world: TestWorld,
    generator: RandomScript,
    /// The lines played so far.
    script: Vec<String>,
    /// Memories that were purged, or forgotten so long ago that maintenance removed them.
    purged: HashSet<MemoryId>,
    /// The highest version seen of each memory.
    versions: HashMap<MemoryId, u32>,
    /// The last snapshot.
    pub(crate) now: NotebookSnapshot,
}

/// All stored memories, and those that a user sees.
#[derive(Clone, Default)]
pub(crate) struct NotebookSnapshot {
    pub(crate) visible: Vec<Memory>,
    pub(crate) all: Vec<Memory>,
    /// Every stored text, older versions included.
    pub(crate) texts: Vec<String>,
}

impl RandomRun {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            world: TestWorld::new(seed),
            generator: RandomScript::new(seed),
            script: Vec::new(),
            purged: HashSet::new(),
            versions: HashMap::new(),
            now: NotebookSnapshot::default(),
        }
    }

    /// Generates a line that fits the current state of the world.
    pub(crate) fn next_line(&mut self) -> String {
        self.generator.next_line(&self.world)
    }

    pub(crate) fn script(&self) -> String {
        self.script.join("\n")
    }

    /// Plays a line without taking a snapshot. Returns its output.
    pub(crate) fn play_line(&mut self, line: &str) -> String {
        self.script.push(line.to_owned());
        let output = self.world.run_line(line);
        let is_removal = |it: &&str| it.starts_with("purged ") || it.starts_with("gone: ");
        for removal in output.lines().filter(is_removal) {
            // `m3` is the third memory that was created.
            let numbers = removal
                .split([' ', ','])
                .filter_map(|it| it.strip_prefix('m')?.parse::<usize>().ok());
            for id in numbers.map(|it| self.world.memory_ids()[it - 1]).collect::<Vec<_>>() {
                // A memory that is imported again starts with version 1.
                self.versions.remove(&id);
                self.purged.insert(id);
            }
        }
        output
    }

    /// Plays a line and takes a snapshot. Returns the output and the snapshot from before.
    pub(crate) fn play_and_observe(&mut self, line: &str) -> (String, NotebookSnapshot) {
        let output = self.play_line(line);
        let now = self.world.with_project(take_snapshot).expect("everything can be read");
        (output, std::mem::replace(&mut self.now, now))
    }

    /// Exports both notebooks as text.
    pub(crate) fn export(&mut self) -> String {
        let export_both = async |project: &mut Project| {
            Ok((
                project.maintenance().export(NotebookScope::Project).await?,
                project.maintenance().export(NotebookScope::User).await?,
            ))
        };
        format!("{:#?}", self.world.with_project(export_both).expect("everything can be read"))
    }

    /// Fails with the seed and the script if an invariant does not hold.
    #[track_caller]
    pub(crate) fn assert_holds(&self, holds: bool, invariant: &str) {
        assert!(holds, "{invariant}\nseed {}, script:\n{}", self.seed, self.script());
    }

    pub(crate) fn every_acknowledged_memory_is_there(&self) -> bool {
        let stored: HashSet<MemoryId> = self.now.all.iter().map(|it| it.id).collect();
        self.world.memory_ids().iter().all(|it| stored.contains(it) || self.purged.contains(it))
    }

    pub(crate) fn versions_only_grow(&mut self) -> bool {
        let mut only_grow = true;
        for memory in &self.now.all {
            let before = self.versions.insert(memory.id, memory.version);
            only_grow &= before.is_none_or(|before| before <= memory.version);
        }
        only_grow
    }

    pub(crate) fn changed_since(&self, before: &NotebookSnapshot) -> bool {
        self.now.all != before.all || self.now.visible != before.visible
    }

    pub(crate) fn search_finds(&mut self, word: &str, id: MemoryId) -> bool {
        let query = SearchQuery {
            text: word.to_owned(),
            files: Vec::new(),
            filter: MemoryFilter::active(10_000),
            scope: None,
            phase: None,
            purpose: SearchPurpose::Search,
            // Every match counts here, however weak.
            disabled_stages: DisabledStages(vec![RankingStage::Abstain]),
        };
        let results = self.world.with_project(async |project| {
            project.embedding_indexer().embed_new_memories().await;
            project.retriever().search(&query).await
        });
        let hits = results.expect("every word can be searched for").hits;
        hits.iter().any(|it| it.rated.memory.id == id)
    }

    pub(crate) fn is_in_a_file(&self, text: &str) -> bool {
        !self.world.files_with(text).is_empty()
    }

    pub(crate) fn a_secret_is_in_a_file(&self) -> bool {
        SECRET_NAMES.iter().any(|it| self.is_in_a_file(&fake_secret(it)))
    }
}

impl NotebookSnapshot {
    pub(crate) fn no_text_holds_a_secret(&self) -> bool {
        let secrets: Vec<String> = SECRET_NAMES.iter().map(|it| fake_secret(it)).collect();
        let clean = |text: &String| !secrets.iter().any(|it| text.contains(it));
        self.texts.iter().all(clean)
    }

    pub(crate) fn shows_only_active_memories(&self) -> bool {
        let inactive = [MemoryStatus::Deleted, MemoryStatus::Deprecated];
        self.visible.iter().all(|it| !inactive.contains(&it.status()))
    }

    /// Returns the words `mark…x` that the generator plants. Each occurs in one memory only, so
    /// that a search for it after a purge finds no other memory.
    pub(crate) fn planted_marks(&self) -> BTreeSet<String> {
        let words = self.texts.iter().flat_map(|it| it.split(|it: char| !it.is_alphanumeric()));
        words.filter(|it| it.starts_with("mark") && it.ends_with('x')).map(str::to_owned).collect()
    }
}

async fn take_snapshot(project: &mut Project) -> Result<NotebookSnapshot, Error> {
    let mut snapshot = NotebookSnapshot::default();
    let listed = project.retriever().list(&MemoryFilter::active(10_000), None).await?;
    snapshot.visible = listed.into_iter().map(|it| without_bookkeeping(it.memory)).collect();
    for scope in [NotebookScope::Project, NotebookScope::User] {
        let export = project.maintenance().export(scope).await?;
        let older = export.versions.iter().flat_map(|it| &it.1);
        snapshot.texts.extend(export.memories.iter().chain(older).flat_map(memory_texts));
        snapshot.all.extend(export.memories);
    }
    Ok(snapshot)
}

/// Returns the memory without the fields that an undo does not restore.
fn without_bookkeeping(memory: Memory) -> Memory {
    let (updated_at, hlc, counters) =
        (Timestamp(0), HybridTimestamp::default(), UsageCounters::default());
    Memory { version: 0, updated_at, hlc, counters, ..memory }
}

fn memory_texts(memory: &Memory) -> Vec<String> {
    let mut texts = vec![memory.content.clone(), memory.summary.clone(), memory.citation.clone()];
    texts.extend(memory.tags.iter().chain(&memory.modules).cloned());
    texts.extend(memory.states.deprecated_reason.clone());
    texts
}
