//! Test fixtures: a data folder of its own, a fixed clock, memories to store.
//!
//! `TestBench` owns the folder and the async runtime; its methods do what most tests need in one
//! call. `memory` and `full_memory` build memories by number; `id` is the id of a number.

mod files;
mod seed;
mod state;

use model::{
    Actor, ErrorPattern, Grain, HybridTimestamp, Memory, MemoryFlags, MemoryId, MemoryScope,
    MemorySource, MemoryType, Payload, PerMille, ProjectId, ProjectPath, Relation, RelationKind,
    RelationTarget, SessionId, SoftStates, SymbolAnchor, Timestamp, UsageCounters, Visibility,
    WorkUnit,
};
use waylore_store::{
    AppliedBatch, AuditAction, DataDir, DatabasePaths, Error, MemoryEmbedding, Store, StoreChange,
    VectorPart, WriteBatch,
};

pub(crate) use files::{copy_folder, files_containing, files_under, is_scratch};
pub(crate) use seed::SeededRandom;
pub(crate) use state::{MODEL, StoreContents, everything};

/// The time of all tests.
pub(crate) const NOW: Timestamp = Timestamp(1_794_700_800_000);

/// A temporary folder with a data folder in it, and a runtime.
pub(crate) struct TestBench {
    pub(crate) dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl TestBench {
    pub(crate) fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { dir: tempfile::tempdir().unwrap(), runtime }
    }

    pub(crate) fn data_dir(&self) -> DataDir {
        DataDir::new(self.dir.path().join("data"))
    }

    pub(crate) fn user_paths(&self) -> DatabasePaths {
        self.data_dir().user_paths()
    }

    /// Opens the user's database with a new handle.
    pub(crate) fn open(&self) -> Store {
        Store::user(self.user_paths(), None, NOW)
    }

