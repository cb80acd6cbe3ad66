//! Insights: how much of what readers found worth keeping do the claims of a session hold?
//!
//! Readers wrote down what a perfect memory would keep of 58 sessions (`insights/gold_*.jsonl`), and which
//! sentences say it (`worth_*.jsonl`). The task learns the sessions through the engine, as a user would, and
//! counts the items that the memories cover. With `--train` it fits the weights of the claim scorer instead.
//!
//! The match is that of the data's `score.py`: same session, and 60 % of the content words of the shorter
//! text. It says where to look and can be fooled; fresh readers decide.

mod coverage;
mod dump;
mod training;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;
use source::ProjectWords;

use crate::data::check_present;
use crate::transcripts::{self, DataTranscript};

/// The repositories of one answer key.
pub(crate) struct InsightSet {
    pub(crate) name: &'static str,
    /// Part of the names of the key's files.
    pub(crate) key: &'static str,
    pub(crate) repos: &'static [&'static str],
}

/// Weights and rules may be tuned on one set and are then tested on the other.
pub(crate) const INSIGHT_SETS: &[InsightSet] = &[
    InsightSet { name: "entireio", key: "entireio", repos: &["entireio/cli"] },
    InsightSet {
        name: "cipherbox_agentv",
        key: "cipherbox_agentv",
        repos: &["FSM1/cipher-box", "EntityProcess/agentv"],
    },
];

pub(crate) fn run(data: &Path) -> anyhow::Result<()> {
    if !check_present(&data.join("insights")) {
        return Ok(());
    }
    let args: Vec<String> = std::env::args().collect();
    let repos = args.iter().skip_while(|it| *it != "--repos").nth(1).map(PathBuf::from);
    if args.iter().any(|it| it == "--train") {
        return training::run(data, repos.as_deref());
    }
    if args.iter().any(|it| it == "--claims") {
        return dump::run(data, repos.as_deref());
    }
    coverage::run(data, repos.as_deref())
}

impl InsightSet {
    /// The rows of one file of the key: `gold`, `worth` or `noise`.
    fn rows(&self, data: &Path, kind: &str) -> anyhow::Result<Vec<Value>> {
        let path = data.join("insights").join(format!("{kind}_{}.jsonl", self.key));
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot open `{}`", path.display()))?;
        let lines = text.lines().filter(|it| !it.trim().is_empty());
        lines.map(|it| Ok(serde_json::from_str(it)?)).collect()
    }

    /// The transcripts of one repository, oldest first.
    fn transcripts(data: &Path, repo: &str) -> anyhow::Result<Vec<DataTranscript>> {
        let all = transcripts::read_manifest(data)?;
        Ok(all.into_iter().filter(|it| it.repo == repo).collect())
    }
}

/// The clone of a repository below the folder of `--repos`, named `OWNER+NAME`.
fn clone_of(repos: Option<&Path>, repo: &str) -> Option<PathBuf> {
    let folder = repos?.join(repo.replace('/', "+"));
    folder.is_dir().then_some(folder)
}

fn words_of(repos: Option<&Path>, repo: &str) -> ProjectWords {
    clone_of(repos, repo).map(|it| ProjectWords::read(&it)).unwrap_or_default()
}

/// The name by which the key knows a transcript: its file name without extensions.
fn session_name(transcript: &DataTranscript) -> String {
    transcript.id.rsplit('/').next().unwrap_or(&transcript.id).to_owned()
}

fn text_of<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_default()
}

/// Groups values by a key.
fn group_by<T>(rows: Vec<T>, key: impl Fn(&T) -> String) -> BTreeMap<String, Vec<T>> {
    let mut acc: BTreeMap<String, Vec<T>> = BTreeMap::new();
    for row in rows {
        acc.entry(key(&row)).or_default().push(row);
    }
    acc
}
