//! Recall: a question to 10,000 and 100,000 memories (a million when asked for by name), beside the
//! straightforward way: a cosine in SQL over every vector, and the full-text index's own order.
//!
//! Texts have words as language has them, few of them often and most of them rarely. Vectors are
//! made up, in clusters; what they mean does not matter here. The question is embedded for real.

mod code;

use std::collections::HashSet;
use std::future::Future;

use engine::{Config, Engine, Filter, Models, Progress, Purpose, Question, Reach, Without};
use infer::{DIMS, MODEL_ID, encode_i8};
use model::{Grain, Memory, MemoryId, ProjectPath};
use store::{DataDir, Embedding, Part};

use crate::clock::{Times, show, times};
use crate::store::{NOW, fill, memory};
use crate::table::{Row, row};

const WORDS: u32 = 40;
const VOCABULARY: f64 = 60_000.0;
const AT_ONCE: u32 = 2_000;
/// As many as a session's search looks around in.
const AT_HAND: u32 = 8;

pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    let mut res = measured(10_000, ["p50 < 10 ms, p99 < 25 ms", "p50 < 1 ms", ""])?;
    res.extend(beside_code(10_000, "p50 < 10 ms, p99 < 25 ms")?);
    res.extend(measured(100_000, ["", "p50 < 4 ms, ≥ 20 × faster", "p50 < 0.2 ms"])?);
    res.extend(beside_code(100_000, "")?);
    Ok(res)
}

pub(crate) fn run_million() -> anyhow::Result<Vec<Row>> {
    measured(1_000_000, ["", "p50 < 25 ms", ""])
}

fn measured(n: u32, goals: [&'static str; 3]) -> anyhow::Result<Vec<Row>> {
    let hall = Hall::new(n, Reach::User)?;
    let baseline = hall.baseline(if n > 10_000 { 10 } else { 40 })?;
    let whole = times(200, |round| hall.ask(&sentence(round)));
    // The vector of a question that was asked before is known.
    let again = times(200, |round| hall.ask(&question(round % 20)));
    let warned = times(200, |round| hall.touch(round));
    Ok(vec![
        row(format!("search, question embedded, {n} memories"), whole.both(), goals[0], ""),
        row(
            format!("retrieval without the embedding, {n} memories"),
            again.both(),
            goals[1],
            format!(
                "SQL cosine + FTS5: {} p50 ({:.0} × as long)",
                show(baseline.p50()),
                baseline.p50().as_secs_f64() / again.p50().as_secs_f64()
            ),
        ),
        row(format!("warnings about a file, {n} memories"), warned.both(), goals[2], ""),
    ])
}

/// The same with files at hand, in a project whose code and history are read: neighbouring files come
/// in, by the third path and by the boost. Beside it the same memories and files without an index.
fn beside_code(n: u32, goal: &'static str) -> anyhow::Result<Vec<Row>> {
    let mut hall = Hall::new(n, Reach::Project)?;
    // Who asks a second time asks something else: the vector of a question that was asked is known.
    let ask = |hall: &Hall, first: usize| {
        let embedded =
            times(200, |round| hall.ask_at(&sentence(first + round), hall.at_hand(round)));
        let again = times(200, |round| hall.ask_at(&question(round % 20), hall.at_hand(round)));
        (embedded, again)
    };
    let without = ask(&hall, 0);
    hall.read_code()?;
    let with = ask(&hall, 1_000);
    let beside = |it: &Times, other: &Times| {
        let ratio = it.p99().as_secs_f64() / other.p99().as_secs_f64();
        format!("no index: {}; p99 {} ({ratio:.1} ×)", it.against(other), show(other.p99()))
    };
    let what = format!("{AT_HAND} files at hand, {} files indexed, {n} memories", hall.n_files);
    Ok(vec![
        row(
            format!("search, question embedded, {what}"),
            with.0.both(),
            goal,
            beside(&with.0, &without.0),
        ),
        row(
            format!("retrieval without the embedding, {what}"),
            with.1.both(),
            "",
            beside(&with.1, &without.1),
        ),
    ])
}

/// A notebook with many memories, a user's or a project's.
struct Hall {
    dir: tempfile::TempDir,
    n_files: u32,
    engine: Engine,
    runtime: tokio::runtime::Runtime,
}

impl Hall {
    fn new(n: u32, reach: Reach) -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        // Ten memories each, of every type.
        let n_files = n / 10 + 1;
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let config = Config {
            data: dir.path().to_owned(),
            key: None,
            home: None,
            types: Vec::new(),
            models: Models::built_in(),
            random: || [7; 10],
        };
        let start = dir.path().join("elsewhere");
        std::fs::create_dir(&start)?;
        if reach == Reach::Project {
            code::write(&start, n_files)?;
        }
        let mut engine = runtime.block_on(Engine::open(config, &start, NOW))?;
        let notebook = runtime.block_on(engine.notebook(reach))?;
        for from in (0..n).step_by(AT_ONCE as usize) {
            let project = notebook.project;
            let memory = |it| Memory { project, ..worded(it, n_files) };
            let memories = (from..n.min(from + AT_ONCE)).map(memory);
            let ids = runtime.block_on(fill(&notebook.store, memories.collect()));
            let embedded = ids.into_iter().zip(from..).map(vectors).collect();
            runtime.block_on(notebook.store.put_vectors(embedded))?;
        }
        runtime.block_on(engine.arrange())?;
        Ok(Self { dir, n_files, engine, runtime })
    }

    /// Reads the code and the history of the project.
    fn read_code(&mut self) -> anyhow::Result<()> {
        let progress = Progress::default();
        self.runtime.block_on(self.engine.index_code(&progress, 2))?;
        self.runtime.block_on(self.engine.index_history(&progress))?;
        let (around, _) = self.wait(self.engine.neighbours(&[file(7, self.n_files)]))?;
        anyhow::ensure!(around.len() >= code::CALLED, "files are next to one another");
        Ok(())
    }

    fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// The files that somebody has open: one thing leads to another.
    fn at_hand(&self, round: usize) -> Vec<ProjectPath> {
        let first = u32::try_from(round).unwrap_or(0) * 61;
        let files = (first..first + AT_HAND).map(|it| file(it, self.n_files));
        files.filter_map(|it| ProjectPath::parse(&it).ok()).collect()
    }

    fn ask(&self, text: &str) {
        self.ask_at(text, Vec::new());
    }

    fn ask_at(&self, text: &str, files: Vec<ProjectPath>) {
        let question = Question {
            text: text.to_owned(),
            files,
            filter: Filter::standing(10),
            reach: None,
            phase: None,
            purpose: Purpose::Search,
            without: Without(vec![engine::Stage::Abstain]),
        };
        let answer = self.wait(self.engine.recall(&question)).expect("a question is answered");
        assert!(!answer.hits.is_empty(), "something holds the words");
    }

    /// One of the files memories are about, some of which are warnings.
    fn touch(&self, round: usize) {
        let file = ProjectPath::parse(&file(u32::try_from(round).unwrap_or(0), self.n_files))
            .expect("a path");
        let warned = self.wait(self.engine.by_file(&[file], &HashSet::new()));
        assert!(!warned.expect("a file is looked up").is_empty(), "something warns");
    }

    /// The same tables asked directly: every vector compared in SQL, every match sorted by `bm25`.
    fn baseline(&self, rounds: usize) -> anyhow::Result<Times> {
        let path = DataDir::new(self.dir.path()).user().database();
        let conn = rusqlite::Connection::open(path)?;
        let vector: Vec<u8> = spread(5).iter().flat_map(|it| it.to_le_bytes()).collect();
        Ok(times(rounds, |round| {
            let near =
                "SELECT owner FROM embeddings ORDER BY vector_distance_cos(vector, ?1) LIMIT 30";
            let words = "SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?1 ORDER BY bm25(memories_fts) LIMIT 20";
            let terms: Vec<String> =
                question(round).split(' ').map(|it| format!("\"{it}\"")).collect();
            let found = (|| {
                let near = conn
                    .prepare_cached(near)?
                    .query_map([&vector], |row| row.get::<_, Vec<u8>>(0))?
                    .count();
                let asked = terms.join(" OR ");
                let held = conn
                    .prepare_cached(words)?
                    .query_map([asked], |row| row.get::<_, i64>(0))?
                    .count();
                Ok::<_, rusqlite::Error>(near + held)
            })();
            assert!(found.is_ok_and(|it| it > 20), "both ways find something");
        }))
    }
}

