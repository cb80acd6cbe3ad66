//! Coverage: learns all sessions of each repository through the engine, and counts the items of the answer
//! key that live memories and candidates cover.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use claims::content_words;
use engine::{Explanation, MemoryFilter, NotebookScope};
use model::{Memory, MemoryStatus, SessionId};
use observe::Evidence;
use serde_json::{Value, json};

use super::{INSIGHT_SETS, InsightSet, clone_of, session_name, text_of};
use crate::learning::LearningProject;
use crate::report;

/// Fewest shared words of a match, and the share of the shorter text in per cent, as in `score.py`.
const MIN_SHARED_WORDS: usize = 5;
const MIN_SHARED_PERCENT: usize = 60;

/// A learned memory with the names of its sessions and its quotes.
struct LearnedText {
    memory: Memory,
    sessions: BTreeSet<String>,
    quotes: Vec<String>,
}

pub(super) fn run(data: &Path, repos: Option<&Path>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for set in INSIGHT_SETS {
        let mut learned = Vec::new();
        let mut n_sessions = 0;
        for repo in set.repos {
            let (texts, n) = runtime.block_on(learn_repository(data, repos, repo))?;
            learned.extend(texts);
            n_sessions += n;
        }
        let gold = set.rows(data, "gold")?;
        let is_live = |it: &&LearnedText| it.memory.status() == MemoryStatus::Live;
        let live: Vec<&LearnedText> = learned.iter().filter(is_live).collect();
        let all: Vec<&LearnedText> = learned.iter().collect();
        println!(
            "{}: {n_sessions} sessions, {} live ({:.2} a session), {} in all",
            set.name,
            live.len(),
            live.len() as f64 / f64::from(n_sessions),
            all.len()
        );
        print_coverage("live", &live, &gold);
        print_coverage("live and candidates", &all, &gold);
        let rows: Vec<Value> = learned.iter().map(to_row).collect();
        let path = report::write_json_lines(&format!("insights_{}.jsonl", set.name), &rows)?;
        println!("  written to {}", path.display());
    }
    Ok(())
}

/// Learns the sessions of a repository, oldest first, and returns what is stored at the end.
async fn learn_repository(
    data: &Path,
    repos: Option<&Path>,
    repo: &str,
) -> anyhow::Result<(Vec<LearnedText>, u32)> {
    use MemoryStatus::{Candidate, Live, NeedsReview, Tainted};
    let mut learning = LearningProject::at(clone_of(repos, repo).as_deref()).await?;
    let mut names: BTreeMap<SessionId, String> = BTreeMap::new();
    for transcript in InsightSet::transcripts(data, repo)? {
        if let Some(learned) = learning.learn_transcript(&transcript).await? {
            names.insert(learned.session.id, session_name(&transcript));
        }
    }
    let mut acc = Vec::new();
    let statuses = [Live, NeedsReview, Candidate, Tainted];
    for status in statuses {
        let filter = MemoryFilter { statuses: vec![status], ..MemoryFilter::active(100_000) };
        let retriever = learning.project.retriever();
        for rated in retriever.list(&filter, Some(NotebookScope::Project)).await? {
            let memory = rated.memory;
            let sessions = memory.provenance.iter().chain(memory.session.as_ref());
            let sessions = sessions.filter_map(|it| names.get(it).cloned()).collect();
            let explained =
                learning.project.session_history().explain(&memory.id.to_string()).await?;
            let quotes = quotes_of(&explained);
            acc.push(LearnedText { memory, sessions, quotes });
        }
    }
    Ok((acc, u32::try_from(names.len())?))
}

/// What was said or printed in the sessions behind a memory.
fn quotes_of(explained: &Explanation) -> Vec<String> {
    let Explanation::Memory { sightings, .. } = explained else { return Vec::new() };
    let mut acc: Vec<String> = Vec::new();
    for sighting in sightings {
        acc.push(match &sighting.evidence {
            Evidence::Claim(claim) => claim.quote.clone(),
            other => other.summary_line(),
        });
    }
    acc
}

fn print_coverage(name: &str, learned: &[&LearnedText], gold: &[Value]) {
    let words: Vec<(&LearnedText, BTreeSet<String>)> = learned
        .iter()
        .map(|it| (*it, content_words(&format!("{} {}", it.memory.content, it.quotes.join(" ")))))
        .collect();
    let is_covered = |item: &Value| {
        let key = content_words(&format!("{} {}", text_of(item, "text"), text_of(item, "quote")));
        words.iter().any(|(learned, have)| {
            let shared = key.intersection(have).count();
            learned.sessions.contains(text_of(item, "session"))
                && shared >= MIN_SHARED_WORDS
                && shared * 100 >= key.len().min(have.len()) * MIN_SHARED_PERCENT
        })
    };
    let share = |of: &[&Value]| {
        let n = of.iter().filter(|it| is_covered(it)).count();
        format!("{n} of {} ({:.1} %)", of.len(), 100.0 * n as f64 / of.len().max(1) as f64)
    };
    let weighty: Vec<&Value> =
        gold.iter().filter(|it| it["importance"].as_u64().is_some_and(|it| it >= 2)).collect();
    println!("  {name}: importance 2 and 3 {}", share(&weighty));
    for by in ["user", "agent", "tool_error", "plan", "behaviour"] {
        let of: Vec<&Value> = gold.iter().filter(|it| text_of(it, "said_by") == by).collect();
        println!("    said by {by:<10} {}", share(&of));
    }
}

fn to_row(it: &LearnedText) -> Value {
    json!({
        "id": it.memory.id.to_string(), "status": it.memory.status().slug(), "type": it.memory.kind.slug(),
        "text": it.memory.content, "sessions": it.sessions, "evidence": it.quotes, "files": it.memory.files,
    })
}
