//! Says how a new statement stands to an old one: the same, a near-duplicate, a contradiction, or something else.
//!
//! Likeness alone cannot tell a duplicate from a contradiction ("retry limit is 3", "retry limit is 5"), so
//! statements are laid side by side and what differs is judged: a value makes a contradiction, a
//! subject or circumstance makes two statements. Precision first: what cannot be told is `Unrelated`,
//! which costs a duplicate; a wrong answer would cost a memory. Meaning behind other words is the embedding's business.

mod lexicon;
mod terms;

mod alignment;
mod conflict;
mod differences;
mod term_pair;
mod term_position;

use model::{MemoryKind, MemoryType, PerMille, ProjectPath};

pub use conflict::StatementConflict;
use differences::{StatementDifferences, StatementSide, find_differences};
use terms::{StatementTerm, TermClass, claim_length, parse_terms};

/// What a memory says, as far as novelty is concerned.
#[derive(Clone, Copy, Debug)]
pub struct MemoryStatement<'a> {
    pub text: &'a str,
    pub files: &'a [ProjectPath],
    pub kind: &'a MemoryType,
}

/// How a new statement stands to an old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementRelation {
    /// The same words but for case, punctuation, articles and inflection.
    Same,
    /// The same subject and the same facts in nearly the same words: reinforce the old one.
    Near {
        similarity: PerMille,
    },
    /// The same subject with another fact: the new one supersedes the old one, and the user is told.
    Contradicts {
        what: StatementConflict,
    },
    Unrelated,
}

/// Likeness from which statements without conflict count as one, in thousandths.
const MIN_NEAR_SIMILARITY: u16 = 750;
/// Likeness of everything but the value, from which a conflict is about the same subject.
const MIN_SUBJECT_SIMILARITY: u16 = 750;
/// Terms laid side by side at most; a memory of 2 KiB has fewer. Beyond it only equality is seen.
const MAX_TERMS: usize = 512;

/// How `new` stands to `old`. The kind of answer is the same both ways; only a conflict tells old from new.
pub fn compare_statements(
    old: &MemoryStatement<'_>,
    new: &MemoryStatement<'_>,
) -> StatementRelation {
    relate_statements(old, &parse_terms(old.text), new, &parse_terms(new.text))
}

