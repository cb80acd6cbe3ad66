//! Worth reading: what real sessions taught, each memory read and tagged by a person.
//!
//! Learns every session of a repository through the product's own path, oldest first, and holds what
//! stands afterwards against `eval/worth-reading.tsv`. A memory that nobody has tagged counts as useless.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use engine::{Filter, Reach};
use model::MemoryId;

use crate::learning::Desk;
use crate::{data, report, transcripts};

const TAGS: &str = include_str!("../worth-reading.tsv");
const REPOSITORIES: &[&str] = &["entireio/cli", "FSM1/cipher-box"];

pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    if !data::is_present(&folder.join("transcripts/manifest.json")) {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut all = Vec::new();
    for repo in REPOSITORIES {
        all.extend(runtime.block_on(learn(folder, repo))?);
    }
    let tags = tags();
    let (mut n_true, mut n_useful, mut n_untagged) = (0_u32, 0_u32, 0_u32);
    let mut output = String::new();
    for (repo, content) in &all {
        let print = model::fingerprint(content);
        let tag = tags.get(print.as_str());
        if tag.is_none() {
            n_untagged += 1;
            println!("untagged\t{repo}\t{print}\t?\t?\t{content}");
        }
        n_true += u32::from(tag.is_some_and(|it| it.0));
        n_useful += u32::from(tag.is_some_and(|it| it.1));
        let _ = writeln!(output, "{repo}\t{print}\t{content}");
    }
    std::fs::write(report::folder()?.join("worth-reading.tsv"), output)?;
    let n = u32::try_from(all.len())?;
    let share = |it: u32| 100.0 * f64::from(it) / f64::from(n.max(1));
    report::print(
        "worth reading",
        &[
            report::Line { name: "memories", value: f64::from(n), unit: "", wanted: "" },
            report::Line { name: "true", value: share(n_true), unit: "%", wanted: "≥ 95" },
            report::Line { name: "useful", value: share(n_useful), unit: "%", wanted: "≥ 80" },
            report::Line {
                name: "not tagged yet",
                value: f64::from(n_untagged),
                unit: "",
                wanted: "0",
            },
        ],
    );
    Ok(())
}

/// What stands after all sessions of a repository were learned.
async fn learn(folder: &Path, repo: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut desk = Desk::new().await?;
    for it in transcripts::manifest(folder)?.iter().filter(|it| it.repo == repo) {
        desk.learn(it).await?;
        desk.engine.synthesise_week().await?;
    }
    let shown = desk.engine.list(&Filter::standing(10_000), Some(Reach::Project)).await?;
    let mut res: Vec<(MemoryId, String)> =
        shown.into_iter().map(|it| (it.memory.id, it.memory.content)).collect();
    res.sort();
    Ok(res.into_iter().map(|it| (repo.to_owned(), it.1)).collect())
}

/// Fingerprint → true, useful.
fn tags() -> BTreeMap<&'static str, (bool, bool)> {
    let mut acc = BTreeMap::new();
    for line in TAGS.lines().filter(|it| !it.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        if let [_, print, is_true, is_useful, ..] = columns[..] {
            acc.insert(print, (is_true == "true", is_useful == "useful"));
        }
    }
    acc
}
