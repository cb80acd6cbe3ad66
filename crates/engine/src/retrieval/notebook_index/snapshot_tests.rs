//! An index that begins with a snapshot equals one that was read from the rows, whatever was written
//! before, between and after.

use std::collections::BTreeMap;

use model::{
    Grain, HybridTimestamp, Memory, MemoryId, MemoryScope, MemorySource, MemoryType, PerMille,
    SessionId, Timestamp, UsageCounters, Visibility,
};
use proptest::prelude::*;
use store::{AuditAction, DataDir, MemoryEmbedding, MemoryFilter, Store, StoreChange, VectorPart};

use super::{NotebookIndex, SearchExclusions};
use crate::editing::user_batch;

const NOW: Timestamp = Timestamp(2_000_000);
const MODEL: &str = "model";
const VECTOR_DIMS: usize = 8;

/// One thing that happens to a notebook. Memories are chosen by a number modulo how many there are.
#[derive(Clone, Debug)]
enum Step {
    Add {
        n_words: u8,
        session: u8,
        branch: u8,
    },
    Reword(u8),
    Pin(u8),
    Forget(u8),
    Embed {
        nth: u8,
        n_parts: u8,
        value: i8,
    },
    Erase(u8),
    Remove(u8),
    EraseText,
    /// Writes a snapshot of the index that a process holds.
    Save,
    /// The process ends; the next one begins with the snapshot on disk.
    Crash,
    /// A crash while a snapshot is written leaves part of one.
    CrashWhileSaving,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1_u8..9, 0_u8..3, 0_u8..3)
            .prop_map(|(n_words, session, branch)| Step::Add { n_words, session, branch }),
        2 => any::<u8>().prop_map(Step::Reword),
        1 => any::<u8>().prop_map(Step::Pin),
        1 => any::<u8>().prop_map(Step::Forget),
        4 => (any::<u8>(), 1_u8..4, any::<i8>())
            .prop_map(|(nth, n_parts, value)| Step::Embed { nth, n_parts, value }),
        1 => any::<u8>().prop_map(Step::Erase),
        1 => any::<u8>().prop_map(Step::Remove),
        1 => Just(Step::EraseText),
        3 => Just(Step::Save),
        2 => Just(Step::Crash),
        1 => Just(Step::CrashWhileSaving),
    ];
    prop::collection::vec(step, 1..30)
}

/// A notebook with the index of one process.
struct Notebook {
    dir: tempfile::TempDir,
    store: Store,
    index: NotebookIndex,
    n_added: u8,
}

impl Notebook {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::user(DataDir::new(dir.path()).user_paths(), None, NOW);
        Self { dir, store, index: NotebookIndex::new(MODEL, VECTOR_DIMS), n_added: 0 }
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Add { n_words, session, branch } => {
                self.n_added += 1;
                let memory = memory(self.n_added, n_words, session, branch);
                self.apply(StoreChange::Insert(Box::new(memory))).await;
            }
            Step::Reword(nth) => self.edit(nth, |it| it.content.push_str(" again")).await,
            Step::Pin(nth) => self.edit(nth, |it| it.flags.pinned = true).await,
            Step::Forget(nth) => self.edit(nth, |it| it.states.deleted_at = Some(NOW)).await,
            Step::Embed { nth, n_parts, value } => self.embed(nth, n_parts, value).await,
            Step::Erase(nth) => {
                let chosen = self.choose(nth).await;
                let ids = chosen.iter().map(|it| it.id).collect();
                self.store.erase(ids, NOW).await.unwrap();
            }
            Step::Remove(nth) => {
                let chosen = self.choose(nth).await;
                let ids = chosen.iter().map(|it| it.id).collect();
                self.store.remove_forgotten(ids).await.unwrap();
            }
            Step::EraseText => {
                let clean = |it: &str| it.contains("again").then(|| it.replace("again", "-"));
                self.store.erase_text(clean).await.unwrap();
            }
            Step::Save => self.save().await,
            Step::Crash => self.index = self.read_snapshot().await,
            Step::CrashWhileSaving => {
                let path = self.dir.path().join("user.index");
                if let Ok(bytes) = std::fs::read(&path) {
                    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
                }
                self.index = self.read_snapshot().await;
            }
        }
    }

    async fn apply(&self, change: StoreChange) {
        self.store.apply(user_batch(AuditAction::Edit, NOW, vec![change])).await.unwrap();
    }

    async fn choose(&self, nth: u8) -> Option<Memory> {
        let mut memories = self.store.memories().list(MemoryFilter::active(99)).await.unwrap();
        let n_memories = memories.len();
        (n_memories > 0).then(|| memories.swap_remove(usize::from(nth) % n_memories))
    }

    async fn edit(&self, nth: u8, change: impl FnOnce(&mut Memory)) {
        let Some(mut memory) = self.choose(nth).await else { return };
        change(&mut memory);
        self.apply(StoreChange::Replace(Box::new(memory))).await;
    }

    async fn embed(&self, nth: u8, n_parts: u8, value: i8) {
        let Some(memory) = self.choose(nth).await else { return };
        let grains = [Grain::Part, Grain::Sentence, Grain::Code];
        let part = |nth: u8| VectorPart {
            grain: grains[usize::from(nth)],
            values: vec![0.5; VECTOR_DIMS],
            code: (0..8).map(|it| value.wrapping_mul(it).wrapping_add(nth.cast_signed())).collect(),
        };
        let parts = (0..n_parts).map(part).collect();
        let (owner, version) = (memory.id, memory.version);
        let embedding = MemoryEmbedding { owner, version, model: MODEL.to_owned(), parts };
        assert_eq!(self.store.put_vectors(vec![embedding]).await.unwrap(), [true]);
    }

    async fn save(&mut self) {
        update(&mut self.index, &self.store).await;
        let content = self.index.to_snapshot().unwrap();
        let position = self.index.position.clone().unwrap();
        let written = self.store.put_index_snapshot(position, MODEL.to_owned(), content);
        assert!(written.await.unwrap(), "the index is up to date");
    }

    /// The index of a new process before its first update.
    async fn read_snapshot(&self) -> NotebookIndex {
        let read = self.store.memories().index_snapshot(MODEL.to_owned()).await.unwrap();
        let index = read.map(|it| {
            NotebookIndex::from_snapshot(MODEL, VECTOR_DIMS, it.position.clone(), it.content())
                .expect("this version wrote it")
        });
        index.unwrap_or_else(|| NotebookIndex::new(MODEL, VECTOR_DIMS))
    }
}

