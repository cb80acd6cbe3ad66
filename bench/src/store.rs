//! The store: durable writes, point reads, lists and opening, small and with 100,000 memories.

use std::future::Future;

use model::{
    Actor, HybridTimestamp, Memory, MemoryFlags, MemoryId, MemoryScope, MemorySource, MemoryType,
    PerMille, ProjectPath, SoftStates, Timestamp, UsageCounters, Visibility,
};
use store::{AuditAction, DataDir, EncryptionKey, MemoryFilter, Store, StoreChange, WriteBatch};

use crate::table::{BenchRow, row};
use crate::timing::{format_duration, time_rounds};

/// The time of all benchmarks, so that runs are repeatable.
pub(crate) const BENCH_NOW: Timestamp = Timestamp(1_794_700_800_000);

/// A data folder with a runtime for the store.
pub(crate) struct StoreFixture {
    pub(crate) dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl StoreFixture {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        Ok(Self { dir: tempfile::tempdir()?, runtime })
    }

    fn open(&self, key: Option<EncryptionKey>) -> Store {
        Store::user(DataDir::new(self.dir.path()).user_paths(), key, BENCH_NOW)
    }

    fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Inserts the memories number `from` to `from + n - 1` in one transaction.
    fn fill(&self, store: &Store, from: u32, n: u32) -> Vec<MemoryId> {
        self.block_on(fill(store, (from..from + n).map(generated_memory).collect()))
    }
}

/// Inserts memories in one transaction.
pub(crate) async fn fill(store: &Store, memories: Vec<Memory>) -> Vec<MemoryId> {
    let changes = memories.into_iter().map(|it| StoreChange::Insert(Box::new(it))).collect();
    let batch = WriteBatch {
        key: None,
        action: AuditAction::Import,
        actor: Actor::User,
        detail: None,
        now: BENCH_NOW,
        after_clock: HybridTimestamp::default(),
        changes,
    };
    store.apply(batch).await.expect("a benchmark's store accepts its memories").ids
}

pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    let fixture = StoreFixture::new()?;
    let store = fixture.open(None);
    let write = time_rounds(300, |round| {
        fixture.fill(&store, u32::try_from(round).unwrap_or(0) * 20, 20);
    });
    let raw = time_raw_writes(fixture.dir.path())?;
    let mut rows = vec![row(
        "20 memories in one durable transaction",
        write.format_p50_p99(),
        "< 2 ms",
        format_raw_note(&write, &raw),
    )];
    let ids = fixture.fill(&store, 1_000_000, 500);
    let read = time_rounds(5_000, |round| {
        let found = fixture.block_on(store.memories().get(ids[round % ids.len()]));
        assert!(found.is_ok_and(|it| it.is_some()), "the memory is there");
    });
    let together = time_rounds(200, |_| {
        let found = fixture.block_on(store.memories().get_many(ids.clone()));
        assert_eq!(found.map(|it| it.len()).ok(), Some(ids.len()), "every memory is there");
    });
    let each = together.p50() / u32::try_from(ids.len()).unwrap_or(1);
    let raw_read = time_raw_reads(fixture.dir.path())?;
    let raw_note = format!("two-column row: {} p50", format_duration(raw_read.p50()));
    rows.push(row(
        "point read, hash checked (500 in one call, each)",
        format_duration(each),
        "< 10 µs",
        raw_note,
    ));
    rows.push(row(
        "point read alone, through the async handle",
        read.format_p50_p99(),
        "",
        "two switches between threads",
    ));
    // Only in builds with the `encryption` feature.
    if store::ENCRYPTION_AVAILABLE {
        let fixture = StoreFixture::new()?;
        let store = fixture.open(Some(EncryptionKey::new("a benchmark's key")?));
        let encrypted = time_rounds(300, |round| {
            fixture.fill(&store, u32::try_from(round).unwrap_or(0) * 20, 20);
        });
        rows.push(row(
            "20 memories, encrypted at rest",
            encrypted.format_p50_p99(),
            "",
            encrypted.format_against(&write),
        ));
    }
    Ok(rows)
}

