//! What every store test needs: a folder of its own, a clock it sets, memories to put in.

use model::{
    Actor, Counters, Flags, Hlc, Memory, MemoryId, MemoryType, PerMille, Scope, SoftStates, Source,
    Timestamp, Visibility,
};
use waylore_store::{Action, Applied, Batch, Change, DataDir, Error, Store};

pub(crate) const NOW: Timestamp = Timestamp(1_794_700_800_000);

pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { dir: tempfile::tempdir().unwrap(), runtime }
    }

    pub(crate) fn data(&self) -> DataDir {
        DataDir::new(self.dir.path().join("data"))
    }

    pub(crate) fn open(&self) -> Store {
        Store::user(self.data().user(), None, NOW)
    }

    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub(crate) fn add(&self, store: &Store, n: u8, content: &str) -> MemoryId {
        let res =
            self.apply(store, Action::Remember, vec![Change::Insert(Box::new(memory(n, content)))]);
        res.unwrap().ids[0]
    }

    pub(crate) fn apply(
        &self,
        store: &Store,
        action: Action,
        changes: Vec<Change>,
    ) -> Result<Applied, Error> {
        self.wait(store.apply(batch(action, changes)))
    }
}

pub(crate) fn batch(action: Action, changes: Vec<Change>) -> Batch {
    Batch { key: None, action, actor: Actor::User, detail: None, now: NOW, changes }
}

pub(crate) fn memory(n: u8, content: &str) -> Memory {
    Memory {
        id: MemoryId::new(NOW, [n; 10]),
        project: None,
        kind: MemoryType::from_slug("gotcha").unwrap(),
        source: Source::UserTaught,
        scope: Scope::Global,
        visibility: Visibility::Personal,
        content: content.to_owned(),
        summary: content.to_owned(),
        citation: content.chars().take(40).collect(),
        confidence: PerMille::new(900),
        tags: vec!["tag".to_owned()],
        files: vec![model::ProjectPath::parse("src/auth.rs").unwrap()],
        modules: vec!["auth".to_owned()],
        anchors: Vec::new(),
        work_unit: None,
        session: None,
        provenance: Vec::new(),
        commit: None,
        branch: Some("main".to_owned()),
        relations: Vec::new(),
        half_life_days: None,
        flags: Flags::default(),
        states: SoftStates::default(),
        payload: None,
        created_by: Actor::User,
        created_at: NOW,
        updated_at: NOW,
        version: 0,
        hlc: Hlc::default(),
        counters: Counters::default(),
    }
}
