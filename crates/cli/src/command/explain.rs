//! `waylore explain`: prints the evidence of a memory, what was learned from a session, or all learned
//! sessions.
//!
//! Learning looks for *signals* in a session, patterns such as `error_retry` or `co_access` (files opened
//! together). A *sighting* is one pattern seen in one session, with its evidence; the *key* identifies the pattern
//! across sessions. A sighting supports a memory, or is dropped with a reason. *Tainted* means derived from text
//! outside the project. A session is *validated* if there is evidence that its work holds, such as a commit.

use engine::{ContributingSession, ExplainedSighting, Explanation, Finding, SessionExplanation};
use model::Memory;
use serde_json::{Value, json};

use super::CommandContext;
use crate::output::{BOLD_STYLE, DIM_STYLE, GOOD_STYLE, Output, escape_controls, format_count};
use crate::wire::MemoryWire;

/// Show the evidence behind a memory, or what was learned from a session
///
/// For a memory: the sessions that support it, with their evidence. For a session: its sightings, the memories
/// kept, and the reasons for every drop. Without an id: the sessions that were learned from.
#[derive(clap::Args, Debug)]
pub(crate) struct ExplainArgs {
    /// Id of a memory or a session, or a prefix of it
    id: Option<String>,
}

/// Characters of a task that are shown: in the list of sessions (one line each), beside a sighting, and for
/// one session.
const MAX_LISTED_TASK_CHARS: usize = 80;
const MAX_SIGHTING_TASK_CHARS: usize = 120;
const MAX_SESSION_TASK_CHARS: usize = 160;

pub(crate) async fn run(args: ExplainArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let Some(id) = args.id else { return list_sessions(command).await };
    // The id is looked up among the memories first, then among findings and sessions.
    print_explanation(&command.project.session_history().explain(&id).await?, out);
    Ok(0)
}

/// Prints the memory, the finding or the session that an id names.
pub(super) fn print_explanation(explanation: &Explanation, out: &Output) {
    match explanation {
        Explanation::Memory { memory, sightings, sessions } => {
            explain_memory(memory, sightings, sessions, out);
        }
        Explanation::Session(explanation) => explain_session(explanation, out),
        Explanation::Finding(finding) => explain_finding(finding, out),
    }
}

/// Prints the fix of an error that is no memory yet.
fn explain_finding(finding: &Finding, out: &Output) {
    if out.json {
        let seen: Vec<Value> = finding.sightings.iter().map(sighting_json).collect();
        out.print_json(
            "finding",
            json!({ "id": finding.id, "dismissed": finding.is_dismissed, "seen": seen }),
        );
        return;
    }
    let state = if finding.is_dismissed { ", dismissed: it is not told" } else { "" };
    out.print_line(&format!(
        "{BOLD_STYLE}#{}{BOLD_STYLE:#} {DIM_STYLE}fix of an error, seen once: not a memory yet{state}{DIM_STYLE:#}",
        finding.id
    ));
    print_sightings(&finding.sightings, out);
    if !finding.is_dismissed {
        out.hint(&format!(
            "`waylore flag {} outdated` rejects it; a second session with the same fix makes it a memory",
            finding.id
        ));
    }
}

async fn list_sessions(command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let sessions = command.project.session_history().learned_sessions().await?;
    if out.json {
        let rows: Vec<Value> = sessions.iter().map(session_json).collect();
        out.print_json("sessions", json!({ "sessions": rows }));
        return Ok(0);
    }
    for it in &sessions {
        let task = model::clean_label(&it.task, MAX_LISTED_TASK_CHARS);
        out.print_cut(&format!(
            "{BOLD_STYLE}#{}{BOLD_STYLE:#}  {}  {:<9}  {DIM_STYLE}{}{DIM_STYLE:#}",
            it.id.short(),
            it.ended.format_minute(),
            it.kind.slug(),
            escape_controls(&task)
        ));
    }
    if sessions.is_empty() {
        out.say("no session was learned from yet");
        out.hint("`waylore learn` reads past sessions");
    }
    Ok(0)
}

fn session_json(session: &engine::SessionSummary) -> Value {
    json!({
        "id": session.id,
        "parent": session.parent,
        "agent": session.agent,
        "type": session.kind,
        "outcome": session.outcome,
        // The evidence by which its work was validated; null if it was not.
        "validated": session.validation_basis,
        "task": session.task,
        "started": session.started.0,
        "ended": session.ended.0,
        "steps": session.steps,
        "tokens": session.tokens,
        "retries": session.retries,
        // The first text from outside the project, if any.
        "external": session.external,
    })
}

