//! `waylore explain`: prints the evidence of a memory, what was learned from a session, or all learned
//! sessions.
//!
//! Learning looks for *signals* in a session, patterns such as `error_retry` or `co_access` (files opened
//! together). A *sighting* is one pattern seen in one session, with its evidence; the *key* identifies the pattern
//! across sessions. A sighting supports a memory, or is dropped with a reason. *Tainted* means derived from text
//! outside the project. A session is *validated* if there is evidence that its work holds, such as a commit.

use engine::{
    ContributingSession, ExplainedSighting, Explanation, Finding, InjectionRow, SessionExplanation,
};
use model::Memory;
use serde_json::{Value, json};

use super::CommandContext;
use super::injections::{format_row, row_json};
use super::session_report::{ReportDetail, print_session};
use crate::output::{BOLD_STYLE, DIM_STYLE, Output, escape_controls, format_count};
use crate::reader::{EVIDENCE_IS_UNFILTERED, refuse_agent};
use crate::wire::MemoryWire;

/// Show the evidence behind a memory, or what was learned from a session
///
/// For a memory: the sessions that support it, with their evidence. For a session: what was kept, what waits as a
/// candidate and what was dropped with its reason, each with the words it comes from. Without an id: the sessions that were learned from.
#[derive(clap::Args, Debug)]
pub(crate) struct ExplainArgs {
    /// Id of a memory or a session, or a prefix of it
    id: Option<String>,
    /// Also list the sightings without words, which are counted otherwise
    #[arg(short, long)]
    all: bool,
}

/// Characters of a task that are shown: in the list of sessions (one line each), and beside a sighting.
const MAX_LISTED_TASK_CHARS: usize = 80;
const MAX_SIGHTING_TASK_CHARS: usize = 120;

/// Notes given to agents that are read, and those that are printed.
const MAX_GIVEN_NOTES: u32 = 200;
const MAX_PRINTED_NOTES: usize = 10;

pub(crate) async fn run(args: ExplainArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    refuse_agent(EVIDENCE_IS_UNFILTERED, "the user can run `waylore explain` in a terminal")?;
    let out = command.output;
    let Some(id) = args.id else { return list_sessions(command).await };
    // The id is looked up among the memories first, then among findings and sessions.
    let explanation = command.project.session_history().explain(&id).await?;
    let given = list_given(&explanation, command).await?;
    print_explanation(&explanation, &given, ReportDetail::from_all_flag(args.all), out);
    Ok(0)
}

/// Lists the times that agents were given the memory, or the notes that the session was given, newest first.
pub(super) async fn list_given(
    explanation: &Explanation,
    command: &CommandContext<'_>,
) -> anyhow::Result<Vec<InjectionRow>> {
    let (session, memory) = match explanation {
        Explanation::Memory { memory, .. } => (None, Some(memory.id.to_string())),
        Explanation::Session(it) => (Some(it.session.id.to_string()), None),
        // The log knows memories only.
        Explanation::Finding(_) => return Ok(Vec::new()),
    };
    command.project.maintenance().store_injections().await?;
    let injector = command.project.injector();
    let report =
        injector.list_injections(session.as_deref(), memory.as_deref(), MAX_GIVEN_NOTES).await?;
    Ok(report.rows)
}

/// Prints the memory, the finding or the session that an id names.
pub(super) fn print_explanation(
    explanation: &Explanation,
    given: &[InjectionRow],
    detail: ReportDetail,
    out: &Output,
) {
    match explanation {
        Explanation::Memory { memory, sightings, sessions } => {
            explain_memory(memory, sightings, sessions, given, out);
        }
        Explanation::Session(explanation) => explain_session(explanation, given, detail, out),
        Explanation::Finding(finding) => explain_finding(finding, out),
    }
}

/// Prints the notes that agents were given, one line each.
fn print_given(given: &[InjectionRow], out: &Output) {
    if given.is_empty() {
        return;
    }
    let times = format_count(given.len(), "note", "notes");
    out.print_line("");
    out.print_line(&format!(
        "{BOLD_STYLE}given to agents{BOLD_STYLE:#} {DIM_STYLE}{times}{DIM_STYLE:#}"
    ));
    for row in given.iter().take(MAX_PRINTED_NOTES) {
        out.print_cut(&format!("  {}", format_row(row)));
    }
    if given.len() > MAX_PRINTED_NOTES {
        out.hint("`waylore injections` lists all of them");
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
        // The status of that memory now; null if there is none.
        "memory_status": sighting.memory_now.as_ref().map(|it| it.0),
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
    given: &[InjectionRow],
    out: &Output,
) {
    if out.json {
        let evidence: Vec<Value> = sightings.iter().map(sighting_json).collect();
        let sessions: Vec<Value> = sessions.iter().map(contributing_session_json).collect();
        out.print_json(
            "explanation",
            json!({
                "memory": MemoryWire::from(memory),
                "evidence": evidence,
                "sessions": sessions,
                "injections": given.iter().map(row_json).collect::<Vec<_>>(),
            }),
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
    print_given(given, out);
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

/// A session with its files and sightings, in JSON.
pub(super) fn explanation_json(explanation: &SessionExplanation) -> Value {
    let files: Vec<Value> = explanation.files.iter().map(file_json).collect();
    let seen: Vec<Value> = explanation.sightings.iter().map(sighting_json).collect();
    json!({ "session": session_json(&explanation.session), "files": files, "seen": seen })
}

/// Prints a session and what became of each sighting.
fn explain_session(
    explanation: &SessionExplanation,
    given: &[InjectionRow],
    detail: ReportDetail,
    out: &Output,
) {
    if out.json {
        let mut body = explanation_json(explanation);
        body["injections"] = given.iter().map(row_json).collect();
        out.print_json("session", body);
        return;
    }
    print_session(explanation, detail, out);
    print_given(given, out);
}
