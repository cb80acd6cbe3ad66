//! A random run of operations, and a snapshot of the notebooks after each.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{HybridTimestamp, Memory, MemoryId, MemoryStatus, Timestamp, UsageCounters};
use testkit::{RandomScript, SECRET_NAMES, TestWorld, fake_secret};
use waylore_engine::{
    DisabledStages, Error, MemoryFilter, NotebookScope, Project, RankingStage, SearchPurpose,
    SearchQuery,
};

pub(crate) struct RandomRun {
    seed: u64,
    world: TestWorld,
    script_source: RandomScript,
    script: Vec<String>,
    /// Memories that were purged, or forgotten so long ago that maintenance removed them.
    purged: HashSet<MemoryId>,
    versions: HashMap<MemoryId, u32>,
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
            script_source: RandomScript::new(seed),
            script: Vec::new(),
            purged: HashSet::new(),
            versions: HashMap::new(),
            now: NotebookSnapshot::default(),
        }
    }

    pub(crate) fn next_line(&mut self) -> String {
        self.script_source.next_line(&self.world)
    }

    pub(crate) fn script(&self) -> String {
        self.script.join("\n")
    }

    /// Plays a line without taking a snapshot.
    pub(crate) fn play_line(&mut self, line: &str) -> String {
        self.script.push(line.to_owned());
        let answer = self.world.run_line(line);
        for it in answer.lines().filter(|it| it.starts_with("purged ") || it.starts_with("gone: "))
        {
            let named =
                it.split([' ', ',']).filter_map(|it| it.strip_prefix('m')?.parse::<usize>().ok());
            for id in named.map(|it| self.world.memory_ids()[it - 1]).collect::<Vec<_>>() {
                // A memory that is imported again starts with version 1.
                self.versions.remove(&id);
                self.purged.insert(id);
            }
        }
        answer
    }

    /// Plays a line and takes a snapshot. Returns the snapshot from before.
    pub(crate) fn play_and_observe(&mut self, line: &str) -> (String, NotebookSnapshot) {
        let answer = self.play_line(line);
        let now = self.world.with_project(take_snapshot).expect("everything can be read");
        (answer, std::mem::replace(&mut self.now, now))
    }

    /// Everything that is stored, as text.
    pub(crate) fn export(&mut self) -> String {
        let both = async |engine: &mut Project| {
            Ok((
                engine.maintenance().export(NotebookScope::Project).await?,
                engine.maintenance().export(NotebookScope::User).await?,
            ))
        };
        format!("{:#?}", self.world.with_project(both).expect("everything can be read"))
    }

    #[track_caller]
    pub(crate) fn assert_holds(&self, holds: bool, sentence: &str) {
        assert!(holds, "{sentence}\nseed {}, script:\n{}", self.seed, self.script());
    }

    pub(crate) fn every_acknowledged_memory_is_there(&self) -> bool {
        let there: HashSet<MemoryId> = self.now.all.iter().map(|it| it.id).collect();
        self.world.memory_ids().iter().all(|it| there.contains(it) || self.purged.contains(it))
    }

    pub(crate) fn versions_only_grow(&mut self) -> bool {
        let mut grown = true;
        for it in &self.now.all {
            let before = self.versions.insert(it.id, it.version);
            grown &= before.is_none_or(|before| before <= it.version);
        }
        grown
    }

    pub(crate) fn changed_since(&self, before: &NotebookSnapshot) -> bool {
        self.now.all != before.all || self.now.visible != before.visible
    }

    pub(crate) fn search_finds(&mut self, word: &str, id: MemoryId) -> bool {
        let question = SearchQuery {
            text: word.to_owned(),
            files: Vec::new(),
            filter: MemoryFilter::active(10_000),
            scope: None,
            phase: None,
            purpose: SearchPurpose::Search,
            disabled_stages: DisabledStages(vec![RankingStage::Abstain]),
        };
        let answer = self.world.with_project(async |engine| {
            engine.embedding_indexer().embed_before_search().await;
            engine.retriever().search(&question).await
        });
        let hits = answer.expect("a word can be looked for").hits;
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
        let fallen = [MemoryStatus::Deleted, MemoryStatus::Deprecated];
        self.visible.iter().all(|it| !fallen.contains(&it.status()))
    }

    /// The planted words, each of which occurs once.
    pub(crate) fn planted_marks(&self) -> BTreeSet<String> {
        let words = self.texts.iter().flat_map(|it| it.split(|it: char| !it.is_alphanumeric()));
        words.filter(|it| it.starts_with("mark") && it.ends_with('x')).map(str::to_owned).collect()
    }
}

async fn take_snapshot(engine: &mut Project) -> Result<NotebookSnapshot, Error> {
    let mut res = NotebookSnapshot::default();
    let shown = engine.retriever().list(&MemoryFilter::active(10_000), None).await?;
    res.visible = shown.into_iter().map(|it| without_bookkeeping(it.memory)).collect();
    for reach in [NotebookScope::Project, NotebookScope::User] {
        let package = engine.maintenance().export(reach).await?;
        let older = package.versions.iter().flat_map(|it| &it.1);
        res.texts.extend(package.memories.iter().chain(older).flat_map(memory_texts));
        res.all.extend(package.memories);
    }
    Ok(res)
}

/// A memory without the fields that change by themselves.
fn without_bookkeeping(memory: Memory) -> Memory {
    let (updated_at, hlc, counters) =
        (Timestamp(0), HybridTimestamp::default(), UsageCounters::default());
    Memory { version: 0, updated_at, hlc, counters, ..memory }
}

fn memory_texts(memory: &Memory) -> Vec<String> {
    let mut res = vec![memory.content.clone(), memory.summary.clone(), memory.citation.clone()];
    res.extend(memory.tags.iter().chain(&memory.modules).cloned());
    res.extend(memory.states.deprecated_reason.clone());
    res
}
