//! `waylore injections`: prints the injection log, the notes that agents were given.
//!
//! A *tier* groups the moments that a trust level allows together; a note that an agent asked for has none. A
//! session *followed* a memory if it did what the memory advises, see `docs/injection-log.md`.

use engine::{InjectionReport, InjectionRow, TierTotals};
use model::{InjectionTier, MemoryId};
use serde_json::{Value, json};

use super::CommandContext;
use crate::output::{BOLD_STYLE, DIM_STYLE, escape_controls, format_count};

/// List the notes that agents were given
#[derive(clap::Args, Debug)]
pub(crate) struct InjectionsArgs {
    /// Only of this session: the host's id, or the id that `explain` shows
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only of this memory: its id, or a prefix of it
    #[arg(long, value_name = "ID")]
    memory: Option<String>,
    /// Most notes to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

pub(crate) async fn run(args: InjectionsArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    command.project.maintenance().store_injections().await?;
    let (session, memory) = (args.session.as_deref(), args.memory.as_deref());
    let report = command.project.injector().list_injections(session, memory, args.limit).await?;
    if command.output.json {
        command.output.print_json("injections", report_json(&report));
        return Ok(0);
    }
    for row in &report.rows {
        command.output.print_line(&format_row(row));
    }
    if report.rows.is_empty() {
        command.output.say("no agent was given a note");
    }
    for totals in &report.totals {
        command.output.print_line(&format!("{DIM_STYLE}{}{DIM_STYLE:#}", format_totals(totals)));
    }
    Ok(0)
}

/// One row of the log as a line, also for `explain`.
pub(super) fn format_row(row: &InjectionRow) -> String {
    let subject = match row.memory {
        Some(id) => format!("#{}", id.short()),
        None => row.subject.slug().replace('_', " "),
    };
    let followed = match row.followed {
        Some(true) => " · followed",
        Some(false) => " · not followed",
        None => "",
    };
    let host = if row.host.is_empty() { String::new() } else { format!("{} ", row.host) };
    format!(
        "{BOLD_STYLE}{subject}{BOLD_STYLE:#} at {} · {}{followed} {DIM_STYLE}{} · {}{}{DIM_STYLE:#}",
        row.moment,
        format_tokens(u64::from(row.tokens)),
        row.at.format_minute(),
        escape_controls(&host),
        escape_controls(&row.session),
    )
}

/// One line about a tier: notes, tokens and the share that was followed.
pub(super) fn format_totals(totals: &TierTotals) -> String {
    let name = totals.tier.map_or("request", InjectionTier::slug).replace('_', " ");
    let notes = usize::try_from(totals.notes).unwrap_or(usize::MAX);
    let followed = match totals.judged {
        0 => String::new(),
        judged => format!(", {} of {judged} followed", totals.followed),
    };
    format!(
        "{name}: {}, {}{followed}",
        format_count(notes, "note", "notes"),
        format_tokens(totals.tokens)
    )
}

fn format_tokens(n: u64) -> String {
    format_count(usize::try_from(n).unwrap_or(usize::MAX), "token", "tokens")
}

fn report_json(report: &InjectionReport) -> Value {
    let rows: Vec<Value> = report.rows.iter().map(row_json).collect();
    json!({
        "injections": rows,
        "tiers": tiers_json(&report.totals),
        "kept": { "days": engine::MAX_INJECTION_DAYS, "notes": engine::MAX_INJECTION_ROWS },
    })
}

/// One row of the log, also for `export` and `explain`.
pub(super) fn row_json(row: &InjectionRow) -> Value {
    json!({
        "at": row.at.0,
        "session": row.session,
        "host": row.host,
        "moment": row.moment.slug(),
        "tier": row.tier.map(InjectionTier::slug),
        "subject": row.subject.slug(),
        "memory": row.memory.as_ref().map(MemoryId::to_string),
        "tokens": row.tokens,
        "followed": row.followed,
    })
}

/// The totals of each tier, for `injections` and `stats`.
pub(super) fn tiers_json(totals: &[TierTotals]) -> Vec<Value> {
    let to_json = |it: &TierTotals| {
        json!({
            "tier": it.tier.map(InjectionTier::slug),
            "notes": it.notes,
            "tokens": it.tokens,
            "judged": it.judged,
            "followed": it.followed,
        })
    };
    totals.iter().map(to_json).collect()
}