fn sighting_json(sighting: &ExplainedSighting) -> Value {
    let dropped = match &sighting.dropped {
        Some((reason, detail)) => json!({ "reason": reason, "detail": detail }),
        None => Value::Null,
    };
    json!({
        "signal": sighting.signal,
        "key": sighting.key,
        // Occurrences in the session.
        "times": sighting.times,
        "tainted": sighting.tainted,
        "evidence": sighting.evidence.summary_line(),
        "memory": sighting.memory,
        "dropped": dropped,
        "session": sighting.session.as_ref().map(session_json),
    })
}

/// A session that supports a memory only by the files that it touched.
fn contributing_session_json(contributor: &ContributingSession) -> Value {
    let files: Vec<Value> = contributor.files.iter().map(file_json).collect();
    json!({ "session": session_json(&contributor.session), "files": files })
}

fn file_json(file: &engine::SessionFile) -> Value {
    json!({ "path": file.path, "reads": file.reads, "edits": file.edits, "first_step": file.first_step })
}

/// Prints a memory, its sightings, and the sessions that support it only by the files that they touched.
fn explain_memory(
    memory: &Memory,
    sightings: &[ExplainedSighting],
    sessions: &[ContributingSession],
    out: &Output,
) {
    if out.json {
        let evidence: Vec<Value> = sightings.iter().map(sighting_json).collect();
        let sessions: Vec<Value> = sessions.iter().map(contributing_session_json).collect();
        out.print_json(
            "explanation",
            json!({ "memory": MemoryWire::from(memory), "evidence": evidence, "sessions": sessions }),
        );
        return;
    }
    out.print_line(&format!(
        "{BOLD_STYLE}#{}{BOLD_STYLE:#} {DIM_STYLE}{}, confidence {}{DIM_STYLE:#}",
        memory.id.short(),
        memory.kind,
        memory.confidence
    ));
    out.print_line(&format!("  {}", escape_controls(&memory.content)));
    print_sightings(sightings, out);
    for it in sessions {
        let session = &it.session;
        let files: Vec<String> = it.files.iter().map(format_file).collect();
        out.print_line("");
        out.print_line(&format!(
            "session {BOLD_STYLE}#{}{BOLD_STYLE:#} {DIM_STYLE}{}, {}{DIM_STYLE:#}",
            session.id.short(),
            session.agent,
            session.ended.format_minute()
        ));
        out.print_line(&format!("  {}", escape_controls(&files.join(", "))));
    }
    if sightings.is_empty() && sessions.is_empty() {
        let by = &memory.created_by;
        out.say(&format!(
            "not learned from sessions; created by {by} on {}",
            memory.created_at.format_date()
        ));
    }
}

/// Prints the sightings of a memory: each distinct piece of evidence once, with a table of its sessions.
fn print_sightings(sightings: &[ExplainedSighting], out: &Output) {
    let mut groups: Vec<(String, Vec<&ExplainedSighting>)> = Vec::new();
    for sighting in sightings {
        let title = format!("{}\n{}", sighting.signal, sighting.evidence.summary_line());
        match groups.iter_mut().find(|it| it.0 == title) {
            Some((_, same)) => same.push(sighting),
            None => groups.push((title, vec![sighting])),
        }
    }
    for (_, same) in &groups {
        let Some(first) = same.first() else { continue };
        out.print_line("");
        out.print_line(&format!(
            "{BOLD_STYLE}{}{BOLD_STYLE:#} {DIM_STYLE}in {}{DIM_STYLE:#}",
            first.signal,
            format_count(same.len(), "session", "sessions")
        ));
        out.print_line(&format!("  {}", escape_controls(&first.evidence.summary_line())));
        for sighting in same {
            print_session_row(sighting.session.as_ref(), out);
        }
    }
}

/// One row of the table of sessions: id, time, whether its work was validated, task.
fn print_session_row(session: Option<&engine::SessionSummary>, out: &Output) {
    let Some(session) = session else {
        // The sighting is stored, its session no longer.
        out.print_line("  a session that is no longer known");
        return;
    };
    let validated = if session.validation_basis.is_some() { "validated" } else { "not validated" };
    out.print_cut(&format!(
        "  {BOLD_STYLE}#{}{BOLD_STYLE:#}  {}  {validated:<13}  {DIM_STYLE}{}{DIM_STYLE:#}",
        session.id.short(),
        session.ended.format_minute(),
        escape_controls(&model::clean_label(&session.task, MAX_SIGHTING_TASK_CHARS))
    ));
}

/// Formats a file, with whether it was edited or only read.
fn format_file(file: &engine::SessionFile) -> String {
    let verb = if file.edits > 0 { "edited" } else { "read" };
    format!("{} ({verb})", file.path)
}

