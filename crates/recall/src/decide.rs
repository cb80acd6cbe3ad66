//! Whether anything is said between two steps, and what: at most one note, from the first ground that
//! has one.

use model::{Kind, PerMille, Tier, TrustLevel, closed};

use crate::{frame, tokens};

closed! {
    /// Why something is worth a word between two steps, in the order they are asked.
    pub enum Ground : "ground" {
        /// A file was just touched that one must beware of.
        Touched = "touched",
        /// The agent, or one beside it, has just recorded something.
        Recorded = "recorded",
        /// What was just searched for is known already.
        Known = "known",
        /// The steps of a recipe are being followed; the next one is known.
        NextStep = "next_step",
    }
}

impl Ground {
    #[rustfmt::skip]
    pub const fn reading(self) -> &'static str {
        match self {
            Self::Touched  => "a file was just touched that one must beware of",
            Self::Recorded => "it was recorded in the last step",
            Self::Known    => "what was just searched for is known already",
            Self::NextStep => "a recipe is being followed, and this comes next",
        }
    }
}

/// Something that could be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub ground: Ground,
    pub kind: Option<Kind>,
    pub confidence: PerMille,
    /// As it would be shown, with its citation.
    pub line: String,
}

/// The moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Counted from 1.
    pub number: u32,
    pub level: TrustLevel,
    /// Tokens that were said between steps so far.
    pub spent: u32,
}

/// What is said, and why the rest is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// The whole block; empty when nothing is said.
    pub text: String,
    /// Tokens of `text`.
    pub used: u32,
    pub ground: Option<Ground>,
    /// The offers that are in it, by their place in what was offered.
    pub said: Vec<usize>,
    pub left_out: Vec<(usize, Withheld)>,
}

closed! {
    /// Why an offer is not taken.
    pub enum Withheld : "reason" {
        /// The session has hardly begun.
        Early = "early",
        /// The project does not trust memory so far as to speak between steps.
        Level = "level",
        /// Not sure enough for the project's level.
        Unsure = "unsure",
        /// Another ground came first; there will be other steps. Unlike `crowded`, it had no turn.
        Later = "later",
        /// The note had its four, or no room for another.
        Crowded = "crowded",
        /// It is longer than a note may be.
        Long = "long",
        /// The session has heard enough; only dead ends are still said.
        Spent = "spent",
        /// What it speaks of is not there any more. Found by whoever can look.
        Gone = "gone",
    }
}

impl Withheld {
    #[rustfmt::skip]
    pub const fn reading(self) -> &'static str {
        match self {
            Self::Early   => "the session has hardly begun",
            Self::Level   => "this project is not trusted enough to be spoken to between steps",
            Self::Unsure  => "not sure enough for the trust level",
            Self::Later   => "something else came first; one note a step",
            Self::Crowded => "the note is full",
            Self::Long    => "longer than a note may be",
            Self::Spent   => "the session has heard enough",
            Self::Gone    => "what it speaks of is gone",
        }
    }
}

/// Nothing is said before this step: an agent that begins was told what counts.
pub const FIRST_STEP: u32 = 5;
/// Tokens of one note, its frame included, and of all notes of a session.
pub const PER_NOTE: u32 = 500;
pub const PER_SESSION: u32 = 4_000;
/// The most that stand in one note.
const MOST: usize = 4;

/// Decides. Offers of one ground come best first; whatever was shown in this session is not among them.
pub fn decide(step: Step, offers: &[Offer]) -> Decision {
    let mut res = Decision::default();
    let mut lines: Vec<&str> = Vec::new();
    for ground in Ground::ALL {
        for (at, offer) in offers.iter().enumerate().filter(|it| it.1.ground == *ground) {
            let why = match withheld(step, offer) {
                None if res.ground.is_some_and(|it| it != *ground) => Some(Withheld::Later),
                None => misfit(step, &lines, offer),
                why => why,
            };
            if let Some(why) = why {
                res.left_out.push((at, why));
                continue;
            }
            lines.push(&offer.line);
            res.said.push(at);
            res.ground = Some(*ground);
        }
    }
    if !lines.is_empty() {
        res.text = block(&lines);
        res.used = tokens(&res.text);
    }
    res
}