    #[cfg(feature = "encryption")]
    pub(crate) fn open_with(&self, key: Option<&waylore_store::EncryptionKey>) -> Store {
        Store::user(self.user_paths(), key.cloned(), NOW)
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Inserts a simple memory.
    pub(crate) fn add(&self, store: &Store, n: u32, content: &str) -> MemoryId {
        self.insert(store, memory(n, content))
    }

    pub(crate) fn insert(&self, store: &Store, memory: Memory) -> MemoryId {
        let changes = vec![StoreChange::Insert(Box::new(memory))];
        self.apply(store, AuditAction::Remember, changes).unwrap().ids[0]
    }

    /// Changes a memory and stores the new version.
    pub(crate) fn edit(&self, store: &Store, id: MemoryId, change: impl FnOnce(&mut Memory)) {
        let mut memory = self.block_on(store.memories().get(id)).unwrap().unwrap();
        change(&mut memory);
        self.apply(store, AuditAction::Edit, vec![StoreChange::Replace(Box::new(memory))]).unwrap();
    }

    /// Stores one vector of the model `MODEL` for the current version of a memory.
    pub(crate) fn embed(&self, store: &Store, owner: MemoryId, values: Vec<f32>, code: Vec<i8>) {
        let version = self.block_on(store.memories().get(owner)).unwrap().unwrap().version;
        let parts = vec![VectorPart { grain: Grain::Part, values, code }];
        let embedding = MemoryEmbedding { owner, version, model: MODEL.to_owned(), parts };
        assert_eq!(self.block_on(store.put_vectors(vec![embedding])).unwrap(), [true]);
    }

    /// Applies changes as one batch.
    pub(crate) fn apply(
        &self,
        store: &Store,
        action: AuditAction,
        changes: Vec<StoreChange>,
    ) -> Result<AppliedBatch, Error> {
        self.block_on(store.apply(batch(action, changes)))
    }

    /// Reads everything a store holds.
    pub(crate) fn state(&self, store: &Store) -> StoreContents {
        self.block_on(StoreContents::read(store)).unwrap()
    }
}

pub(crate) fn batch(action: AuditAction, changes: Vec<StoreChange>) -> WriteBatch {
    let (actor, after) = (Actor::User, HybridTimestamp::default());
    WriteBatch { key: None, action, actor, detail: None, now: NOW, after_clock: after, changes }
}

/// The id of memory `n`. Its short id is `n` in hexadecimal.
pub(crate) fn id(n: u32) -> MemoryId {
    let mut random = [7; 10];
    random[6..].copy_from_slice(&n.to_be_bytes());
    MemoryId::new(NOW, random)
}

pub(crate) fn path(text: &str) -> ProjectPath {
    ProjectPath::parse(text).unwrap()
}

/// A memory with few fields set.
pub(crate) fn memory(n: u32, content: &str) -> Memory {
    Memory {
        id: id(n),
        project: None,
        kind: MemoryType::from_slug("gotcha").unwrap(),
        source: MemorySource::UserTaught,
        scope: MemoryScope::Global,
        visibility: Visibility::Personal,
        content: content.to_owned(),
        summary: content.to_owned(),
        citation: content.chars().take(40).collect(),
        confidence: PerMille::new(900),
        tags: vec!["tag".to_owned()],
        files: vec![path("src/auth.rs")],
        modules: vec!["auth".to_owned()],
        anchors: Vec::new(),
        work_unit: None,
        session: None,
        provenance: Vec::new(),
        commit: None,
        branch: Some("main".to_owned()),
        relations: Vec::new(),
        half_life_days: None,
        flags: MemoryFlags::default(),
        states: SoftStates::default(),
        payload: None,
        created_by: Actor::User,
        created_at: NOW,
        updated_at: NOW,
        version: 0,
        hlc: HybridTimestamp::default(),
        counters: UsageCounters::default(),
    }
}

/// A memory with a value in every field, and `word` in every text.
pub(crate) fn full_memory(n: u32, word: &str) -> Memory {
    let sentence = |what: &str| format!("{what} {word} end");
    let name = |what: &str| format!("{what}{word}");
    let session = SessionId::new(NOW, [9; 10]);
    let relation =
        |kind, target| Relation { kind, target, confidence: PerMille::new(800), auto: true };
    Memory {
        project: Some(ProjectId::new(NOW, [5; 10])),
        kind: MemoryType::from_slug("error_pattern").unwrap(),
        content: sentence("content"),
        summary: sentence("summary"),
        citation: sentence("cited").chars().take(40).collect(),
        tags: vec![name("tag"), "tag".to_owned()],
        files: vec![path(&format!("src/{}.rs", name("file"))), path("src/auth.rs")],
        modules: vec![name("module")],
        anchors: vec![SymbolAnchor {
            file: path(&format!("src/{}.rs", name("anchored"))),
            symbol: name("symbol"),
            hash: name("hash"),
        }],
        work_unit: Some(WorkUnit {
            methodology: name("method"),
            hierarchy: vec![name("epic"), name("story")],
            label: sentence("label"),
        }),
        session: Some(session),
        provenance: vec![session],
        commit: Some(name("commit")),
        branch: Some(name("branch")),
        relations: vec![
            relation(RelationKind::DerivedFrom, RelationTarget::Memory(id(4_000))),
            relation(
                RelationKind::Validates,
                RelationTarget::File(path(&format!("src/{}.rs", name("related")))),
            ),
        ],
        half_life_days: Some(45),
        flags: MemoryFlags {
            needs_review: false,
            user_verified: true,
            pinned: true,
            tainted: false,
            candidate: false,
        },
        states: SoftStates {
            deprecated_at: Some(NOW),
            deprecated_reason: Some(sentence("reason")),
            stale_at: Some(NOW),
            deleted_at: None,
        },
        payload: Some(Payload::ErrorPattern(ErrorPattern {
            fingerprint: name("print"),
            tool: "cargo".to_owned(),
            message: sentence("message"),
            resolution: Some(sentence("resolution \"quoted\"")),
        })),
        created_by: Actor::Agent("coder".to_owned()),
        ..memory(n, "")
    }
}

#[cfg(feature = "encryption")]
pub(crate) fn key(secret: &str) -> waylore_store::EncryptionKey {
    waylore_store::EncryptionKey::new(secret).unwrap()
}