pub(crate) fn run_large() -> anyhow::Result<Vec<BenchRow>> {
    const N: u32 = 100_000;
    let fixture = StoreFixture::new()?;
    {
        let store = fixture.open(None);
        // In batches, to bound the memory of one transaction.
        for from in (0..N).step_by(5_000) {
            fixture.fill(&store, from, 5_000);
        }
    }
    // Opening and one read: the first read of a connection loads the schema.
    let open = time_rounds(20, |_| {
        let found = fixture.block_on(fixture.open(None).memories().get(generated_memory(5).id));
        assert!(found.is_ok_and(|it| it.is_some()), "the memory is there");
    });
    let store = fixture.open(None);
    let list = time_rounds(200, |_| {
        let found = fixture.block_on(store.memories().list(MemoryFilter::active(100)));
        assert_eq!(found.map(|it| it.len()).ok(), Some(100), "a full page");
    });
    let by_file = time_rounds(200, |round| {
        let file = ProjectPath::parse(&format!("src/file{}.rs", round % 1000)).ok();
        let found = fixture
            .block_on(store.memories().list(MemoryFilter { file, ..MemoryFilter::active(100) }));
        assert!(found.is_ok_and(|it| !it.is_empty()), "the file has memories");
    });
    let search = time_rounds(100, |round| {
        let found =
            fixture.block_on(store.memories().search(
                format!("\"word{}\" AND \"limiter\"", round % 997),
                MemoryFilter::active(20),
            ));
        assert!(found.is_ok(), "a search answers");
    });
    let bytes = std::fs::metadata(fixture.open(None).path())?.len();
    Ok(vec![
        row(
            "open a database of 100,000 memories and read one",
            open.format_p50_p99(),
            "< 50 ms",
            format!("{} MB file", bytes >> 20),
        ),
        row("list 100 of 100,000", list.format_p50_p99(), "< 5 ms", ""),
        row("memories of one file, of 100,000", by_file.format_p50_p99(), "", "100 rows each"),
        row("keyword search, two words, of 100,000", search.format_p50_p99(), "", ""),
    ])
}

/// Baseline: a durable transaction of 20 rows in one table without index or hash.
fn time_raw_writes(dir: &std::path::Path) -> anyhow::Result<crate::timing::SampleTimes> {
    let conn = rusqlite::Connection::open(dir.join("raw.db"))?;
    conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id BLOB, content TEXT)")?;
    Ok(time_rounds(300, |round| {
        let inserted = (|| {
            conn.execute_batch("BEGIN IMMEDIATE")?;
            for at in 0..20 {
                let memory = generated_memory(u32::try_from(round * 20 + at).unwrap_or(0));
                conn.prepare_cached("INSERT INTO t VALUES (?1, ?2)")?
                    .execute((memory.id.0.as_bytes().as_slice(), &memory.content))?;
            }
            conn.execute_batch("COMMIT")
        })();
        inserted.expect("raw inserts work");
    }))
}

/// Baseline: reads of one column by an indexed id, from the table of [`time_raw_writes`].
fn time_raw_reads(dir: &std::path::Path) -> anyhow::Result<crate::timing::SampleTimes> {
    let conn = rusqlite::Connection::open(dir.join("raw.db"))?;
    conn.execute_batch("CREATE UNIQUE INDEX t_id ON t (id)")?;
    Ok(time_rounds(5_000, |round| {
        let id = generated_memory(u32::try_from(round % 5_000).unwrap_or(0)).id;
        let found =
            conn.prepare_cached("SELECT content FROM t WHERE id = ?1").and_then(|mut it| {
                it.query_row((id.0.as_bytes().as_slice(),), |row| row.get::<_, String>(0))
            });
        assert!(found.is_ok(), "the row is there");
    }))
}

fn format_raw_note(write: &crate::timing::SampleTimes, raw: &crate::timing::SampleTimes) -> String {
    format!("bare table: {}", write.format_against(raw))
}

/// The memory number `n`, the same in every run. Texts differ in a few words and numbers.
pub(crate) fn generated_memory(n: u32) -> Memory {
    // As in real data: the memories of one batch share a timestamp, and their ids differ in the
    // random part.
    let written = Timestamp(BENCH_NOW.0 + i64::from(n / 20));
    // Multiplicative hashing (Knuth), with 2^64 divided by the golden ratio: bytes that look random.
    let mixed = (u64::from(n) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
    let random_part = std::array::from_fn(|at| mixed[at % 8]);
    let content = format!(
        "word{} in module{}: the rate limiter must run before verifyJwt{} because the token bucket is shared between \
         workers; a request that fails there is counted twice and shows up as quota{} in the report",
        n % 997,
        n % 50,
        n,
        n % 13
    );
    Memory {
        id: MemoryId::new(written, random_part),
        project: None,
        kind: MemoryType::Core(model::MemoryKind::ALL[n as usize % 6]),
        source: MemorySource::UserTaught,
        scope: MemoryScope::Global,
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
        flags: MemoryFlags::default(),
        states: SoftStates::default(),
        payload: None,
        created_by: Actor::User,
        created_at: BENCH_NOW,
        updated_at: BENCH_NOW,
        version: 0,
        hlc: HybridTimestamp::default(),
        counters: UsageCounters::default(),
    }
}
