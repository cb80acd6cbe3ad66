//! A random life and what can be seen of it at each turn.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{Counters, Hlc, Memory, MemoryId, Status, Timestamp};
use testkit::{PLANTS, Story, World, plant};
use waylore_engine::{Engine, Error, Filter, Purpose, Question, Reach, Stage, Without};

pub(crate) struct Tale {
    seed: u64,
    world: World,
    story: Story,
    script: Vec<String>,
    /// What was purged, or was forgotten so long ago that upkeep removed it.
    gone: HashSet<MemoryId>,
    versions: HashMap<MemoryId, u32>,
    pub(crate) now: Look,
}

/// Everything there is, and what of it a person sees.
#[derive(Clone, Default)]
pub(crate) struct Look {
    pub(crate) visible: Vec<Memory>,
    pub(crate) all: Vec<Memory>,
    /// Every text that is kept, older versions too.
    pub(crate) texts: Vec<String>,
}

impl Tale {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            world: World::new(seed),
            story: Story::new(seed),
            script: Vec::new(),
            gone: HashSet::new(),
            versions: HashMap::new(),
            now: Look::default(),
        }
    }

    pub(crate) fn next(&mut self) -> String {
        self.story.next(&self.world)
    }

    pub(crate) fn script(&self) -> String {
        self.script.join("\n")
    }

    /// Plays a line without looking.
    pub(crate) fn play(&mut self, line: &str) -> String {
        self.script.push(line.to_owned());
        let answer = self.world.line(line);
        for it in answer.lines().filter(|it| it.starts_with("purged ") || it.starts_with("gone: "))
        {
            let named =
                it.split([' ', ',']).filter_map(|it| it.strip_prefix('m')?.parse::<usize>().ok());
            for id in named.map(|it| self.world.ids()[it - 1]).collect::<Vec<_>>() {
                // Should it ever come back, it begins anew.
                self.versions.remove(&id);
                self.gone.insert(id);
            }
        }
        answer
    }

    /// Plays a line, and looks; returns what was to be seen before.
    pub(crate) fn turn(&mut self, line: &str) -> (String, Look) {
        let answer = self.play(line);
        let now = self.world.with(look).expect("everything can be read");
        (answer, std::mem::replace(&mut self.now, now))
    }

    /// Everything that is kept, in words.
    pub(crate) fn export(&mut self) -> String {
        let both = async |engine: &mut Engine| {
            Ok((engine.export(Reach::Project).await?, engine.export(Reach::User).await?))
        };
        format!("{:#?}", self.world.with(both).expect("everything can be read"))
    }

    #[track_caller]
    pub(crate) fn must(&self, holds: bool, sentence: &str) {
        assert!(holds, "{sentence}\nseed {}, script:\n{}", self.seed, self.script());
    }

    pub(crate) fn every_acknowledged_memory_is_there(&self) -> bool {
        let there: HashSet<MemoryId> = self.now.all.iter().map(|it| it.id).collect();
        self.world.ids().iter().all(|it| there.contains(it) || self.gone.contains(it))
    }

    pub(crate) fn versions_only_grow(&mut self) -> bool {
        let mut grown = true;
        for it in &self.now.all {
            let before = self.versions.insert(it.id, it.version);
            grown &= before.is_none_or(|before| before <= it.version);
        }
        grown
    }

    pub(crate) fn changed_since(&self, before: &Look) -> bool {
        self.now.all != before.all || self.now.visible != before.visible
    }

    pub(crate) fn finds(&mut self, word: &str, id: MemoryId) -> bool {
        let question = Question {
            text: word.to_owned(),
            files: Vec::new(),
            filter: Filter::standing(10_000),
            reach: None,
            phase: None,
            purpose: Purpose::Search,
            without: Without(vec![Stage::Abstain]),
        };
        let answer = self.world.with(async |engine| engine.recall(&question).await);
        let hits = answer.expect("a word can be looked for").hits;
        hits.iter().any(|it| it.shown.memory.id == id)
    }

    pub(crate) fn is_in_a_file(&self, text: &str) -> bool {
        !self.world.files_with(text).is_empty()
    }

    pub(crate) fn a_secret_is_in_a_file(&self) -> bool {
        PLANTS.iter().any(|it| self.is_in_a_file(&plant(it)))
    }
}

impl Look {
    pub(crate) fn no_text_holds_a_secret(&self) -> bool {
        let secrets: Vec<String> = PLANTS.iter().map(|it| plant(it)).collect();
        let clean = |text: &String| !secrets.iter().any(|it| text.contains(it));
        self.texts.iter().all(clean)
    }

    pub(crate) fn only_what_stands(&self) -> bool {
        let fallen = [Status::Deleted, Status::Deprecated];
        self.visible.iter().all(|it| !fallen.contains(&it.status()))
    }

    /// Words that were planted to occur once.
    pub(crate) fn marks(&self) -> BTreeSet<String> {
        let words = self.texts.iter().flat_map(|it| it.split(|it: char| !it.is_alphanumeric()));
        words.filter(|it| it.starts_with("mark") && it.ends_with('x')).map(str::to_owned).collect()
    }
}

async fn look(engine: &mut Engine) -> Result<Look, Error> {
    let mut res = Look::default();
    let shown = engine.list(&Filter::standing(10_000), None).await?;
    res.visible = shown.into_iter().map(|it| statement(it.memory)).collect();
    for reach in [Reach::Project, Reach::User] {
        let package = engine.export(reach).await?;
        let older = package.versions.iter().flat_map(|it| &it.1);
        res.texts.extend(package.memories.iter().chain(older).flat_map(texts));
        res.all.extend(package.memories);
    }
    Ok(res)
}

/// A memory without what changes by itself.
fn statement(memory: Memory) -> Memory {
    let (updated_at, hlc, counters) = (Timestamp(0), Hlc::default(), Counters::default());
    Memory { version: 0, updated_at, hlc, counters, ..memory }
}

fn texts(memory: &Memory) -> Vec<String> {
    let mut res = vec![memory.content.clone(), memory.summary.clone(), memory.citation.clone()];
    res.extend(memory.tags.iter().chain(&memory.modules).cloned());
    res.extend(memory.states.deprecated_reason.clone());
    res
}