async fn update(index: &mut NotebookIndex, store: &Store) {
    let since = index.position.clone();
    if let Some(delta) = store.memories().index_delta(MODEL.to_owned(), since).await.unwrap() {
        index.update(delta);
    }
}

fn memory(n: u8, n_words: u8, session: u8, branch: u8) -> Memory {
    let content = vec![format!("word{n}"); usize::from(n_words)].join(" ");
    Memory {
        id: MemoryId::new(NOW, [n; 10]),
        project: None,
        kind: MemoryType::from_slug(if n.is_multiple_of(2) { "gotcha" } else { "decision" })
            .unwrap(),
        source: MemorySource::UserTaught,
        scope: MemoryScope::Global,
        visibility: Visibility::Personal,
        summary: content.clone(),
        citation: String::new(),
        content,
        confidence: PerMille::new(900),
        tags: Vec::new(),
        files: Vec::new(),
        modules: Vec::new(),
        anchors: Vec::new(),
        work_unit: None,
        session: (session > 0).then(|| SessionId::new(NOW, [session; 10])),
        provenance: Vec::new(),
        commit: None,
        branch: (branch > 0).then(|| format!("branch{branch}")),
        relations: Vec::new(),
        half_life_days: None,
        flags: model::MemoryFlags::default(),
        states: model::SoftStates::default(),
        payload: None,
        created_by: model::Actor::User,
        created_at: NOW,
        updated_at: NOW,
        version: 0,
        hlc: HybridTimestamp::default(),
        counters: UsageCounters::default(),
    }
}

/// Everything that a search reads from an index, as text.
fn describe(index: &NotebookIndex) -> String {
    let mut numbers: BTreeMap<u32, String> = BTreeMap::new();
    let branch_filter =
        |branch: &str| MemoryFilter { branch: Some(branch.to_owned()), ..MemoryFilter::active(99) };
    for number in 0..u32::try_from(index.facets.len()).unwrap() {
        let Some(id) = index.id(number) else { continue };
        assert_eq!(index.number(id), Some(number));
        let neighbours = index.session_neighbours(number, 9).map(|it| it.neighbours);
        let facets = index.facets[number as usize].unwrap();
        let line = format!(
            "{id} {:?} {} {:?} words {} code {} {neighbours:?}",
            facets.status,
            facets.pinned,
            facets.session,
            index.words_of(number),
            index.is_source_code(number),
        );
        numbers.insert(number, line);
    }
    let query = [1, -2, 3, -4, 5, -6, 7, -8];
    let everything = recall::SlotSet::first_n(200);
    let nearest = |codes| recall::nearest_slots(codes, &query, &everything, 50).unwrap();
    let allowed = |branch: &str| {
        let allowed = index.allowed(&branch_filter(branch), None, &SearchExclusions::default());
        allowed.iter().collect::<Vec<_>>()
    };
    format!(
        "{numbers:#?} texts {} words {} unembedded {:?} branches {:?} {:?} nearest {:?} {:?} {:?}",
        index.n_texts(),
        index.n_words(),
        index.unembedded(),
        allowed("branch1"),
        allowed("branch2"),
        nearest(&index.codes),
        nearest(&index.sentences),
        index.vector_stats,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_index_from_a_snapshot_equals_one_read_from_the_rows(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut notebook = Notebook::new();
            for step in steps {
                notebook.take(step).await;
            }
            let mut fresh = NotebookIndex::new(MODEL, VECTOR_DIMS);
            update(&mut fresh, &notebook.store).await;
            let mut from_snapshot = notebook.read_snapshot().await;
            for index in [&mut notebook.index, &mut from_snapshot] {
                update(index, &notebook.store).await;
                prop_assert_eq!(describe(index), describe(&fresh));
            }
            Ok(())
        })?;
    }
}

#[test]
fn bytes_of_another_version_or_model_are_not_read() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut notebook = Notebook::new();
        notebook.take(Step::Add { n_words: 3, session: 1, branch: 1 }).await;
        notebook.take(Step::Embed { nth: 0, n_parts: 3, value: 7 }).await;
        update(&mut notebook.index, &notebook.store).await;
        let (content, position) =
            (notebook.index.to_snapshot().unwrap(), notebook.index.position.clone().unwrap());
        let read = |dims: usize, content: &[u8]| {
            NotebookIndex::from_snapshot(MODEL, dims, position.clone(), content).is_some()
        };
        assert!(read(VECTOR_DIMS, &content));
        assert!(!read(VECTOR_DIMS + 1, &content), "another model");
        for cut in 0..content.len() {
            assert!(!read(VECTOR_DIMS, &content[..cut]), "cut at {cut}");
        }
        let mut other = content.clone();
        other[0] ^= 1;
        assert!(!read(VECTOR_DIMS, &other), "another layout");
    });
}
