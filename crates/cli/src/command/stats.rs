//! `waylore stats`: counts and sizes of the notebooks, activity of sessions, savings, and trial results.
//!
//! A *notebook* is the database with the memories of the project or of the user. *Savings* are tool calls that a
//! session did not need because a note gave it the fix of an error. A *trial* is an A/B test: some sessions get
//! fewer notes or none (control group), and their steps, tokens and retries are compared with the others.

use std::collections::BTreeMap;

use engine::{NotebookStats, ProjectActivity, ToolCallSavings, TrialComparison, TrialResults};
use model::MemoryStatus;
use serde_json::json;

use super::CommandContext;
use super::injections::{format_totals, tiers_json};
use super::shared::status_note;
use crate::output::{BOLD_STYLE, DIM_STYLE, format_count, format_size};
use crate::wire::notebook_word;

/// Show counts, sizes, usage and savings
#[derive(clap::Args, Debug)]
pub(crate) struct StatsArgs {}

pub(crate) async fn run(_: StatsArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    command.project.maintenance().store_injections().await?;
    let stats = command.project.maintenance().stats().await?;
    let activity = command.project.maintenance().activity().await?;
    let trial = command.project.maintenance().trial().await?;
    // A provider that fails does not keep the other numbers from being shown.
    let coverage = match command.project.embedding_indexer().coverage().await {
        Ok(coverage) => Some(coverage),
        Err(engine::Error::Model(error)) => {
            command.output.warn(&format!("the provider of vectors fails: {error}"));
            None
        }
        Err(error) => return Err(error.into()),
    };
    if command.output.json {
        let notebooks: Vec<_> = stats.iter().map(to_json).collect();
        let vectors = coverage.map(
            |it| json!({ "model": it.model, "memories": it.n_memories, "without": it.n_missing }),
        );
        let body = json!({
            "project": command.project.project_state().name(),
            "notebooks": notebooks,
            "vectors": vectors,
            "activity": activity_json(&activity),
            "trial": trial.as_ref().map(trial_json),
        });
        command.output.print_json("stats", body);
        return Ok(0);
    }
    for notebook in &stats {
        render(notebook, command);
    }
    if activity.n_sessions > 0 || activity.n_shown > 0 {
        command.output.print_line(&format_activity(&activity));
        for totals in &activity.tiers {
            command.output.print_line(&format!("  {}", format_totals(totals)));
        }
        if activity.asked.n_calls > 0 {
            command.output.print_line(&format_asked(&activity));
        }
        command.output.print_line(&format_savings(&activity.savings));
    }
    if let Some(trial) = &trial {
        render_trial(trial, command);
    }
    if let Some(it) = coverage.filter(|it| it.n_memories > 0) {
        let vectors = match it.n_missing {
            0 => "all memories have a vector".to_owned(),
            n => format!("{} no vector", format_count(n, "memory has", "memories have")),
        };
        command.output.print_line(&format!("{DIM_STYLE}{vectors} of {}{DIM_STYLE:#}", it.model));
    }
    if !stats.iter().any(|it| it.scope == engine::NotebookScope::Project) {
        command
            .output
            .say(&format!("no memories about `{}` yet", command.project.project_state().name()));
        command.output.hint("waylore remember \"…\" stores a memory");
    }
    Ok(0)
}

fn format_activity(activity: &ProjectActivity) -> String {
    let failed = match activity.n_failed {
        0 => String::new(),
        n => format!(", {n} could not be learned, see `waylore doctor`"),
    };
    format!(
        "{} ({} validated{failed}): {} learned, {} dropped; agents got {}, and followed {}",
        format_count(activity.n_sessions, "session", "sessions"),
        activity.n_validated,
        format_count(activity.n_learned, "memory", "memories"),
        format_count(activity.n_dropped, "sighting", "sightings"),
        format_notes(activity.n_shown),
        format_notes(activity.n_used)
    )
}

