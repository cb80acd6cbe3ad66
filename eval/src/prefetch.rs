//! Prefetch: the files a session will touch, ranked before it begins, from earlier sessions and
//! commits.

use std::collections::BTreeMap;
use std::path::Path;

use ::history::{CommitHistory, TouchedFile, file_couplings, rank_by_churn, rank_by_subject};
use observe::{
    CommitEvidence, ModuleLookup, PastSession, PredictionInputs, TaskDescription, predict_files,
    rank_likely_files,
};
use serde_json::{Value, json};

use crate::{data, report, transcripts};

/// Name in file names of the data, and repository.
const PREFETCH_REPOSITORIES: &[(&str, &str)] =
    &[("entireio__cli", "entireio/cli"), ("FSM1__cipher-box", "FSM1/cipher-box")];

pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    for (slug, repo) in PREFETCH_REPOSITORIES {
        let queries = folder.join(format!("prefetch/{slug}_queries.jsonl.gz"));
        if data::check_present(&queries) {
            measure_repository(folder, slug, repo, &data::read_json_lines(&queries)?)?;
        }
    }
    Ok(())
}

/// A session with the time of every touch, so that an unfinished one can be cut.
struct TimedSession {
    started: model::Timestamp,
    task: String,
    touches: Vec<(model::Timestamp, String)>,
}

impl TimedSession {
    /// The session as it was known at `now`.
    fn touched_before(&self, now: model::Timestamp) -> PastSession {
        let mut touched: Vec<String> = Vec::new();
        for (_, file) in self.touches.iter().filter(|it| it.0 < now) {
            if !touched.contains(file) {
                touched.push(file.clone());
            }
        }
        PastSession { task: self.task.clone(), touched }
    }
}

/// A commit of the data: time in milliseconds, subject, files.
type DataCommit = (i64, String, Vec<String>);

fn measure_repository(
    folder: &Path,
    slug: &str,
    repo: &str,
    queries: &[Value],
) -> anyhow::Result<()> {
    let trees: BTreeMap<String, Vec<String>> =
        data::read_json_lines(&folder.join(format!("prefetch/{slug}_trees.jsonl.gz")))?
            .iter()
            .map(|it| (it["commit"].as_str().unwrap_or_default().to_owned(), row_files(it)))
            .collect();
    let commits = read_commits(folder, slug)?;
    let timed = read_sessions(folder, repo)?;
    let mut rows = Vec::new();
    let mut counts = PredictionCounts::default();
    for query in queries {
        // Only what existed when the session began.
        let start = agents::parse_time(&query["start"]).unwrap_or_default();
        let before = timed.iter().filter(|it| it.started < start);
        let sessions: Vec<PastSession> = before.map(|it| it.touched_before(start)).collect();
        let history = history_before(&commits, start);
        let tree = trees.get(query["tree_commit"].as_str().unwrap_or_default());
        let tree = tree.cloned().unwrap_or_default();
        let task = TaskDescription {
            text: query["prompt"].as_str().unwrap_or_default(),
            first_file: query["first_file"].as_str(),
        };
        counts.add_session(&task, &sessions, query);
        let commits = commit_evidence(&history, &task);
        let modules = ModuleLookup::default();
        let past = PredictionInputs {
            sessions: &sessions,
            commits: &commits,
            project_files: &tree,
            modules: &modules,
        };
        let ranked = rank_likely_files(&task, &past, 20);
        rows.push(json!({ "qid": query["qid"], "ranked": ranked }));
    }
    let output = report::write_json_lines(&format!("prefetch-{slug}.jsonl"), &rows)?;
    let score = report::run_scorer(folder, &format!("prefetch:{slug}"), &output)?;
    let value = |name: &str| score["ALL"][name].as_f64().unwrap_or_default();
    println!(
        "prefetch {slug}: recall@10 {:.1}, hit@5 {:.1}, mrr {:.1}, {} sessions",
        value("recall@10"),
        value("hit@5"),
        value("mrr"),
        score["ALL"]["n"]
    );
    let PredictionCounts { n_sessions, n_with_prediction, n_files, n_opened } = counts;
    println!(
        "prefetch {slug}: files are predicted at the first prompt of {n_with_prediction} of {n_sessions} sessions, {n_opened} of {n_files} of them were opened"
    );
    Ok(())
}

