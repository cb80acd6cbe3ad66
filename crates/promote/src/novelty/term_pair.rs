//! Compares two terms at the same position of two statements: they agree, they conflict, or the statements
//! are about different things.
//!
//! | pair | relation |
//! |---|---|
//! | "is `3`", "is `5`" | conflict |
//! | "`migrate` the data", "`migration` of the data" | agree: one word in two forms |
//! | "on `Linux`", "on `Windows`" | other subject: two circumstances |
//!
//! The pairs are tested in order, from the surest kind of conflict to the least sure: numbers, opposites,
//! rivals (alternatives of which a project chooses one), names. In doubt the result is another subject. The
//! left statement is taken for the old one; a caller that exchanged the statements also exchanges the values
//! of the conflict.
//!
//! A term has its text (`raw`, `lower`), a class (word, number, path, …) and a *key*, its canonical form:
//! `60s` and `1 minute` have one key. *Content terms* are those that change what the statement claims. A
//! *fact* is a name, an identifier, a path or a number, which has no synonym. A *value* is what a statement
//! gives its subject: `3` in "the limit is 3", `pnpm` in "use pnpm". A *predicate* is an adjective that
//! claims something: `safe` in "it is safe", not in "safe methods are fast".

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
// Two words are forms of one word if they have a common root and short endings: `migrat` with `e` and `ion`.
/// The shortest root, in bytes. `state` and `status` have one of four bytes and stay two words.
const MIN_ROOT_BYTES: usize = 5;
/// The longest ending of the shorter word, in bytes: `e`.
const MAX_SHORTER_ENDING_BYTES: usize = 2;
/// The longest ending of the longer word, in bytes: `ation` in "configuration".
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
    let (old, new) = (shown_value(old_term), shown_value(new_term));
    // The tests of `term_position.rs` take all terms of a statement, fillers included, and a position in them.
    let left_position = left.content[left_nth];
    let right_position = right.content[right_nth];
    let both = |test: fn(&[StatementTerm<'_>], usize) -> bool| {
        test(left.terms, left_position) && test(right.terms, right_position)
    };

    // "is 3" and "is 5".
    if is_number(old_term) && is_number(new_term) {
        // Different units measure different things: 5 seconds, 5 MB.
        let is_conflict = both(number_is_value) && unit_of(old_term) == unit_of(new_term);
        let is_version = [old_term.class, new_term.class].contains(&TermClass::Version);
        let conflict = if is_version {
            StatementConflict::Version { old, new }
        } else {
            StatementConflict::Number { old, new }
        };
        return conflict_if(is_conflict, conflict);
    }
    // "is enabled" and "is disabled".
    if let Some(scope) = find_opposite(&old_term.lower, &new_term.lower) {
        let is_conflict = scope == OppositeScope::Anywhere || both(is_predicate);
        return conflict_if(is_conflict, StatementConflict::Opposite { old, new });
    }
    // "on Linux" and "on Windows" are two circumstances, not two values.
    if is_qualifier(old_term) || is_qualifier(new_term) {
        return TermPairRelation::OtherSubject;
    }
    // "use npm" and "use pnpm".
    let are_values = both(is_value);
    if are_rivals(&old_term.key, &new_term.key) {
        return conflict_if(are_values, StatementConflict::Opposite { old, new });
    }
    // Another plain word can be a synonym as well as another subject; only two forms of one word agree.
    if old_term.class == TermClass::Word && new_term.class == TermClass::Word {
        let is_same_word = share_root(&old_term.key, &new_term.key);
        return if is_same_word { TermPairRelation::Agree } else { TermPairRelation::OtherSubject };
    }
    // What remains has at least one name, path or number. "is in src/a.rs" and "is in src/b.rs" conflict.
    let are_names = is_name(old_term) && is_name(new_term);
    // A name that modifies a noun ("the Redis cache") belongs to the subject.
    let belong_to_subject =
        modifies_next(left.terms, left_position) || modifies_next(right.terms, right_position);
    let conflict = match (old_term.class, new_term.class) {
        (TermClass::Path, TermClass::Path) => StatementConflict::Path { old, new },
        _ => StatementConflict::Identifier { old, new },
    };
    conflict_if(are_names && are_values && !belong_to_subject, conflict)
}

/// The text of a term as the user is shown it in a conflict. Without a leading `=`, which a number keeps
/// if it is written directly before it: "limit =5".
fn shown_value(term: &StatementTerm<'_>) -> String {
    model::clean_label(term.raw.trim_start_matches('='), MAX_VALUE_CHARS)
}

const fn is_number(term: &StatementTerm<'_>) -> bool {
    matches!(term.class, TermClass::Number | TermClass::Version)
}

/// Returns whether a term is a name, an identifier or a path.
const fn is_name(term: &StatementTerm<'_>) -> bool {
    term.is_fact() && !is_number(term)
}

/// The conflict if it is one, else another subject.
fn conflict_if(is_conflict: bool, conflict: StatementConflict) -> TermPairRelation {
    if is_conflict { TermPairRelation::Conflict(conflict) } else { TermPairRelation::OtherSubject }
}

/// The unit at the end of a number's key: `ms` of `30000ms`, nothing of `5`.
fn unit_of(term: &StatementTerm<'_>) -> String {
    term.key.trim_start_matches(|it: char| !it.is_alphabetic() && it != '%').to_owned()
}

/// Returns whether two words have a long common beginning and short endings: `migrate`, `migration`.
fn share_root(left: &str, right: &str) -> bool {
    let root_length = left.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
    let shorter_ending = left.len().min(right.len()) - root_length;
    let longer_ending = left.len().max(right.len()) - root_length;
    root_length >= MIN_ROOT_BYTES
        && shorter_ending <= MAX_SHORTER_ENDING_BYTES
        && longer_ending <= MAX_LONGER_ENDING_BYTES
}
