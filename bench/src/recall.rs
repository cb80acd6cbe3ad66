//! Retrieval from 10,000 and 100,000 memories (a million if named). The baseline is plain SQL: a
//! cosine over every vector, and the full-text index in its own order.
//!
//! A search compares the question with every memory by vectors (embeddings) and by words. The words of
//! the texts follow Zipf's law, as in natural language. The vectors are generated in clusters; their
//! meaning does not matter here. The question is embedded by the model.

mod repository;

use std::collections::HashSet;
use std::future::Future;

use engine::{
    Config, DisabledStages, MemoryFilter, ModelSet, NotebookScope, Project, SearchPurpose,
    SearchQuery, TaskProgress,
};
use infer::{DIMS, MODEL_ID, encode_i8};
use model::{Grain, Memory, MemoryId, ProjectPath};
use store::{DataDir, MemoryEmbedding, VectorPart};

use crate::store::{BENCH_NOW, fill, generated_memory};
use crate::table::{BenchRow, row};
use crate::timing::{SampleTimes, format_duration, time_rounds};

const WORDS_PER_MEMORY: u32 = 40;
const VOCABULARY_SIZE: f64 = 60_000.0;
const MEMORIES_PER_BATCH: u32 = 2_000;
/// Recently used files passed with a search, as many as a session passes.
const RECENT_FILES: u32 = 8;

/// Goals of the three rows of [`measure_searches`]; empty if there is none.
struct SearchGoals {
    /// A search whose question must be embedded first.
    embedded: &'static str,
    /// A search whose question has a cached vector.
    cached: &'static str,
    /// The lookup of warnings about a file.
    warnings: &'static str,
}

pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    let goals =
        SearchGoals { embedded: "p50 < 10 ms, p99 < 25 ms", cached: "p50 < 1 ms", warnings: "" };
    let mut rows = measure_searches(10_000, &goals)?;
    rows.extend(measure_with_code(10_000, "p50 < 10 ms, p99 < 25 ms")?);
    let goals =
        SearchGoals {
            embedded: "", cached: "p50 < 4 ms, ≥ 20 × faster", warnings: "p50 < 0.2 ms"
        };
    rows.extend(measure_searches(100_000, &goals)?);
    rows.extend(measure_with_code(100_000, "")?);
    Ok(rows)
}

pub(crate) fn run_million() -> anyhow::Result<Vec<BenchRow>> {
    let goals = SearchGoals { embedded: "", cached: "p50 < 25 ms", warnings: "" };
    measure_searches(1_000_000, &goals)
}

fn measure_searches(n: u32, goals: &SearchGoals) -> anyhow::Result<Vec<BenchRow>> {
    let fixture = SearchFixture::new(n, NotebookScope::User)?;
    // The baseline is slow on large tables; fewer rounds suffice.
    let baseline = fixture.time_sql_baseline(if n > 10_000 { 10 } else { 40 })?;
    let embedded = time_rounds(200, |round| fixture.search(&question_sentence(round)));
    // The vector of a repeated question is cached.
    let cached = time_rounds(200, |round| fixture.search(&keyword_question(round % 20)));
    let warned = time_rounds(200, |round| fixture.warn_about_file(round));
    Ok(vec![
        row(
            format!("search, question embedded, {n} memories"),
            embedded.format_p50_p99(),
            goals.embedded,
            "",
        ),
        row(
            format!("retrieval without the embedding, {n} memories"),
            cached.format_p50_p99(),
            goals.cached,
            format!(
                "SQL cosine + FTS5: {} p50 ({:.0} × as long)",
                format_duration(baseline.p50()),
                baseline.p50().as_secs_f64() / cached.p50().as_secs_f64()
            ),
        ),
        row(
            format!("warnings about a file, {n} memories"),
            warned.format_p50_p99(),
            goals.warnings,
            "",
        ),
    ])
}