/// Formats the questions to a language model.
fn format_asked(activity: &ProjectActivity) -> String {
    let asked = &activity.asked;
    let n_calls = usize::try_from(asked.n_calls).unwrap_or(usize::MAX);
    format!(
        "asked a model: {} ({} failed), {} tokens; {} kept, {} refused",
        format_count(n_calls, "call", "calls"),
        asked.n_failed,
        asked.n_tokens,
        format_count(activity.n_claims_kept, "claim", "claims"),
        activity.n_claims_refused
    )
}

/// Formats savings. Calls are measured against the fastest unaided session; tokens are calls times the
/// average of this project.
fn format_savings(savings: &ToolCallSavings) -> String {
    if savings.n_errors == 0 {
        return "saved: nothing measured yet".to_owned();
    }
    let to_usize = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let tokens = match (savings.estimate_tokens(), savings.tokens_per_step) {
        (Some(total), Some(per_step)) => {
            format!(", about {total} tokens at {per_step} a step, the average here")
        }
        // No host reports tokens.
        (None, _) | (_, None) => String::new(),
    };
    format!(
        "saved: {} fixed or avoided with a note, {} fewer than the fastest unaided session{tokens}",
        format_count(to_usize(savings.n_errors), "error was", "errors were"),
        format_count(to_usize(savings.n_calls), "call", "calls"),
    )
}

fn format_notes(n: u64) -> String {
    format_count(usize::try_from(n).unwrap_or(usize::MAX), "note", "notes")
}

/// Prints the sessions per group and the comparison of each measure.
fn render_trial(trial: &TrialResults, command: &CommandContext<'_>) {
    let groups: Vec<String> =
        trial.sessions.iter().map(|(group, n)| format!("{n} {}", group.slug())).collect();
    command.output.print_line(&format!("trial: sessions {}", groups.join(", ")));
    for (measure, compared) in trial_measures(trial) {
        let text = match compared {
            TrialComparison::TooFew { have, need } => {
                format!("{have} of {need} sessions a group so far")
            }
            // `effect` is the share of pairs (one session of each group) in which the session with memory
            // has the smaller number, `interval` its 95 % confidence interval. The p-value `p` must be
            // below `level` to count.
            TrialComparison::Result { n, effect, interval: (low, high), p, level } => {
                let verdict = if compared.is_significant() { "certain" } else { "may be chance" };
                format!(
                    "fewer with memory in {:.0} % of pairs (95 %: {:.0} to {:.0} %), p {p:.4} of {level:.4}, {n} sessions each: {verdict}",
                    effect * 100.0,
                    low * 100.0,
                    high * 100.0
                )
            }
        };
        command.output.print_line(&format!("  {measure}: {text}"));
    }
}

