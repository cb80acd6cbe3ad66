//! Says how a new statement stands to an old one: the same, a near-duplicate, a contradiction, or something else.
//!
//! Likeness alone cannot tell a duplicate from a contradiction ("retry limit is 3", "retry limit is 5"), so
//! statements are laid side by side and what differs is judged: a value makes a contradiction, a
//! subject or circumstance makes two statements. Precision first: what cannot be told is `Unrelated`,
//! which costs a duplicate; a wrong answer would cost a memory. Meaning behind other words is the embedding's business.

mod lexicon;
mod terms;

mod align;
mod conflict;
mod differences;
mod pair;
mod place;

use model::{Kind, MemoryType, PerMille, ProjectPath};

pub use conflict::Conflict;
use differences::{Differences, Side, differences};
use terms::{Class, Term, claim_length, read};

/// What a memory says, as far as novelty is concerned.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    pub text: &'a str,
    pub files: &'a [ProjectPath],
    pub kind: &'a MemoryType,
}

/// How a new statement stands to an old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relationship {
    /// The same words but for case, punctuation, articles and inflection.
    Same,
    /// The same subject and the same facts in nearly the same words: reinforce the old one.
    Near {
        similarity: PerMille,
    },
    /// The same subject with another fact: the new one supersedes the old one, and the user is told.
    Contradicts {
        what: Conflict,
    },
    Unrelated,
}

/// Likeness from which statements without conflict count as one, in thousandths.
const NEAR: u16 = 750;
/// Likeness of everything but the value, from which a conflict is about the same subject.
const SAME_SUBJECT: u16 = 750;
/// Terms laid side by side at most; a memory of 2 KiB has fewer. Beyond it only equality is seen.
const MAX_TERMS: usize = 512;

/// How `new` stands to `old`. The kind of answer is the same both ways; only a conflict tells old from new.
pub fn compare(old: &Statement<'_>, new: &Statement<'_>) -> Relationship {
    relate(old, &read(old.text), new, &read(new.text))
}

/// The position of the candidate that matters most: the same, else a contradiction, else the nearest; the first of equals.
pub fn nearest(new: &Statement<'_>, candidates: &[Statement<'_>]) -> Option<(usize, Relationship)> {
    let terms = read(new.text);
    let mut best: Option<(usize, Relationship)> = None;
    for (nth, old) in candidates.iter().enumerate() {
        let res = relate(old, &read(old.text), new, &terms);
        if rank(&res) > best.as_ref().map_or((0, PerMille::ZERO), |it| rank(&it.1)) {
            best = Some((nth, res));
        }
    }
    best
}

fn rank(relationship: &Relationship) -> (u8, PerMille) {
    match relationship {
        Relationship::Same => (3, PerMille::ONE),
        Relationship::Contradicts { .. } => (2, PerMille::ONE),
        Relationship::Near { similarity } => (1, *similarity),
        Relationship::Unrelated => (0, PerMille::ZERO),
    }
}

