//! Prediction of the other files of a commit from one of its files and its subject, with earlier
//! commits only.

use std::path::{Path, PathBuf};
use std::time::Instant;

use ::history::{CommitHistory, TouchedFile, file_couplings};
use observe::{ModuleLookup, PredictionInputs, TaskDescription, rank_likely_files};
use source::{LoggedCommit, RenameDetection};

use crate::prefetch::commit_evidence;

/// The last fifth of the history is held out for questions.
const HELD_OUT_DIVISOR: usize = 5;
/// Commits asked about, spread evenly over that part.
const MAX_QUESTIONS: usize = 600;
/// Size of the commits asked about.
const MIN_COMMIT_FILES: usize = 2;
const MAX_COMMIT_FILES: usize = 15;

/// Sums for the hit rates at 5 and 10 and the mean reciprocal rank.
#[derive(Default)]
struct RankingScore {
    n_questions: f64,
    hits_at_5: f64,
    hits_at_10: f64,
    reciprocal_ranks: f64,
}

impl RankingScore {
    fn add_question(&mut self, ranked: &[String], wanted: &[&str]) {
        // Any of the other files counts as a hit.
        let rank = ranked.iter().position(|it| wanted.contains(&it.as_str()));
        let within = |n: usize| f64::from(u8::from(rank.is_some_and(|it| it < n)));
        self.n_questions += 1.0;
        self.hits_at_5 += within(5);
        self.hits_at_10 += within(10);
        self.reciprocal_ranks += rank.map_or(0.0, |it| 1.0 / (it as f64 + 1.0));
    }

    fn print_line(&self, name: &str) {
        let share = |it: f64| it / self.n_questions.max(1.0);
        println!(
            "  {name:<28} hit@5 {:.2}  hit@10 {:.2}  mrr {:.2}",
            share(self.hits_at_5),
            share(self.hits_at_10),
            share(self.reciprocal_ranks)
        );
    }
}

#[expect(clippy::disallowed_methods, reason = "the benchmark measures time")]
pub(crate) fn run(_: &Path) -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let repos =
        args.iter().enumerate().filter(|it| it.1 == "--repo").filter_map(|it| args.get(it.0 + 1));
    for repo in repos.map(PathBuf::from) {
        let place = source::locate_project(&repo, None)?;
        let started = Instant::now();
        let mut commits: Vec<LoggedCommit> = Vec::new();
        // A partial clone lacks file contents, so only exact renames can be detected there.
        for renames in [RenameDetection::Similar, RenameDetection::Exact] {
            commits.clear();
            let is_complete = source::read_commits(&place, None, 1_000_000, renames, &mut |it| {
                commits.push(it);
                true
            });
            if is_complete != Some(false) {
                break;
            }
        }
        let read = started.elapsed();
        let mut history = CommitHistory::default();
        for commit in &commits {
            add_commit(&mut history, commit);
        }
        let n_pairs: usize =
            file_couplings(&history, |_| true).values().map(|it| it.partners.len()).sum();
        println!(
            "{}: {} commits read in {:.1} s, {n_pairs} couplings computed in {:.1} s more",
            repo.display(),
            commits.len(),
            read.as_secs_f64(),
            started.elapsed().saturating_sub(read).as_secs_f64()
        );
        ask_questions(&commits);
    }
    Ok(())
}

fn ask_questions(commits: &[LoggedCommit]) {
    let first_held_out = commits.len() - commits.len() / HELD_OUT_DIVISOR;
    let is_candidate =
        |it: &LoggedCommit| (MIN_COMMIT_FILES..=MAX_COMMIT_FILES).contains(&it.files.len());
    let n_candidates = commits[first_held_out..].iter().filter(|it| is_candidate(it)).count();
    // Evenly spread instead of the first ones, which are close to the training part.
    let every = (n_candidates / MAX_QUESTIONS).max(1);
    let (mut coupled, mut fused) = (RankingScore::default(), RankingScore::default());
    let (mut history, mut nth) = (CommitHistory::default(), 0);
    for (at, commit) in commits.iter().enumerate() {
        if at >= first_held_out && is_candidate(commit) {
            nth += 1;
            if nth % every == 0 {
                ask_question(&history, commit, nth, &mut coupled, &mut fused);
            }
        }
        // Added after the question: nothing is predicted from itself.
        add_commit(&mut history, commit);
    }
    coupled.print_line("co-change coupling");
    fused.print_line("all evidence of commits");
}

/// Asks about one commit. The given file changes with the number of the question; commits whose
/// other files are all new are skipped, because no history can predict them.
fn ask_question(
    history: &CommitHistory,
    commit: &LoggedCommit,
    nth: usize,
    coupled: &mut RankingScore,
    fused: &mut RankingScore,
) {
    // A renamed file is known to the history under its old path.
    let paths: Vec<&str> =
        commit.files.iter().map(|it| it.before.as_deref().unwrap_or(&it.path)).collect();
    let first = paths[nth % paths.len()];
    let wanted: Vec<&str> = paths.iter().copied().filter(|it| *it != first).collect();
    if wanted.iter().all(|it| history.find_file(it).is_none()) {
        return;
    }
    let task = TaskDescription { text: &commit.subject, first_file: Some(first) };
    let evidence = commit_evidence(history, &task);
    let ranked: Vec<String> = evidence.co_changed.iter().map(|it| it.0.clone()).collect();
    coupled.add_question(&ranked, &wanted);
    // The tree before the commit, as far as the history knows it.
    let tree: Vec<String> =
        history.known_paths().into_iter().filter(|it| it.is_current).map(|it| it.path).collect();
    let past = PredictionInputs {
        sessions: &[],
        commits: &evidence,
        project_files: &tree,
        modules: &ModuleLookup::default(),
    };
    fused.add_question(&rank_likely_files(&task, &past, 10), &wanted);
}

fn add_commit(history: &mut CommitHistory, commit: &LoggedCommit) {
    let files: Vec<TouchedFile<'_>> = commit
        .files
        .iter()
        .map(|it| TouchedFile { path: &it.path, old_path: it.before.as_deref(), is_new: it.is_new })
        .collect();
    history.add_commit(commit.at, &commit.subject, &files);
}
