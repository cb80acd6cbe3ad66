//! The store: durable writes, point reads, lists and opening, small and with 100,000 memories.

use std::future::Future;

use model::{
    Actor, Counters, Flags, Hlc, Memory, MemoryId, MemoryType, PerMille, ProjectPath, Scope,
    SoftStates, Source, Timestamp, Visibility,
};
use store::{Action, Batch, Change, DataDir, Filter, Key, Store};

use crate::clock::{show, times};
use crate::table::{Row, row};

pub(crate) const NOW: Timestamp = Timestamp(1_794_700_800_000);

pub(crate) struct Site {
    pub(crate) dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl Site {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        Ok(Self { dir: tempfile::tempdir()?, runtime })
    }

    fn open(&self, key: Option<Key>) -> Store {
        Store::user(DataDir::new(self.dir.path()).user(), key, NOW)
    }

    fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    fn fill(&self, store: &Store, from: u32, n: u32) -> Vec<MemoryId> {
        self.wait(fill(store, (from..from + n).map(memory).collect()))
    }
}

/// Writes memories in one transaction.
pub(crate) async fn fill(store: &Store, memories: Vec<Memory>) -> Vec<MemoryId> {
    let changes = memories.into_iter().map(|it| Change::Insert(Box::new(it))).collect();
    let batch = Batch {
        key: None,
        action: Action::Import,
        actor: Actor::User,
        detail: None,
        now: NOW,
        after: Hlc::default(),
        changes,
    };
    store.apply(batch).await.expect("a benchmark's store accepts its memories").ids
}

pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    let site = Site::new()?;
    let store = site.open(None);
    let write = times(300, |round| {
        site.fill(&store, u32::try_from(round).unwrap_or(0) * 20, 20);
    });
    let raw = raw_writes(site.dir.path())?;
    let mut res = vec![row(
        "20 memories in one durable transaction",
        write.both(),
        "< 2 ms",
        raw_note(&write, &raw),
    )];
    let ids = site.fill(&store, 1_000_000, 500);
    let read = times(5_000, |round| {
        let found = site.wait(store.get(ids[round % ids.len()]));
        assert!(found.is_ok_and(|it| it.is_some()), "the memory is there");
    });
    let together = times(200, |_| {
        let found = site.wait(store.get_all(ids.clone()));
        assert_eq!(found.map(|it| it.len()).ok(), Some(ids.len()), "every memory is there");
    });
    let work = together.p50() / u32::try_from(ids.len()).unwrap_or(1);
    let raw_read = raw_reads(site.dir.path())?;
    let raw_note = format!("two-column row: {} p50", show(raw_read.p50()));
    res.push(row(
        "point read, hash checked (500 in one call, each)",
        show(work),
        "< 10 µs",
        raw_note,
    ));
    res.push(row(
        "point read alone, through the async handle",
        read.both(),
        "",
        "two thread hand-overs",
    ));
    if store::ENCRYPTION_AVAILABLE {
        let site = Site::new()?;
        let store = site.open(Some(Key::new("a benchmark's key")?));
        let encrypted = times(300, |round| {
            site.fill(&store, u32::try_from(round).unwrap_or(0) * 20, 20);
        });
        res.push(row(
            "20 memories, encrypted at rest",
            encrypted.both(),
            "",
            encrypted.against(&write),
        ));
    }
    Ok(res)
}

