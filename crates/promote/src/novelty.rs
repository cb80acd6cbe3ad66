//! Compares two statements: the same, a near-duplicate, a contradiction, or unrelated.
//!
//! Similarity alone cannot distinguish a duplicate from a contradiction ("retry limit is 3", "retry limit
//! is 5"). So the terms of both statements are aligned and the differences are judged: another value is a
//! contradiction, another subject or circumstance makes two statements. Precision comes first: in doubt
//! the result is `Unrelated`, which costs a duplicate, while a wrong result would cost a memory. Statements
//! that say the same in other words are left to embeddings.

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

/// The parts of a memory that are compared.
#[derive(Clone, Copy, Debug)]
pub struct MemoryStatement<'a> {
    pub text: &'a str,
    pub files: &'a [ProjectPath],
    pub kind: &'a MemoryType,
}

/// Relation of a new statement to an old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementRelation {
    /// The same words apart from case, punctuation, articles and inflection.
    Same,
    /// The same subject and the same facts in nearly the same words: reinforce the old one.
    Near {
        similarity: PerMille,
    },
    /// The same subject with another fact: the new statement supersedes the old one.
    Contradicts {
        conflict: StatementConflict,
    },
    Unrelated,
}

/// Similarity from which statements without a conflict are near-duplicates, in per mille.
const MIN_NEAR_SIMILARITY: u16 = 750;
/// Similarity of everything but the value from which a conflict is about the same subject, in per mille.
const MIN_SUBJECT_SIMILARITY: u16 = 750;
/// Shared terms that must support each word that only one side of a conflict has.
const SHARED_PER_EXTRA_WORD: usize = 4;
/// Terms that are aligned; a memory of 2 KiB has fewer. Longer statements are only tested for equality.
const MAX_TERMS: usize = 512;

/// Effect of different values on two statements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConflictRule {
    /// The statements contradict each other.
    Contradict,
    /// Both stay true: they report what happened at different times.
    Coexist,
}

/// Compares two statements. Exchanging them changes the order of values in a conflict and nothing else.
pub fn compare_statements(
    old: &MemoryStatement<'_>,
    new: &MemoryStatement<'_>,
) -> StatementRelation {
    relate_statements(old, &parse_terms(old.text), new, &parse_terms(new.text))
}

