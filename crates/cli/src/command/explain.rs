//! `waylore explain`: prints the evidence of a memory, what was learned from a session, or all learned
//! sessions.
//!
//! Learning looks for *signals* in a session, patterns such as `error_retry` or `co_access` (files opened
//! together). A *sighting* is one pattern seen in one session, with its evidence; the *key* identifies the pattern
//! across sessions. A sighting supports a memory, or is dropped with a reason. *Tainted* means derived from text
//! outside the project. A session is *validated* if there is evidence that its work holds, such as a commit.

use engine::{ContributingSession, ExplainedSighting, Explanation, SessionExplanation};
use model::Memory;
use serde_json::{Value, json};

use super::CommandContext;
use crate::output::{BOLD_STYLE, DIM_STYLE, Output, escape_controls};
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
    // The id is looked up among the memories first, then among the sessions.
    match command.project.session_history().explain(&id).await? {
        Explanation::Memory { memory, sightings, sessions } => {
            explain_memory(&memory, &sightings, &sessions, out);
        }
        Explanation::Session(explanation) => explain_session(&explanation, out),
    }
    Ok(0)
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
        out.print_line(&format!(
            "{BOLD_STYLE}#{}{BOLD_STYLE:#} {} {} {DIM_STYLE}{}{DIM_STYLE:#}",
            it.id.short(),
            it.ended.format_minute(),
            it.kind,
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
    for sighting in sightings {
        print_sighting(sighting, out);
    }
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

/// Prints a sighting with its session and evidence.
fn print_sighting(sighting: &ExplainedSighting, out: &Output) {
    let signal = sighting.signal;
    out.print_line("");
    match &sighting.session {
        Some(session) => {
            let validation =
                session.validation_basis.map_or("not validated", |it| it.description());
            out.print_line(&format!(
                "{signal} in session {BOLD_STYLE}#{}{BOLD_STYLE:#} {DIM_STYLE}{}, {}; {validation}{DIM_STYLE:#}",
                session.id.short(),
                session.agent,
                session.ended.format_minute()
            ));
            out.print_line(&format!(
                "  {DIM_STYLE}task{DIM_STYLE:#} {}",
                escape_controls(&model::clean_label(&session.task, MAX_SIGHTING_TASK_CHARS))
            ));
        }
        // The sighting is stored, its session no longer.
        None => out.print_line(&format!("{signal} in a session that is no longer known")),
    }
    out.print_line(&format!("  {}", escape_controls(&sighting.evidence.summary_line())));
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
    out.print_line(&format!(
        "  {DIM_STYLE}effort{DIM_STYLE:#}    {} steps, {} tokens, {} errors",
        session.steps, session.tokens, session.retries
    ));
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
    for it in &explanation.sightings {
        out.print_line("");
        out.print_line(&format!(
            "{} {DIM_STYLE}{}{DIM_STYLE:#}",
            it.signal,
            escape_controls(&describe_result(it))
        ));
        out.print_line(&format!("  {}", escape_controls(&it.evidence.summary_line())));
    }
}

/// The result of a sighting: dropped with a reason, or kept.
fn describe_result(sighting: &ExplainedSighting) -> String {
    match (&sighting.dropped, sighting.memory) {
        (Some((why, detail)), _) => format!("dropped: {why}, {detail}"),
        (None, Some(memory)) => format!("kept as #{}", memory.short()),
        // It counts as evidence of a pattern, but supports no memory yet.
        (None, None) => "kept".to_owned(),
    }
}
