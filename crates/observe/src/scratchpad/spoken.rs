//! Sentences of a session that a claim can be cut from: those of the agent and of accepted plans, and how the
//! agent replied to a person.
//!
//! A sentence is stored if its words propose a cause, a rule or a property ("because", "must", "never") and
//! it names code or states a cause outright. Such words only propose: the crate `claims` weighs each stored
//! sentence by what came before and after it. Example: of "Let me look. The tests fail because `RepoRoot`
//! runs git." the second sentence is stored.

use model::{AgentReasoning, UserMessage, UserMessageKind};

use super::Scratchpad;
use crate::sentences::{code_words, lowercase_plain_quotes, names_code, split_sentences};
use crate::statements::MAX_TEXT_BYTES;
use crate::strings::StringId;

/// Sentences that are stored in one session.
const MAX_SPOKEN_SENTENCES: usize = 3_000;
/// Texts of the agent that are stored in one session.
const MAX_AGENT_TEXTS: usize = 20_000;
/// Lengths of a sentence that can be a claim, in bytes.
const MIN_CLAIM_BYTES: usize = 25;
const MAX_CLAIM_BYTES: usize = 420;
/// The sentence before is stored up to this length, to give a claim its subject.
const MAX_PREVIOUS_BYTES: usize = 220;
/// The longest stored heading of a plan, in bytes.
const MAX_HEADING_BYTES: usize = 80;
/// The beginning of a text that is searched for a concession, in bytes.
const CONCESSION_WINDOW: usize = 160;
/// The beginning of a text that is searched for a retraction, in bytes.
const RETRACTION_WINDOW: usize = 400;
/// Names that are stored of a text that retracts something.
const MAX_RETRACTED_NAMES: usize = 20;
/// Events after a person's message within which a text of the agent counts as the reply.
const REPLY_WINDOW_EVENTS: u32 = 8;
/// Sentences at the beginning of a reply that are searched for a restatement.
const RESTATEMENT_SENTENCES: usize = 4;

/// Words of sentences that state a cause, a rule or a property. Sorted.
#[rustfmt::skip]
const PROPOSING_WORDS: &[&str] = &[
    "actually", "allows", "already", "always", "applies", "because", "breaks", "broken", "cached", "can't", "cannot", "cause", "caused",
    "complains", "conflict", "conflicts", "culprit", "defined", "derived", "disabled", "doesn't", "don't", "due", "ensures", "expects",
    "exposed", "fails", "falls", "forbids", "ignored", "ignores", "instead", "interprets", "isn't", "issue", "lazily", "limitation",
    "means", "mismatch", "missing", "must", "need", "needed", "needs", "never", "not", "only", "opposite", "overridden", "override",
    "overrides", "prefer", "problem", "rather", "reason", "rejected", "require", "required", "requires", "should", "shouldn't", "silently",
    "since", "so", "stale", "stored", "strips", "supports", "triggers", "turns", "unless", "wants", "without", "won't", "would", "wrong",
];

/// Phrases of a sentence that states a cause outright, between blanks.
const STRONG_PHRASES: &[&str] = &[
    " root cause ",
    " issue is ",
    " issue was ",
    " problem is ",
    " problem was ",
    " bug is ",
    " bug was ",
    " culprit is ",
    " culprit was ",
    " cause is ",
    " cause was ",
    " turns out ",
    " that's why ",
    " found the issue ",
    " found the bug ",
    " found the problem ",
    " i see ",
    " now i understand ",
    " the fix is ",
    " is never ",
    " is defined but ",
    " because ",
];

/// Phrases at the beginning of a reply that concedes a point.
const CONCESSION_PHRASES: &[&str] = &[
    "you're right",
    "you are right",
    "good point",
    "good catch",
    "valid point",
    "fair point",
    "makes sense",
    "agreed",
    "i apologize",
    "my mistake",
    "you're correct",
    "that's right",
    "great point",
    "good idea",
    "good question",
];

/// Phrases of a text that takes something back, between blanks.
const RETRACTION_PHRASES: &[&str] = &[
    " actually ",
    " wait ",
    " i was wrong ",
    " that's not it ",
    " that's not right ",
    " that's not the ",
    " not the issue ",
    " not the cause ",
    " not the problem ",
    " my mistake ",
    " still fails ",
    " still failing ",
    " still broken ",
    " still the same ",
    " didn't help ",
    " didn't work ",
    " that wasn't ",
    " on second thought ",
];

