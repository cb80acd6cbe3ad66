//! The words of the user in the scratchpad: messages, answers, refusals of calls and accepted plans.
//!
//! A refusal reaches the fold twice if the host knows the user's reason: as the result of the call, which was
//! rejected, and as a message of the kind `refusal`. Both name the call and become one [`LoggedMessage`],
//! in whichever order they come:
//!
//! ```text
//! tool_result   call c1, rejected               refusal of c1, no text
//! user_message  refusal of c1: "use the cache"  refusal of c1, "use the cache"
//! ```

use model::{ToolResult, UserMessage, UserMessageKind, elide_middle};

use super::fold::truncate;
use super::{MAX_MESSAGES, MAX_STATEMENTS, Scratchpad, SessionStatement, StatementKind};
use crate::person::{PersonMoment, Preceding, hear_message, is_objection};

/// The longest stored user message, in bytes. Of a longer one, such as a pasted log, both ends are stored.
const MAX_MESSAGE_BYTES: usize = 8 << 10;
/// Messages searched backwards for the refusal that a reason belongs to: parallel calls are refused together.
const REFUSAL_WINDOW_MESSAGES: usize = 20;
/// The longest stored task, in bytes.
pub(super) const MAX_TASK_BYTES: usize = 2048;

/// Words of the user, or the refusal of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedMessage {
    /// The number of calls before it.
    pub call: u32,
    /// Its position among the events.
    pub order: u32,
    /// Id of the event; of a refusal, the id of the call if the host names it.
    pub event: String,
    pub kind: UserMessageKind,
    /// The question that an answer replies to; of a refusal or an accepted plan, the id of the call.
    pub reply_to: Option<String>,
    pub is_interrupt: bool,
    /// It objects to what the agent did just before.
    pub is_objection: bool,
    /// Empty for a refusal without a reason and for an interruption.
    pub text: String,
}

pub(super) fn add_user_message(pad: &mut Scratchpad, event: &str, message: &UserMessage) {
    // Without a declared task, the first message is the task.
    if pad.task.is_empty() && !message.interrupts {
        pad.task = truncate(&message.text, MAX_TASK_BYTES);
    }
    add_wishes(pad, event, message);
    let logged = LoggedMessage {
        call: pad.n_calls,
        order: pad.n_events,
        event: event.to_owned(),
        kind: message.kind,
        reply_to: message.reply_to.clone(),
        is_interrupt: message.interrupts,
        is_objection: match message.kind {
            // Before the first call there is nothing to object to.
            UserMessageKind::Prompt | UserMessageKind::Queued => {
                pad.n_calls > 0 && is_objection(&message.text)
            }
            UserMessageKind::Refusal => true,
            // The agent asked, so that a "no" is an answer.
            UserMessageKind::Answer | UserMessageKind::AcceptedPlan => false,
        },
        text: elide_middle(&message.text, MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES / 2).into_owned(),
    };
    if message.kind == UserMessageKind::Refusal {
        add_refusal(pad, logged);
    } else {
        push_message(pad, logged);
    }
}

/// Adds what the person wants to be remembered.
fn add_wishes(pad: &mut Scratchpad, event: &str, message: &UserMessage) {
    // The messages to a subagent are written by the agent that started it, and the text of an interruption
    // by the host.
    if pad.parent.is_some() || message.interrupts {
        return;
    }
    // The answer may be a choice that the agent worded, after text from outside the project.
    if message.kind == UserMessageKind::Answer && pad.is_tainted(pad.n_events) {
        return;
    }
    let has_worked = pad.n_calls > 0 || !pad.last_sentence.is_empty();
    let after = if has_worked { Preceding::Work } else { Preceding::Nothing };
    let moment = PersonMoment { after, is_first: pad.messages.is_empty() };
    for wish in hear_message(message, moment) {
        if pad.statements.len() < MAX_STATEMENTS {
            pad.statements.push(SessionStatement {
                kind: StatementKind::Wish(wish.kind),
                call: pad.n_calls,
                order: pad.n_events,
                event: event.to_owned(),
                text: wish.text,
                context: [String::new(), String::new()],
            });
        }
    }
}

/// Adds the refusal of a call, which says no more than that.
pub(super) fn add_rejected_call(pad: &mut Scratchpad, result: &ToolResult) {
    let refusal = LoggedMessage {
        call: pad.n_calls,
        order: pad.n_events,
        event: result.call_id.clone(),
        kind: UserMessageKind::Refusal,
        reply_to: Some(result.call_id.clone()),
        is_interrupt: false,
        is_objection: true,
        // Hosts put the user's reason, if there is one, after words of their own.
        text: String::new(),
    };
    add_refusal(pad, refusal);
}

