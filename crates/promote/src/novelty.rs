//! Compares two statements: the same, a near-duplicate, a contradiction, or unrelated.
//!
//! | old | new | relation |
//! |---|---|---|
//! | Requests time out after 30 seconds | requests time out after 30s | `Same` |
//! | Always use tabs for indentation | Use tabs for indentation | `Near` |
//! | The TTL is 30 seconds | The TTL is 5 minutes | `Contradicts` |
//! | The read timeout is 5s | The write timeout is 10s | `Unrelated` |
//!
//! Similarity alone cannot distinguish a duplicate from a contradiction ("retry limit is 3", "retry limit
//! is 5"). So the terms of both statements are aligned and the differences are judged: another value is a
//! contradiction, another subject or circumstance makes two statements. Precision comes first: in doubt
//! the result is `Unrelated`, which costs a duplicate, while a wrong result would cost a memory. Statements
//! that say the same in other words are left to embeddings.
//!
//! The engine calls this module before it stores a memory: the result decides whether the new memory is
//! added, strengthens an old one or replaces it. A comparison takes four steps, each in a file of its own:
//!
//! ```text
//! text           "The TTL is 30 seconds"                "The TTL is 5 minutes"
//! terms.rs       the TTL is 30000ms                     the TTL is 300000ms       canonical keys
//! alignment.rs   shared: TTL         gap: 30000ms and 300000ms                    fillers left out
//! differences.rs one conflict, `Number`; all else is shared, so the similarity is 1000 per mille
//! novelty.rs     Contradicts
//! ```
//!
//! Words of this module: a *term* is a word, a number, a path or a command. Its *key* is its canonical form:
//! `60s` and `1 minute` have one key. A *filler* is a term without meaning ("the", "is"). A *fact* is a name,
//! number or path, which has no synonym. A statement begins with its *claim* ("the limit is 3"), which gives
//! a *subject* a *value*; reasons and further sentences may follow. A *qualifier* limits where the claim
//! holds ("on Linux").

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

// With these thresholds no labelled pair of `fixtures/pairs.txt` is merged or superseded by mistake. Similarity
// is the weight of the terms that agree over the weight of all terms of both sides (`differences.rs`).
/// Similarity from which statements without a conflict are near-duplicates, in per mille. At 750, three shared
/// words allow two more on one side: 2 · 3 of 3 + 5.
const MIN_NEAR_SIMILARITY: u16 = 750;
/// Similarity of everything but the value from which a conflict is about the same subject, in per mille.
const MIN_SUBJECT_SIMILARITY: u16 = 750;
/// Shared terms that must support each word that only one side of a conflict has: the longer two statements
/// agree, the less one more word changes the subject. Four shared terms allow one further word.
const SHARED_PER_EXTRA_WORD: usize = 4;
/// Terms that are aligned; a memory of 2 KiB has fewer. Longer statements are only tested for equality,
/// because the time of an alignment grows with the square of the length.
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
    compare_parsed(&ParsedStatement::new(*old), &ParsedStatement::new(*new))
}

/// A statement with its terms, for a text that is compared with many others.
pub struct ParsedStatement<'a> {
    statement: MemoryStatement<'a>,
    terms: Vec<StatementTerm<'a>>,
}

impl<'a> ParsedStatement<'a> {
    pub fn new(statement: MemoryStatement<'a>) -> Self {
        Self { statement, terms: parse_terms(statement.text) }
    }
}

