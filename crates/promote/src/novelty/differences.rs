//! Finds the differences between two statements: values, subjects, or nothing relevant.
//!
//! ```text
//! left     the        retry limit is 3
//! right    the upload retry limit is 5
//! result   shared: "retry", "limit"; in conflict: "3" and "5"; only on the right: "upload", which makes it
//!          a statement about something else
//! ```
//!
//! A *term* is a word, number, path or command, and its *key* the canonical form by which it is compared.
//! *Content terms* are those that change what a statement claims: no articles, no "always". They are aligned
//! by key. Shared terms raise the similarity. A gap that both sides fill is compared term by term
//! (`term_pair.rs`). Terms that only one side has are first matched with equal terms elsewhere on the other
//! side (moved), then judged one by one. `novelty.rs` derives the relation of the statements from the result.
//!
//! The similarity is the weight of the terms that agree over the weight of all content terms of both sides.
//! A word weighs 2, a name 3 (`StatementTerm::weight`). "The `Pool` limit is low" and "the `Pool` limit is
//! very low now" share `Pool`, "limit" and "low": 14 of 14, because "very" and "now" are no content.
//!
//! Two kinds of index occur: a `position` counts all terms of a statement, `nth` only its content terms.

use super::StatementConflict;
use super::alignment::align_keys;
use super::lexicon::{POINTER_WORDS, are_rivals};
use super::term_pair::{TermPairRelation, compare_terms};
use super::term_position::{
    DIRECTION_WORDS, is_direction, is_qualifier, is_subject, is_word, modifies_next,
};
use super::terms::{StatementTerm, TermClass};
use crate::text_chunks::TextBoundary;

/// A statement, or its first claim alone, on one side of an alignment.
pub(crate) struct StatementSide<'a, 't> {
    pub terms: &'a [StatementTerm<'t>],
    /// Positions in `terms` of the content terms: `content[nth]` is a position.
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
    /// The text does not contain its subject ("use x instead").
    pub has_outside_subject: bool,
    /// Words and names of the subject that both contain.
    pub n_shared: usize,
    /// Similarity in per mille. Values in conflict count on neither side.
    pub similarity: u16,
}

/// Content terms of both sides, each as `nth`.
#[derive(Default)]
struct TermsBySide {
    left: Vec<usize>,
    right: Vec<usize>,
}

/// Weights of the terms in a gap, both sides together. Terms that do neither count in neither sum.
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

    /// All content terms, in order.
    fn content_terms(&self) -> impl Iterator<Item = &StatementTerm<'t>> {
        self.content.iter().map(|position| &self.terms[*position])
    }

    fn content_keys(&self) -> Vec<&str> {
        self.content_terms().map(|term| term.key.as_str()).collect()
    }

    /// The weight of all content terms.
    fn total_weight(&self) -> usize {
        self.content_terms().map(StatementTerm::weight).sum()
    }

    /// The weight of some content terms.
    fn weight_of(&self, nths: &[usize]) -> usize {
        nths.iter().map(|nth| self.term(*nth).weight()).sum()
    }

    /// The keys of some content terms, without spaces between them.
    fn joined_keys(&self, nths: &[usize]) -> String {
        nths.iter().map(|nth| self.term(*nth).key.as_str()).collect()
    }

    fn without_negations(&self, nths: &[usize]) -> Vec<usize> {
        let is_kept = |nth: &usize| self.term(*nth).class != TermClass::Negation;
        nths.iter().copied().filter(is_kept).collect()
    }

    /// The keys of all facts (names, numbers, paths), in order.
    fn fact_keys(&self) -> Vec<&str> {
        self.content_terms().filter(|term| term.is_fact()).map(|term| term.key.as_str()).collect()
    }

    /// The key of the content term right after a word: "tests" for `after` in "after the tests". `None` if
    /// the word does not occur or is the last one.
    fn argument_of(&self, word: &str) -> Option<&str> {
        let mut following = self.content_terms().skip_while(|term| !is_word(term, word)).skip(1);
        following.next().map(|argument| argument.key.as_str())
    }
}

