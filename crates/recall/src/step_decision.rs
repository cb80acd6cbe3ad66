//! Decides whether to inject a note between two steps of an agent, and with which memories.
//!
//! A *step* is one tool call of an agent; a *note* is a block of memories that Waylore adds to the
//! agent's context unasked. The engine collects *offers*: memories with a [`StepReason`], such as a
//! warning about the file that was just edited. At most one note is injected per step. Its memories all
//! have the same reason: the first in the order of [`StepReason`] that has an acceptable offer. Every
//! other offer is reported with a [`WithholdReason`]. For example:
//!
//! ```text
//! offer 0: known, 20 tokens      → outranked by `touched`
//! offer 1: touched, 600 tokens   → too long
//! offer 2: touched, 30 tokens    → the note
//! ```
//!
//! The trust level is a setting of the project: how much may be injected unasked.

use model::{InjectionTier, MemoryKind, PerMille, TrustLevel, closed};

use crate::{estimate_tokens, frame};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// Reasons to inject a note between two steps, in order of precedence.
    pub enum StepReason : "ground" {
        /// A file with a warning was just touched.
        Touched = "touched",
        /// A sibling of the agent just recorded a note.
        Recorded = "recorded",
        /// A memory answers the search that was just run.
        Known = "known",
        /// The session follows a recipe; its next step is known.
        NextStep = "next_step",
    }
}

impl StepReason {
    #[rustfmt::skip]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Touched  => "a file with a warning was just touched",
            Self::Recorded => "a sibling recorded it in the last step",
            Self::Known    => "a memory answers the search that was just run",
            Self::NextStep => "the session follows a recipe and this is its next step",
        }
    }
}

/// A memory that could be part of the note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteOffer {
    pub reason: StepReason,
    /// `None` for a custom type.
    pub kind: Option<MemoryKind>,
    pub confidence: PerMille,
    /// The formatted line with its citation.
    pub line: String,
}

/// State of the session at this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepState {
    /// Number of the step, counted from 1.
    pub number: u32,
    pub level: TrustLevel,
    /// Tokens injected between steps so far.
    pub tokens_spent: u32,
}

/// The note, and the reasons why the other offers are not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepDecision {
    /// The whole block; empty if nothing is injected.
    pub text: String,
    /// Tokens of `text`.
    pub n_tokens: u32,
    pub reason: Option<StepReason>,
    /// Indexes of the offers in the note.
    pub chosen: Vec<usize>,
    /// Indexes of the other offers.
    pub withheld: Vec<(usize, WithholdReason)>,
}

closed! {
    /// Reasons to withhold an offer.
    pub enum WithholdReason : "reason" {
        /// The session has just started.
        TooEarly = "early",
        /// The trust level does not allow notes between steps.
        TrustLevelTooLow = "level",
        /// The confidence is too low for the trust level.
        LowConfidence = "unsure",
        /// A reason with higher precedence has the note. Unlike with `NoteFull`, the offer was not
        /// compared with the limits of the note.
        Outranked = "later",
        /// Better offers of the same reason have filled the note.
        NoteFull = "crowded",
        /// It exceeds the token limit of a note even alone.
        TooLong = "long",
        /// The token budget of the session is spent; only dead ends are still injected.
        BudgetSpent = "spent",
        /// The code it refers to does not exist any more. Only the engine gives this reason, before it
        /// calls [`decide_step`].
        CodeMissing = "gone",
        /// It derives from text outside the project. Only the engine gives this reason and the next.
        Tainted = "tainted",
        /// It reads like an instruction to its reader.
        Instruction = "instruction",
    }
}

impl WithholdReason {
    #[rustfmt::skip]
    pub const fn description(self) -> &'static str {
        match self {
            Self::TooEarly         => "the session has just started",
            Self::TrustLevelTooLow => "the trust level of this project does not allow notes between steps",
            Self::LowConfidence    => "the confidence is too low for the trust level",
            Self::Outranked        => "another note took precedence; one note per step",
            Self::NoteFull         => "the note is full",
            Self::TooLong          => "longer than the limit of a note",
            Self::BudgetSpent      => "the token budget for notes between steps is spent",
            Self::CodeMissing      => "the code it refers to is gone",
            Self::Tainted          => "it derives from text outside the project",
            Self::Instruction      => "it reads like an instruction to its reader",
        }
    }
}

