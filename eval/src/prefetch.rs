//! Prefetch: which files a session will touch, ranked before it begins, from what was there before.

use std::collections::BTreeMap;
use std::path::Path;

use graph::{History, Touched};
use observe::{FromCommits, Modules, Past, PastSession, Task, expected, prefetch};
use serde_json::{Value, json};

use crate::{data, report, transcripts};

const REPOSITORIES: &[(&str, &str)] =
    &[("entireio__cli", "entireio/cli"), ("FSM1__cipher-box", "FSM1/cipher-box")];

pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    for (slug, repo) in REPOSITORIES {
        let queries = folder.join(format!("prefetch/{slug}_queries.jsonl.gz"));
        if data::is_present(&queries) {
            measure(folder, slug, repo, &data::rows(&queries)?)?;
        }
    }
    Ok(())
}

/// A session with the moment of every touch, so that one still going on can be cut.
struct Watched {
    started: model::Timestamp,
    task: String,
    touches: Vec<(model::Timestamp, String)>,
}

impl Watched {
    /// What was known of it at a moment.
    fn until(&self, now: model::Timestamp) -> PastSession {
        let mut touched: Vec<String> = Vec::new();
        for (_, file) in self.touches.iter().filter(|it| it.0 < now) {
            if !touched.contains(file) {
                touched.push(file.clone());
            }
        }
        PastSession { task: self.task.clone(), touched }
    }
}

fn measure(folder: &Path, slug: &str, repo: &str, queries: &[Value]) -> anyhow::Result<()> {
    let files = |it: &Value| -> Vec<String> {
        it["files"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| it.as_str().map(str::to_owned))
            .collect()
    };
    let trees: BTreeMap<String, Vec<String>> =
        data::rows(&folder.join(format!("prefetch/{slug}_trees.jsonl.gz")))?
            .iter()
            .map(|it| (it["commit"].as_str().unwrap_or_default().to_owned(), files(it)))
            .collect();
    let mut commits: Vec<(i64, String, Vec<String>)> =
        data::rows(&folder.join(format!("prefetch/{slug}_git_history.jsonl.gz")))?
            .iter()
            .map(|it| {
                let subject = it["subject"].as_str().or(it["message"].as_str()).unwrap_or_default();
                (it["ts"].as_i64().unwrap_or(0) * 1000, subject.to_owned(), files(it))
            })
            .collect();
    commits.sort();
    let mut past: Vec<Watched> = Vec::new();
    for it in transcripts::manifest(folder)?.iter().filter(|it| it.repo == repo) {
        let pad = transcripts::pad(it)?;
        let of = |it: &observe::Touch| {
            (pad.calls[it.call as usize].at, pad.names.text(it.file).to_owned())
        };
        let touches = pad.good_touches().map(of).collect();
        past.push(Watched { started: it.start, task: pad.task.clone(), touches });
    }
    past.sort_by_key(|it| it.started);
    let mut rows = Vec::new();
    let mut told = Told::default();
    for query in queries {
        let start = agents::parse_time(&query["start"]).unwrap_or_default();
        let before = past.iter().filter(|it| it.started < start);
        let sessions: Vec<PastSession> = before.map(|it| it.until(start)).collect();
        let mut history = History::default();
        for (at, subject, files) in commits.iter().filter(|it| it.0 < start.0) {
            let touched = |it| Touched { path: it, before: None, is_new: false };
            let files: Vec<Touched<'_>> = files.iter().map(|it| touched(it.as_str())).collect();
            history.take(at / 1000, subject, &files);
        }
        let tree = trees
            .get(query["tree_commit"].as_str().unwrap_or_default())
            .cloned()
            .unwrap_or_default();
        let task = Task {
            text: query["prompt"].as_str().unwrap_or_default(),
            first: query["first_file"].as_str(),
        };
        told.count(&task, &sessions, query);
        let commits = from_commits(&history, &task);
        let ranked = prefetch(
            &task,
            &Past {
                sessions: &sessions,
                commits: &commits,
                tree: &tree,
                modules: &Modules::default(),
            },
            20,
        );
        rows.push(json!({ "qid": query["qid"], "ranked": ranked }));
    }
    let output = report::folder()?.join(format!("prefetch-{slug}.jsonl"));
    let lines: Vec<String> = rows.iter().map(|it| format!("{it}\n")).collect();
    std::fs::write(&output, lines.concat())?;
    let score = report::score(folder, &format!("prefetch:{slug}"), &output)?;
    let value = |name: &str| score["ALL"][name].as_f64().unwrap_or_default();
    println!(
        "prefetch {slug}: recall@10 {:.1}, hit@5 {:.1}, mrr {:.1}, {} sessions",
        value("recall@10"),
        value("hit@5"),
        value("mrr"),
        score["ALL"]["n"]
    );
    let Told { sessions, any, files, opened } = told;
    println!(
        "prefetch {slug}: files are named at the first prompt of {any} of {sessions} sessions, {opened} of {files} of them were opened"
    );
    Ok(())
}

/// What sessions are told unasked, and whether it was right.
#[derive(Default)]
struct Told {
    sessions: usize,
    any: usize,
    files: usize,
    opened: usize,
}

impl Told {
    fn count(&mut self, task: &Task<'_>, sessions: &[PastSession], query: &Value) {
        let named = expected(task.text, sessions).files;
        let gold = query["gold"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let opened: Vec<&str> = gold.chain(task.first).collect();
        self.sessions += 1;
        self.any += usize::from(!named.is_empty());
        self.files += named.len();
        self.opened += named.iter().filter(|it| opened.contains(&it.path.as_str())).count();
    }
}

/// What the history says about a task, as the engine asks it.
pub(crate) fn from_commits(history: &History, task: &Task<'_>) -> FromCommits {
    let file = task.first.and_then(|it| history.file(it));
    let ties = file.and_then(|file| history.ties(|it| it == file).remove(&file));
    let together = ties.map(|it| it.together).unwrap_or_default();
    FromCommits {
        together: together.into_iter().map(|it| (it.path, f64::from(it.strength))).collect(),
        alike: history.alike(task.text),
        busy: history.busy(),
    }
}
