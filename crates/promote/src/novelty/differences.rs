//! Finds the differences between two aligned statements: values, subjects, or nothing relevant.
//!
//! The content terms of both sides are aligned. Shared terms raise the similarity. A gap that both sides
//! fill is compared term by term (`term_pair.rs`). Terms that only one side has are first matched with
//! equal terms elsewhere on the other side (moved), then judged one by one.

use super::StatementConflict;
use super::alignment::align_keys;
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

/// The content terms in a gap, by side.
struct GapTerms {
    left: Vec<usize>,
    right: Vec<usize>,
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
        let mut position = 0;
        while position < terms.len() {
            // "tabs, not spaces" claims no more than "tabs".
            let n_rejected = rejected_value_length(terms, position);
            if n_rejected == 0 && !terms[position].is_neutral() {
                content.push(position);
            }
            position += n_rejected.max(1);
        }
        Self { terms, content }
    }

    /// The content term `nth`.
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
    // The similarity is the weight of the terms that agree over the weight of all.
    let mut agreeing_weight = 0;
    let mut total_weight = left.total_weight() + right.total_weight();
    // A shared term counts on both sides.
    for (left_nth, _) in &alignment.shared {
        let term = left.term(*left_nth);
        agreeing_weight += 2 * term.weight();
        acc.has_outside_subject |= POINTER_WORDS.contains(&term.lower.as_str());
        acc.n_shared += usize::from(is_subject(term));
    }

    // Terms in gaps that only one side fills, by side.
    let mut unmatched: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    for gap in alignment.gaps {
        let in_gap = GapTerms { left: gap.left.collect(), right: gap.right.collect() };
        if in_gap.left.is_empty() || in_gap.right.is_empty() {
            unmatched[0].extend(in_gap.left);
            unmatched[1].extend(in_gap.right);
        } else {
            let weights = judge_gap(&mut acc, left, right, &in_gap);
            agreeing_weight += weights.agreed;
            // Values in conflict leave the total, so that they do not lower the similarity.
            total_weight -= weights.in_conflict;
        }
    }
    // A term that both sides have at different positions was moved, and counts as shared.
    let moved = take_moved_terms(&mut unmatched, left, right);
    for nth in &moved {
        agreeing_weight += 2 * left.term(*nth).weight();
        acc.n_shared += usize::from(is_subject(left.term(*nth)));
    }
    if !moved.is_empty() {
        judge_order(&mut acc, left, right, alignment.shared.len());
    }
    // The others are on one side only.
    for (side, nths) in [left, right].into_iter().zip(&unmatched) {
        for nth in nths {
            judge_unmatched(&mut acc, side.terms, side.content[*nth]);
        }
    }
    let similarity = agreeing_weight * 1000 / total_weight.max(1);
    acc.similarity = u16::try_from(similarity).unwrap_or(1000).min(1000);
    acc
}