/// The same with recently used files, in a project whose code and history are indexed: memories of
/// neighbouring files are retrieved and boosted. The baseline is the same search without an index.
fn measure_with_code(n: u32, goal: &'static str) -> anyhow::Result<Vec<BenchRow>> {
    let mut fixture = SearchFixture::new(n, NotebookScope::Project)?;
    // The second call uses other questions, because the vectors of the first ones are cached.
    let ask = |fixture: &SearchFixture, first: usize| {
        let embedded = time_rounds(200, |round| {
            fixture.search_near(&question_sentence(first + round), fixture.recent_files(round));
        });
        let cached = time_rounds(200, |round| {
            fixture.search_near(&keyword_question(round % 20), fixture.recent_files(round));
        });
        (embedded, cached)
    };
    let (embedded_without, cached_without) = ask(&fixture, 0);
    fixture.index_code()?;
    let (embedded, cached) = ask(&fixture, 1_000);
    let beside = |it: &SampleTimes, other: &SampleTimes| {
        let ratio = it.p99().as_secs_f64() / other.p99().as_secs_f64();
        format!(
            "no index: {}; p99 {} ({ratio:.1} ×)",
            it.format_against(other),
            format_duration(other.p99())
        )
    };
    let what =
        format!("{RECENT_FILES} recent files, {} files indexed, {n} memories", fixture.n_files);
    Ok(vec![
        row(
            format!("search, question embedded, {what}"),
            embedded.format_p50_p99(),
            goal,
            beside(&embedded, &embedded_without),
        ),
        row(
            format!("retrieval without the embedding, {what}"),
            cached.format_p50_p99(),
            "",
            beside(&cached, &cached_without),
        ),
    ])
}

/// A project with many memories, in the user's notebook or its own.
struct SearchFixture {
    dir: tempfile::TempDir,
    n_files: u32,
    project: Project,
    runtime: tokio::runtime::Runtime,
}

impl SearchFixture {
    fn new(n: u32, scope: NotebookScope) -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        // Ten memories per file, of all types.
        let n_files = n / 10 + 1;
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let config = Config {
            data: dir.path().to_owned(),
            key: None,
            home: None,
            types: Vec::new(),
            trusted_servers: Vec::new(),
            models: ModelSet::built_in(),
            random: || [7; 10],
        };
        let root = dir.path().join("elsewhere");
        std::fs::create_dir(&root)?;
        if scope == NotebookScope::Project {
            repository::write_repository(&root, n_files)?;
        }
        let mut project = runtime.block_on(Project::open(config, &root, BENCH_NOW))?;
        let notebook = runtime.block_on(project.ensure_notebook(scope))?;
        for from in (0..n).step_by(MEMORIES_PER_BATCH as usize) {
            let project_id = notebook.project;
            let memory = |it| Memory { project: project_id, ..natural_memory(it, n_files) };
            let memories = (from..n.min(from + MEMORIES_PER_BATCH)).map(memory);
            let store = project.notebook_writer(&notebook);
            let ids = runtime.block_on(fill(&store, memories.collect()));
            // Generated vectors: embedding so many texts would take hours.
            let embedded = ids.into_iter().zip(from..).map(memory_embedding).collect();
            runtime.block_on(store.put_vectors(embedded))?;
        }
        // The daemon clusters in the background; searches use the clusters.
        runtime.block_on(project.embedding_indexer().cluster_vectors())?;
        Ok(Self { dir, n_files, project, runtime })
    }

    /// Indexes the code and the history of the project.
    fn index_code(&mut self) -> anyhow::Result<()> {
        let progress = TaskProgress::default();
        self.runtime.block_on(self.project.code_indexer().index_code(&progress, 2))?;
        self.runtime.block_on(self.project.code_indexer().index_history(&progress))?;
        let (around, _) =
            self.block_on(self.project.code_graph().neighbours(&[file_path(7, self.n_files)]))?;
        anyhow::ensure!(
            around.len() >= repository::CALLS_PER_FILE,
            "the index has too few neighbours"
        );
        Ok(())
    }

    fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Recently used files: consecutive ones, which refer to one another.
    fn recent_files(&self, round: usize) -> Vec<ProjectPath> {
        // 61 is prime: another group of files in each round.
        let first = u32::try_from(round).unwrap_or(0) * 61;
        let files = (first..first + RECENT_FILES).map(|it| file_path(it, self.n_files));
        files.filter_map(|it| ProjectPath::parse(&it).ok()).collect()
    }

    fn search(&self, text: &str) {
        self.search_near(text, Vec::new());
    }

    fn search_near(&self, text: &str, files: Vec<ProjectPath>) {
        let question = SearchQuery {
            text: text.to_owned(),
            files,
            filter: MemoryFilter::active(10),
            scope: None,
            phase: None,
            purpose: SearchPurpose::Search,
            // Every question must have hits, whatever their relevance.
            disabled_stages: DisabledStages(vec![engine::RankingStage::Abstain]),
        };
        let answer =
            self.block_on(self.project.retriever().search(&question)).expect("the search succeeds");
        assert!(!answer.hits.is_empty(), "the search finds a memory");
    }

    /// Looks up the warnings about one of the files.
    fn warn_about_file(&self, round: usize) {
        let file = ProjectPath::parse(&file_path(u32::try_from(round).unwrap_or(0), self.n_files))
            .expect("the path is valid");
        let warned =
            self.block_on(self.project.retriever().file_warnings(&[file], &HashSet::new()));
        assert!(!warned.expect("the lookup succeeds").is_empty(), "the file has warnings");
    }

    /// Baseline: the same tables queried directly, every vector compared in SQL and every match
    /// sorted by `bm25`.
    fn time_sql_baseline(&self, rounds: usize) -> anyhow::Result<SampleTimes> {
        let path = DataDir::new(self.dir.path()).user_paths().database();
        let conn = rusqlite::Connection::open(path)?;
        let vector: Vec<u8> = clustered_vector(5).iter().flat_map(|it| it.to_le_bytes()).collect();
        Ok(time_rounds(rounds, |round| {
            let near =
                "SELECT owner FROM embeddings ORDER BY vector_distance_cos(vector, ?1) LIMIT 30";
            let words = "SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?1 ORDER BY bm25(memories_fts) LIMIT 20";
            let terms: Vec<String> =
                keyword_question(round).split(' ').map(|it| format!("\"{it}\"")).collect();
            let found = (|| {
                let near = conn
                    .prepare_cached(near)?
                    .query_map([&vector], |row| row.get::<_, Vec<u8>>(0))?
                    .count();
                let query = terms.join(" OR ");
                let held = conn
                    .prepare_cached(words)?
                    .query_map([query], |row| row.get::<_, i64>(0))?
                    .count();
                Ok::<_, rusqlite::Error>(near + held)
            })();
            assert!(found.is_ok_and(|it| it > 20), "both queries find something");
        }))
    }
}

