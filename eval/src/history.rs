//! The other files of a commit, from one of its files and its subject, with nothing but what came before.

use std::path::{Path, PathBuf};
use std::time::Instant;

use graph::{History, Touched};
use observe::{Modules, Past, Task, prefetch};
use source::{Commit, Renames};

use crate::prefetch::from_commits;

/// The last part of the history is asked about, and so many commits of it.
const ASKED: usize = 5;
const QUESTIONS: usize = 600;
/// Commits of so many files are asked about.
const FEWEST: usize = 2;
const MOST: usize = 15;

/// How often one of the first 5 and 10 was right, and the mean reciprocal rank of the first right one.
#[derive(Default)]
struct Score {
    n: f64,
    at_5: f64,
    at_10: f64,
    reciprocal: f64,
}

impl Score {
    fn add(&mut self, ranked: &[String], wanted: &[&str]) {
        let place = ranked.iter().position(|it| wanted.contains(&it.as_str()));
        let within = |n: usize| f64::from(u8::from(place.is_some_and(|it| it < n)));
        self.n += 1.0;
        self.at_5 += within(5);
        self.at_10 += within(10);
        self.reciprocal += place.map_or(0.0, |it| 1.0 / (it as f64 + 1.0));
    }

    fn print(&self, name: &str) {
        let share = |it: f64| it / self.n.max(1.0);
        println!(
            "  {name:<28} hit@5 {:.2}  hit@10 {:.2}  mrr {:.2}",
            share(self.at_5),
            share(self.at_10),
            share(self.reciprocal)
        );
    }
}

#[expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]
pub(crate) fn run(_: &Path) -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let repos =
        args.iter().enumerate().filter(|it| it.1 == "--repo").filter_map(|it| args.get(it.0 + 1));
    for repo in repos.map(PathBuf::from) {
        let place = source::locate(&repo, None)?;
        let started = Instant::now();
        let mut commits: Vec<Commit> = Vec::new();
        for renames in [Renames::Similar, Renames::Exact] {
            commits.clear();
            let whole = source::log(&place, None, 1_000_000, renames, &mut |it| {
                commits.push(it);
                true
            });
            if whole != Some(false) {
                break;
            }
        }
        let read = started.elapsed();
        let mut history = History::default();
        for it in &commits {
            take(&mut history, it);
        }
        let n_ties: usize = history.ties(|_| true).values().map(|it| it.together.len()).sum();
        println!(
            "{}: {} commits told in {:.1} s, {n_ties} ties found in {:.1} s more",
            repo.display(),
            commits.len(),
            read.as_secs_f64(),
            started.elapsed().saturating_sub(read).as_secs_f64()
        );
        ask(&commits);
    }
    Ok(())
}

fn ask(commits: &[Commit]) {
    let from = commits.len() - commits.len() / ASKED;
    let is_asked = |it: &Commit| (FEWEST..=MOST).contains(&it.files.len());
    let n_asked = commits[from..].iter().filter(|it| is_asked(it)).count();
    let every = (n_asked / QUESTIONS).max(1);
    let (mut tied, mut fused) = (Score::default(), Score::default());
    let (mut history, mut nth) = (History::default(), 0);
    for (at, commit) in commits.iter().enumerate() {
        if at >= from && is_asked(commit) {
            nth += 1;
            if nth % every == 0 {
                question(&history, commit, nth, &mut tied, &mut fused);
            }
        }
        take(&mut history, commit);
    }
    tied.print("changed together");
    fused.print("all that commits say");
}

/// One of the files is known, another for every question; one that is new has no past to ask.
fn question(history: &History, commit: &Commit, nth: usize, tied: &mut Score, fused: &mut Score) {
    let known: Vec<&str> =
        commit.files.iter().map(|it| it.before.as_deref().unwrap_or(&it.path)).collect();
    let first = known[nth % known.len()];
    let wanted: Vec<&str> = known.iter().copied().filter(|it| *it != first).collect();
    if wanted.iter().all(|it| history.file(it).is_none()) {
        return;
    }
    let task = Task { text: &commit.subject, first: Some(first) };
    let said = from_commits(history, &task);
    let ranked: Vec<String> = said.together.iter().map(|it| it.0.clone()).collect();
    tied.add(&ranked, &wanted);
    let tree: Vec<String> =
        history.names().into_iter().filter(|it| it.is_current).map(|it| it.path).collect();
    let past = Past { sessions: &[], commits: &said, tree: &tree, modules: &Modules::default() };
    fused.add(&prefetch(&task, &past, 10), &wanted);
}

fn take(history: &mut History, commit: &Commit) {
    let files: Vec<Touched<'_>> = commit
        .files
        .iter()
        .map(|it| Touched { path: &it.path, before: it.before.as_deref(), is_new: it.is_new })
        .collect();
    history.take(commit.at, &commit.subject, &files);
}
