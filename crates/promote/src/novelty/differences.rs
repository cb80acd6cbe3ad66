//! Finds the differences between two aligned statements: values, subjects, or nothing relevant.

use super::StatementConflict;
use super::alignment::{AlignmentGap, align_keys};
use super::lexicon::{POINTER_WORDS, are_rivals};
use super::term_pair::{TermPairRelation, compare_terms};
use super::term_position::{DIRECTION_WORDS, is_qualifier, is_subject, modifies_next};
use super::terms::{StatementTerm, TermClass};
use crate::text_chunks::TextBoundary;

/// A statement, or its claim, on one side of an alignment.
pub(crate) struct StatementSide<'a, 't> {
    pub terms: &'a [StatementTerm<'t>],
    /// Positions in `terms` of the terms with a meaning.
    pub content: Vec<usize>,
}

/// The differences of two aligned statements.
#[derive(Debug, Default)]
pub(crate) struct StatementDifferences {
    /// Values that cannot both hold.
    pub conflicts: Vec<StatementConflict>,
    /// One statement negates the other.
    pub is_negated: bool,
    /// The statements are about different things, or it cannot be decided.
    pub has_other_subject: bool,
    /// Names, numbers and paths that only one statement contains.
    pub n_extra_facts: usize,
    /// Other words that only one statement contains.
    pub n_extra_words: usize,
    /// The subject is outside the statement ("use x instead").
    pub has_outside_subject: bool,
    /// Content words and names that both contain.
    pub n_shared: usize,
    /// Similarity in per mille. Values in conflict count on neither side.
    pub similarity: u16,
}

/// Weights of the terms in a gap.
#[derive(Default)]
struct GapWeights {
    agreed: usize,
    in_conflict: usize,
}

impl<'a, 't> StatementSide<'a, 't> {
    pub(crate) fn new(terms: &'a [StatementTerm<'t>]) -> Self {
        let mut content: Vec<usize> = Vec::new();
        let mut at = 0;
        while at < terms.len() {
            match rejected_value_length(terms, at) {
                0 if !terms[at].is_neutral() => content.push(at),
                0 => {}
                skipped => at += skipped - 1,
            }
            at += 1;
        }
        Self { terms, content }
    }

    pub(crate) fn term(&self, nth: usize) -> &StatementTerm<'t> {
        &self.terms[self.content[nth]]
    }

    fn content_keys(&self) -> Vec<&str> {
        self.content.iter().map(|it| self.terms[*it].key.as_str()).collect()
    }

    fn total_weight(&self) -> usize {
        self.content.iter().map(|it| self.terms[*it].weight()).sum()
    }
}

/// Aligns two statements and judges everything that is not shared.
pub(crate) fn find_differences(
    left: &StatementSide<'_, '_>,
    right: &StatementSide<'_, '_>,
) -> StatementDifferences {
    let alignment = align_keys(&left.content_keys(), &right.content_keys());
    let mut acc = StatementDifferences::default();
    let (mut weight, mut total) = (0, left.total_weight() + right.total_weight());
    // A shared term counts on both sides.
    for (i, _) in &alignment.shared {
        let term = left.term(*i);
        weight += 2 * term.weight();
        acc.has_outside_subject |= POINTER_WORDS.contains(&term.lower.as_str());
        acc.n_shared += usize::from(is_subject(term));
    }

    // Terms without a counterpart, by side.
    let mut unmatched: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    for AlignmentGap { left: i, right: j } in alignment.gaps {
        let (i, j): (Vec<usize>, Vec<usize>) = (i.collect(), j.collect());
        if i.is_empty() || j.is_empty() {
            unmatched[0].extend(i);
            unmatched[1].extend(j);
        } else {
            let gap = judge_gap(&mut acc, left, &i, right, &j);
            // Values in conflict leave the total, so that they do not lower the similarity.
            weight += gap.agreed;
            total -= gap.in_conflict;
        }
    }
    let moved = take_moved_terms(&mut unmatched, left, right);
    for nth in &moved {
        weight += 2 * left.term(*nth).weight();
        acc.n_shared += usize::from(is_subject(left.term(*nth)));
    }
    if !moved.is_empty() {
        judge_order(&mut acc, left, right, alignment.shared.len());
    }
    for (side, nths) in [left, right].into_iter().zip(&unmatched) {
        for nth in nths {
            judge_unmatched(&mut acc, side.terms, side.content[*nth]);
        }
    }
    acc.similarity = u16::try_from(weight * 1000 / total.max(1)).unwrap_or(1000).min(1000);
    acc
}

