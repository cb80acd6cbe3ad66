//! Reads the results of calls that the user of Claude Code did not allow.
//!
//! The host writes such a result in its own words and puts the user's behind them:
//!
//! ```text
//! The user doesn't want to proceed with this tool use. … To tell you how to proceed, the user said:
//! use the cache
//!
//! Note: The user's next message may contain a correction or preference. …
//! ```
//!
//! If the user wants to talk about questions of the agent first, the words behind are those of the host as
//! well; they list the questions that were answered so far.

use crate::event_log::{CallOutcome, EventLog};
use crate::user_replies::{push_answer, push_refusal};

/// Beginnings of the result of a call that the user rejected or stopped.
const REJECTION_PREFIXES: &[&str] = &[
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "The agent proposed a plan that was rejected by the user",
    "[Request interrupted by user for tool use]",
];
/// Words of the host before those of the user.
const SAID_MARK: &str = "the user said:\n";
/// Words of the host behind those of the user.
const NOTE_MARK: &str = "\n\nNote: The user's next message may contain";
/// Beginning of the host's own words for a user who wants to talk about the questions.
const CLARIFICATION_PREFIX: &str = "The user wants to clarify these questions";

/// The outcome of a call with this output.
///
/// `denial` is the host's word for the reason why a call did not run, which newer versions write: only some
/// of them stand for the user, others for rules.
pub(crate) fn find_outcome(is_error: bool, denial: Option<&str>, text: &str) -> CallOutcome {
    let is_rejected = match denial {
        Some(word) => matches!(word, "user-rejected" | "interrupted"),
        None => is_rejection(text),
    };
    match (is_error, is_rejected) {
        (true, true) => CallOutcome::Rejected,
        (true, false) => CallOutcome::Failed,
        (false, _) => CallOutcome::Ok,
    }
}

/// Returns whether an output says that the user rejected the call.
pub(crate) fn is_rejection(text: &str) -> bool {
    REJECTION_PREFIXES.iter().any(|it| text.starts_with(it))
}

/// Adds what the user said to reject a call, if anything.
pub(crate) fn push_reason(log: &mut EventLog, call: &str, text: &str) {
    let Some((_, said)) = text.split_once(SAID_MARK) else { return };
    let said = said.split_once(NOTE_MARK).map_or(said, |(said, _)| said);
    if said.starts_with(CLARIFICATION_PREFIX) {
        push_first_answers(log, call, said);
    } else {
        push_refusal(log, call, said);
    }
}

/// Adds the answers that the user gave before asking back.
fn push_first_answers(log: &mut EventLog, call: &str, text: &str) {
    let mut question = "";
    let mut nth = 0;
    for line in text.lines() {
        if let Some(quoted) = line.strip_prefix("- \"") {
            question = quoted.strip_suffix('"').unwrap_or(quoted);
        }
        let line = line.trim_start();
        let answer = line.strip_prefix("Answer: ").or_else(|| line.strip_prefix("User notes: "));
        if let Some(answer) = answer {
            push_answer(log, call, nth, question, answer);
            nth += 1;
        }
    }
}
