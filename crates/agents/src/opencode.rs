//! `OpenCode` keeps sessions in a database; its rows come in as values, read by whoever may open it.

use model::{Compaction, Envelope, Event, Timestamp, TokenUsage};
use serde_json::Value;

use crate::answer;
use crate::log::{Counts, Log};

#[derive(Clone, Debug)]
pub struct SessionRow {
    pub id: String,
    /// The folder the session was started in.
    pub directory: String,
    /// The session that started this one.
    pub parent: Option<String>,
    pub created: Timestamp,
}

#[derive(Clone, Debug)]
pub struct MessageRow {
    pub id: String,
    pub created: Timestamp,
    /// The `data` column.
    pub data: String,
}

#[derive(Clone, Debug)]
pub struct PartRow {
    pub id: String,
    /// The `data` column.
    pub data: String,
}

/// Reads one session, message by message, in the order they were made.
pub struct RowReader {
    log: Log,
}

impl RowReader {
    pub fn new(project: Option<&str>, session: &SessionRow) -> Self {
        let mut log = Log::new("opencode", project.map(str::to_owned), session.id.clone());
        log.at(Some(session.created));
        let host = session.parent.as_deref().unwrap_or(&session.id);
        let subagent = session.parent.as_ref().map(|_| session.id.as_str());
        log.start(Some(host), subagent, &session.directory);
        Self { log }
    }

    /// Reads a message and its parts.
    pub fn message(&mut self, acc: &mut Vec<Envelope>, row: &MessageRow, parts: &[PartRow]) {
        let log = &mut self.log;
        log.counts.lines += 1;
        log.at(Some(row.created));
        if let Ok(message) = serde_json::from_str::<Value>(&row.data) {
            read_message(log, row, &message, parts);
        } else {
            log.counts.damaged += 1;
        }
        acc.append(&mut log.acc);
    }

    /// What is left at the end of the session.
    pub fn finish(mut self, acc: &mut Vec<Envelope>) -> Counts {
        self.log.end_step();
        acc.append(&mut self.log.acc);
        self.log.counts
    }
}

fn read_message(log: &mut Log, row: &MessageRow, message: &Value, parts: &[PartRow]) {
    let by_user = message["role"] == "user";
    for part in parts {
        match serde_json::from_str::<Value>(&part.data) {
            Ok(value) => read_part(log, &part.id, by_user, &value),
            Err(_) => log.counts.damaged += 1,
        }
    }
    let tokens = |name: &str| message["tokens"][name].as_u64().unwrap_or(0);
    if message["tokens"].is_object() {
        let cached = message["tokens"]["cache"]["read"].as_u64().unwrap_or(0);
        let input = tokens("input") + cached;
        log.usage(&row.id, TokenUsage { input, output: tokens("output"), cached });
    }
}

fn read_part(log: &mut Log, id: &str, by_user: bool, part: &Value) {
    let text = part["text"].as_str().unwrap_or_default();
    match part["type"].as_str().unwrap_or_default() {
        "text" if part["synthetic"] == true => log.counts.ignored += 1,
        "text" if by_user => log.hear(id, text, false),
        "text" | "reasoning" => log.say(id, text),
        "compaction" => log.push(id, Event::Compaction(Compaction {})),
        "tool" => {
            let (call, state) = (part["callID"].as_str().unwrap_or(id), &part["state"]);
            log.call(call, part["tool"].as_str().unwrap_or_default(), &state["input"]);
            let failed = state["status"] == "error";
            if failed || state["status"] == "completed" {
                let said = answer::text(if failed { &state["error"] } else { &state["output"] });
                let code = state["metadata"]["exit"].as_i64().unwrap_or(0);
                log.answer(call, !failed && code == 0, said.contains("rejected permission"), &said);
            }
        }
        _ => log.counts.ignored += 1,
    }
}
