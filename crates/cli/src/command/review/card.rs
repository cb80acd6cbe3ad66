//! The card of one pending memory: its text, who said it in which words, what came of it, the moments at which
//! an agent would be told it (its *cues*, such as a file or a failing command), and why it waits. Everything
//! that a decision needs, in a few lines.

use engine::{ClaimSighting, NotebookScope, RatedMemory, TellCue};
use model::MemoryStatus;
use serde_json::{Value, json};

use super::super::CommandContext;
use super::super::shared::kind_word;
use crate::output::{BOLD_STYLE, DIM_STYLE, WARN_STYLE, format_count};
use crate::wire::MemoryWire;

/// Characters of a quotation and of a task that are shown.
const MAX_QUOTE_CHARS: usize = 240;
const MAX_TASK_CHARS: usize = 60;
/// Sessions whose words are quoted; the others are counted.
const MAX_QUOTED_SESSIONS: usize = 2;

/// A memory that waits for a person, with the claims behind it.
pub(super) struct PendingMemory {
    pub(super) rated: RatedMemory,
    /// Oldest first; empty if it was not learned from a claim.
    pub(super) claims: Vec<ClaimSighting>,
}

/// Groups of pending memories, in the order of the review.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ReviewGroup {
    /// Stated on purpose and to be reviewed, or taken from text from outside.
    StatedOrExternal,
    /// Other memories to review, and with `--all` learned ones that no person confirmed.
    Learned,
    Candidate,
    /// Candidates that were stated after text from outside. Their status is that of a candidate.
    TaintedCandidate,
}

impl PendingMemory {
    /// The order of the review: by group, and the best candidates first.
    pub(super) fn rank(&self) -> (ReviewGroup, std::cmp::Reverse<u16>) {
        let memory = &self.rated.memory;
        let score = self.claims.iter().map(|it| it.claim.score).max();
        let is_explicit = memory.source != model::MemorySource::ObserverInferred;
        let group = match memory.status() {
            MemoryStatus::Tainted => ReviewGroup::StatedOrExternal,
            MemoryStatus::NeedsReview if is_explicit => ReviewGroup::StatedOrExternal,
            MemoryStatus::Candidate if memory.flags.tainted => ReviewGroup::TaintedCandidate,
            MemoryStatus::Candidate => ReviewGroup::Candidate,
            _ => ReviewGroup::Learned,
        };
        let is_candidate = memory.status() == MemoryStatus::Candidate;
        let best_first = if is_candidate { score.unwrap_or(memory.confidence).get() } else { 0 };
        (group, std::cmp::Reverse(best_first))
    }