fn row_files(row: &Value) -> Vec<String> {
    let files = row["files"].as_array().into_iter().flatten();
    files.filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

/// The commits of a repository, oldest first.
fn read_commits(folder: &Path, slug: &str) -> anyhow::Result<Vec<DataCommit>> {
    let rows =
        data::read_json_lines(&folder.join(format!("prefetch/{slug}_git_history.jsonl.gz")))?;
    let commit = |row: &Value| {
        let subject = row["subject"].as_str().or(row["message"].as_str()).unwrap_or_default();
        (row["ts"].as_i64().unwrap_or(0) * 1000, subject.to_owned(), row_files(row))
    };
    let mut commits: Vec<DataCommit> = rows.iter().map(commit).collect();
    commits.sort();
    Ok(commits)
}

/// The sessions of a repository, oldest first.
fn read_sessions(folder: &Path, repo: &str) -> anyhow::Result<Vec<TimedSession>> {
    let mut sessions: Vec<TimedSession> = Vec::new();
    for transcript in transcripts::read_manifest(folder)?.iter().filter(|it| it.repo == repo) {
        let pad = transcripts::read_scratchpad(transcript)?;
        let timed_touch = |it: &observe::LoggedTouch| {
            (pad.calls[it.call as usize].at, pad.strings.text(it.file).to_owned())
        };
        let touches = pad.successful_touches().map(timed_touch).collect();
        sessions.push(TimedSession { started: transcript.start, task: pad.task.clone(), touches });
    }
    sessions.sort_by_key(|it| it.started);
    Ok(sessions)
}

fn history_before(commits: &[DataCommit], start: model::Timestamp) -> CommitHistory {
    let mut history = CommitHistory::default();
    for (at, subject, files) in commits.iter().filter(|it| it.0 < start.0) {
        let touched = |path| TouchedFile { path, old_path: None, is_new: false };
        let files: Vec<TouchedFile<'_>> = files.iter().map(|it| touched(it.as_str())).collect();
        history.add_commit(at / 1000, subject, &files);
    }
    history
}

/// Counts of files predicted at the first prompt, and of those that were opened.
#[derive(Default)]
#[expect(clippy::struct_field_names, reason = "all fields are counts")]
struct PredictionCounts {
    n_sessions: usize,
    n_with_prediction: usize,
    n_files: usize,
    n_opened: usize,
}

impl PredictionCounts {
    fn add_session(&mut self, task: &TaskDescription<'_>, sessions: &[PastSession], query: &Value) {
        let predicted = predict_files(task.text, sessions).files;
        // The first file is part of the query, so it counts as opened as well.
        let gold = query["gold"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let opened: Vec<&str> = gold.chain(task.first_file).collect();
        self.n_sessions += 1;
        self.n_with_prediction += usize::from(!predicted.is_empty());
        self.n_files += predicted.len();
        self.n_opened += predicted.iter().filter(|it| opened.contains(&it.path.as_str())).count();
    }
}

/// The evidence of commits for a task, collected as the engine does.
pub(crate) fn commit_evidence(
    history: &CommitHistory,
    task: &TaskDescription<'_>,
) -> CommitEvidence {
    let file = task.first_file.and_then(|it| history.find_file(it));
    let coupling = file.and_then(|file| file_couplings(history, |it| it == file).remove(&file));
    let partners = coupling.map(|it| it.partners).unwrap_or_default();
    CommitEvidence {
        co_changed: partners.into_iter().map(|it| (it.path, f64::from(it.strength))).collect(),
        similar_commits: rank_by_subject(history, task.text),
        recently_changed: rank_by_churn(history),
    }
}