pub(crate) fn run_large() -> anyhow::Result<Vec<Row>> {
    const N: u32 = 100_000;
    let site = Site::new()?;
    {
        let store = site.open(None);
        for from in (0..N).step_by(5_000) {
            site.fill(&store, from, 5_000);
        }
    }
    let open = times(20, |_| {
        let found = site.wait(site.open(None).get(memory(5).id));
        assert!(found.is_ok_and(|it| it.is_some()), "the memory is there");
    });
    let store = site.open(None);
    let list = times(200, |_| {
        let found = site.wait(store.list(Filter::standing(100)));
        assert_eq!(found.map(|it| it.len()).ok(), Some(100), "a full page");
    });
    let by_file = times(200, |round| {
        let file = ProjectPath::parse(&format!("src/file{}.rs", round % 1000)).ok();
        let found = site.wait(store.list(Filter { file, ..Filter::standing(100) }));
        assert!(found.is_ok_and(|it| !it.is_empty()), "the file has memories");
    });
    let search = times(100, |round| {
        let found = site.wait(
            store.search(format!("\"word{}\" AND \"limiter\"", round % 997), Filter::standing(20)),
        );
        assert!(found.is_ok(), "a search answers");
    });
    let bytes = std::fs::metadata(site.open(None).path())?.len();
    Ok(vec![
        row(
            "open a database of 100,000 memories and read one",
            open.both(),
            "< 50 ms",
            format!("{} MB file", bytes >> 20),
        ),
        row("list 100 of 100,000", list.both(), "< 5 ms", ""),
        row("memories of one file, of 100,000", by_file.both(), "", "100 rows each"),
        row("keyword search, two words, of 100,000", search.both(), "", ""),
    ])
}

/// The least a durable transaction of 20 rows can cost here: one table, no index, no hash.
fn raw_writes(dir: &std::path::Path) -> anyhow::Result<crate::clock::Times> {
    let conn = rusqlite::Connection::open(dir.join("raw.db"))?;
    conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id BLOB, content TEXT)")?;
    Ok(times(300, |round| {
        let inserted = (|| {
            conn.execute_batch("BEGIN IMMEDIATE")?;
            for at in 0..20 {
                let memory = memory(u32::try_from(round * 20 + at).unwrap_or(0));
                conn.prepare_cached("INSERT INTO t VALUES (?1, ?2)")?
                    .execute((memory.id.0.as_bytes().as_slice(), &memory.content))?;
            }
            conn.execute_batch("COMMIT")
        })();
        inserted.expect("raw inserts work");
    }))
}

fn raw_reads(dir: &std::path::Path) -> anyhow::Result<crate::clock::Times> {
    let conn = rusqlite::Connection::open(dir.join("raw.db"))?;
    conn.execute_batch("CREATE UNIQUE INDEX t_id ON t (id)")?;
    Ok(times(5_000, |round| {
        let id = memory(u32::try_from(round % 5_000).unwrap_or(0)).id;
        let found =
            conn.prepare_cached("SELECT content FROM t WHERE id = ?1").and_then(|mut it| {
                it.query_row((id.0.as_bytes().as_slice(),), |row| row.get::<_, String>(0))
            });
        assert!(found.is_ok(), "the row is there");
    }))
}

fn raw_note(write: &crate::clock::Times, raw: &crate::clock::Times) -> String {
    format!("bare table: {}", write.against(raw))
}

pub(crate) fn memory(n: u32) -> Memory {
    // As in life: what one batch of twenty wrote was written in one moment, and ids differ in their random ends.
    let written = Timestamp(NOW.0 + i64::from(n / 20));
    let mixed = (u64::from(n) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
    let tail = std::array::from_fn(|at| mixed[at % 8]);
    let content = format!(
        "word{} in module{}: the rate limiter must run before verifyJwt{} because the token bucket is shared between \
         workers; a request that fails there is counted twice and shows up as quota{} in the report",
        n % 997,
        n % 50,
        n,
        n % 13
    );
    Memory {
        id: MemoryId::new(written, tail),
        project: None,
        kind: MemoryType::Core(model::Kind::ALL[n as usize % 6]),
        source: Source::UserTaught,
        scope: Scope::Global,
        visibility: Visibility::Personal,
        summary: content.chars().take(120).collect(),
        citation: content.chars().take(40).collect(),
        content,
        confidence: PerMille::new(900),
        tags: vec!["auth".to_owned()],
        files: ProjectPath::parse(&format!("src/file{}.rs", n % 1000)).into_iter().collect(),
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
