//! Finding the right memory, through the product's own write and search paths.
//!
//! Every corpus becomes a project: its documents are imported as memories, vectors are made as they
//! always are, and every question is put to the engine as `waylore search` puts it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::{
    Config, Engine, Filter, ImportRecord, Intake, Models, OnSecret, Progress, Purpose, Question,
    Reach, Stage, Taken, Verdict, Without,
};
use model::{
    Actor, Counters, Flags, Hlc, Kind, MAX_CONTENT, Memory, MemoryId, MemoryType, PerMille,
    ProjectPath, Scope, SessionId, SoftStates, Source, Timestamp, Visibility,
};
use serde_json::{Value, json};

use crate::corpus::{Corpus, Doc, Query, TASKS, Task};
use crate::{data, halves, report};

/// Questions about things that no corpus speaks of.
const UNRELATED: &str = include_str!("../unrelated.txt");

/// How many documents are ranked for the scorer.
const RANKED: u32 = 60;

pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let given = |name: &str| args.iter().skip_while(|it| *it != name).nth(1).cloned();
    let only = given("--only");
    let keep = given("--keep").map(PathBuf::from);
    let without = stages(given("--without").as_deref().unwrap_or_default())?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for task in TASKS.iter().filter(|it| only.as_ref().is_none_or(|only| it.name.contains(only))) {
        if !data::is_present(&folder.join(task.file)) {
            continue;
        }
        let corpora = (task.read)(folder)?;
        let runs = if args.iter().any(|it| it == "--ablate") {
            ablations()
        } else {
            vec![without.clone()]
        };
        let ground = Ground {
            repo: given("--repo").map(PathBuf::from),
            at_hand: AtHand::parse(given("--at-hand").as_deref())?,
        };
        runtime.block_on(measure(folder, keep.as_deref(), task, &corpora, &runs, ground))?;
    }
    Ok(())
}

fn stages(words: &str) -> anyhow::Result<Without> {
    let words = words.split(',').filter(|it| !it.is_empty());
    let stages: Result<Vec<Stage>, _> = words.map(Stage::parse).collect();
    Ok(Without(stages.map_err(|it| anyhow::anyhow!("{it}"))?))
}

/// Everything, then everything but one stage.
fn ablations() -> Vec<Without> {
    use Stage::{Abstain, Boost, Dates, Dense, Graph, Habit, Keyword, Neighbours, Scores, Trust};
    let mut res = vec![Without::default()];
    res.extend(
        [Dense, Keyword, Graph, Scores, Neighbours, Boost, Dates, Habit, Trust, Abstain]
            .map(|it| Without(vec![it])),
    );
    res
}

#[expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]
async fn measure(
    folder: &Path,
    keep: Option<&Path>,
    task: &Task,
    corpora: &[Corpus],
    runs: &[Without],
    ground: Ground,
) -> anyhow::Result<()> {
    let silence = runs.len() > 1;
    let (mut n_unrelated, mut n_silent) = (0_u32, 0_u32);
    let (mut asked_margins, mut unrelated_margins) = (Vec::new(), Vec::new());
    let mut ranked: Vec<Vec<Value>> = vec![Vec::new(); runs.len()];
    let mut halved: Vec<Vec<(usize, f64)>> = vec![Vec::new(); runs.len()];
    let (mut writing, mut asking, mut n_docs, mut n_queries) =
        (Duration::ZERO, Duration::ZERO, 0, 0);
    for (at, corpus) in corpora.iter().enumerate() {
        let kept = keep.map(|it| it.join(format!("{}-{at}", task.name.replace(':', "-"))));
        let mut world = World::new(corpus, kept, &ground).await?;
        let mut queries = corpus.queries.clone();
        queries.sort_by_key(|it| it.known);
        for query in &queries {
            let started = Instant::now();
            world.remember_up_to(query.known).await?;
            writing += started.elapsed();
            for (run, without) in runs.iter().enumerate() {
                let started = Instant::now();
                let (ids, verdict) = world.ask(query, without).await?;
                asked_margins.extend(margin(verdict).filter(|_| without.0.is_empty()));
                asking += started.elapsed();
                if !query.gold.is_empty() {
                    halved[run].push((halves::half(&query.id), halves::ndcg(&ids, &query.gold)));
                }
                ranked[run].push(json!({ "qid": query.id, "ranked": ids }));
                n_queries += 1;
            }
        }
        for text in UNRELATED.lines().filter(|_| silence) {
            let at = corpus.queries.last().map_or(Timestamp(0), |it| it.at);
            let (text, known) = (text.to_owned(), usize::MAX);
            let query = Query { text, at, known, ..Query::default() };
            n_unrelated += 1;
            let (ids, verdict) = world.ask(&query, &Without::default()).await?;
            n_silent += u32::from(ids.is_empty());
            unrelated_margins.extend(margin(verdict));
        }
        n_docs += corpus.docs.len();
    }
    println!(
        "{}: {n_docs} documents written in {:.1} s, {n_queries} questions, {:.1} ms each",
        task.name,
        writing.as_secs_f64(),
        1000.0 * asking.as_secs_f64() / f64::from(n_queries.max(1)),
    );
    if silence {
        let share = 100.0 * f64::from(n_silent) / f64::from(n_unrelated.max(1));
        println!("  silent on {share:.1} % of {n_unrelated} unrelated questions (goal 95)");
        println!(
            "  above what an answer needs: unrelated, 95 % below {:+.3}; questions, 1 / 3 / 10 % below {:+.3} / {:+.3} / {:+.3}",
            quantile(&mut unrelated_margins, 0.95),
            quantile(&mut asked_margins, 0.01),
            quantile(&mut asked_margins, 0.03),
            quantile(&mut asked_margins, 0.1),
        );
    }
    for ((without, rows), halved) in runs.iter().zip(ranked).zip(halved) {
        let output =
            report::folder()?.join(format!("recall-{}.jsonl", task.name.replace(':', "-")));
        let lines: Vec<String> = rows.iter().map(|it| format!("{it}\n")).collect();
        std::fs::write(&output, lines.concat())?;
        let score = report::score(folder, task.name, &output)?;
        let mut line = String::new();
        for (name, goal) in task.goals {
            let value = score["ALL"][*name].as_f64().unwrap_or_default();
            let _ = write!(line, "  {name} {value:.1} (goal {goal:.0})");
        }
        if !halved.is_empty() {
            let [one, other] = halves::means(&halved);
            let _ = write!(line, "  ndcg@10 of each half {one:.1} / {other:.1}");
        }
        let left_out: Vec<&str> = without.0.iter().map(|it| it.slug()).collect();
        println!(
            "  {:<24}{line}",
            if left_out.is_empty() {
                "everything".to_owned()
            } else {
                format!("without {}", left_out.join(", "))
            }
        );
    }
    Ok(())
}