    /// The reason why it waits, as a sentence.
    fn reason(&self) -> String {
        let memory = &self.rated.memory;
        match memory.status() {
            MemoryStatus::Tainted | MemoryStatus::Candidate if memory.flags.tainted => {
                let mut external = self
                    .claims
                    .iter()
                    .rev()
                    .filter_map(|it| it.session.as_ref()?.external.as_ref());
                match external.next() {
                    Some(external) => format!("text from outside came before it: {external}"),
                    None => "it comes from text outside the project".to_owned(),
                }
            }
            MemoryStatus::Candidate => format!(
                "stated in {}; you or another session can confirm it",
                format_count(memory.provenance.len().max(1), "session", "sessions")
            ),
            MemoryStatus::NeedsReview => "not confirmed yet".to_owned(),
            // An active memory; only `--all` shows it.
            _ => "learned, and never confirmed by you".to_owned(),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let mut value = json!(MemoryWire::from(&self.rated.memory));
        value["why"] = json!(self.reason());
        value["claims"] = self.claims.iter().map(claim_json).collect();
        value
    }
}

fn claim_json(sighting: &ClaimSighting) -> Value {
    let claim = &sighting.claim;
    json!({
        "source": claim.source,
        "quote": claim.quote,
        "said_at": claim.said_at.map(|it| it.0),
        "outcome": claim.outcome,
        "tell_at": claim.tell_at.iter().map(describe_cue).collect::<Vec<_>>(),
        "score": claim.score.as_fraction(),
        "session": sighting.session_id,
        "task": sighting.session.as_ref().map(|it| &it.task),
    })
}

/// A moment at which an agent would be told the memory, in words: "at `npm test`".
fn describe_cue(cue: &TellCue) -> String {
    match cue {
        TellCue::File(file) => format!("on {file}"),
        TellCue::Command(command) => format!("at `{command}`"),
        TellCue::Error(message) => format!("after “{message}”"),
        TellCue::Task(words) => format!("in a task about {words}"),
    }
}

/// Prints the card of a pending memory.
pub(super) fn show(
    pending: &PendingMemory,
    position: usize,
    n_pending: usize,
    command: &CommandContext<'_>,
) {
    let (out, memory) = (command.output, &pending.rated.memory);
    let kind = kind_word(&memory.kind, &command.project.config.types);
    out.say(&format!(
        "\n{DIM_STYLE}{} of {n_pending}{DIM_STYLE:#}  {BOLD_STYLE}#{}{BOLD_STYLE:#}  {kind}",
        position + 1,
        memory.id.short()
    ));
    out.say(&memory.content);
    for line in evidence_lines(pending) {
        out.say(&line);
    }
    let mut about =
        vec![format!("by {}, confidence {}", memory.created_by, pending.rated.current_confidence)];
    if pending.rated.scope == NotebookScope::User {
        about.push("yours everywhere".to_owned());
    }
    out.say(&format!("{DIM_STYLE}{}{DIM_STYLE:#}", about.join(" · ")));
    let reason = pending.reason();
    out.say(&format!("{WARN_STYLE}waits{WARN_STYLE:#}    {reason}"));
    if let Some(why) = engine::detect_instruction(&memory.content) {
        out.say(&format!(
            "{WARN_STYLE}it reads like an instruction to an agent: {why}{WARN_STYLE:#}"
        ));
    }
}

/// The labelled lines of a card: words, outcome, place and moments.
fn evidence_lines(pending: &PendingMemory) -> Vec<String> {
    let row = |label: &str, text: &str| format!("{DIM_STYLE}{label:<8}{DIM_STYLE:#} {text}");
    let mut lines = Vec::new();
    for sighting in pending.claims.iter().rev().take(MAX_QUOTED_SESSIONS) {
        let claim = &sighting.claim;
        let when = claim.said_at.map(|it| format!(", {}", it.format_minute())).unwrap_or_default();
        let task = sighting.session.as_ref().map(|it| model::clean_label(&it.task, MAX_TASK_CHARS));
        let task =
            task.filter(|it| !it.is_empty()).map(|it| format!(" ({it})")).unwrap_or_default();
        let quote = model::clean_label(&claim.quote, MAX_QUOTE_CHARS);
        let who = claim.source.speaker();
        let session = sighting.session_id.short();
        lines.push(row("said", &format!("“{quote}”")));
        lines.push(row("by", &format!("{who}{when}, session #{session}{task}")));
        if let Some(outcome) = &claim.outcome {
            lines.push(row("then", outcome));
        }
    }
    let n_more = pending.claims.len().saturating_sub(MAX_QUOTED_SESSIONS);
    if n_more > 0 {
        lines.push(row(
            "also",
            &format!("in {}", format_count(n_more, "more session", "more sessions")),
        ));
    }
    let files: Vec<&str> =
        pending.rated.memory.files.iter().map(model::ProjectPath::as_str).collect();
    if !files.is_empty() {
        lines.push(row("place", &files.join(", ")));
    }
    let cues = pending.claims.last().map(|it| it.claim.tell_at.as_slice()).unwrap_or_default();
    // The files are in the row `place` already.
    let cues: Vec<String> =
        cues.iter().filter(|it| !matches!(it, TellCue::File(_))).map(describe_cue).collect();
    if !cues.is_empty() {
        lines.push(row("told", &cues.join(", ")));
    }
    lines
}