/// Words of a sentence that restates what a person wants.
const RESTATING_PHRASES: &[&str] = &[
    " should ",
    " better ",
    " instead ",
    " rather ",
    " must ",
    " because ",
    " since ",
    " only ",
    " doesn't ",
    " shouldn't ",
];

/// The one who said a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The agent, in a message.
    Agent,
    /// The agent, in a thought that the user may not see.
    Thought,
    /// A plan that a person accepted.
    Plan,
}

/// A sentence that may be a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpokenSentence {
    pub speaker: Speaker,
    /// The number of calls before it.
    pub call: u32,
    pub order: u32,
    /// Index of its text in [`Scratchpad::agent_texts`]; of a plan, 0.
    pub text_index: u32,
    pub text: String,
    /// The sentence before it in the same text.
    pub previous: String,
    /// Of a plan, the heading above it.
    pub heading: String,
}

/// A text of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentText {
    pub call: u32,
    pub order: u32,
    pub n_sentences: u16,
    pub is_thought: bool,
    /// The last message before a person speaks again, or the last of the session so far.
    pub ends_turn: bool,
    /// Names of a text that takes back what was said before; empty if it does not.
    pub retracted_names: Vec<StringId>,
    /// It takes something back.
    pub retracts: bool,
}

/// The first text of the agent after a message of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentReply {
    /// The number of calls before the message.
    pub message_call: u32,
    pub concedes: bool,
    /// The sentence in which the agent restates what the person wants; empty if there is none.
    pub restatement: String,
}

/// Adds a text of the agent.
pub(super) fn add_text(pad: &mut Scratchpad, reasoning: &AgentReasoning) {
    let text = &reasoning.text[..reasoning.text.floor_char_boundary(MAX_TEXT_BYTES)];
    if pad.agent_texts.len() >= MAX_AGENT_TEXTS {
        return;
    }
    let text_index = u32::try_from(pad.agent_texts.len()).unwrap_or(u32::MAX);
    let sentences = split_sentences(text);
    let speaker = if reasoning.thinking { Speaker::Thought } else { Speaker::Agent };
    let mut previous = "";
    for sentence in &sentences {
        if proposes_claim(sentence) {
            push_sentence(pad, speaker, text_index, sentence, previous, "");
        }
        previous = sentence;
    }
    let opening = pad_words(&text[..text.floor_char_boundary(RETRACTION_WINDOW)]);
    let retracts = contains_any(&opening, RETRACTION_PHRASES);
    let mut retracted_names = Vec::new();
    if retracts {
        let names: Vec<&str> =
            sentences.iter().take(RESTATEMENT_SENTENCES).flat_map(|it| code_words(it)).collect();
        retracted_names =
            names.into_iter().take(MAX_RETRACTED_NAMES).map(|it| pad.strings.intern(it)).collect();
    }
    if !reasoning.thinking {
        add_reply(pad, text, &sentences);
        // Only the last message of a turn ends it.
        if let Some(last) = pad.agent_texts.iter_mut().rev().find(|it| !it.is_thought)
            && !pad.turn_ended
        {
            last.ends_turn = false;
        }
        pad.turn_ended = false;
    }
    pad.agent_texts.push(AgentText {
        call: pad.n_calls,
        order: pad.n_events,
        n_sentences: u16::try_from(sentences.len()).unwrap_or(u16::MAX),
        is_thought: reasoning.thinking,
        ends_turn: !reasoning.thinking,
        retracted_names,
        retracts,
    });
}

/// Adds the sentences of an accepted plan; any other message ends the turn of the agent.
pub(super) fn add_person_words(pad: &mut Scratchpad, message: &UserMessage) {
    if message.kind != UserMessageKind::AcceptedPlan {
        pad.turn_ended = true;
        pad.unanswered_message = Some((pad.n_calls, pad.n_events));
        return;
    }
    let plan = &message.text[..message.text.floor_char_boundary(MAX_TEXT_BYTES)];
    let mut heading = "";
    for line in plan.lines() {
        let bare = line.trim();
        if let Some(title) = bare.strip_prefix('#') {
            heading = title.trim_start_matches('#').trim();
            heading = &heading[..heading.floor_char_boundary(MAX_HEADING_BYTES)];
            continue;
        }
        let mut previous = "";
        for sentence in split_sentences(line) {
            if proposes_claim(sentence) {
                push_sentence(pad, Speaker::Plan, 0, sentence, previous, heading);
            }
            previous = sentence;
        }
    }
}