/// Where a corpus is remembered: in a repository whose code and history are read, or in an empty folder.
#[derive(Clone)]
struct Ground {
    repo: Option<PathBuf>,
    at_hand: AtHand,
}

/// What is at hand when a task is asked about.
#[derive(Clone, Copy)]
enum AtHand {
    Nothing,
    /// The first file it will change.
    File,
    /// The first test it will change.
    Test,
}

impl AtHand {
    fn parse(word: Option<&str>) -> anyhow::Result<Self> {
        match word {
            None => Ok(Self::Nothing),
            Some("file") => Ok(Self::File),
            Some("test") => Ok(Self::Test),
            Some(other) => anyhow::bail!("at hand may be `file` or `test`, not `{other}`"),
        }
    }

    fn of(self, query: &Query) -> Vec<ProjectPath> {
        let file = match self {
            Self::Nothing => None,
            Self::File => query.file.as_ref(),
            Self::Test => query.test.as_ref(),
        };
        file.and_then(|it| ProjectPath::parse(it).ok()).into_iter().collect()
    }
}

/// A project that holds one corpus.
struct World<'a> {
    corpus: &'a Corpus,
    engine: Engine,
    at_hand: AtHand,
    n_known: usize,
    /// Which documents a memory was made of: the same text twice is one memory.
    made_of: HashMap<MemoryId, Vec<String>>,
    _dir: Option<tempfile::TempDir>,
}

impl<'a> World<'a> {
    /// With a folder to keep it in, what was remembered there before is known already. Not for
    /// questions that come while documents still do: what is kept would look ahead.
    async fn new(
        corpus: &'a Corpus,
        kept: Option<PathBuf>,
        ground: &Ground,
    ) -> anyhow::Result<Self> {
        let whole = corpus.queries.iter().all(|it| it.known >= corpus.docs.len());
        let (dir, home) = if let Some(kept) = kept.filter(|_| whole) {
            (None, kept)
        } else {
            let dir = tempfile::tempdir()?;
            let home = dir.path().to_owned();
            (Some(dir), home)
        };
        let project = ground.repo.clone().unwrap_or_else(|| home.join("project"));
        std::fs::create_dir_all(&project)?;
        let config = Config {
            data: home.join("data"),
            key: None,
            home: None,
            types: Vec::new(),
            models: Models::built_in(),
            random,
        };
        let now = corpus.docs.first().map_or(Timestamp(0), |it| it.at);
        let mut engine = Engine::open(config, &project, now).await?;
        if ground.repo.is_some() {
            engine.index_code(&Progress::default(), 2).await?;
            engine.index_history(&Progress::default()).await?;
        }
        let at_hand = ground.at_hand;
        Ok(Self { corpus, engine, at_hand, n_known: 0, made_of: HashMap::new(), _dir: dir })
    }

