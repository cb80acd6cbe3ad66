//! Quality of learned memories: every memory learned from real sessions was read and tagged by
//! hand.
//!
//! Learns all sessions of a repository through the engine, oldest first, and compares the active
//! memories with `eval/worth-reading.tsv`. A memory without a tag counts as useless.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use engine::{MemoryFilter, NotebookScope};
use model::MemoryId;

use crate::learning::LearningProject;
use crate::{data, report, transcripts};

const MEMORY_TAGS: &str = include_str!("../worth-reading.tsv");
const LEARNED_REPOSITORIES: &[&str] = &["entireio/cli", "FSM1/cipher-box"];

pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    if !data::check_present(&folder.join("transcripts/manifest.json")) {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut memories = Vec::new();
    for repo in LEARNED_REPOSITORIES {
        memories.extend(runtime.block_on(learn_repository(folder, repo))?);
    }
    let tags = parse_tags();
    let (mut n_true, mut n_useful, mut n_untagged) = (0_u32, 0_u32, 0_u32);
    let mut output = String::new();
    for (repo, content) in &memories {
        let fingerprint = model::fingerprint_text(content);
        let tag = tags.get(fingerprint.as_str());
        if tag.is_none() {
            n_untagged += 1;
            // In the format of the table, so that the line can be completed and pasted.
            println!("untagged\t{repo}\t{fingerprint}\t?\t?\t{content}");
        }
        n_true += u32::from(tag.is_some_and(|it| it.0));
        n_useful += u32::from(tag.is_some_and(|it| it.1));
        let _ = writeln!(output, "{repo}\t{fingerprint}\t{content}");
    }
    std::fs::write(report::output_folder()?.join("worth-reading.tsv"), output)?;
    let n = u32::try_from(memories.len())?;
    let share = |it: u32| 100.0 * f64::from(it) / f64::from(n.max(1));
    report::print_metrics(
        "worth reading",
        &[
            report::MetricLine { name: "memories", value: f64::from(n), unit: "", goal: "" },
            report::MetricLine { name: "true", value: share(n_true), unit: "%", goal: "≥ 95" },
            report::MetricLine {
                name: "useful", value: share(n_useful), unit: "%", goal: "≥ 80"
            },
            report::MetricLine {
                name: "not tagged yet",
                value: f64::from(n_untagged),
                unit: "",
                goal: "0",
            },
        ],
    );
    Ok(())
}

/// The active memories after all sessions of a repository were learned.
async fn learn_repository(folder: &Path, repo: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut learning = LearningProject::new().await?;
    for transcript in transcripts::read_manifest(folder)?.iter().filter(|it| it.repo == repo) {
        learning.learn_transcript(transcript).await?;
        // Patterns over several sessions are judged as well.
        learning.project.learner().synthesise_week().await?;
    }
    let shown = learning
        .project
        .retriever()
        .list(&MemoryFilter::active(10_000), Some(NotebookScope::Project))
        .await?;
    let mut memories: Vec<(MemoryId, String)> =
        shown.into_iter().map(|it| (it.memory.id, it.memory.content)).collect();
    memories.sort();
    Ok(memories.into_iter().map(|it| (repo.to_owned(), it.1)).collect())
}

/// Fingerprint → is true, is useful.
fn parse_tags() -> BTreeMap<&'static str, (bool, bool)> {
    let mut acc = BTreeMap::new();
    for line in MEMORY_TAGS.lines().filter(|it| !it.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        if let [_, fingerprint, is_true, is_useful, ..] = columns[..] {
            acc.insert(fingerprint, (is_true == "true", is_useful == "useful"));
        }
    }
    acc
}