fn relate(
    old: &Statement<'_>,
    of_old: &[Term<'_>],
    new: &Statement<'_>,
    of_new: &[Term<'_>],
) -> Relationship {
    let about_others = !old.files.is_empty()
        && !new.files.is_empty()
        && !old.files.iter().any(|it| new.files.contains(it));
    if about_others {
        return Relationship::Unrelated;
    }
    let (left, right) = (keys(of_old), keys(of_new));
    if left == right && (!left.is_empty() || old.text == new.text) {
        return Relationship::Same;
    }
    if left.len().max(right.len()) > MAX_TERMS {
        return Relationship::Unrelated;
    }
    let may_conflict = is_claim(old.kind) && is_claim(new.kind);
    // Which of two equally long alignments is found depends on the order of the sides; a fixed order makes the answer symmetrical.
    if (&left, old.text) <= (&right, new.text) {
        lay_side_by_side(of_old, of_new, may_conflict)
    } else {
        lay_side_by_side(of_new, of_old, may_conflict).mirrored()
    }
}

fn lay_side_by_side(left: &[Term<'_>], right: &[Term<'_>], may_conflict: bool) -> Relationship {
    let whole = verdict(&differences(&Side::new(left), &Side::new(right)), may_conflict);
    if whole != Relationship::Unrelated {
        return whole;
    }
    let (claim_left, rest_left) = left.split_at(claim_length(left));
    let (claim_right, rest_right) = right.split_at(claim_length(right));
    if narrows(rest_left) || narrows(rest_right) {
        return Relationship::Unrelated;
    }
    let both_go_on = !rest_left.is_empty() && !rest_right.is_empty();
    let only_reasons = is_reason(rest_left) && is_reason(rest_right);
    match verdict(&differences(&Side::new(claim_left), &Side::new(claim_right)), may_conflict) {
        res @ Relationship::Contradicts { .. } if only_reasons || !both_go_on => res,
        // Merging must not lose a fact, a further sentence or a second reason.
        res @ Relationship::Near { .. }
            if only_reasons && !both_go_on && facts(left) == facts(right) =>
        {
            res
        }
        _ => Relationship::Unrelated,
    }
}

fn verdict(it: &Differences, may_conflict: bool) -> Relationship {
    if it.apart {
        return Relationship::Unrelated;
    }
    // Two values that differ at once are more often another subject than a second thought.
    match (&it.conflicts[..], it.negated) {
        ([], false) if it.n_extra_facts == 0 && it.similarity >= NEAR && it.n_shared > 0 => {
            Relationship::Near { similarity: PerMille::new(it.similarity) }
        }
        ([what], false)
            if may_conflict
                && is_about_one_thing(it, matches!(what, Conflict::Opposite { .. })) =>
        {
            Relationship::Contradicts { what: what.clone() }
        }
        ([], true) if may_conflict && is_about_one_thing(it, false) => {
            Relationship::Contradicts { what: Conflict::Negation }
        }
        _ => Relationship::Unrelated,
    }
}

/// Whether what differs is all that differs. Rivals need no subject: "use tabs" and "use spaces" share none.
fn is_about_one_thing(it: &Differences, are_rivals: bool) -> bool {
    let bare = are_rivals && it.n_shared == 0 && it.n_extra_words == 0;
    !it.points_outside
        && it.n_extra_facts == 0
        && it.n_extra_words * 4 <= it.n_shared
        && (bare || (it.n_shared > 0 && it.similarity >= SAME_SUBJECT))
}

/// Whether what follows a claim only says why.
fn is_reason(rest: &[Term<'_>]) -> bool {
    rest.first().is_none_or(|it| lexicon::REASONS.contains(&it.lower.as_str()))
}

/// Whether what follows a claim says where it holds.
fn narrows(rest: &[Term<'_>]) -> bool {
    rest.iter().any(place::is_qualifier)
}

fn keys<'a>(terms: &'a [Term<'_>]) -> Vec<&'a str> {
    terms.iter().filter(|it| it.class != Class::Filler).map(|it| it.key.as_str()).collect()
}

fn facts<'a>(terms: &'a [Term<'_>]) -> Vec<&'a str> {
    let mut res: Vec<&str> =
        terms.iter().filter(|it| it.is_hard()).map(|it| it.key.as_str()).collect();
    res.sort_unstable();
    res.dedup();
    res
}

/// Whether another value refutes a memory of this type. What happened once stays true whatever happened later.
const fn is_claim(kind: &MemoryType) -> bool {
    use Kind::{
        ContextCost, DeadEnd, E2eObservation, PrefetchPattern, TaskCalibration, WorkState,
        WorkUnitOutcome,
    };
    !matches!(
        kind,
        MemoryType::Core(
            DeadEnd
                | WorkUnitOutcome
                | WorkState
                | E2eObservation
                | TaskCalibration
                | ContextCost
                | PrefetchPattern
        )
    )
}

impl Relationship {
    fn mirrored(self) -> Self {
        match self {
            Self::Contradicts { what } => Self::Contradicts { what: what.mirrored() },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