/// No notes before this step: the session start just injected the important ones.
pub const FIRST_NOTE_STEP: u32 = 5;
/// Token limit of one note, including its frame.
pub const MAX_TOKENS_PER_NOTE: u32 = 500;
/// Token limit of all notes between the steps of a session.
pub const MAX_STEP_TOKENS_PER_SESSION: u32 = 4_000;
/// Most memories in one note.
const MAX_LINES_PER_NOTE: usize = 4;

/// Chooses the note for this step. Offers of one reason come best first and exclude what the session
/// has already seen.
pub fn decide_step(step: StepState, offers: &[NoteOffer]) -> StepDecision {
    let mut res = StepDecision::default();
    // The lines of the chosen offers.
    let mut lines: Vec<&str> = Vec::new();
    // In order of precedence: the first reason with an acceptable offer gets the note.
    for reason in StepReason::ALL {
        for (index, offer) in offers.iter().enumerate() {
            if offer.reason != *reason {
                continue;
            }
            let is_outranked = res.reason.is_some_and(|it| it != *reason);
            let withheld = if let Some(why) = withhold_reason(step, offer) {
                Some(why)
            } else if is_outranked {
                Some(WithholdReason::Outranked)
            } else {
                fit_problem(step, &lines, offer)
            };
            if let Some(why) = withheld {
                res.withheld.push((index, why));
            } else {
                lines.push(&offer.line);
                res.chosen.push(index);
                res.reason = Some(*reason);
            }
        }
    }
    // Without a line there is no frame either.
    if !lines.is_empty() {
        res.text = format_block(&lines);
        res.n_tokens = estimate_tokens(&res.text);
    }
    res
}

/// A reason to withhold an offer regardless of the others.
fn withhold_reason(step: StepState, offer: &NoteOffer) -> Option<WithholdReason> {
    let level = step.level.row();
    // `proactive` lists the occasions at which the level allows notes.
    let allows_notes = level.proactive.contains(&InjectionTier::Step);
    // Only warnings need confidence; the other reasons respond to something that the agent just did.
    let is_warning = offer.reason == StepReason::Touched;
    let is_budget_spent = step.tokens_spent >= MAX_STEP_TOKENS_PER_SESSION;
    if step.number < FIRST_NOTE_STEP {
        Some(WithholdReason::TooEarly)
    } else if !allows_notes {
        Some(WithholdReason::TrustLevelTooLow)
    } else if is_warning && offer.confidence <= level.confidence_above {
        Some(WithholdReason::LowConfidence)
    } else if is_budget_spent && !may_exceed_budget(offer) {
        Some(WithholdReason::BudgetSpent)
    } else {
        None
    }
}

/// Dead ends (attempts that failed) may exceed the budget of the session: repeating one costs more than
/// the note.
fn may_exceed_budget(offer: &NoteOffer) -> bool {
    offer.kind == Some(MemoryKind::DeadEnd)
}

/// A reason why an offer does not fit into the current note.
fn fit_problem(step: StepState, lines: &[&str], offer: &NoteOffer) -> Option<WithholdReason> {
    if lines.len() == MAX_LINES_PER_NOTE {
        return Some(WithholdReason::NoteFull);
    }
    // The cost of the whole note with this offer.
    let lines_with_offer: Vec<&str> = lines.iter().copied().chain([offer.line.as_str()]).collect();
    let cost = estimate_tokens(&format_block(&lines_with_offer));
    if cost > MAX_TOKENS_PER_NOTE {
        // An empty note cannot be full: then the offer itself is too long.
        let is_alone = lines.is_empty();
        return Some(if is_alone { WithholdReason::TooLong } else { WithholdReason::NoteFull });
    }
    let spent_with_note = step.tokens_spent.saturating_add(cost);
    if spent_with_note > MAX_STEP_TOKENS_PER_SESSION && !may_exceed_budget(offer) {
        return Some(WithholdReason::BudgetSpent);
    }
    None
}