/// Adds a refusal, or completes the one that is logged for the same call.
fn add_refusal(pad: &mut Scratchpad, mut refusal: LoggedMessage) {
    if let Some(call) = &refusal.reply_to {
        refusal.event.clone_from(call);
    }
    // A reason that names no call belongs to a call that was refused since the last message.
    let is_same_call = |it: &LoggedMessage| match &refusal.reply_to {
        Some(_) => it.reply_to == refusal.reply_to,
        None => it.text.is_empty() && it.call == refusal.call,
    };
    let last = pad.messages.iter_mut().rev().take(REFUSAL_WINDOW_MESSAGES);
    let mut refusals = last.filter(|it| it.kind == UserMessageKind::Refusal);
    match refusals.find(|it| is_same_call(it)) {
        Some(logged) if logged.text.is_empty() => logged.text = refusal.text,
        // The reason came first and the result adds nothing to it.
        Some(_) => {}
        None => push_message(pad, refusal),
    }
}

fn push_message(pad: &mut Scratchpad, message: LoggedMessage) {
    if pad.messages.len() < MAX_MESSAGES {
        pad.messages.push(message);
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::{Expect, expect};

    use super::*;
    use crate::test_script::{events_from_script, pad_from_script};

    /// Compares the messages of a script: kind, `!` for an objection, what it replies to, the text.
    fn check(script: &str, expect: Expect) {
        expect.assert_eq(&show(&pad_from_script(script)));
    }

    fn show(pad: &Scratchpad) -> String {
        let mut acc = String::new();
        for it in &pad.messages {
            let objection = if it.is_objection { "!" } else { "" };
            let reply_to = it.reply_to.as_deref().unwrap_or("–");
            writeln!(acc, "{}{objection} ({reply_to}) {}", it.kind, it.text).unwrap();
        }
        acc
    }

    #[test]
    fn a_refusal_with_a_reason_is_one_message() {
        let script = "user fix it\nrefuse a.rs: use the cache\nrefuse b.rs\nuser no, wrong file";
        let expected = expect![[r"
            prompt (–) fix it
            refusal! (c2) use the cache
            refusal! (c5) 
            prompt! (–) no, wrong file
        "]];
        expected.assert_eq(&show(&pad_from_script(script)));
        // The reason before the result of the call, as hooks may report it.
        let mut events = events_from_script(script);
        events.swap(3, 4);
        let mut pad = Scratchpad::new();
        for it in &events {
            pad.observe(it);
        }
        expected.assert_eq(&show(&pad));
    }

    #[test]
    fn a_reason_without_a_call_completes_the_last_refusal() {
        let mut events = events_from_script("refuse a.rs: use the cache\nrefuse b.rs");
        if let model::Event::UserMessage(message) = &mut events[3].event {
            message.reply_to = None;
        }
        let mut pad = Scratchpad::new();
        for it in &events {
            pad.observe(it);
        }
        expect![[r"
            refusal! (c1) use the cache
            refusal! (c4) 
        "]]
        .assert_eq(&show(&pad));
    }

    #[test]
    fn neither_an_answer_nor_a_plan_is_an_objection() {
        check(
            "run make\nanswer Delete it? → no, keep it\nplan don't touch b.rs\nqueued no, stop",
            expect![[r"
                answer (Delete it?) no, keep it
                accepted_plan (–) don't touch b.rs
                queued! (–) no, stop
            "]],
        );
    }

    #[test]
    fn words_of_the_agent_state_no_preferences_of_the_user() {
        let sentence = "please always run `mise run fmt` before committing";
        assert_eq!(pad_from_script(&format!("answer How? → {sentence}")).statements.len(), 1);
        assert!(pad_from_script(&format!("plan {sentence}")).statements.is_empty());
        // The agent may have offered it as a choice because a page says so.
        let after_page = format!("web https://x.test\nanswer How? → {sentence}");
        assert!(pad_from_script(&after_page).statements.is_empty());
    }

    #[test]
    fn a_message_of_eight_kilobytes_is_whole_and_a_longer_one_keeps_both_ends() {
        let text = "x".repeat(MAX_MESSAGE_BYTES);
        assert_eq!(pad_from_script(&format!("user {text}")).messages[0].text, text);
        let pad = pad_from_script(&format!("user begin {text} end"));
        let stored = &pad.messages[0].text;
        assert!(stored.starts_with("begin x") && stored.ends_with("x end"), "{stored}");
    }
}
