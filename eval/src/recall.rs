//! Retrieval quality, through the engine's own write and search paths.
//!
//! Every corpus becomes a project: its documents are imported as memories, embedded as usual, and
//! every question is searched for as `waylore search` does.

mod corpus_project;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::{DisabledStages, RankingStage, RelevanceVerdict};
use model::Timestamp;
use serde_json::{Value, json};

use self::corpus_project::{CorpusProject, EvalSetup, RecentFile};
use crate::corpus::{CorpusQuery, RETRIEVAL_TASKS, RetrievalCorpus, RetrievalTask};
use crate::{data, report, split_half};

/// Questions about subjects that occur in no corpus.
const UNRELATED_QUESTIONS: &str = include_str!("../unrelated.txt");

pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let given = |name: &str| args.iter().skip_while(|it| *it != name).nth(1).cloned();
    let only = given("--only");
    let keep = given("--keep").map(PathBuf::from);
    let without = parse_stages(given("--without").as_deref().unwrap_or_default())?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for task in
        RETRIEVAL_TASKS.iter().filter(|it| only.as_ref().is_none_or(|only| it.name.contains(only)))
    {
        // A missing corpus is reported and skipped; the others still run.
        if !data::check_present(&folder.join(task.file)) {
            continue;
        }
        let corpora = (task.read)(folder)?;
        // With `--ablate` all runs share one import, which takes most of the time.
        let runs = if args.iter().any(|it| it == "--ablate") {
            single_stage_ablations()
        } else {
            vec![without.clone()]
        };
        let setup = EvalSetup {
            repo: given("--repo").map(PathBuf::from),
            recent_file: RecentFile::parse(given("--recent-file").as_deref())?,
        };
        runtime.block_on(measure_task(folder, keep.as_deref(), task, &corpora, &runs, &setup))?;
    }
    Ok(())
}

fn parse_stages(words: &str) -> anyhow::Result<DisabledStages> {
    let words = words.split(',').filter(|it| !it.is_empty());
    let stages: Result<Vec<RankingStage>, _> = words.map(RankingStage::parse).collect();
    Ok(DisabledStages(stages.map_err(|it| anyhow::anyhow!("{it}"))?))
}

/// All stages, then all but one.
fn single_stage_ablations() -> Vec<DisabledStages> {
    use RankingStage::{
        Abstain, Boost, Dates, Dense, Graph, Habit, Keyword, Neighbours, Scores, Trust,
    };
    let mut runs = vec![DisabledStages::default()];
    runs.extend(
        [Dense, Keyword, Graph, Scores, Neighbours, Boost, Dates, Habit, Trust, Abstain]
            .map(|it| DisabledStages(vec![it])),
    );
    runs
}

/// Sums over the corpora of a task.
struct TaskMeasurement {
    /// Rows for the scorer, by run.
    ranked: Vec<Vec<Value>>,
    /// Half and nDCG@10 of each question with known relevance, by run.
    half_scores: Vec<Vec<(usize, f64)>>,
    n_docs: usize,
    n_queries: u32,
    import_time: Duration,
    search_time: Duration,
    n_unrelated: u32,
    /// Unrelated questions without an answer, as it should be.
    n_silent: u32,
    /// Relevance of the best candidate above the threshold, for questions of the corpus and
    /// unrelated ones.
    question_margins: Vec<f32>,
    unrelated_margins: Vec<f32>,
}

impl TaskMeasurement {
    fn new(n_runs: usize) -> Self {
        Self {
            ranked: vec![Vec::new(); n_runs],
            half_scores: vec![Vec::new(); n_runs],
            n_docs: 0,
            n_queries: 0,
            import_time: Duration::ZERO,
            search_time: Duration::ZERO,
            n_unrelated: 0,
            n_silent: 0,
            question_margins: Vec::new(),
            unrelated_margins: Vec::new(),
        }
    }

    /// Puts all queries of a corpus, each after the documents that it may see.
    #[expect(clippy::disallowed_methods, reason = "the benchmark measures time")]
    async fn add_queries(
        &mut self,
        project: &mut CorpusProject<'_>,
        runs: &[DisabledStages],
    ) -> anyhow::Result<()> {
        let mut queries = project.corpus.queries.clone();
        queries.sort_by_key(|it| it.n_visible_docs);
        for query in &queries {
            let started = Instant::now();
            project.import_documents(query.n_visible_docs).await?;
            self.import_time += started.elapsed();
            for (run, disabled) in runs.iter().enumerate() {
                let started = Instant::now();
                let (ids, verdict) = project.search(query, disabled).await?;
                self.search_time += started.elapsed();
                let margin = relevance_margin(verdict);
                self.question_margins.extend(margin.filter(|_| disabled.0.is_empty()));
                if !query.relevance.is_empty() {
                    let half = split_half::question_half(&query.id);
                    let score = split_half::ndcg_at_10(&ids, &query.relevance);
                    self.half_scores[run].push((half, score));
                }
                self.ranked[run].push(json!({ "qid": query.id, "ranked": ids }));
                self.n_queries += 1;
            }
        }
        self.n_docs += project.corpus.docs.len();
        Ok(())
    }

