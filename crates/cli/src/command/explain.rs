//! `waylore explain`.

use engine::{Explained, Told, Visited, Witness};
use model::Memory;
use serde_json::{Value, json};

use super::Session;
use crate::output::{BOLD, DIM, Output, visible};
use crate::wire::MemoryWire;

/// Show what a memory rests on, or what became of everything a session showed
///
/// Of a memory: every session in which it was seen, with the evidence. Of a session: what was seen, what was
/// kept of it, and why the rest was dropped. Without an id, the sessions that were learned from.
#[derive(clap::Args, Debug)]
pub(crate) struct ExplainArgs {
    /// The id of a memory or of a session, or the beginning of it
    id: Option<String>,
}

pub(crate) async fn run(args: ExplainArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let Some(id) = args.id else { return sessions(session).await };
    match session.engine.explain(&id).await? {
        Explained::Memory { memory, witnesses, sessions } => {
            of_memory(&memory, &witnesses, &sessions, out);
        }
        Explained::Session(told) => of_session(&told, out),
    }
    Ok(0)
}

async fn sessions(session: &Session<'_>) -> anyhow::Result<u8> {
    let (out, all) = (session.output, session.engine.learned_sessions().await?);
    if out.json {
        let rows: Vec<Value> = all.iter().map(session_json).collect();
        out.data_json("sessions", json!({ "sessions": rows }));
        return Ok(0);
    }
    for it in &all {
        let task = model::clean_label(&it.task, 80);
        out.line(&format!(
            "{BOLD}#{}{BOLD:#} {} {} {DIM}{}{DIM:#}",
            it.id.short(),
            it.ended.minute(),
            it.kind,
            visible(&task)
        ));
    }
    if all.is_empty() {
        out.say("nothing was learned from sessions yet");
        out.hint("`waylore learn` goes through past sessions");
    }
    Ok(0)
}

fn session_json(it: &engine::SessionRow) -> Value {
    json!({
        "id": it.id,
        "parent": it.parent,
        "agent": it.agent,
        "type": it.kind,
        "outcome": it.outcome,
        "validated": it.validated,
        "task": it.task,
        "started": it.started.0,
        "ended": it.ended.0,
        "steps": it.steps,
        "tokens": it.tokens,
        "retries": it.retries,
        "external": it.external,
    })
}

fn sighting_json(it: &Witness) -> Value {
    let dropped = it.sighting.dropped.as_ref();
    json!({
        "signal": it.sighting.signal,
        "key": it.sighting.key,
        "times": it.sighting.times,
        "tainted": it.sighting.tainted,
        "evidence": it.evidence.told(),
        "memory": it.sighting.memory,
        "dropped": dropped.map(|it| json!({ "reason": it.0, "detail": it.1 })),
        "session": it.session.as_ref().map(session_json),
    })
}

fn visited_json(it: &Visited) -> Value {
    json!({ "session": session_json(&it.session), "files": it.files.iter().map(file_json).collect::<Vec<_>>() })
}

fn file_json(it: &engine::TouchedRow) -> Value {
    json!({ "path": it.path, "reads": it.reads, "edits": it.edits, "first_step": it.first_step })
}

fn of_memory(memory: &Memory, witnesses: &[Witness], sessions: &[Visited], out: &Output) {
    if out.json {
        let evidence: Vec<Value> = witnesses.iter().map(sighting_json).collect();
        let sessions: Vec<Value> = sessions.iter().map(visited_json).collect();
        out.data_json(
            "explanation",
            json!({ "memory": MemoryWire::from(memory), "evidence": evidence, "sessions": sessions }),
        );
        return;
    }
    out.line(&format!(
        "{BOLD}#{}{BOLD:#} {DIM}{}, confidence {}{DIM:#}",
        memory.id.short(),
        memory.kind,
        memory.confidence
    ));
    out.line(&format!("  {}", visible(&memory.content)));
    for it in witnesses {
        let signal = it.sighting.signal;
        out.line("");
        match &it.session {
            Some(session) => {
                let held = session.validated.map_or("not validated", |it| it.reading());
                out.line(&format!(
                    "{signal} in session {BOLD}#{}{BOLD:#} {DIM}{}, {}; {held}{DIM:#}",
                    session.id.short(),
                    session.agent,
                    session.ended.minute()
                ));
                out.line(&format!(
                    "  {DIM}task{DIM:#} {}",
                    visible(&model::clean_label(&session.task, 120))
                ));
            }
            None => out.line(&format!("{signal} in a session that is no longer known")),
        }
        out.line(&format!("  {}", visible(&it.evidence.told())));
    }
    for it in sessions {
        let (session, files) = (&it.session, it.files.iter().map(touched).collect::<Vec<_>>());
        out.line("");
        out.line(&format!(
            "session {BOLD}#{}{BOLD:#} {DIM}{}, {}{DIM:#}",
            session.id.short(),
            session.agent,
            session.ended.minute()
        ));
        out.line(&format!("  {}", visible(&files.join(", "))));
    }
    if witnesses.is_empty() && sessions.is_empty() {
        let by = &memory.created_by;
        out.say(&format!(
            "it was not learned from sessions; {by} made it on {}",
            memory.created_at.date()
        ));
    }
}

/// A file, and what was done to it.
fn touched(it: &engine::TouchedRow) -> String {
    let what = if it.edits > 0 { "edited" } else { "read" };
    format!("{} ({what})", it.path)
}

fn of_session(told: &Told, out: &Output) {
    let session = &told.session;
    if out.json {
        let files: Vec<Value> = told.files.iter().map(file_json).collect();
        let seen: Vec<Value> = told.sightings.iter().map(sighting_json).collect();
        out.data_json(
            "session",
            json!({ "session": session_json(session), "files": files, "seen": seen }),
        );
        return;
    }
    out.line(&format!(
        "session {BOLD}#{}{BOLD:#} {DIM}{}, {}{DIM:#}",
        session.id.short(),
        session.agent,
        session.ended.minute()
    ));
    out.line(&format!(
        "  {DIM}task{DIM:#}      {}",
        visible(&model::clean_label(&session.task, 160))
    ));
    let held = session.validated.map_or("nothing speaks for the work yet", |it| it.reading());
    out.line(&format!("  {DIM}what{DIM:#}      {}, {}; {held}", session.kind, session.outcome));
    out.line(&format!(
        "  {DIM}effort{DIM:#}    {} steps, {} tokens, {} errors",
        session.steps, session.tokens, session.retries
    ));
    if let Some(external) = &session.external {
        out.line(&format!("  {DIM}outside{DIM:#}   {}", visible(external)));
    }
    let edited: Vec<String> =
        told.files.iter().filter(|it| it.edits > 0).map(|it| it.path.to_string()).collect();
    if !edited.is_empty() {
        out.line(&format!("  {DIM}edited{DIM:#}    {}", visible(&edited.join(", "))));
    }
    for it in &told.sightings {
        let fate = match (&it.sighting.dropped, it.sighting.memory) {
            (Some((why, detail)), _) => format!("dropped: {why}, {detail}"),
            (None, Some(memory)) => format!("kept as #{}", memory.short()),
            (None, None) => "kept".to_owned(),
        };
        out.line("");
        out.line(&format!("{} {DIM}{}{DIM:#}", it.sighting.signal, visible(&fate)));
        out.line(&format!("  {}", visible(&it.evidence.told())));
    }
}