fn format_block(lines: &[&str]) -> String {
    format!("{}\n{}\n{}", frame::NOTES_HEADER, lines.join("\n"), frame::NOTES_FOOTER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    /// A step at which every offer is acceptable.
    const STEP: StepState = StepState { number: 9, level: TrustLevel::Confident, tokens_spent: 0 };

    /// Parses offers, one per line: reason, kind, confidence per mille, length in words.
    fn offers(script: &str) -> Vec<NoteOffer> {
        let offer = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [reason, kind, confidence, n_words] = words[..] else { panic!("{line}") };
            NoteOffer {
                reason: StepReason::parse(reason).unwrap(),
                kind: MemoryKind::parse(kind).ok(),
                confidence: PerMille::new(confidence.parse().unwrap()),
                line: "word ".repeat(n_words.parse().unwrap()),
            }
        };
        script.lines().map(offer).collect()
    }

    /// Compares the decision. First line: the reason, the indexes of the chosen offers and the tokens.
    /// Then one line per withheld offer: its index and the slug of its [`WithholdReason`].
    fn check(step: StepState, script: &str, expect: Expect) {
        let decision = decide_step(step, &offers(script));
        let reason = decision.reason.map_or("nothing", StepReason::slug);
        let mut lines =
            vec![format!("{reason} {:?}, {} tokens", decision.chosen, decision.n_tokens)];
        lines.extend(decision.withheld.iter().map(|(index, why)| format!("{index}: {why}")));
        expect.assert_eq(&(lines.join("\n") + "\n"));
    }

    #[test]
    fn only_the_first_reason_with_an_acceptable_offer_gets_the_note() {
        check(
            STEP,
            "next_step workflow_recipe 900 5\nknown decision 900 5\nrecorded gotcha 900 5",
            expect![[r"
                recorded [2], 54 tokens
                1: later
                0: later
            "]],
        );
        check(
            STEP,
            "touched gotcha 550 5\nknown decision 100 5",
            expect![[r"
                known [1], 54 tokens
                0: unsure
            "]],
        );
    }

    #[test]
    fn a_note_has_at_most_four_lines_and_500_tokens() {
        check(
            STEP,
            &["touched gotcha 900 5"; 6].join("\n"),
            expect![[r"
                touched [0, 1, 2, 3], 72 tokens
                4: crowded
                5: crowded
            "]],
        );
        check(
            STEP,
            "touched gotcha 900 600\ntouched gotcha 900 300\ntouched gotcha 900 300",
            expect![[r"
                touched [1], 349 tokens
                0: long
                2: crowded
            "]],
        );
    }

    #[test]
    fn dead_ends_are_injected_even_after_the_session_budget_is_spent() {
        let step = StepState { tokens_spent: 3_990, ..STEP };
        check(
            step,
            "touched gotcha 900 5\ntouched dead_end 900 5",
            expect![[r"
                touched [1], 54 tokens
                0: spent
            "]],
        );
    }

    #[test]
    fn early_steps_and_low_trust_levels_get_no_note() {
        let early = StepState { number: 4, ..STEP };
        check(
            early,
            "touched gotcha 900 5",
            expect![[r"
                nothing [], 0 tokens
                0: early
            "]],
        );
        let standard = StepState { level: TrustLevel::Standard, ..STEP };
        check(
            standard,
            "touched gotcha 900 5",
            expect![[r"
                nothing [], 0 tokens
                0: level
            "]],
        );
    }

    proptest! {
        #[test]
        fn a_note_keeps_its_limits_and_every_offer_has_an_outcome(
            rows in prop::collection::vec((0..4_usize, 0..MemoryKind::ALL.len(), 0_u16..=1000, 0_usize..300), 0..20),
            number in 0_u32..10, level in 0..4_usize, spent in 0_u32..5_000,
        ) {
            let offers: Vec<NoteOffer> = rows.iter().map(|(reason, kind, confidence, n_words)| NoteOffer {
                reason: StepReason::ALL[*reason],
                kind: Some(MemoryKind::ALL[*kind]),
                confidence: PerMille::new(*confidence),
                line: "word ".repeat(*n_words),
            }).collect();
            let step = StepState { number, level: TrustLevel::ALL[level], tokens_spent: spent };
            let res = decide_step(step, &offers);

            prop_assert!(res.n_tokens <= MAX_TOKENS_PER_NOTE && res.chosen.len() <= MAX_LINES_PER_NOTE);
            prop_assert_eq!(res.chosen.is_empty(), res.text.is_empty());
            // Only a dead end may exceed the budget of the session.
            let is_dead_end = |it: &usize| offers[*it].kind == Some(MemoryKind::DeadEnd);
            let is_within_budget = spent + res.n_tokens <= MAX_STEP_TOKENS_PER_SESSION;
            prop_assert!(is_within_budget || res.chosen.is_empty() || res.chosen.iter().any(is_dead_end));
            prop_assert!(res.chosen.iter().all(|it| Some(offers[*it].reason) == res.reason));
            // Every offer is either chosen or withheld.
            let mut all: Vec<usize> = res.chosen.clone();
            all.extend(res.withheld.iter().map(|(index, _)| *index));
            all.sort_unstable();
            prop_assert_eq!(all, (0..offers.len()).collect::<Vec<_>>());
        }
    }
}
