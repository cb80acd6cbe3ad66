//! Sentences of the agent: conclusions on the way, sections of accepted plans, and the last text of each
//! turn.
//!
//! An agent writes thousands of sentences, of which a dossier shows a few dozen. A weight proposes them:
//! names of code, words of cause and negation, a failure that is open, and edits that touch what the
//! sentence names count for it; plans of the next step, questions and hedges against it. The model
//! decides, so a sentence too many costs tokens and nothing else.

use std::collections::HashSet;

use model::UserMessageKind;
use observe::{names_code, split_sentences};

use super::super::session_texts::{SessionTexts, Speaker, SpokenText};
use super::timeline::{Aftermath, Timeline};
use super::{DossierItem, ItemKind, ItemPart, one_line};

/// The shortest and the longest sentence that is shown, in characters.
const MIN_SENTENCE_CHARS: usize = 40;
const MAX_SENTENCE_CHARS: usize = 420;
/// The longest last text of a turn, in characters.
const MAX_CLOSING_CHARS: usize = 700;
/// The least weight of a sentence.
const MIN_WEIGHT: i32 = 4;
/// A first message from this length on is a plan that the person pasted or accepted, in characters.
const MIN_PLAN_CHARS: usize = 3_000;
/// Calls after a failed one within which a sentence is about the failure.
const FAILURE_WINDOW_CALLS: u32 = 6;

/// Words that state a cause, a limit or a contrast; one point each, three at most.
#[rustfmt::skip]
const CLAIM_WORDS: &[&str] = &[
    "because", "since", "due to", "so that", "otherwise", "root cause", "the issue", "the problem", "turns out", "actually", "instead", "rather than",
    " not ", "n't ", "never", "always", "only ", "must", "requires", "cannot", "fails", "without", "unless", "even though", "although", "by design", "on purpose",
];
/// Beginnings of sentences that announce or report a step, in lower case.
#[rustfmt::skip]
const STEP_OPENINGS: &[&str] = &[
    "let me", "let's", "now ", "i'll", "i will", "i need", "i should", "i'm ", "i've ", "i am ", "next", "first,", "then ", "good", "great", "perfect", "done", "ok", "running", "checking",
    "looking", "reading", "updating", "adding", "all tests", "tests pass", "the user", "wait",
];
/// Words of doubt.
const HEDGES: &[&str] =
    &["maybe", "might", "perhaps", "probably", "i think", "could be", "seems", "not sure", "?"];
/// Beginnings that need the sentence before.
const DEICTIC_OPENINGS: &[&str] =
    &["this ", "that ", "it ", "it's ", "so ", "these ", "those ", "which "];

/// A sentence with its weight.
struct WeighedSentence<'a> {
    text: &'a str,
    weight: i32,
}

/// Conclusions of the agent, and the last text of each turn.
pub(super) fn agent_items(timeline: &Timeline<'_>, texts: &SessionTexts) -> Vec<DossierItem> {
    let closings = closing_positions(texts);
    let mut seen: Vec<HashSet<String>> = Vec::new();
    let mut acc = Vec::new();
    for (nth, spoken) in texts.spoken.iter().enumerate() {
        let Speaker::Agent { thinking } = spoken.speaker else { continue };
        let aftermath = timeline.aftermath(spoken.call);
        if closings.contains(&nth) {
            acc.push(closing_item(timeline, spoken));
            continue;
        }
        let after_failure = is_after_failure(timeline, spoken.call);
        for sentence in weigh_sentences(&spoken.text) {
            let mut weight = sentence.weight + 2 * i32::from(after_failure);
            weight +=
                2 * i32::from(names_edit(sentence.text, timeline, texts, spoken.call, &aftermath));
            weight -= 2 * i32::from(thinking);
            let words = sentence_words(sentence.text);
            if weight >= MIN_WEIGHT && !seen.iter().any(|it| says_the_same(it, &words)) {
                seen.push(words);
                acc.push(conclusion_item(spoken, sentence.text, weight, &aftermath));
            }
        }
    }
    acc
}

/// Sentences of plans: those the person accepted, and a long first message.
pub(super) fn plan_items(timeline: &Timeline<'_>, texts: &SessionTexts) -> Vec<DossierItem> {
    let mut acc = Vec::new();
    let mut is_first = true;
    for spoken in &texts.spoken {
        let Speaker::Person { kind, .. } = &spoken.speaker else { continue };
        let is_plan = *kind == UserMessageKind::AcceptedPlan
            || (is_first && spoken.text.len() >= MIN_PLAN_CHARS);
        is_first = false;
        if !is_plan {
            continue;
        }
        let aftermath = timeline.aftermath(spoken.call);
        for sentence in weigh_sentences(&spoken.text) {
            if sentence.weight >= MIN_WEIGHT {
                let label = format!("plan, accepted at step {}", spoken.call);
                let parts =
                    vec![ItemPart { label, text: one_line(sentence.text, MAX_SENTENCE_CHARS) }];
                let (aside, confirmed) = (String::new(), aftermath.is_confirmed());
                let (kind, order, worth) = (ItemKind::Plan, spoken.order, sentence.weight);
                acc.push(DossierItem { kind, order, worth, parts, aside, confirmed });
            }
        }
    }
    acc
}

fn conclusion_item(
    spoken: &SpokenText,
    sentence: &str,
    worth: i32,
    aftermath: &Aftermath,
) -> DossierItem {
    let label = format!("agent, step {}", spoken.call);
    DossierItem {
        kind: ItemKind::Conclusion,
        order: spoken.order,
        worth,
        parts: vec![ItemPart { label, text: one_line(sentence, MAX_SENTENCE_CHARS) }],
        aside: aftermath.describe(),
        confirmed: aftermath.is_confirmed(),
    }
}