/// The measures by their names, each with its comparison. Less is better in all of them.
fn trial_measures(trial: &TrialResults) -> [(&'static str, TrialComparison); 3] {
    [("steps", trial.steps), ("tokens", trial.tokens), ("retries", trial.retries)]
}

fn trial_json(trial: &TrialResults) -> serde_json::Value {
    let mut res = json!({});
    for (group, n) in &trial.sessions {
        res["sessions"][group.slug()] = json!(n);
    }
    for (measure, compared) in trial_measures(trial) {
        res[measure] = match compared {
            TrialComparison::TooFew { have, need } => json!({ "have": have, "need": need }),
            TrialComparison::Result { n, effect, interval: (low, high), p, level } => json!({
                "sessions": n,
                "effect": effect,
                "interval": [low, high],
                "p": p,
                "level": level,
                "certain": compared.is_significant(),
            }),
        };
    }
    res
}

fn activity_json(activity: &ProjectActivity) -> serde_json::Value {
    let savings = &activity.savings;
    json!({
        "sessions": activity.n_sessions,
        "validated": activity.n_validated,
        "failed": activity.n_failed,
        "learned": activity.n_learned,
        "dropped": activity.n_dropped,
        // Times that a memory was shown to an agent, and that the agent followed or cited one.
        "shown": activity.n_shown,
        "used": activity.n_used,
        "tiers": tiers_json(&activity.tiers),
        // Questions to a language model about sessions, and the claims of its answers.
        "asked": {
            "calls": activity.asked.n_calls,
            "tokens": activity.asked.n_tokens,
            "failed": activity.asked.n_failed,
            "kept": activity.n_claims_kept,
            "refused": activity.n_claims_refused,
        },
        "saved": {
            "errors": savings.n_errors,
            "calls": savings.n_calls,
            "tokens": savings.estimate_tokens(),
            "tokens_per_step": savings.tokens_per_step,
        },
    })
}

fn to_json(notebook: &NotebookStats) -> serde_json::Value {
    let tally: Vec<_> = notebook
        .memories
        .iter()
        .map(|it| json!({ "type": it.kind, "status": it.status, "count": it.count }))
        .collect();
    let count_of = |statuses: &[MemoryStatus]| -> u64 {
        notebook.memories.iter().filter(|it| statuses.contains(&it.status)).map(|it| it.count).sum()
    };
    json!({
        "notebook": notebook_word(notebook.scope),
        "tally": tally,
        "live": count_of(&[MemoryStatus::Live]),
        "candidates": count_of(&[MemoryStatus::Candidate]),
        // Memories that wait for the user's review, without candidates.
        "to_review": count_of(&[MemoryStatus::NeedsReview, MemoryStatus::Tainted]),
        "database_bytes": notebook.size.database,
        "log_bytes": notebook.size.log,
        "backup_bytes": notebook.size.backups,
        "backups": notebook.backups.len(),
    })
}

/// Prints the active memories by type and by state, the others by state, and the sizes.
fn render(notebook: &NotebookStats, command: &CommandContext<'_>) {
    use MemoryStatus::{Candidate, Deleted, Deprecated};
    let out = command.output;
    let is_active = |status: MemoryStatus| !matches!(status, Deleted | Deprecated | Candidate);
    let active = notebook.memories.iter().filter(|it| is_active(it.status));
    let n_active: u64 = active.map(|it| it.count).sum();
    let name = match notebook.scope {
        engine::NotebookScope::Project => command.project.project_state().name(),
        engine::NotebookScope::User => "yours, in every project",
    };
    out.print_line(&format!(
        "{BOLD_STYLE}{name}{BOLD_STYLE:#}: {}",
        format_count(usize::try_from(n_active).unwrap_or(0), "active memory", "active memories")
    ));
    let count = |counts: &BTreeMap<&str, u64>| {
        let pairs: Vec<String> = counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
        pairs.join(", ")
    };
    // Types and states are two views of the same memories, so each has its own line. Candidates are none of
    // them: they wait, and no agent is told of them.
    let mut by_type: BTreeMap<&str, u64> = BTreeMap::new();
    let mut by_state: BTreeMap<&str, u64> = BTreeMap::new();
    let mut unsure: BTreeMap<&str, u64> = BTreeMap::new();
    let mut inactive: BTreeMap<&str, u64> = BTreeMap::new();
    for tally in &notebook.memories {
        let word = status_note(tally.status).unwrap_or("live");
        if is_active(tally.status) {
            *by_type.entry(&tally.kind).or_default() += tally.count;
            *by_state.entry(word).or_default() += tally.count;
        } else if tally.status == Candidate {
            *unsure.entry("not told to agents").or_default() += tally.count;
        } else {
            *inactive.entry(word).or_default() += tally.count;
        }
    }
    let has_states = by_state.keys().any(|it| *it != "live");
    let rows = [
        ("types", &by_type, true),
        ("states", &by_state, has_states),
        ("unsure", &unsure, true),
        ("besides", &inactive, true),
    ];
    for (label, counts, is_shown) in rows {
        if is_shown && !counts.is_empty() {
            out.print_row(11, &format!("  {DIM_STYLE}{label:<8}{DIM_STYLE:#} {}", count(counts)));
        }
    }
    out.print_line(&format!(
        "  {DIM_STYLE}size     {} on disk, {} ({}){DIM_STYLE:#}",
        format_size(notebook.size.database + notebook.size.log),
        format_count(notebook.backups.len(), "backup", "backups"),
        format_size(notebook.size.backups)
    ));
}