/// Notes whether the first text after a person's message concedes, and how it restates the wish.
fn add_reply(pad: &mut Scratchpad, text: &str, sentences: &[&str]) {
    let Some((message_call, asked_at)) = pad.unanswered_message.take() else { return };
    if pad.n_events.saturating_sub(asked_at) > REPLY_WINDOW_EVENTS {
        return;
    }
    let opening = lowercase_plain_quotes(&text[..text.floor_char_boundary(CONCESSION_WINDOW)]);
    let concedes = CONCESSION_PHRASES.iter().any(|it| opening.contains(it));
    let restates = |it: &&&str| {
        let words = pad_words(it);
        it.len() <= MAX_PREVIOUS_BYTES
            && names_code(it)
            && contains_any(&words, RESTATING_PHRASES)
            && !words.contains(" let me ")
            && !words.contains(" i'll ")
    };
    let restatement = sentences.iter().take(RESTATEMENT_SENTENCES).find(restates);
    let restatement = restatement.map(|it| (*it).to_owned()).unwrap_or_default();
    pad.agent_replies.push(AgentReply { message_call, concedes, restatement });
}

fn push_sentence(
    pad: &mut Scratchpad,
    speaker: Speaker,
    text_index: u32,
    sentence: &str,
    previous: &str,
    heading: &str,
) {
    if pad.spoken_sentences.len() < MAX_SPOKEN_SENTENCES {
        pad.spoken_sentences.push(SpokenSentence {
            speaker,
            call: pad.n_calls,
            order: pad.n_events,
            text_index,
            text: sentence.to_owned(),
            previous: previous[..previous.floor_char_boundary(MAX_PREVIOUS_BYTES)].to_owned(),
            heading: heading.to_owned(),
        });
    }
}

/// Returns whether the words of a sentence propose a claim.
fn proposes_claim(sentence: &str) -> bool {
    if !(MIN_CLAIM_BYTES..=MAX_CLAIM_BYTES).contains(&sentence.len())
        || sentence.ends_with(['?', ':'])
    {
        return false;
    }
    // A table row or a path alone.
    if sentence.starts_with('|') || !sentence.contains(' ') {
        return false;
    }
    let words = pad_words(sentence);
    let proposes = words.split(' ').any(|it| PROPOSING_WORDS.binary_search(&it).is_ok());
    (proposes && names_code(sentence)) || contains_any(&words, STRONG_PHRASES)
}

/// Returns whether a text of [`pad_words`] states a cause outright.
pub fn states_cause(words: &str) -> bool {
    contains_any(words, STRONG_PHRASES)
}

/// The words of a text in lower case, each between single blanks: `Use X, not Y.` → ` use x not y `.
/// Apostrophes stay, so that `don't` is one word.
pub fn pad_words(text: &str) -> String {
    let mut acc = String::with_capacity(text.len() + 2);
    acc.push(' ');
    for char in text.chars() {
        let char = if char == '’' { '\'' } else { char };
        if char.is_alphanumeric() || char == '\'' || char == '_' {
            acc.extend(char.to_lowercase());
        } else if !acc.ends_with(' ') {
            acc.push(' ');
        }
    }
    if !acc.ends_with(' ') {
        acc.push(' ');
    }
    acc
}

fn contains_any(words: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|it| words.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_script::pad_from_script;

    #[test]
    fn the_table_of_words_is_sorted() {
        assert!(PROPOSING_WORDS.is_sorted());
    }

    #[test]
    fn words_are_padded() {
        assert_eq!(pad_words("Use X, don’t use `a_b`."), " use x don't use a_b ");
        assert_eq!(pad_words(""), " ");
    }

    #[test]
    fn sentences_that_propose_a_claim_are_stored_with_their_neighbour() {
        let pad = pad_from_script(
            "user fix the tests\nsay The helper is small. The tests fail because `RepoRoot` runs git. Let me look at it now.\nedit a.rs\nsay Done.",
        );
        let [sentence] = pad.spoken_sentences.as_slice() else { panic!("one sentence") };
        assert_eq!(sentence.text, "The tests fail because `RepoRoot` runs git.");
        assert_eq!(sentence.previous, "The helper is small.");
        let ends: Vec<bool> = pad.agent_texts.iter().map(|it| it.ends_turn).collect();
        assert_eq!(ends, [false, true]);
    }

    #[test]
    fn a_concession_is_noted_with_its_restatement() {
        let pad = pad_from_script(
            "user start\nsay Done with it.\nuser put the check elsewhere\nsay You're right. The check should be in `registry.go` instead of each handler.",
        );
        let reply = pad.agent_replies.last().unwrap();
        assert!(reply.concedes);
        assert!(reply.restatement.starts_with("The check should be"));
    }
}
