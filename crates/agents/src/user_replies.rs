//! The words of a user in reply to a call of the agent: answers to its questions, the reason of a refusal, a
//! plan that was accepted.
//!
//! Hosts put them into the result of the call. The readers of transcripts and the hook messages find them
//! there with these functions and add them to the [`EventLog`] as user messages, under ids that are derived
//! from that of the call, so that a reply that is read from both counts once:
//!
//! ```text
//! t1     call of the tool `AskUserQuestion`
//! t1!    its result
//! t1?0   answer to its first question
//! t1?    reason why the user refused the call
//! ```

use model::{Event, UserMessage, UserMessageKind};
use serde_json::{Value, json};

use crate::event_log::{EventLog, bound_speech};

/// The prefix under which Codex returns a remark of the user to a choice.
const REMARK_PREFIX: &str = "user_note:";

/// The reply that a call waits for. Its result alone does not hold what was asked.
#[derive(Clone, Debug)]
pub(crate) enum AwaitedReply {
    /// Answers to these questions, objects with a `question` each.
    Answers { questions: Value },
    /// The approval of this plan; empty if the host keeps the plan in a file.
    Approval { plan: String },
}

impl AwaitedReply {
    /// The reply that a call of this tool waits for, if it asks the user at all.
    pub(crate) fn from_call(tool_name: &str, input: &Value) -> Option<Self> {
        let name = tool_name.replace(['_', '-'], "").to_ascii_lowercase();
        match name.as_str() {
            "askuserquestion" | "askuser" | "requestuserinput" | "question" => {
                let questions = match &input["questions"] {
                    Value::Array(_) => input["questions"].clone(),
                    // One question, beside its choices.
                    _ => json!([{ "question": input["question"] }]),
                };
                Some(Self::Answers { questions })
            }
            "exitplanmode" => {
                let plan = input["plan"].as_str().unwrap_or_default().to_owned();
                Some(Self::Approval { plan })
            }
            _ => None,
        }
    }
}

/// Adds the reason that the user gave for refusing a call.
pub(crate) fn push_refusal(log: &mut EventLog, call: &str, reason: &str) {
    push_reply(log, &format!("{call}?"), UserMessageKind::Refusal, call, reason);
}

/// Adds a plan that the user accepted. `call` is empty if the plan came as a message.
pub(crate) fn push_accepted_plan(log: &mut EventLog, id: &str, call: &str, plan: &str) {
    push_reply(log, id, UserMessageKind::AcceptedPlan, call, plan);
}

/// Adds the answers to the questions of a call.
///
/// `questions` are the objects of the call. Hosts list the answers by the text of the question, by its id, or
/// by its position; an answer is a text, a list of choices, or an object
/// with such a list. `notes` has a remark to an answer in the field `notes`, by the text of the question.
pub(crate) fn push_answers(
    log: &mut EventLog,
    call: &str,
    questions: &Value,
    answers: &Value,
    notes: &Value,
) {
    for (nth, item) in questions.as_array().into_iter().flatten().enumerate() {
        let question = item["question"].as_str().unwrap_or_default();
        let keys = [question, item["id"].as_str().unwrap_or_default(), &nth.to_string()];
        let answer = keys.iter().find_map(|it| answers.get(*it)).or_else(|| answers.get(nth));
        let mut parts = answer.map(answer_texts).unwrap_or_default();
        parts.extend(notes[question]["notes"].as_str().map(str::to_owned));
        parts.retain(|it| !it.trim().is_empty());
        push_answer(log, call, nth, question, &parts.join("\n"));
    }
}

/// Adds the answer to one question of a call.
pub(crate) fn push_answer(
    log: &mut EventLog,
    call: &str,
    nth: usize,
    question: &str,
    answer: &str,
) {
    push_reply(log, &format!("{call}?{nth}"), UserMessageKind::Answer, question, answer);
}

/// Adds words of the user, unless they are blank.
fn push_reply(log: &mut EventLog, id: &str, kind: UserMessageKind, reply_to: &str, text: &str) {
    let text = bound_speech(text.trim());
    if !text.is_empty() {
        let reply_to = (!reply_to.is_empty()).then(|| bound_speech(reply_to));
        let message = UserMessage { text, interrupts: false, kind, reply_to };
        log.push_event(id, Event::UserMessage(message));
    }
}

/// The choices and remarks of an answer.
fn answer_texts(answer: &Value) -> Vec<String> {
    match answer {
        Value::String(text) => {
            vec![text.strip_prefix(REMARK_PREFIX).unwrap_or(text).trim().to_owned()]
        }
        Value::Array(parts) => parts.iter().flat_map(answer_texts).collect(),
        Value::Object(fields) => fields.get("answers").map(answer_texts).unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers that are found, as `QUESTION → ANSWER`.
    fn answers(questions: &Value, answers: &Value, notes: &Value) -> Vec<String> {
        let mut log = EventLog::new("test", None, "s".to_owned());
        push_answers(&mut log, "t1", questions, answers, notes);
        let show = |event: &Event| match event {
            Event::UserMessage(it) => {
                Some(format!("{} → {}", it.reply_to.as_deref().unwrap_or("–"), it.text))
            }
            _ => None,
        };
        log.acc.iter().filter_map(|it| show(&it.event)).collect()
    }

    #[test]
    fn answers_are_found_in_the_forms_of_all_hosts() {
        let questions =
            json!([{"id": "a", "question": "Which?"}, {"id": "b", "question": "How many?"}]);
        let expected = ["Which? → B", "How many? → 2\n3"];
        for listed in [
            json!({"Which?": "B", "How many?": ["2", "3"]}),
            json!({"b": {"answers": ["2", "user_note: 3"]}, "a": {"answers": ["B"]}}),
            json!({"0": "B", "1": "2\n3"}),
            json!([["B"], ["2", "3"]]),
        ] {
            assert_eq!(answers(&questions, &listed, &Value::Null), expected, "{listed}");
        }
    }

    #[test]
    fn a_remark_belongs_to_its_answer_and_an_open_question_has_none() {
        let questions = json!([{"question": "Which?"}, {"question": "How many?"}]);
        let notes = json!({"Which?": {"notes": "but without the cache"}});
        let given = answers(&questions, &json!({"Which?": "B", "How many?": " "}), &notes);
        assert_eq!(given, ["Which? → B\nbut without the cache"]);
        assert_eq!(answers(&questions, &Value::Null, &notes), ["Which? → but without the cache"]);
    }
}
