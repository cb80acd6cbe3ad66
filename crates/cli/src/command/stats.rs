//! `waylore stats`.

use std::collections::BTreeMap;

use engine::{NotebookStats, ProjectActivity, ToolCallSavings, TrialComparison, TrialResults};
use model::MemoryStatus;
use serde_json::json;

use super::CommandSession;
use super::shared::status_word;
use crate::output::{BOLD_STYLE, DIM_STYLE, format_count, format_size};
use crate::wire::reach_word;

/// Show counts, sizes, usage and savings
#[derive(clap::Args, Debug)]
pub(crate) struct StatsArgs {}

pub(crate) async fn run(_: StatsArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let stats = session.project.maintenance().stats().await?;
    let activity = session.project.maintenance().activity().await?;
    let trial = session.project.maintenance().trial().await?;
    let coverage = match session.project.embedding_indexer().coverage().await {
        Ok(it) => Some(it),
        Err(engine::Error::Model(error)) => {
            session.output.warn(&format!("the provider of vectors fails: {error}"));
            None
        }
        Err(error) => return Err(error.into()),
    };
    if session.output.json {
        let notebooks: Vec<_> = stats.iter().map(to_json).collect();
        let vectors = coverage.map(
            |it| json!({ "model": it.model, "memories": it.n_memories, "without": it.n_missing }),
        );
        session.output.data_json(
            "stats",
            json!({ "project": session.project.project_state().name(), "notebooks": notebooks, "vectors": vectors, "activity": activity_json(&activity), "trial": trial.as_ref().map(trial_json) }),
        );
        return Ok(0);
    }
    for it in &stats {
        render(it, session);
    }
    if activity.n_sessions > 0 || activity.n_shown > 0 {
        session.output.print_line(&format_activity(&activity));
        session.output.print_line(&format_savings(&activity.savings));
    }
    if let Some(trial) = &trial {
        render_trial(trial, session);
    }
    if let Some(it) = coverage.filter(|it| it.n_memories > 0) {
        let lacking = match it.n_missing {
            0 => "all memories have a vector".to_owned(),
            n => format!("{} no vector", format_count(n, "memory has", "memories have")),
        };
        session.output.print_line(&format!("{DIM_STYLE}{lacking} of {}{DIM_STYLE:#}", it.model));
    }
    if !stats.iter().any(|it| it.scope == engine::NotebookScope::Project) {
        session
            .output
            .say(&format!("no memories about `{}` yet", session.project.project_state().name()));
        session.output.hint("waylore remember \"…\" stores a memory");
    }
    Ok(0)
}

fn format_activity(it: &ProjectActivity) -> String {
    format!(
        "{} ({} validated): {} learned, {} dropped; agents got {}, and followed {}",
        format_count(it.n_sessions, "session", "sessions"),
        it.n_validated,
        format_count(it.n_learned, "memory", "memories"),
        format_count(it.n_dropped, "sighting", "sightings"),
        format_times(it.n_shown),
        format_times(it.n_used)
    )
}

/// Formats measured savings; nothing is estimated.
fn format_savings(it: &ToolCallSavings) -> String {
    if it.n_errors == 0 {
        return "saved: nothing measured yet".to_owned();
    }
    let n = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let tokens = it
        .estimate_tokens()
        .zip(it.tokens_per_step)
        .map(|(all, each)| format!(", about {all} tokens at {each} a step, the average here"));
    format!(
        "saved: {} fixed or avoided with a note, {} fewer than the fastest unaided session{}",
        format_count(n(it.n_errors), "error was", "errors were"),
        format_count(n(it.n_calls), "call", "calls"),
        tokens.unwrap_or_default()
    )
}

fn format_times(n: u64) -> String {
    format_count(usize::try_from(n).unwrap_or(usize::MAX), "note", "notes")
}