/// Aligns two statements and judges everything that is not shared.
pub(crate) fn find_differences(
    left: &StatementSide<'_, '_>,
    right: &StatementSide<'_, '_>,
) -> StatementDifferences {
    let alignment = align_keys(&left.content_keys(), &right.content_keys());
    let mut acc = StatementDifferences::default();
    // The two sums of the similarity.
    let mut agreeing_weight = 0;
    let mut total_weight = left.total_weight() + right.total_weight();
    // 1. Shared terms. Each counts on both sides.
    for (left_nth, _) in &alignment.shared {
        let term = left.term(*left_nth);
        agreeing_weight += 2 * term.weight();
        acc.has_outside_subject |= POINTER_WORDS.contains(&term.lower.as_str());
        acc.n_shared += usize::from(is_subject(term));
    }
    // 2. Gaps: places where at least one side has something else.
    let mut unmatched = TermsBySide::default();
    for gap in alignment.gaps {
        let in_gap = TermsBySide { left: gap.left.collect(), right: gap.right.collect() };
        let is_one_sided = in_gap.left.is_empty() || in_gap.right.is_empty();
        if is_one_sided {
            unmatched.left.extend(in_gap.left);
            unmatched.right.extend(in_gap.right);
        } else {
            let weights = judge_gap(&mut acc, left, right, &in_gap);
            agreeing_weight += weights.agreed;
            // Values in conflict leave the total, so that they do not lower the similarity.
            total_weight -= weights.in_conflict;
        }
    }
    // 3. A term that both sides have at different positions was moved, and counts as shared.
    let moved = take_moved_terms(&mut unmatched, left, right);
    for nth in &moved {
        agreeing_weight += 2 * left.term(*nth).weight();
        acc.n_shared += usize::from(is_subject(left.term(*nth)));
    }
    if !moved.is_empty() {
        judge_order(&mut acc, left, right, alignment.shared.len());
    }
    // 4. The others are on one side only.
    for nth in unmatched.left {
        judge_unmatched(&mut acc, left.terms, left.content[nth]);
    }
    for nth in unmatched.right {
        judge_unmatched(&mut acc, right.terms, right.content[nth]);
    }
    let per_mille = agreeing_weight * 1000 / total_weight.max(1);
    acc.similarity = u16::try_from(per_mille).unwrap_or(1000).min(1000);
    acc
}

