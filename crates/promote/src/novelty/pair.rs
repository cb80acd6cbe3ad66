//! Judges two terms that stand in the same place of two statements.

use super::Conflict;
use super::differences::Side;
use super::lexicon::{Opposite, are_rivals, opposite};
use super::place::{is_predicate, is_qualifier, is_value, modifies_next, number_is_value};
use super::terms::{Class, Term};

/// How two terms in the same place stand to each other.
pub(crate) enum Pair {
    Agree,
    Conflict(Conflict),
    Apart,
}

pub(crate) fn pair(left: &Side<'_, '_>, i: usize, right: &Side<'_, '_>, j: usize) -> Pair {
    let (old, new) = (left.term(i), right.term(j));
    let (at_old, at_new) = (left.body[i], right.body[j]);
    let said = |it: &Term<'_>| model::clean_label(it.raw.trim_start_matches('='), 60);
    let (was, is) = (said(old), said(new));
    if old.key == new.key {
        return Pair::Agree;
    }
    let is_number = |it: &Term<'_>| matches!(it.class, Class::Number | Class::Version);
    if is_number(old) && is_number(new) {
        let values = number_is_value(left.terms, at_old) && number_is_value(right.terms, at_new);
        let is_version = old.class == Class::Version || new.class == Class::Version;
        return match (values && unit_of(old) == unit_of(new), is_version) {
            (false, _) => Pair::Apart,
            (true, true) => Pair::Conflict(Conflict::Version { old: was, new: is }),
            (true, false) => Pair::Conflict(Conflict::Number { old: was, new: is }),
        };
    }
    if let Some(place) = opposite(&old.lower, &new.lower) {
        let said_of =
            |terms: &[Term<'_>], at: usize| place == Opposite::Anywhere || is_predicate(terms, at);
        return if said_of(left.terms, at_old) && said_of(right.terms, at_new) {
            Pair::Conflict(Conflict::Opposite { old: was, new: is })
        } else {
            Pair::Apart
        };
    }
    if is_qualifier(old) || is_qualifier(new) {
        return Pair::Apart;
    }
    let values = is_value(left.terms, at_old) && is_value(right.terms, at_new);
    if are_rivals(&old.key, &new.key) {
        return if values {
            Pair::Conflict(Conflict::Opposite { old: was, new: is })
        } else {
            Pair::Apart
        };
    }
    if old.class == Class::Word && new.class == Class::Word {
        return if same_root(&old.key, &new.key) { Pair::Agree } else { Pair::Apart };
    }
    let modifies = modifies_next(left.terms, at_old) || modifies_next(right.terms, at_new);
    match (values && !modifies && old.is_hard() && new.is_hard(), old.class, new.class) {
        (true, Class::Path, Class::Path) => Pair::Conflict(Conflict::Path { old: was, new: is }),
        (true, ..) if !is_number(old) && !is_number(new) => {
            Pair::Conflict(Conflict::Identifier { old: was, new: is })
        }
        _ => Pair::Apart,
    }
}

fn unit_of(term: &Term<'_>) -> String {
    term.key.trim_start_matches(|it: char| !it.is_alphabetic() && it != '%').to_owned()
}

/// `migrate` and `migration`: a long common beginning and short endings.
fn same_root(left: &str, right: &str) -> bool {
    let common = left.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
    common >= 5
        && common + 2 >= left.len().min(right.len())
        && common + 5 >= left.len().max(right.len())
}
