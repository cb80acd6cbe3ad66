//! Judges two terms that stand in the same place of two statements.

use super::StatementConflict;
use super::differences::StatementSide;
use super::lexicon::{OppositeScope, are_rivals, find_opposite};
use super::term_position::{is_predicate, is_qualifier, is_value, modifies_next, number_is_value};
use super::terms::{StatementTerm, TermClass};

/// How two terms in the same place stand to each other.
pub(crate) enum TermPairRelation {
    Agree,
    Conflict(StatementConflict),
    OtherSubject,
}

pub(crate) fn compare_terms(
    left: &StatementSide<'_, '_>,
    i: usize,
    right: &StatementSide<'_, '_>,
    j: usize,
) -> TermPairRelation {
    let (old, new) = (left.term(i), right.term(j));
    let (at_old, at_new) = (left.content[i], right.content[j]);
    let said = |it: &StatementTerm<'_>| model::clean_label(it.raw.trim_start_matches('='), 60);
    let (was, is) = (said(old), said(new));
    if old.key == new.key {
        return TermPairRelation::Agree;
    }
    let is_number =
        |it: &StatementTerm<'_>| matches!(it.class, TermClass::Number | TermClass::Version);
    if is_number(old) && is_number(new) {
        let values = number_is_value(left.terms, at_old) && number_is_value(right.terms, at_new);
        let is_version = old.class == TermClass::Version || new.class == TermClass::Version;
        return match (values && unit_of(old) == unit_of(new), is_version) {
            (false, _) => TermPairRelation::OtherSubject,
            (true, true) => {
                TermPairRelation::Conflict(StatementConflict::Version { old: was, new: is })
            }
            (true, false) => {
                TermPairRelation::Conflict(StatementConflict::Number { old: was, new: is })
            }
        };
    }
    if let Some(place) = find_opposite(&old.lower, &new.lower) {
        let said_of = |terms: &[StatementTerm<'_>], at: usize| {
            place == OppositeScope::Anywhere || is_predicate(terms, at)
        };
        return if said_of(left.terms, at_old) && said_of(right.terms, at_new) {
            TermPairRelation::Conflict(StatementConflict::Opposite { old: was, new: is })
        } else {
            TermPairRelation::OtherSubject
        };
    }
    if is_qualifier(old) || is_qualifier(new) {
        return TermPairRelation::OtherSubject;
    }
    let values = is_value(left.terms, at_old) && is_value(right.terms, at_new);
    if are_rivals(&old.key, &new.key) {
        return if values {
            TermPairRelation::Conflict(StatementConflict::Opposite { old: was, new: is })
        } else {
            TermPairRelation::OtherSubject
        };
    }
    if old.class == TermClass::Word && new.class == TermClass::Word {
        return if share_root(&old.key, &new.key) {
            TermPairRelation::Agree
        } else {
            TermPairRelation::OtherSubject
        };
    }
    let modifies = modifies_next(left.terms, at_old) || modifies_next(right.terms, at_new);
    match (values && !modifies && old.is_fact() && new.is_fact(), old.class, new.class) {
        (true, TermClass::Path, TermClass::Path) => {
            TermPairRelation::Conflict(StatementConflict::Path { old: was, new: is })
        }
        (true, ..) if !is_number(old) && !is_number(new) => {
            TermPairRelation::Conflict(StatementConflict::Identifier { old: was, new: is })
        }
        _ => TermPairRelation::OtherSubject,
    }
}

fn unit_of(term: &StatementTerm<'_>) -> String {
    term.key.trim_start_matches(|it: char| !it.is_alphabetic() && it != '%').to_owned()
}

/// `migrate` and `migration`: a long common beginning and short endings.
fn share_root(left: &str, right: &str) -> bool {
    let common = left.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
    common >= 5
        && common + 2 >= left.len().min(right.len())
        && common + 5 >= left.len().max(right.len())
}
