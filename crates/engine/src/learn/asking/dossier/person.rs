//! The person's words: every message, answer and refusal, with what it was about and what followed.

use model::UserMessageKind;

use super::super::session_texts::{SessionTexts, Speaker, SpokenText};
use super::timeline::Timeline;
use super::{DossierItem, ItemKind, ItemPart, one_line};

/// The longest message, in characters. If all together exceed the budget, the limit is halved until they
/// fit: it is better to have the beginning of every message than all of one.
const MAX_MESSAGE_CHARS: usize = 2_400;
const MIN_MESSAGE_CHARS: usize = 150;
/// The longest question or call in an aside, in characters.
const MAX_REPLY_CHARS: usize = 240;
/// The longest text that a message answers, in characters. Only short messages need it.
const MAX_BEFORE_CHARS: usize = 140;
const MAX_CHARS_WITH_BEFORE: usize = 200;
/// A message of so few characters agrees or goes on: "yes", "continue".
const MAX_NOD_CHARS: usize = 14;

/// One item per text of the person, except accepted plans, which the agent wrote.
pub(super) fn person_items(timeline: &Timeline<'_>, texts: &SessionTexts) -> Vec<DossierItem> {
    let budget = ItemKind::Person.token_budget();
    let mut max_chars = MAX_MESSAGE_CHARS;
    loop {
        let items = items_within(timeline, texts, max_chars);
        let cost: u32 = items.iter().map(super::item_tokens).sum();
        if cost <= budget || max_chars / 2 < MIN_MESSAGE_CHARS {
            return items;
        }
        max_chars /= 2;
    }
}

fn items_within(
    timeline: &Timeline<'_>,
    texts: &SessionTexts,
    max_chars: usize,
) -> Vec<DossierItem> {
    let mut acc: Vec<DossierItem> = Vec::new();
    for (nth, spoken) in texts.spoken.iter().enumerate() {
        let Speaker::Person { kind, reply_to, interrupts } = &spoken.speaker else { continue };
        let is_first = acc.is_empty();
        let is_nod = *kind == UserMessageKind::Prompt && spoken.text.len() <= MAX_NOD_CHARS;
        if *kind == UserMessageKind::AcceptedPlan || is_host_text(&spoken.text) || is_nod {
            continue;
        }
        let label = match kind {
            _ if is_first => "task".to_owned(),
            UserMessageKind::Refusal => format!("step {}, refusing a call", spoken.call),
            UserMessageKind::Answer => format!("step {}, answering a question", spoken.call),
            UserMessageKind::Queued => format!("step {}, while the agent worked", spoken.call),
            UserMessageKind::Prompt | UserMessageKind::AcceptedPlan if *interrupts => {
                format!("step {}, interrupting", spoken.call)
            }
            UserMessageKind::Prompt | UserMessageKind::AcceptedPlan => {
                format!("step {}", spoken.call)
            }
        };
        let before = match reply_to {
            Some(it) => refused_call(timeline, *kind, spoken, it),
            None if is_first || spoken.text.len() > MAX_CHARS_WITH_BEFORE => String::new(),
            None => last_agent_text(&texts.spoken[..nth]),
        };
        let after = timeline.aftermath(spoken.call).describe_edits();
        let interruption = i32::from(*interrupts) * 10;
        let aside: Vec<String> = [before, after].into_iter().filter(|it| !it.is_empty()).collect();
        acc.push(DossierItem {
            kind: ItemKind::Person,
            order: spoken.order,
            // Short remarks in the middle are corrections; a long first message is the task.
            worth: if is_first { 1 } else { person_worth(*kind, &spoken.text) + interruption },
            parts: vec![ItemPart { label, text: one_line(&spoken.text, max_chars) }],
            aside: aside.join("; "),
            confirmed: true,
        });
    }
    acc
}

/// Words that change the course of the agent come first, if not all fit.
fn person_worth(kind: UserMessageKind, text: &str) -> i32 {
    let by_kind = match kind {
        UserMessageKind::Refusal => 40,
        UserMessageKind::Answer | UserMessageKind::Queued => 30,
        UserMessageKind::Prompt | UserMessageKind::AcceptedPlan => 20,
    };
    // "ok", "go on" and "commit" say nothing by themselves.
    let n_words = i32::try_from(text.split_whitespace().count().min(10)).unwrap_or(10);
    by_kind + n_words
}

/// Texts that hosts store as messages of the person.
fn is_host_text(text: &str) -> bool {
    text.starts_with("[Request interrupted") || text.starts_with("<task-notification")
}

/// The question that an answer belongs to, or the call that was refused.
fn refused_call(
    timeline: &Timeline<'_>,
    kind: UserMessageKind,
    spoken: &SpokenText,
    reply_to: &str,
) -> String {
    if kind == UserMessageKind::Answer {
        return format!("the question: {}", one_line(reply_to, MAX_REPLY_CHARS));
    }
    // The id of the call says nothing; the call is the last one before the refusal.
    let Some(number) = spoken.call.checked_sub(1) else { return String::new() };
    let command = timeline.command(number);
    let call = timeline.pad.calls.get(number as usize);
    let what = if command.is_empty() {
        let files = call.map(|it| timeline.pad.touches_of_call(it)).unwrap_or_default();
        let file = files.first().map(|it| timeline.pad.strings.text(it.file)).unwrap_or_default();
        let tool = call.map(|it| it.tool.slug()).unwrap_or_default();
        format!("{tool} {file}")
    } else {
        command
    };
    format!("the call: {}", one_line(what.trim(), MAX_REPLY_CHARS))
}

/// The end of the agent's last text, which the message answers.
fn last_agent_text(before: &[SpokenText]) -> String {
    let last = before.iter().rev().find(|it| it.speaker == Speaker::Agent { thinking: false });
    let Some(last) = last else { return String::new() };
    let folded = last.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let n_chars = folded.chars().count();
    let end: String = folded.chars().skip(n_chars.saturating_sub(MAX_BEFORE_CHARS)).collect();
    let dots = if n_chars > MAX_BEFORE_CHARS { "… " } else { "" };
    format!("before it the agent said: {dots}{end}")
}