/// The number of terms from here that only name a rejected value: ", not spaces", "over spaces", "instead of
/// spaces". 0 if there are none.
fn rejected_value_length(terms: &[StatementTerm<'_>], at: usize) -> usize {
    let word = |it: usize| terms.get(it).map_or("", |it| it.lower.as_str());
    let is_content = |it: usize| {
        terms.get(it).is_some_and(|it| !it.is_neutral() && it.class != TermClass::Negation)
    };
    // A rejected value follows the chosen one in the same sentence.
    if at == 0 || !is_content(at - 1) || terms[at].starts_sentence {
        return 0;
    }
    let is_choice = || {
        terms[..at].iter().any(|it| {
            matches!(
                it.lower.as_str(),
                "prefer" | "prefers" | "choose" | "chose" | "use" | "picked" | "favour" | "favor"
            )
        })
    };
    let length = match word(at) {
        "not"
            if terms[at - 1].boundary == TextBoundary::Comma
                || are_rivals(&terms[at - 1].key, terms.get(at + 1).map_or("", |it| &it.key)) =>
        {
            1
        }
        // "over 5 seconds" rejects nothing.
        "over" if is_choice() => 1,
        "instead" | "rather" if matches!(word(at + 1), "of" | "than") => 2,
        _ => return 0,
    };
    if is_content(at + length) && !word(at + length).is_empty() { length + 1 } else { 0 }
}

/// Judges a gap that both sides fill with different terms.
fn judge_gap(
    acc: &mut StatementDifferences,
    left: &StatementSide<'_, '_>,
    i: &[usize],
    right: &StatementSide<'_, '_>,
    j: &[usize],
) -> GapWeights {
    let mut weights = GapWeights::default();
    let weight = |side: &StatementSide<'_, '_>, nths: &[usize]| {
        nths.iter().map(|it| side.term(*it).weight()).sum::<usize>()
    };
    let joined = |side: &StatementSide<'_, '_>, nths: &[usize]| {
        nths.iter().map(|it| side.term(*it).key.as_str()).collect::<String>()
    };
    // "case insensitive" and "case-insensitive" have different terms and the same letters.
    if joined(left, i) == joined(right, j) {
        acc.n_shared += 1;
        weights.agreed = weight(left, i) + weight(right, j);
        return weights;
    }
    let without_negations = |side: &StatementSide<'_, '_>, nths: &[usize]| -> Vec<usize> {
        nths.iter().copied().filter(|it| side.term(*it).class != TermClass::Negation).collect()
    };
    let (plain_i, plain_j) = (without_negations(left, i), without_negations(right, j));
    if plain_i.len() != plain_j.len() {
        acc.has_other_subject = true;
        return weights;
    }
    // Two negations cancel out.
    let n_negations = i.len() - plain_i.len() + j.len() - plain_j.len();
    let mut is_negated = n_negations % 2 == 1;
    for (i, j) in plain_i.into_iter().zip(plain_j) {
        let both = left.term(i).weight() + right.term(j).weight();
        match compare_terms(left, i, right, j) {
            TermPairRelation::Agree => weights.agreed += both,
            // "is not enabled" and "is disabled" agree.
            TermPairRelation::Conflict(StatementConflict::Opposite { .. }) if is_negated => {
                is_negated = false;
                weights.agreed += both;
            }
            TermPairRelation::Conflict(conflict) => {
                acc.conflicts.push(conflict);
                weights.in_conflict += both;
            }
            TermPairRelation::OtherSubject => acc.has_other_subject = true,
        }
    }
    acc.is_negated ^= is_negated;
    weights
}

/// Removes the terms that both sides have at different positions, and returns their positions on the left.
fn take_moved_terms(
    unmatched: &mut [Vec<usize>; 2],
    left: &StatementSide<'_, '_>,
    right: &StatementSide<'_, '_>,
) -> Vec<usize> {
    // Each term on the right is the counterpart of one on the left at most.
    let [from, to] = unmatched;
    let mut moved = Vec::new();
    from.retain(|i| match to.iter().position(|j| left.term(*i).key == right.term(*j).key) {
        Some(found) => {
            to.remove(found);
            moved.push(*i);
            false
        }
        None => true,
    });
    moved
}

/// Judges moved terms: the same in another order, or another statement ("a before b", "b before a").
fn judge_order(
    acc: &mut StatementDifferences,
    left: &StatementSide<'_, '_>,
    right: &StatementSide<'_, '_>,
    n_in_order: usize,
) {
    let facts = |side: &StatementSide<'_, '_>| -> Vec<String> {
        side.content
            .iter()
            .map(|it| &side.terms[*it])
            .filter(|it| it.is_fact())
            .map(|it| it.key.clone())
            .collect()
    };
    // The term after a direction word is its argument.
    let argument = |side: &StatementSide<'_, '_>, word: &str| {
        let at = side.content.iter().position(|it| side.terms[*it].key == word)?;
        Some(side.terms[*side.content.get(at + 1)?].key.clone())
    };
    let is_reversed = DIRECTION_WORDS.iter().any(|it| argument(left, it) != argument(right, it));
    let is_scattered = n_in_order * 2 < left.content.len().min(right.content.len());
    acc.has_other_subject |= is_reversed || is_scattered || facts(left) != facts(right);
}

/// Judges a term without a counterpart on the other side.
fn judge_unmatched(acc: &mut StatementDifferences, terms: &[StatementTerm<'_>], at: usize) {
    let term = &terms[at];
    // "upload limit" is not "limit"; "silently drops" still means "drops".
    let narrows =
        term.class == TermClass::Word && modifies_next(terms, at) && !term.lower.ends_with("ly");
    match term.class {
        TermClass::Negation => acc.is_negated = !acc.is_negated,
        TermClass::Condition => acc.has_other_subject = true,
        _ if narrows || is_qualifier(term) || DIRECTION_WORDS.contains(&term.key.as_str()) => {
            acc.has_other_subject = true;
        }
        _ if term.is_fact() => acc.n_extra_facts += 1,
        _ => acc.n_extra_words += 1,
    }
}