/// The number of terms from a position on that only name a rejected value; 0 if there are none.
///
/// | statement | terms of the rejected value |
/// |---|---|
/// | use tabs, **not spaces** | 2 |
/// | prefer tabs **over spaces** | 2 |
/// | use tabs **instead of spaces**, **rather than spaces** | 3 |
fn rejected_value_length(terms: &[StatementTerm<'_>], position: usize) -> usize {
    let word_at = |nth: usize| terms.get(nth).map_or("", |it| it.lower.as_str());
    let can_be_value = |nth: usize| {
        terms.get(nth).is_some_and(|it| !it.is_neutral() && it.class != TermClass::Negation)
    };
    // A rejected value follows the chosen one in the same sentence.
    if position == 0 || !can_be_value(position - 1) || terms[position].starts_sentence {
        return 0;
    }
    let chosen = &terms[position - 1];
    // The words between the chosen and the rejected value.
    let n_connecting = match word_at(position) {
        // "tabs, not spaces" and "tabs not spaces", but "the cache is not enabled" is a negation.
        "not" => {
            let next_key = terms.get(position + 1).map_or("", |it| it.key.as_str());
            let follows_comma = chosen.boundary == TextBoundary::Comma;
            if !follows_comma && !are_rivals(&chosen.key, next_key) {
                return 0;
            }
            1
        }
        // "prefer tabs over spaces", but "takes over 5 seconds" rejects nothing.
        "over" => {
            if !terms[..position].iter().any(is_verb_of_choice) {
                return 0;
            }
            1
        }
        "instead" | "rather" if matches!(word_at(position + 1), "of" | "than") => 2,
        _ => return 0,
    };
    if can_be_value(position + n_connecting) { n_connecting + 1 } else { 0 }
}

fn is_verb_of_choice(term: &StatementTerm<'_>) -> bool {
    matches!(
        term.lower.as_str(),
        "prefer" | "prefers" | "choose" | "chose" | "use" | "picked" | "favour" | "favor"
    )
}

/// Judges a gap that both sides fill with different terms.
fn judge_gap(
    acc: &mut StatementDifferences,
    left: &StatementSide<'_, '_>,
    right: &StatementSide<'_, '_>,
    in_gap: &TermsBySide,
) -> GapWeights {
    let mut weights = GapWeights::default();
    // "case insensitive" and "case-insensitive" have different terms and the same letters.
    if left.joined_keys(&in_gap.left) == right.joined_keys(&in_gap.right) {
        acc.n_shared += 1;
        weights.agreed = left.weight_of(&in_gap.left) + right.weight_of(&in_gap.right);
        return weights;
    }
    // Without negations the two sides must have the same number of terms, which are then pairs: "not 3" and
    // "5" give the pair 3 and 5.
    let plain_left = left.without_negations(&in_gap.left);
    let plain_right = right.without_negations(&in_gap.right);
    if plain_left.len() != plain_right.len() {
        acc.has_other_subject = true;
        return weights;
    }
    // Two negations cancel out.
    let n_negations_left = in_gap.left.len() - plain_left.len();
    let n_negations_right = in_gap.right.len() - plain_right.len();
    let mut is_negated = (n_negations_left + n_negations_right) % 2 == 1;
    for (left_nth, right_nth) in plain_left.into_iter().zip(plain_right) {
        let pair_weight = left.term(left_nth).weight() + right.term(right_nth).weight();
        match compare_terms(left, left_nth, right, right_nth) {
            TermPairRelation::Agree => weights.agreed += pair_weight,
            // "is not enabled" and "is disabled" agree: the opposite uses up the negation.
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

/// Removes the terms that both sides have at different positions from the unmatched ones, and returns those
/// of the left side.
fn take_moved_terms(
    unmatched: &mut TermsBySide,
    left: &StatementSide<'_, '_>,
    right: &StatementSide<'_, '_>,
) -> Vec<usize> {
    let mut moved = Vec::new();
    let mut still_unmatched = Vec::new();
    for nth in std::mem::take(&mut unmatched.left) {
        let key = &left.term(nth).key;
        match unmatched.right.iter().position(|it| right.term(*it).key == *key) {
            Some(counterpart) => {
                // Each term on the right is the counterpart of at most one on the left.
                unmatched.right.remove(counterpart);
                moved.push(nth);
            }
            None => still_unmatched.push(nth),
        }
    }
    unmatched.left = still_unmatched;
    moved
}

/// Judges moved terms: the same in another order, or another statement ("a after b", "b after a").
/// `n_in_order` is the number of terms that are in the same order on both sides.
fn judge_order(
    acc: &mut StatementDifferences,
    left: &StatementSide<'_, '_>,
    right: &StatementSide<'_, '_>,
    n_in_order: usize,
) {
    // "warm the cache after deploying" and "after deploying, warm the cache" have the same argument of "after".
    let is_reversed =
        DIRECTION_WORDS.iter().any(|word| left.argument_of(word) != right.argument_of(word));
    // Less than half of the shorter statement is in the same order.
    let is_scattered = n_in_order * 2 < left.content.len().min(right.content.len());
    let has_other_facts = left.fact_keys() != right.fact_keys();
    acc.has_other_subject |= is_reversed || is_scattered || has_other_facts;
}

/// Judges a term without a counterpart on the other side.
fn judge_unmatched(acc: &mut StatementDifferences, terms: &[StatementTerm<'_>], position: usize) {
    let term = &terms[position];
    match term.class {
        TermClass::Negation => acc.is_negated = !acc.is_negated,
        // "when the cache is cold".
        TermClass::Condition => acc.has_other_subject = true,
        // "on Linux", "after the tests".
        _ if is_qualifier(term) || is_direction(term) => {
            acc.has_other_subject = true;
        }
        // "session limit" is not "limit"; an adverb such as in "silently drops" narrows nothing.
        TermClass::Word if modifies_next(terms, position) && !term.lower.ends_with("ly") => {
            acc.has_other_subject = true;
        }
        _ if term.is_fact() => acc.n_extra_facts += 1,
        _ => acc.n_extra_words += 1,
    }
}