/// A memory whose words follow Zipf's law.
fn natural_memory(n: u32, n_files: u32) -> Memory {
    let words: Vec<String> = (0..WORDS_PER_MEMORY).map(|at| zipf_word(mix_hash(n, at))).collect();
    let content = words.join(" ");
    let files = ProjectPath::parse(&file_path(n, n_files)).into_iter().collect();
    Memory { summary: content.chars().take(120).collect(), content, files, ..generated_memory(n) }
}

fn file_path(n: u32, n_files: u32) -> String {
    format!("src/file{}.rs", n % n_files)
}

/// A question of about twelve tokens, one of which occurs in a memory.
fn question_sentence(round: usize) -> String {
    let held = zipf_word(mix_hash(u32::try_from(round).unwrap_or(0) * 37 + 11, 3));
    format!("why does the limiter reject {held} after a deploy")
}

/// Twelve words of one memory, a third of them common.
fn keyword_question(round: usize) -> String {
    let n = u32::try_from(round).unwrap_or(0) * 37 + 11;
    let words: Vec<String> = (0..12).map(|at| zipf_word(mix_hash(n, at * 3))).collect();
    words.join(" ")
}

/// A word drawn by Zipf's law: the second is half as frequent as the first, the third a third.
pub(crate) fn zipf_word(random: u32) -> String {
    let share = f64::from(random) / f64::from(u32::MAX);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
    // Inverse of the cumulative distribution of 1 / rank.
    let rank = VOCABULARY_SIZE.powf(share) as u32;
    // Four letters that look random, then the digits of the rank as letters, which make it unique.
    let mut word: String =
        (0..4).map(|at| char::from(b'a' + (mix_hash(rank, at) % 26) as u8)).collect();
    for digit in rank.to_string().bytes() {
        word.push(char::from(digit - b'0' + b'a'));
    }
    word
}

pub(crate) fn memory_embedding((owner, n): (MemoryId, u32)) -> MemoryEmbedding {
    let values = clustered_vector(n);
    let part = VectorPart { grain: Grain::Part, code: encode_i8(&values), values };
    MemoryEmbedding { owner, version: 1, model: MODEL_ID.to_owned(), parts: vec![part] }
}

/// A unit vector near one of a thousand centres.
fn clustered_vector(n: u32) -> Vec<f32> {
    let dims = u32::try_from(DIMS).unwrap_or(0);
    // A number from -1 to 1.
    let unit = |seed: u32, at: u32| f32::from((mix_hash(seed, at) % 2_001) as u16) / 1_000.0 - 1.0;
    // Seeds of centres lie above those of memories.
    let centre = n % 1_000 + 1_000_000;
    let mut vector: Vec<f32> = (0..dims).map(|at| unit(centre, at) + 0.7 * unit(n, at)).collect();
    let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
    for it in &mut vector {
        *it /= length;
    }
    vector
}

/// Pseudo-random number, the same in every run (finaliser of `MurmurHash3`).
pub(crate) fn mix_hash(a: u32, b: u32) -> u32 {
    let mut x = u64::from(a) << 32 | u64::from(b);
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (x >> 32) as u32
}