/// The position of the candidate that matters most: the same, else a contradiction, else the nearest; the first of equals.
pub fn find_nearest(
    new: &MemoryStatement<'_>,
    candidates: &[MemoryStatement<'_>],
) -> Option<(usize, StatementRelation)> {
    let terms = parse_terms(new.text);
    let mut best: Option<(usize, StatementRelation)> = None;
    for (nth, old) in candidates.iter().enumerate() {
        let res = relate_statements(old, &parse_terms(old.text), new, &terms);
        if rank_relation(&res)
            > best.as_ref().map_or((0, PerMille::ZERO), |it| rank_relation(&it.1))
        {
            best = Some((nth, res));
        }
    }
    best
}

fn rank_relation(relationship: &StatementRelation) -> (u8, PerMille) {
    match relationship {
        StatementRelation::Same => (3, PerMille::ONE),
        StatementRelation::Contradicts { .. } => (2, PerMille::ONE),
        StatementRelation::Near { similarity } => (1, *similarity),
        StatementRelation::Unrelated => (0, PerMille::ZERO),
    }
}

fn relate_statements(
    old: &MemoryStatement<'_>,
    of_old: &[StatementTerm<'_>],
    new: &MemoryStatement<'_>,
    of_new: &[StatementTerm<'_>],
) -> StatementRelation {
    let about_others = !old.files.is_empty()
        && !new.files.is_empty()
        && !old.files.iter().any(|it| new.files.contains(it));
    if about_others {
        return StatementRelation::Unrelated;
    }
    let (left, right) = (term_keys(of_old), term_keys(of_new));
    if left == right && (!left.is_empty() || old.text == new.text) {
        return StatementRelation::Same;
    }
    if left.len().max(right.len()) > MAX_TERMS {
        return StatementRelation::Unrelated;
    }
    let may_conflict = is_claim(old.kind) && is_claim(new.kind);
    // Which of two equally long alignments is found depends on the order of the sides; a fixed order makes the answer symmetrical.
    if (&left, old.text) <= (&right, new.text) {
        relate_terms(of_old, of_new, may_conflict)
    } else {
        relate_terms(of_new, of_old, may_conflict).swap_sides()
    }
}

fn relate_terms(
    left: &[StatementTerm<'_>],
    right: &[StatementTerm<'_>],
    may_conflict: bool,
) -> StatementRelation {
    let whole = judge_differences(
        &find_differences(&StatementSide::new(left), &StatementSide::new(right)),
        may_conflict,
    );
    if whole != StatementRelation::Unrelated {
        return whole;
    }
    let (claim_left, rest_left) = left.split_at(claim_length(left));
    let (claim_right, rest_right) = right.split_at(claim_length(right));
    if has_qualifier(rest_left) || has_qualifier(rest_right) {
        return StatementRelation::Unrelated;
    }
    let both_go_on = !rest_left.is_empty() && !rest_right.is_empty();
    let only_reasons = is_reason(rest_left) && is_reason(rest_right);
    match judge_differences(
        &find_differences(&StatementSide::new(claim_left), &StatementSide::new(claim_right)),
        may_conflict,
    ) {
        res @ StatementRelation::Contradicts { .. } if only_reasons || !both_go_on => res,
        // Merging must not lose a fact, a further sentence or a second reason.
        res @ StatementRelation::Near { .. }
            if only_reasons && !both_go_on && fact_keys(left) == fact_keys(right) =>
        {
            res
        }
        _ => StatementRelation::Unrelated,
    }
}

fn judge_differences(it: &StatementDifferences, may_conflict: bool) -> StatementRelation {
    if it.has_other_subject {
        return StatementRelation::Unrelated;
    }
    // Two values that differ at once are more often another subject than a second thought.
    match (&it.conflicts[..], it.is_negated) {
        ([], false)
            if it.n_extra_facts == 0 && it.similarity >= MIN_NEAR_SIMILARITY && it.n_shared > 0 =>
        {
            StatementRelation::Near { similarity: PerMille::new(it.similarity) }
        }
        ([what], false)
            if may_conflict
                && is_about_one_thing(it, matches!(what, StatementConflict::Opposite { .. })) =>
        {
            StatementRelation::Contradicts { what: what.clone() }
        }
        ([], true) if may_conflict && is_about_one_thing(it, false) => {
            StatementRelation::Contradicts { what: StatementConflict::Negation }
        }
        _ => StatementRelation::Unrelated,
    }
}

/// Whether what differs is all that differs. Rivals need no subject: "use tabs" and "use spaces" share none.
fn is_about_one_thing(it: &StatementDifferences, are_rivals: bool) -> bool {
    let bare = are_rivals && it.n_shared == 0 && it.n_extra_words == 0;
    !it.has_outside_subject
        && it.n_extra_facts == 0
        && it.n_extra_words * 4 <= it.n_shared
        && (bare || (it.n_shared > 0 && it.similarity >= MIN_SUBJECT_SIMILARITY))
}

/// Whether what follows a claim only says why.
fn is_reason(rest: &[StatementTerm<'_>]) -> bool {
    rest.first().is_none_or(|it| lexicon::REASON_WORDS.contains(&it.lower.as_str()))
}

/// Whether what follows a claim says where it holds.
fn has_qualifier(rest: &[StatementTerm<'_>]) -> bool {
    rest.iter().any(term_position::is_qualifier)
}

fn term_keys<'a>(terms: &'a [StatementTerm<'_>]) -> Vec<&'a str> {
    terms.iter().filter(|it| it.class != TermClass::Filler).map(|it| it.key.as_str()).collect()
}

fn fact_keys<'a>(terms: &'a [StatementTerm<'_>]) -> Vec<&'a str> {
    let mut res: Vec<&str> =
        terms.iter().filter(|it| it.is_fact()).map(|it| it.key.as_str()).collect();
    res.sort_unstable();
    res.dedup();
    res
}

/// Whether another value refutes a memory of this type. What happened once stays true whatever happened later.
const fn is_claim(kind: &MemoryType) -> bool {
    use MemoryKind::{
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

impl StatementRelation {
    fn swap_sides(self) -> Self {
        match self {
            Self::Contradicts { what } => Self::Contradicts { what: what.swap_sides() },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