fn closing_item(timeline: &Timeline<'_>, spoken: &SpokenText) -> DossierItem {
    let check = timeline.checks.iter().rev().find(|it| it.call < spoken.call);
    let aside = check.map(|it| {
        let verb = if it.has_passed { "passed" } else { "failed" };
        format!("before it `{}` {verb}", it.command)
    });
    let n_before = timeline.edits.iter().filter(|it| it.0 < spoken.call).count();
    DossierItem {
        kind: ItemKind::Closing,
        order: spoken.order,
        // Long texts sum up; of equals the later one wins.
        worth: i32::try_from(spoken.text.len().min(MAX_CLOSING_CHARS)).unwrap_or(0),
        parts: vec![ItemPart {
            label: format!("agent, end of its turn, step {}", spoken.call),
            text: one_line(&spoken.text, MAX_CLOSING_CHARS),
        }],
        aside: aside.unwrap_or_default(),
        confirmed: n_before > 0
            && (check.is_some_and(|it| it.has_passed) || timeline.passes_later(spoken.call)),
    }
}

/// Positions of the last texts of the agent before each message of the person and before the end. A turn
/// without a call has none: it is talk.
fn closing_positions(texts: &SessionTexts) -> HashSet<usize> {
    let mut acc = HashSet::new();
    let (mut last, mut turn_start) = (None, 0);
    for (nth, spoken) in texts.spoken.iter().enumerate() {
        match spoken.speaker {
            Speaker::Agent { thinking: false } if spoken.call > turn_start => last = Some(nth),
            Speaker::Agent { .. } => {}
            Speaker::Person { .. } => {
                acc.extend(last.take());
                turn_start = spoken.call;
            }
        }
    }
    acc.extend(last);
    acc
}

/// The sentences of a text with their weight, joined with the one before if they point at it.
fn weigh_sentences(text: &str) -> Vec<WeighedSentence<'_>> {
    let mut acc: Vec<WeighedSentence<'_>> = Vec::new();
    let mut before: Option<&str> = None;
    for sentence in split_sentences(text) {
        // Some hosts write typographic apostrophes.
        let lower = sentence.to_lowercase().replace('’', "'");
        let is_deictic = DEICTIC_OPENINGS.iter().any(|it| lower.starts_with(it));
        let joined = before.filter(|_| is_deictic).and_then(|it| join_slices(text, it, sentence));
        before = Some(sentence);
        let shown = joined.unwrap_or(sentence);
        // Rows of tables and headings are no sentences.
        let is_fragment = sentence.starts_with('|') || sentence.ends_with(':');
        let has_usual_length =
            (MIN_SENTENCE_CHARS..=MAX_SENTENCE_CHARS).contains(&shown.chars().count());
        if is_fragment || !has_usual_length {
            continue;
        }
        let n_claim_words = CLAIM_WORDS.iter().filter(|it| lower.contains(**it)).count();
        let is_step = STEP_OPENINGS.iter().any(|it| lower.starts_with(it));
        let n_hedges = HEDGES.iter().filter(|it| lower.contains(**it)).count();
        let points = |n: usize| i32::try_from(n.min(3)).unwrap_or(3);
        let weight = 3 * i32::from(names_code(shown)) + points(n_claim_words)
            - 3 * i32::from(is_step)
            - points(n_hedges)
            - i32::from(is_deictic && joined.is_none());
        acc.push(WeighedSentence { text: shown, weight });
    }
    acc
}

/// The part of a text from one sentence to the end of the next.
fn join_slices<'a>(text: &'a str, first: &'a str, second: &'a str) -> Option<&'a str> {
    let position = |it: &str| (it.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
    text.get(position(first)?..position(second)? + second.len())
}

fn sentence_words(sentence: &str) -> HashSet<String> {
    let lower = sentence.to_lowercase();
    let words = lower.split(|it: char| !it.is_alphanumeric() && it != '_');
    words.filter(|it| it.len() > 2).map(str::to_owned).collect()
}

/// Returns whether most words of one sentence are in the other: agents restate a finding in every step.
fn says_the_same(a: &HashSet<String>, b: &HashSet<String>) -> bool {
    let shorter = a.len().min(b.len());
    shorter > 0 && a.intersection(b).count() * 10 >= shorter * 7
}

/// Returns whether a call failed shortly before.
fn is_after_failure(timeline: &Timeline<'_>, call: u32) -> bool {
    let start = call.saturating_sub(FAILURE_WINDOW_CALLS);
    let calls = &timeline.pad.calls;
    (start..call).any(|it| calls.get(it as usize).is_some_and(observe::LoggedCall::has_failed))
}

/// Returns whether the edits that follow touch a file or an identifier that the sentence names.
fn names_edit(
    sentence: &str,
    timeline: &Timeline<'_>,
    texts: &SessionTexts,
    call: u32,
    aftermath: &Aftermath,
) -> bool {
    let stem = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.split('.').next().unwrap_or(name).to_owned()
    };
    if aftermath.edited.iter().any(|it| stem(it).len() > 3 && sentence.contains(&stem(it))) {
        return true;
    }
    let next_edit =
        timeline.edits.iter().find(|it| it.0 >= call).and_then(|it| texts.calls.get(&it.0));
    next_edit.is_some_and(|it| {
        it.names.iter().any(|name| name.len() > 3 && sentence.contains(name.as_str()))
    })
}