fn render_trial(it: &TrialResults, session: &CommandSession<'_>) {
    let groups: Vec<String> =
        it.sessions.iter().map(|(group, n)| format!("{n} {}", group.slug())).collect();
    session.output.print_line(&format!("trial: sessions {}", groups.join(", ")));
    for (what, compared) in trial_measures(it) {
        let text = match compared {
            TrialComparison::TooFew { have, need } => {
                format!("{have} of {need} sessions a group so far")
            }
            TrialComparison::Result { n, effect, interval, p, level } => {
                let verdict = if compared.is_significant() { "certain" } else { "may be chance" };
                format!(
                    "fewer with memory in {:.0} % of pairs (95 %: {:.0} to {:.0} %), p {p:.4} of {level:.4}, {n} sessions each: {verdict}",
                    effect * 100.0,
                    interval.0 * 100.0,
                    interval.1 * 100.0
                )
            }
        };
        session.output.print_line(&format!("  {what}: {text}"));
    }
}

fn trial_measures(it: &TrialResults) -> [(&'static str, TrialComparison); 3] {
    [("steps", it.steps), ("tokens", it.tokens), ("retries", it.retries)]
}

fn trial_json(it: &TrialResults) -> serde_json::Value {
    let mut res = json!({});
    for (group, n) in &it.sessions {
        res["sessions"][group.slug()] = json!(n);
    }
    for (what, compared) in trial_measures(it) {
        res[what] = match compared {
            TrialComparison::TooFew { have, need } => json!({ "have": have, "need": need }),
            TrialComparison::Result { n, effect, interval, p, level } => json!({
                "sessions": n, "effect": effect, "interval": [interval.0, interval.1], "p": p,
                "level": level, "certain": compared.is_significant(),
            }),
        };
    }
    res
}

fn activity_json(it: &ProjectActivity) -> serde_json::Value {
    json!({
        "sessions": it.n_sessions,
        "validated": it.n_validated,
        "learned": it.n_learned,
        "dropped": it.n_dropped,
        "shown": it.n_shown,
        "used": it.n_used,
        "saved": {
            "errors": it.savings.n_errors,
            "calls": it.savings.n_calls,
            "tokens": it.savings.estimate_tokens(),
            "tokens_per_step": it.savings.tokens_per_step,
        },
    })
}

fn to_json(it: &NotebookStats) -> serde_json::Value {
    let tally: Vec<_> = it
        .memories
        .iter()
        .map(|it| json!({ "type": it.kind, "status": it.status, "count": it.count }))
        .collect();
    json!({
        "notebook": reach_word(it.scope),
        "tally": tally,
        "database_bytes": it.size.database,
        "log_bytes": it.size.log,
        "backup_bytes": it.size.backups,
        "backups": it.backups.len(),
    })
}

fn render(it: &NotebookStats, session: &CommandSession<'_>) {
    let out = session.output;
    let standing =
        |status: MemoryStatus| !matches!(status, MemoryStatus::Deleted | MemoryStatus::Deprecated);
    let n: u64 = it.memories.iter().filter(|it| standing(it.status)).map(|it| it.count).sum();
    let name = match it.scope {
        engine::NotebookScope::Project => session.project.project_state().name(),
        engine::NotebookScope::User => "yours, in every project",
    };
    out.print_line(&format!(
        "{BOLD_STYLE}{name}{BOLD_STYLE:#}: {}",
        format_count(usize::try_from(n).unwrap_or(0), "active memory", "active memories")
    ));
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    let mut others: BTreeMap<MemoryStatus, u64> = BTreeMap::new();
    for tally in &it.memories {
        if standing(tally.status) {
            *kinds.entry(&tally.kind).or_default() += tally.count;
        }
        if tally.status != MemoryStatus::Live {
            *others.entry(tally.status).or_default() += tally.count;
        }
    }
    for (kind, n) in &kinds {
        out.print_line(&format!("  {n:>5}  {kind}"));
    }
    for (status, n) in &others {
        out.print_line(&format!("  {n:>5}  {DIM_STYLE}{}{DIM_STYLE:#}", status_word(*status)));
    }
    out.print_line(&format!(
        "  {DIM_STYLE}{} on disk, {} ({}){DIM_STYLE:#}",
        format_size(it.size.database + it.size.log),
        format_count(it.backups.len(), "backup", "backups"),
        format_size(it.size.backups)
    ));
}