    /// Remembers documents until `n_docs` are known, as an import a person vouches for.
    async fn remember_up_to(&mut self, n_docs: usize) -> anyhow::Result<()> {
        let n_docs = n_docs.min(self.corpus.docs.len());
        if n_docs <= self.n_known {
            return Ok(());
        }
        let fresh = &self.corpus.docs[self.n_known..n_docs];
        let (mut records, mut of) = (Vec::new(), Vec::new());
        for (nth, doc) in (self.n_known..).zip(fresh) {
            for (at, part) in parts(&doc.text).into_iter().enumerate() {
                let memory = Ok(Box::new(memory(doc, part, tail(nth, at))));
                records.push(ImportRecord { at: records.len() + 1, memory });
                of.push(doc.id.clone());
            }
        }
        let how = Intake {
            file: "corpus".to_owned(),
            reach: Reach::Project,
            vouched: true,
            skip: true,
            on_secret: OnSecret::Redact,
            dry_run: false,
        };
        let imported = self.engine.import(records, how).await?;
        let refused: Vec<usize> = imported.problems.iter().map(|it| it.at).collect();
        let mut at = 0;
        for taken in imported.taken {
            at += 1;
            while refused.contains(&at) {
                at += 1;
            }
            let (Taken::Added(id) | Taken::Known(id) | Taken::Erased(id)) = taken;
            self.made_of.entry(id).or_default().push(of[at - 1].clone());
        }
        self.engine.embed_all(&Progress::default()).await?;
        self.n_known = n_docs;
        Ok(())
    }

    async fn ask(
        &mut self,
        query: &Query,
        without: &Without,
    ) -> anyhow::Result<(Vec<String>, Verdict)> {
        self.engine.set_now(query.at);
        let question = Question {
            text: query.text.clone(),
            files: self.at_hand.of(query),
            filter: Filter::standing(RANKED),
            reach: None,
            phase: None,
            purpose: Purpose::Search,
            without: without.clone(),
        };
        let answer = self.engine.recall(&question).await?;
        let mut res: Vec<String> = Vec::new();
        for hit in answer.hits {
            for id in self.made_of.get(&hit.shown.memory.id).into_iter().flatten() {
                if !res.contains(id) {
                    res.push(id.clone());
                }
            }
        }
        Ok((res, answer.verdict))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list of values"
)]
fn quantile(values: &mut [f32], share: f32) -> f32 {
    values.sort_by(f32::total_cmp);
    values.get((values.len() as f32 * share) as usize).copied().unwrap_or(f32::NAN)
}

/// How far the best candidate was above what an answer needs.
fn margin(verdict: Verdict) -> Option<f32> {
    match verdict {
        Verdict::Answered { strength, needed } | Verdict::Nothing { strength, needed } => {
            Some(strength - needed)
        }
        Verdict::Open => None,
    }
}

/// A document that is too long for one memory becomes several, cut between lines or words.
fn parts(text: &str) -> Vec<&str> {
    let mut res = Vec::new();
    let mut rest = text.trim();
    while rest.len() > MAX_CONTENT {
        let limit = rest.floor_char_boundary(MAX_CONTENT);
        let head = &rest[..limit];
        let cut =
            ["\n\n", "\n", " "].iter().find_map(|it| head.rfind(it).filter(|at| *at > limit / 2));
        let (part, more) = rest.split_at(cut.unwrap_or(limit));
        res.push(part);
        rest = more.trim_start();
    }
    res.push(rest);
    res
}

fn memory(doc: &Doc, text: &str, tail: [u8; 10]) -> Memory {
    let session = |it: u64| {
        let mut bytes = [0; 10];
        bytes[2..].copy_from_slice(&it.to_be_bytes());
        SessionId::new(doc.at, bytes)
    };
    Memory {
        id: MemoryId::new(doc.at, tail),
        project: None,
        kind: MemoryType::Core(Kind::ModuleInsight),
        // What an agent said was only watched; what the person said is theirs.
        source: if doc.by_agent { Source::ObserverInferred } else { Source::UserTaught },
        scope: Scope::Global,
        visibility: Visibility::Personal,
        content: text.to_owned(),
        summary: String::new(),
        citation: String::new(),
        confidence: PerMille::new(900),
        tags: Vec::new(),
        files: doc.files.iter().filter_map(|it| ProjectPath::parse(it).ok()).collect(),
        modules: Vec::new(),
        anchors: Vec::new(),
        work_unit: None,
        session: doc.session.map(session),
        provenance: Vec::new(),
        commit: None,
        branch: None,
        relations: Vec::new(),
        half_life_days: None,
        flags: Flags { user_verified: true, ..Flags::default() },
        states: SoftStates::default(),
        payload: None,
        created_by: Actor::User,
        created_at: doc.at,
        updated_at: doc.at,
        version: 0,
        hlc: Hlc::default(),
        counters: Counters::default(),
    }
}

/// The end of an id, the same in every run and another for every part of every document.
fn tail(doc: usize, part: usize) -> [u8; 10] {
    let mut hasher = DefaultHasher::new();
    (doc, part).hash(&mut hasher);
    let mut res = [0; 10];
    res[2..].copy_from_slice(&hasher.finish().to_be_bytes());
    res
}

/// Distinct bytes; which ones does not matter.
fn random() -> [u8; 10] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut res = [0; 10];
    res[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    res
}