/// A memory of forty words as language has them.
fn worded(n: u32, n_files: u32) -> Memory {
    let words: Vec<String> = (0..WORDS).map(|at| word(hash(n, at))).collect();
    let content = words.join(" ");
    let files = ProjectPath::parse(&file(n, n_files)).into_iter().collect();
    Memory { summary: content.chars().take(120).collect(), content, files, ..memory(n) }
}

fn file(n: u32, n_files: u32) -> String {
    format!("src/file{}.rs", n % n_files)
}

/// A question of about twelve tokens, with one word that some memory holds.
fn sentence(round: usize) -> String {
    let held = word(hash(u32::try_from(round).unwrap_or(0) * 37 + 11, 3));
    format!("why does the limiter reject {held} after a deploy")
}

/// Twelve words that some memory holds, of which a third are common.
fn question(round: usize) -> String {
    let n = u32::try_from(round).unwrap_or(0) * 37 + 11;
    let words: Vec<String> = (0..12).map(|at| word(hash(n, at * 3))).collect();
    words.join(" ")
}

/// A word by its rank: the second half as often as the first, the third a third as often.
fn word(random: u32) -> String {
    let share = f64::from(random) / f64::from(u32::MAX);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
    let rank = VOCABULARY.powf(share) as u32;
    let letters = (0..4).map(|at| char::from(b'a' + (hash(rank, at) % 26) as u8));
    letters.chain(format!("{rank}").chars().map(|it| (it as u8 - b'0' + b'a') as char)).collect()
}

fn vectors((owner, n): (MemoryId, u32)) -> Embedding {
    let values = spread(n);
    let part = Part { grain: Grain::Part, code: encode_i8(&values), values };
    Embedding { owner, version: 1, model: MODEL_ID.to_owned(), parts: vec![part] }
}

/// A vector of length one near one of a thousand centres.
fn spread(n: u32) -> Vec<f32> {
    let dims = u32::try_from(DIMS).unwrap_or(0);
    let unit = |seed: u32, at: u32| f32::from((hash(seed, at) % 2_001) as u16) / 1_000.0 - 1.0;
    let centre = n % 1_000 + 1_000_000;
    let mut res: Vec<f32> = (0..dims).map(|at| unit(centre, at) + 0.7 * unit(n, at)).collect();
    let length = res.iter().map(|it| it * it).sum::<f32>().sqrt();
    for it in &mut res {
        *it /= length;
    }
    res
}

/// Numbers that look random and are the same in every run.
fn hash(a: u32, b: u32) -> u32 {
    let mut x = u64::from(a) << 32 | u64::from(b);
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (x >> 32) as u32
}