/// The candidate with the strongest relation to a statement, by position: the same, else a contradiction,
/// else the most similar. The first of equals wins.
pub fn find_nearest(
    new: &MemoryStatement<'_>,
    candidates: &[MemoryStatement<'_>],
) -> Option<(usize, StatementRelation)> {
    let terms = parse_terms(new.text);
    let mut best: Option<(usize, StatementRelation)> = None;
    for (nth, old) in candidates.iter().enumerate() {
        let relation = relate_statements(old, &parse_terms(old.text), new, &terms);
        // An unrelated candidate never wins, because it ranks like none.
        let best_rank = best.as_ref().map_or((0, PerMille::ZERO), |it| rank_relation(&it.1));
        if rank_relation(&relation) > best_rank {
            best = Some((nth, relation));
        }
    }
    best
}

/// The strength of a relation: its class, then its similarity.
fn rank_relation(relation: &StatementRelation) -> (u8, PerMille) {
    match relation {
        StatementRelation::Same => (3, PerMille::ONE),
        StatementRelation::Contradicts { .. } => (2, PerMille::ONE),
        StatementRelation::Near { similarity } => (1, *similarity),
        StatementRelation::Unrelated => (0, PerMille::ZERO),
    }
}

/// Compares two statements whose terms are parsed.
fn relate_statements(
    old: &MemoryStatement<'_>,
    old_terms: &[StatementTerm<'_>],
    new: &MemoryStatement<'_>,
    new_terms: &[StatementTerm<'_>],
) -> StatementRelation {
    // Statements about different files are about different things. Without files on one side, they can
    // still be about the same.
    let has_other_files = !old.files.is_empty()
        && !new.files.is_empty()
        && !old.files.iter().any(|it| new.files.contains(it));
    if has_other_files {
        return StatementRelation::Unrelated;
    }
    let (old_keys, new_keys) = (term_keys(old_terms), term_keys(new_terms));
    if old_keys == new_keys && (!old_keys.is_empty() || old.text == new.text) {
        return StatementRelation::Same;
    }
    if old_keys.len().max(new_keys.len()) > MAX_TERMS {
        return StatementRelation::Unrelated;
    }
    let rule = if is_claim(old.kind) && is_claim(new.kind) {
        ConflictRule::Contradict
    } else {
        ConflictRule::Coexist
    };
    // The order of the sides decides which of two equally long alignments is found. A fixed order makes
    // the result symmetrical.
    if (&old_keys, old.text) <= (&new_keys, new.text) {
        relate_terms(old_terms, new_terms, rule)
    } else {
        relate_terms(new_terms, old_terms, rule).swap_sides()
    }
}

/// Compares the whole statements, then their claims without reasons and further sentences.
fn relate_terms(
    left: &[StatementTerm<'_>],
    right: &[StatementTerm<'_>],
    rule: ConflictRule,
) -> StatementRelation {
    let compare = |left, right| {
        let differences = find_differences(&StatementSide::new(left), &StatementSide::new(right));
        judge_differences(&differences, rule)
    };
    let whole = compare(left, right);
    // The whole statements decide, if they are comparable.
    if whole != StatementRelation::Unrelated {
        return whole;
    }
    let (left_claim, left_rest) = left.split_at(claim_length(left));
    let (right_claim, right_rest) = right.split_at(claim_length(right));
    // A circumstance after the claim can make it another statement.
    if has_qualifier(left_rest) || has_qualifier(right_rest) {
        return StatementRelation::Unrelated;
    }
    let both_continue = !left_rest.is_empty() && !right_rest.is_empty();
    let only_reasons = is_reason(left_rest) && is_reason(right_rest);
    match compare(left_claim, right_claim) {
        conflict @ StatementRelation::Contradicts { .. } if only_reasons || !both_continue => {
            conflict
        }
        // Merging must not lose a fact, a further sentence or a second reason.
        near @ StatementRelation::Near { .. }
            if only_reasons && !both_continue && fact_keys(left) == fact_keys(right) =>
        {
            near
        }
        // Unrelated claims, or claims that agree but would lose something.
        _ => StatementRelation::Unrelated,
    }
}

/// The relation that the differences of two aligned statements give.
fn judge_differences(differences: &StatementDifferences, rule: ConflictRule) -> StatementRelation {
    if differences.has_other_subject {
        return StatementRelation::Unrelated;
    }
    let may_conflict = rule == ConflictRule::Contradict;
    let is_near = differences.n_extra_facts == 0
        && differences.similarity >= MIN_NEAR_SIMILARITY
        && differences.n_shared > 0;
    // Two differences at once are more often another subject than a changed fact, so that only a single one
    // is a contradiction.
    match (&differences.conflicts[..], differences.is_negated) {
        ([], false) if is_near => {
            StatementRelation::Near { similarity: PerMille::new(differences.similarity) }
        }
        ([conflict], false) if may_conflict && has_same_subject(differences, conflict) => {
            StatementRelation::Contradicts { conflict: conflict.clone() }
        }
        ([], true)
            if may_conflict && has_same_subject(differences, &StatementConflict::Negation) =>
        {
            StatementRelation::Contradicts { conflict: StatementConflict::Negation }
        }
        _ => StatementRelation::Unrelated,
    }
}

/// Returns whether two statements differ in the conflict only.
fn has_same_subject(differences: &StatementDifferences, conflict: &StatementConflict) -> bool {
    // Opposites need no shared subject: "use tabs" and "use spaces" have none.
    let is_bare = matches!(conflict, StatementConflict::Opposite { .. })
        && differences.n_shared == 0
        && differences.n_extra_words == 0;
    let is_similar = differences.n_shared > 0 && differences.similarity >= MIN_SUBJECT_SIMILARITY;
    !differences.has_outside_subject
        && differences.n_extra_facts == 0
        && differences.n_extra_words * SHARED_PER_EXTRA_WORD <= differences.n_shared
        && (is_bare || is_similar)
}

/// Returns whether the terms after a claim only give a reason.
fn is_reason(rest: &[StatementTerm<'_>]) -> bool {
    rest.first().is_none_or(|it| lexicon::REASON_WORDS.contains(&it.lower.as_str()))
}

/// Returns whether the terms after a claim limit where it holds.
fn has_qualifier(rest: &[StatementTerm<'_>]) -> bool {
    rest.iter().any(term_position::is_qualifier)
}

/// The keys of all terms but fillers, in order.
fn term_keys<'a>(terms: &'a [StatementTerm<'_>]) -> Vec<&'a str> {
    terms.iter().filter(|it| it.class != TermClass::Filler).map(|it| it.key.as_str()).collect()
}

/// The distinct keys of the facts, sorted.
fn fact_keys<'a>(terms: &'a [StatementTerm<'_>]) -> Vec<&'a str> {
    let mut keys: Vec<&str> =
        terms.iter().filter(|it| it.is_fact()).map(|it| it.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Returns whether another value refutes a memory of this type. Reports of a single event stay true.
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
    /// The same relation with old and new exchanged.
    fn swap_sides(self) -> Self {
        match self {
            Self::Contradicts { conflict } => Self::Contradicts { conflict: conflict.swap_sides() },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
