//! Compares two terms at the same position of two statements: they agree, they conflict, or the statements
//! are about different things.
//!
//! The pairs are tested in order, from the surest kind of conflict to the least sure: numbers, opposites,
//! rivals, names. In doubt the result is another subject.

use super::StatementConflict;
use super::differences::StatementSide;
use super::lexicon::{OppositeScope, are_rivals, find_opposite};
use super::term_position::{is_predicate, is_qualifier, is_value, modifies_next, number_is_value};
use super::terms::{StatementTerm, TermClass};

/// Relation of two terms at the same position.
pub(crate) enum TermPairRelation {
    Agree,
    Conflict(StatementConflict),
    /// The statements are about different things, or it cannot be decided.
    OtherSubject,
}

/// The longest quoted value of a conflict, in characters.
const MAX_VALUE_CHARS: usize = 60;
/// The shortest common root of two words, and the longest endings after it, in bytes: `migrat`, `e`, `ion`.
const MIN_ROOT_BYTES: usize = 5;
const MAX_SHORTER_ENDING_BYTES: usize = 2;
const MAX_LONGER_ENDING_BYTES: usize = 5;

/// Compares two content terms, given by their positions among the content terms of each side.
pub(crate) fn compare_terms(
    left: &StatementSide<'_, '_>,
    left_nth: usize,
    right: &StatementSide<'_, '_>,
    right_nth: usize,
) -> TermPairRelation {
    let (old_term, new_term) = (left.term(left_nth), right.term(right_nth));
    if old_term.key == new_term.key {
        return TermPairRelation::Agree;
    }
    let label = |it: &StatementTerm<'_>| {
        model::clean_label(it.raw.trim_start_matches('='), MAX_VALUE_CHARS)
    };
    let (old, new) = (label(old_term), label(new_term));
    // Tests the two terms at their positions.
    let both = |test: fn(&[StatementTerm<'_>], usize) -> bool| {
        test(left.terms, left.content[left_nth]) && test(right.terms, right.content[right_nth])
    };
    let is_number =
        |it: &StatementTerm<'_>| matches!(it.class, TermClass::Number | TermClass::Version);
    if is_number(old_term) && is_number(new_term) {
        // Different units measure different things.
        let is_conflict = both(number_is_value) && unit_of(old_term) == unit_of(new_term);
        let is_version = [old_term.class, new_term.class].contains(&TermClass::Version);
        let conflict = if is_version {
            StatementConflict::Version { old, new }
        } else {
            StatementConflict::Number { old, new }
        };
        return conflict_if(is_conflict, conflict);
    }
    // "enabled" and "disabled".
    if let Some(scope) = find_opposite(&old_term.lower, &new_term.lower) {
        let is_conflict = scope == OppositeScope::Anywhere || both(is_predicate);
        return conflict_if(is_conflict, StatementConflict::Opposite { old, new });
    }
    // "on Linux" and "on Windows" are two circumstances, not two values.
    if is_qualifier(old_term) || is_qualifier(new_term) {
        return TermPairRelation::OtherSubject;
    }
    // "npm" and "pnpm".
    let are_values = both(is_value);
    if are_rivals(&old_term.key, &new_term.key) {
        return conflict_if(are_values, StatementConflict::Opposite { old, new });
    }
    // Another plain word can be a synonym as well as another subject.
    if old_term.class == TermClass::Word && new_term.class == TermClass::Word {
        let is_same_word = share_root(&old_term.key, &new_term.key);
        return if is_same_word { TermPairRelation::Agree } else { TermPairRelation::OtherSubject };
    }
    // A name that modifies a noun ("the Redis cache") belongs to the subject.
    let are_modifiers = modifies_next(left.terms, left.content[left_nth])
        || modifies_next(right.terms, right.content[right_nth]);
    let are_names = [old_term, new_term].iter().all(|it| it.is_fact() && !is_number(it));
    let conflict = match (old_term.class, new_term.class) {
        (TermClass::Path, TermClass::Path) => StatementConflict::Path { old, new },
        _ => StatementConflict::Identifier { old, new },
    };
    conflict_if(are_values && !are_modifiers && are_names, conflict)
}

/// The conflict if it is one, else another subject.
fn conflict_if(is_conflict: bool, conflict: StatementConflict) -> TermPairRelation {
    if is_conflict { TermPairRelation::Conflict(conflict) } else { TermPairRelation::OtherSubject }
}

/// The unit at the end of a number's key.
fn unit_of(term: &StatementTerm<'_>) -> String {
    term.key.trim_start_matches(|it: char| !it.is_alphabetic() && it != '%').to_owned()
}

/// Returns whether two words have a long common beginning and short endings: `migrate`, `migration`.
fn share_root(left: &str, right: &str) -> bool {
    let n_common = left.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
    n_common >= MIN_ROOT_BYTES
        && left.len().min(right.len()) <= n_common + MAX_SHORTER_ENDING_BYTES
        && left.len().max(right.len()) <= n_common + MAX_LONGER_ENDING_BYTES
}