/// The number of terms from a position on that only name a rejected value: ", not spaces", "over spaces",
/// "instead of spaces". 0 if there are none.
fn rejected_value_length(terms: &[StatementTerm<'_>], position: usize) -> usize {
    let word = |nth: usize| terms.get(nth).map_or("", |it| it.lower.as_str());
    let is_content = |nth: usize| {
        terms.get(nth).is_some_and(|it| !it.is_neutral() && it.class != TermClass::Negation)
    };
    // A rejected value follows the chosen one in the same sentence.
    if position == 0 || !is_content(position - 1) || terms[position].starts_sentence {
        return 0;
    }
    let chosen = &terms[position - 1];
    let rejected_key = terms.get(position + 1).map_or("", |it| it.key.as_str());
    let has_verb_of_choice = || {
        terms[..position].iter().any(|it| {
            matches!(
                it.lower.as_str(),
                "prefer" | "prefers" | "choose" | "chose" | "use" | "picked" | "favour" | "favor"
            )
        })
    };
    // The words before the rejected value.
    let n_connecting = match word(position) {
        // "tabs, not spaces", but "is not enabled" is a negation.
        "not"
            if chosen.boundary == TextBoundary::Comma || are_rivals(&chosen.key, rejected_key) =>
        {
            1
        }
        // "over 5 seconds" rejects nothing.
        "over" if has_verb_of_choice() => 1,
        "instead" | "rather" if matches!(word(position + 1), "of" | "than") => 2,
        _ => return 0,
    };
    let value = position + n_connecting;
    if is_content(value) && !word(value).is_empty() { n_connecting + 1 } else { 0 }
}

/// Judges a gap that both sides fill with different terms.
fn judge_gap(
    acc: &mut StatementDifferences,
    left: &StatementSide<'_, '_>,
    right: &StatementSide<'_, '_>,
    in_gap: &GapTerms,
) -> GapWeights {
    let mut weights = GapWeights::default();
    let weight = |side: &StatementSide<'_, '_>, nths: &[usize]| {
        nths.iter().map(|it| side.term(*it).weight()).sum::<usize>()
    };
    let joined = |side: &StatementSide<'_, '_>, nths: &[usize]| {
        nths.iter().map(|it| side.term(*it).key.as_str()).collect::<String>()
    };
    // "case insensitive" and "case-insensitive" have different terms and the same letters.
    if joined(left, &in_gap.left) == joined(right, &in_gap.right) {
        acc.n_shared += 1;
        weights.agreed = weight(left, &in_gap.left) + weight(right, &in_gap.right);
        return weights;
    }
    // Without negations the two sides must have the same number of terms, which are then pairs.
    let without_negations = |side: &StatementSide<'_, '_>, nths: &[usize]| -> Vec<usize> {
        nths.iter().copied().filter(|it| side.term(*it).class != TermClass::Negation).collect()
    };
    let plain_left = without_negations(left, &in_gap.left);
    let plain_right = without_negations(right, &in_gap.right);
    if plain_left.len() != plain_right.len() {
        acc.has_other_subject = true;
        return weights;
    }
    // Two negations cancel out.
    let n_negations = in_gap.left.len() - plain_left.len() + in_gap.right.len() - plain_right.len();
    let mut is_negated = n_negations % 2 == 1;
    for (left_nth, right_nth) in plain_left.into_iter().zip(plain_right) {
        let pair_weight = left.term(left_nth).weight() + right.term(right_nth).weight();
        match compare_terms(left, left_nth, right, right_nth) {
            TermPairRelation::Agree => weights.agreed += pair_weight,
            // "is not enabled" and "is disabled" agree.
            TermPairRelation::Conflict(StatementConflict::Opposite { .. }) if is_negated => {
                is_negated = false;
                weights.agreed += pair_weight;
            }
            TermPairRelation::Conflict(conflict) => {
                acc.conflicts.push(conflict);
                weights.in_conflict += pair_weight;
            }
            TermPairRelation::OtherSubject => acc.has_other_subject = true,
        }
    }
    // A negation in one gap cancels one in another.
    acc.is_negated ^= is_negated;
    weights
}

/// Removes the terms that both sides have at different positions, and returns their positions on the left.
fn take_moved_terms(
    unmatched: &mut [Vec<usize>; 2],
    left: &StatementSide<'_, '_>,
    right: &StatementSide<'_, '_>,
) -> Vec<usize> {
    let [unmatched_left, unmatched_right] = unmatched;
    let mut moved = Vec::new();
    unmatched_left.retain(|nth| {
        let key = &left.term(*nth).key;
        let counterpart = unmatched_right.iter().position(|it| right.term(*it).key == *key);
        // Each term on the right is the counterpart of at most one on the left.
        if let Some(counterpart) = counterpart {
            unmatched_right.remove(counterpart);
            moved.push(*nth);
        }
        counterpart.is_none()
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
        let nth = side.content.iter().position(|it| side.terms[*it].key == word)?;
        Some(side.terms[*side.content.get(nth + 1)?].key.clone())
    };
    let is_reversed = DIRECTION_WORDS.iter().any(|it| argument(left, it) != argument(right, it));
    // Less than half of the shorter statement is in the same order.
    let is_scattered = n_in_order * 2 < left.content.len().min(right.content.len());
    acc.has_other_subject |= is_reversed || is_scattered || facts(left) != facts(right);
}

/// Judges a term without a counterpart on the other side.
fn judge_unmatched(acc: &mut StatementDifferences, terms: &[StatementTerm<'_>], position: usize) {
    let term = &terms[position];
    // "upload limit" is not "limit"; "silently drops" still means "drops".
    let narrows = term.class == TermClass::Word
        && modifies_next(terms, position)
        && !term.lower.ends_with("ly");
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
