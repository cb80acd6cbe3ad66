//! The weights: how much each trait of a sentence speaks for a standing rule and for a correction.
//!
//! The score of a sentence is the sum over its traits; a kind is heard if its threshold is reached. The
//! numbers were set by hand on sentences of one repository (see `eval/src/people.rs`).

use super::traits::SentenceTrait;

/// The score from which on a sentence is a standing rule.
pub(super) const MIN_RULE_SCORE: i32 = 550;
/// The score from which on a sentence is a correction.
pub(super) const MIN_CORRECTION_SCORE: i32 = 600;

/// Returns whether a sentence above the threshold is surely meant beyond the task: something in it speaks of
/// time, habit, preference, contrast or reach ("wherever we can"), or it forbids a kind of thing and says why;
/// and nothing speaks of this moment.
pub(super) fn is_lasting_rule(traits: &[SentenceTrait]) -> bool {
    use SentenceTrait as T;
    let has = |it: T| traits.contains(&it);
    let lasts = |it: &T| {
        matches!(
            it,
            T::Lasting | T::Habit | T::NegatedHabit | T::Prefer | T::Contrast | T::Occasion
        )
    };
    // "we talk about the plan here" has a reach and no norm.
    let has_norm = has(T::Norm) || has(T::Prohibition) || has(T::Directive) || has(T::Choice);
    let reaches = has(T::Reach) && has_norm;
    let forbids_with_reason = has(T::Prohibition) && has(T::Reason) && has(T::GenericObject);
    let is_momentary = |it: &T| {
        matches!(
            it,
            T::Hedge | T::Deictic | T::InAnswer | T::ListItem | T::Past | T::Specific | T::Task
        )
    };
    (traits.iter().any(lasts) || reaches || forbids_with_reason) && !traits.iter().any(is_momentary)
}

/// The weight of a trait for a standing rule and for a correction.
#[rustfmt::skip]
#[expect(clippy::match_same_arms, reason = "a table with a row per trait")]
pub(super) const fn weights_of(it: SentenceTrait) -> (i32, i32) {
    use SentenceTrait as T;
    match it {
        //                     rule  correction
        T::Lasting         => ( 450,  150),
        T::Habit           => ( 400,  250),
        T::NegatedHabit    => ( 150,   50),
        T::Prefer          => ( 400,  200),
        T::Norm            => ( 200,  150),
        T::Choice          => ( 150,   50),
        T::Prohibition     => ( 250,  150),
        T::Contrast        => ( 250,  300),
        T::Reach           => ( 100,   50),
        T::Occasion        => ( 350,    0),
        T::Directive       => ( 150,    0),
        T::GenericObject   => ( 150,   50),
        T::Objection       => ( 100,  350),
        T::Assertion       => (   0,  150),
        T::Negation        => (   0,  100),
        T::Reason          => (   0,  100),
        T::NamesCode       => (   0,  100),
        T::InRefusal       => (   0,  250),
        T::InAnswer        => (   0,  100),
        T::Question        => (-700, -700),
        T::Unaddressed     => (-300,    0),
        T::Specific        => (-150,    0),
        T::Task            => (-300, -250),
        T::Deictic         => (-250, -100),
        T::Hedge           => (-350, -150),
        T::Past            => (-250, -150),
        T::Praise          => (-200, -200),
        T::ListItem        => (-250, -150),
        T::OpensTask       => (-100,    0),
        T::Long            => (-200, -200),
        T::VeryShort       => (-150, -300),
    }
}