/// Prints a session, the files it edited, and what became of each sighting.
fn explain_session(explanation: &SessionExplanation, out: &Output) {
    let session = &explanation.session;
    if out.json {
        let files: Vec<Value> = explanation.files.iter().map(file_json).collect();
        let seen: Vec<Value> = explanation.sightings.iter().map(sighting_json).collect();
        out.print_json(
            "session",
            json!({ "session": session_json(session), "files": files, "seen": seen }),
        );
        return;
    }
    out.print_line(&format!(
        "session {BOLD_STYLE}#{}{BOLD_STYLE:#} {DIM_STYLE}{}, {}{DIM_STYLE:#}",
        session.id.short(),
        session.agent,
        session.ended.format_minute()
    ));
    out.print_line(&format!(
        "  {DIM_STYLE}task{DIM_STYLE:#}      {}",
        escape_controls(&model::clean_label(&session.task, MAX_SESSION_TASK_CHARS))
    ));
    let validation =
        session.validation_basis.map_or("the work is not validated yet", |it| it.description());
    out.print_line(&format!(
        "  {DIM_STYLE}what{DIM_STYLE:#}      {}, {}; {validation}",
        session.kind, session.outcome
    ));
    out.print_line(&format!("  {DIM_STYLE}effort{DIM_STYLE:#}    {}", format_effort(session)));
    if let Some(external) = &session.external {
        out.print_line(&format!(
            "  {DIM_STYLE}outside{DIM_STYLE:#}   {}",
            escape_controls(external)
        ));
    }
    // Files that were only read say little about a session.
    let edited: Vec<String> =
        explanation.files.iter().filter(|it| it.edits > 0).map(|it| it.path.to_string()).collect();
    if !edited.is_empty() {
        out.print_line(&format!(
            "  {DIM_STYLE}edited{DIM_STYLE:#}    {}",
            escape_controls(&edited.join(", "))
        ));
    }
    print_results(&explanation.sightings, out);
}

/// Steps, tokens and errors of a session. A host that reports no tokens leaves them out.
fn format_effort(session: &engine::SessionSummary) -> String {
    let count = |n: u64, one: &str, many: &str| {
        format_count(usize::try_from(n).unwrap_or(usize::MAX), one, many)
    };
    let mut parts = vec![count(session.steps.into(), "step", "steps")];
    if session.tokens > 0 {
        parts.push(count(session.tokens, "token", "tokens"));
    }
    parts.push(count(session.retries.into(), "error", "errors"));
    parts.join(", ")
}

/// Prints a table of the sightings of a session: signal, result, count. Equal rows are one.
fn print_results(sightings: &[ExplainedSighting], out: &Output) {
    let mut rows: Vec<(&ExplainedSighting, String, usize)> = Vec::new();
    for sighting in sightings {
        let evidence = sighting.evidence.summary_line();
        let result = describe_result(sighting);
        let is_same = |it: &&mut (&ExplainedSighting, String, usize)| {
            it.0.signal == sighting.signal && it.1 == evidence && describe_result(it.0) == result
        };
        match rows.iter_mut().find(is_same) {
            Some(row) => row.2 += 1,
            None => rows.push((sighting, evidence, 1)),
        }
    }
    if !rows.is_empty() {
        out.print_line("");
    }
    for (sighting, evidence, n) in &rows {
        let times = if *n > 1 { format!(" ({n} times)") } else { String::new() };
        let style = if sighting.dropped.is_some() { DIM_STYLE } else { GOOD_STYLE };
        out.print_row(
            SIGNAL_COLUMNS,
            &format!(
                "{BOLD_STYLE}{:<width$}{BOLD_STYLE:#}{style}{}{times}{style:#}",
                sighting.signal.slug(),
                escape_controls(&describe_result(sighting)),
                width = SIGNAL_COLUMNS
            ),
        );
        out.print_row(
            SIGNAL_COLUMNS,
            &format!("{:<SIGNAL_COLUMNS$}{}", "", escape_controls(evidence)),
        );
    }
}

/// Columns before the result in the table of [`print_results`].
const SIGNAL_COLUMNS: usize = 20;

/// The result of a sighting: dropped with a reason, or kept.
fn describe_result(sighting: &ExplainedSighting) -> String {
    match (&sighting.dropped, sighting.memory) {
        (Some((why, detail)), _) => format!("dropped: {why}, {detail}"),
        (None, Some(memory)) => format!("kept as #{}", memory.short()),
        // It counts as evidence of a pattern, but supports no memory yet.
        (None, None) => "kept".to_owned(),
    }
}