    /// Puts questions to which no corpus has an answer.
    async fn add_unrelated(&mut self, project: &mut CorpusProject<'_>) -> anyhow::Result<()> {
        let at = project.corpus.queries.last().map_or(Timestamp(0), |it| it.at);
        for text in UNRELATED_QUESTIONS.lines() {
            let text = text.to_owned();
            let query =
                CorpusQuery { text, at, n_visible_docs: usize::MAX, ..CorpusQuery::default() };
            let (ids, verdict) = project.search(&query, &DisabledStages::default()).await?;
            self.n_unrelated += 1;
            self.n_silent += u32::from(ids.is_empty());
            self.unrelated_margins.extend(relevance_margin(verdict));
        }
        Ok(())
    }

    fn print_times(&self, task: &RetrievalTask) {
        println!(
            "{}: {} documents written in {:.1} s, {} questions, {:.1} ms each",
            task.name,
            self.n_docs,
            self.import_time.as_secs_f64(),
            self.n_queries,
            1000.0 * self.search_time.as_secs_f64() / f64::from(self.n_queries.max(1)),
        );
    }

    fn print_silence(&mut self) {
        let share = 100.0 * f64::from(self.n_silent) / f64::from(self.n_unrelated.max(1));
        println!("  silent on {share:.1} % of {} unrelated questions (goal 95)", self.n_unrelated);
        println!(
            "  above the answer threshold: unrelated, 95 % below {:+.3}; questions, 1 / 3 / 10 % below {:+.3} / {:+.3} / {:+.3}",
            quantile(&mut self.unrelated_margins, 0.95),
            quantile(&mut self.question_margins, 0.01),
            quantile(&mut self.question_margins, 0.03),
            quantile(&mut self.question_margins, 0.1),
        );
    }
}

async fn measure_task(
    folder: &Path,
    keep: Option<&Path>,
    task: &RetrievalTask,
    corpora: &[RetrievalCorpus],
    runs: &[DisabledStages],
    setup: &EvalSetup,
) -> anyhow::Result<()> {
    // Unrelated questions take as long as the others; they are asked in ablations only.
    let is_ablation = runs.len() > 1;
    let mut measurement = TaskMeasurement::new(runs.len());
    for (at, corpus) in corpora.iter().enumerate() {
        let home = keep.map(|it| it.join(format!("{}-{at}", task.name.replace(':', "-"))));
        let mut project = CorpusProject::new(corpus, home, setup).await?;
        measurement.add_queries(&mut project, runs).await?;
        if is_ablation {
            measurement.add_unrelated(&mut project).await?;
        }
    }
    measurement.print_times(task);
    if is_ablation {
        measurement.print_silence();
    }
    for (run, disabled) in runs.iter().enumerate() {
        let name = format!("recall-{}.jsonl", task.name.replace(':', "-"));
        let output = report::write_json_lines(&name, &measurement.ranked[run])?;
        let score = report::run_scorer(folder, task.name, &output)?;
        print_scores(task, disabled, &score, &measurement.half_scores[run]);
    }
    Ok(())
}

fn print_scores(
    task: &RetrievalTask,
    disabled: &DisabledStages,
    score: &Value,
    half_scores: &[(usize, f64)],
) {
    let mut line = String::new();
    for (name, goal) in task.goals {
        let value = score["ALL"][*name].as_f64().unwrap_or_default();
        let _ = write!(line, "  {name} {value:.1} (goal {goal:.0})");
    }
    if !half_scores.is_empty() {
        let [one, other] = split_half::half_means(half_scores);
        let _ = write!(line, "  ndcg@10 of each half {one:.1} / {other:.1}");
    }
    let stages: Vec<&str> = disabled.0.iter().map(|it| it.slug()).collect();
    let label = if stages.is_empty() {
        "everything".to_owned()
    } else {
        format!("without {}", stages.join(", "))
    };
    println!("  {label:<24}{line}");
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index into a list of values"
)]
fn quantile(values: &mut [f32], share: f32) -> f32 {
    values.sort_by(f32::total_cmp);
    values.get((values.len() as f32 * share) as usize).copied().unwrap_or(f32::NAN)
}

/// Relevance of the best candidate above the answer threshold.
fn relevance_margin(verdict: RelevanceVerdict) -> Option<f32> {
    match verdict {
        RelevanceVerdict::Answered { strength, needed }
        | RelevanceVerdict::Nothing { strength, needed } => Some(strength - needed),
        RelevanceVerdict::Open => None,
    }
}