/// What keeps an offer back whatever else there is.
fn withheld(step: Step, offer: &Offer) -> Option<Withheld> {
    let level = step.level.row();
    let is_warning = offer.ground == Ground::Touched;
    if step.number < FIRST_STEP {
        Some(Withheld::Early)
    } else if !level.proactive.contains(&Tier::Step) {
        Some(Withheld::Level)
    } else if is_warning && offer.confidence <= level.confidence_above {
        Some(Withheld::Unsure)
    } else if step.spent >= PER_SESSION && offer.kind != Some(Kind::DeadEnd) {
        Some(Withheld::Spent)
    } else {
        None
    }
}

/// What keeps an offer out of the note that is being made.
fn misfit(step: Step, lines: &[&str], offer: &Offer) -> Option<Withheld> {
    let with: Vec<&str> = lines.iter().copied().chain([offer.line.as_str()]).collect();
    let cost = tokens(&block(&with));
    let is_dead_end = offer.kind == Some(Kind::DeadEnd);
    if lines.len() == MOST || (cost > PER_NOTE && !lines.is_empty()) {
        Some(Withheld::Crowded)
    } else if cost > PER_NOTE {
        Some(Withheld::Long)
    } else if step.spent.saturating_add(cost) > PER_SESSION && !is_dead_end {
        Some(Withheld::Spent)
    } else {
        None
    }
}

fn block(lines: &[&str]) -> String {
    format!("{}\n{}\n{}", frame::HEAD, lines.join("\n"), frame::FOOT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    const STEP: Step = Step { number: 9, level: TrustLevel::Confident, spent: 0 };

    /// One offer a line: `ground kind confidence length`.
    fn offers(script: &str) -> Vec<Offer> {
        let offer = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [ground, kind, confidence, n_words] = words[..] else { panic!("{line}") };
            Offer {
                ground: Ground::parse(ground).unwrap(),
                kind: Kind::parse(kind).ok(),
                confidence: PerMille::new(confidence.parse().unwrap()),
                line: "word ".repeat(n_words.parse().unwrap()),
            }
        };
        script.lines().map(offer).collect()
    }

    fn check(step: Step, script: &str, expect: Expect) {
        let Decision { used, ground, said, left_out, .. } = decide(step, &offers(script));
        let ground = ground.map_or("nothing", Ground::slug);
        let mut lines = vec![format!("{ground} {said:?}, {used} tokens")];
        lines.extend(left_out.iter().map(|(at, why)| format!("{at}: {why}")));
        expect.assert_eq(&(lines.join("\n") + "\n"));
    }

    #[test]
    fn the_first_ground_that_has_something_speaks_alone() {
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
    fn a_note_has_four_warnings_and_its_budget_at_most() {
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
    fn a_session_that_heard_enough_still_hears_of_dead_ends() {
        let step = Step { spent: 3_990, ..STEP };
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
    fn nothing_is_said_early_or_where_memory_is_not_trusted() {
        let early = Step { number: 4, ..STEP };
        check(
            early,
            "touched gotcha 900 5",
            expect![[r"
                nothing [], 0 tokens
                0: early
            "]],
        );
        let standard = Step { level: TrustLevel::Standard, ..STEP };
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
        fn a_note_keeps_within_its_budgets_and_every_offer_is_told_of(
            rows in prop::collection::vec((0..4_usize, 0..Kind::ALL.len(), 0_u16..=1000, 0_usize..300), 0..20),
            number in 0_u32..10, level in 0..4_usize, spent in 0_u32..5_000,
        ) {
            let offers: Vec<Offer> = rows.iter().map(|(ground, kind, confidence, n)| Offer {
                ground: Ground::ALL[*ground],
                kind: Some(Kind::ALL[*kind]),
                confidence: PerMille::new(*confidence),
                line: "word ".repeat(*n),
            }).collect();
            let step = Step { number, level: TrustLevel::ALL[level], spent };
            let res = decide(step, &offers);
            prop_assert!(res.used <= PER_NOTE && res.said.len() <= MOST);
            prop_assert_eq!(res.said.is_empty(), res.text.is_empty());
            let dead = |it: &usize| offers[*it].kind == Some(Kind::DeadEnd);
            let within = spent + res.used <= PER_SESSION;
            prop_assert!(within || res.said.is_empty() || res.said.iter().any(dead));
            prop_assert!(res.said.iter().all(|it| Some(offers[*it].ground) == res.ground));
            let mut all: Vec<usize> = res.said.clone();
            all.extend(res.left_out.iter().map(|it| it.0));
            all.sort_unstable();
            prop_assert_eq!(all, (0..offers.len()).collect::<Vec<_>>());
        }
    }
}