/// The candidate with the strongest relation to a statement, by position: the same, else a contradiction,
/// else the most similar. The first of equals wins.
pub fn find_nearest(
    new: &MemoryStatement<'_>,
    candidates: &[MemoryStatement<'_>],
) -> Option<(usize, StatementRelation)> {
    let new = ParsedStatement::new(*new);
    let mut best: Option<(usize, StatementRelation)> = None;
    for (nth, old) in candidates.iter().enumerate() {
        let relation = compare_parsed(&ParsedStatement::new(*old), &new);
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

/// As [`compare_statements`], for statements that are parsed.
pub fn compare_parsed(old: &ParsedStatement<'_>, new: &ParsedStatement<'_>) -> StatementRelation {
    let ParsedStatement { statement: old, terms: old_terms } = old;
    let ParsedStatement { statement: new, terms: new_terms } = new;
    if have_disjoint_files(old, new) {
        return StatementRelation::Unrelated;
    }
    let (old_keys, new_keys) = (term_keys(old_terms), term_keys(new_terms));
    // Texts of fillers alone have no keys. They are the same only letter by letter.
    let has_keys = !old_keys.is_empty();
    if old_keys == new_keys && (has_keys || old.text == new.text) {
        return StatementRelation::Same;
    }
    if old_keys.len().max(new_keys.len()) > MAX_TERMS {
        return StatementRelation::Unrelated;
    }
    let rule = if is_report(old.kind) || is_report(new.kind) {
        ConflictRule::Coexist
    } else {
        ConflictRule::Contradict
    };
    // The order of the sides decides which of two equally long alignments is found. A fixed order makes
    // the result symmetrical.
    if (&old_keys, old.text) <= (&new_keys, new.text) {
        relate_terms(old_terms, new_terms, rule)
    } else {
        relate_terms(new_terms, old_terms, rule).swap_sides()
    }
}

/// Returns whether both statements name files, but none in common: they are about different things. Without
/// files on one side they can still be about the same.
fn have_disjoint_files(old: &MemoryStatement<'_>, new: &MemoryStatement<'_>) -> bool {
    if old.files.is_empty() || new.files.is_empty() {
        return false;
    }
    !old.files.iter().any(|file| new.files.contains(file))
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
    // The whole statements decide, if they are comparable.
    let whole = compare(left, right);
    if whole != StatementRelation::Unrelated {
        return whole;
    }
    // Otherwise what follows the claim may be all that differs: "the limit is 3" and "the limit is 5
    // because uploads failed".
    let (left_claim, left_rest) = left.split_at(claim_length(left));
    let (right_claim, right_rest) = right.split_at(claim_length(right));
    // A circumstance after the claim can make it another statement: "The limit is 5. This is for uploads."
    if has_qualifier(left_rest) || has_qualifier(right_rest) {
        return StatementRelation::Unrelated;
    }
    let both_continue = !left_rest.is_empty() && !right_rest.is_empty();
    let has_further_sentence = !is_reason_or_empty(left_rest) || !is_reason_or_empty(right_rest);
    match compare(left_claim, right_claim) {
        // Two further sentences could be what the statements are really about. A reason on each side, or a
        // sentence on one side only, does not change the contradiction.
        conflict @ StatementRelation::Contradicts { .. } => {
            let is_about_the_rest = both_continue && has_further_sentence;
            if is_about_the_rest { StatementRelation::Unrelated } else { conflict }
        }
        // Merging must not lose a fact, a further sentence or a second reason.
        near @ StatementRelation::Near { .. } => {
            let loses_a_fact = fact_keys(left) != fact_keys(right);
            let loses_text = both_continue || has_further_sentence || loses_a_fact;
            if loses_text { StatementRelation::Unrelated } else { near }
        }
        // Unrelated claims. `compare` never returns `Same`: equal claims are `Near`.
        StatementRelation::Same | StatementRelation::Unrelated => StatementRelation::Unrelated,
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
        // "Use tabs" and "always use tabs".
        ([], false) if is_near => {
            StatementRelation::Near { similarity: PerMille::new(differences.similarity) }
        }
        // "The limit is 3" and "the limit is 5".
        ([conflict], false) if may_conflict && has_same_subject(differences, conflict) => {
            StatementRelation::Contradicts { conflict: conflict.clone() }
        }
        // "Builds are cached" and "builds are not cached".
        ([], true)
            if may_conflict && has_same_subject(differences, &StatementConflict::Negation) =>
        {
            StatementRelation::Contradicts { conflict: StatementConflict::Negation }
        }
        // Several conflicts, a conflict beside a negation, or too little in common.
        _ => StatementRelation::Unrelated,
    }
}

/// Returns whether two statements differ in the conflict only.
fn has_same_subject(differences: &StatementDifferences, conflict: &StatementConflict) -> bool {
    // "Use x instead": the text does not contain what x replaces.
    if differences.has_outside_subject {
        return false;
    }
    // A name on one side only can be another subject: "the limit is 3", "the limit of `Pool` is 5".
    if differences.n_extra_facts > 0 {
        return false;
    }
    // So can too many words on one side only.
    if differences.n_extra_words * SHARED_PER_EXTRA_WORD > differences.n_shared {
        return false;
    }
    // Opposites need no shared subject: "use tabs" and "use spaces" have none.
    if differences.n_shared == 0 {
        return matches!(conflict, StatementConflict::Opposite { .. });
    }
    differences.similarity >= MIN_SUBJECT_SIMILARITY
}

/// Returns whether the terms after a claim only give a reason, or are none.
fn is_reason_or_empty(rest: &[StatementTerm<'_>]) -> bool {
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

/// Returns whether a memory of this type reports what happened in one session. A report stays true when a
/// later one has another value.
const fn is_report(kind: &MemoryType) -> bool {
    use MemoryKind::{
        ContextCost, DeadEnd, E2eObservation, PrefetchPattern, TaskCalibration, WorkState,
        WorkUnitOutcome,
    };
    matches!(
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
