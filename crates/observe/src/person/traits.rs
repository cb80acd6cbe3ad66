//! The traits of a sentence: what its cues, their positions and its place in the conversation say together.
//!
//! Cues are words (`cues.rs`); a trait is a finding about the sentence. Example: "we" is a cue; the trait
//! [`SentenceTrait::Habit`] needs it outside a subordinate clause, so that "because we use X" is none.

use super::cue_table::{CueKind, LanguageCues};
use super::cues::{CODE_TOKEN, CutSentence, FoundCue};
use super::{PersonMoment, Preceding};
use crate::sentences::names_code;

/// Words of a sentence from which on it explains more than it rules.
const LONG_WORDS: usize = 32;
/// Words of a sentence up to which it says little.
const SHORT_WORDS: usize = 3;
/// Tokens at the beginning among which a pronoun has no antecedent in the sentence.
const NO_ANTECEDENT_TOKENS: usize = 4;

/// A finding about a sentence that speaks for or against a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentenceTrait {
    /// An adverb or phrase of norm: "always", "from now on".
    Lasting,
    /// A statement about what "we" do.
    Habit,
    NegatedHabit,
    Prefer,
    Norm,
    /// A verb of choice: "use".
    Choice,
    Prohibition,
    /// "X, not Y".
    Contrast,
    /// It speaks of the whole project.
    Reach,
    Occasion,
    /// It is worded as an instruction.
    Directive,
    /// The chosen or refused thing is a kind, not one object: "use tabs", "no mocks".
    GenericObject,
    Objection,
    Assertion,
    Negation,
    Reason,
    NamesCode,
    InRefusal,
    InAnswer,
    Question,
    /// An adverb of norm that instructs neither the agent nor us: "the tests always fail".
    Unaddressed,
    /// The chosen thing is one object: "use the helper".
    Specific,
    Task,
    Deictic,
    Hedge,
    Past,
    Praise,
    ListItem,
    /// It stands in the first message of the session, among other sentences.
    OpensTask,
    Long,
    VeryShort,
}

/// A sentence with its cues and what is known about its place.
pub(super) struct SentenceContext<'a> {
    pub(super) text: &'a str,
    pub(super) cut: &'a CutSentence,
    pub(super) cues: &'a [FoundCue],
    pub(super) language: &'static LanguageCues,
    pub(super) moment: PersonMoment,
    pub(super) is_item: bool,
    /// The message has further sentences.
    pub(super) has_company: bool,
    /// The lead-in that was cut off rejects something: "no,".
    pub(super) has_objecting_lead: bool,
}

impl SentenceContext<'_> {
    fn has(&self, kind: CueKind) -> bool {
        self.cues.iter().any(|it| it.kind == kind)
    }

    fn first(&self, kind: CueKind) -> Option<&FoundCue> {
        self.cues.iter().find(|it| it.kind == kind)
    }

    /// The position of the first word after an opening courtesy.
    fn opening(&self) -> usize {
        let please = self.first(CueKind::Please).filter(|it| it.at == 0);
        let after = please.map_or(0, |it| it.n_tokens);
        after + usize::from(after > 0 && self.cut.tokens.get(after).is_some_and(|it| it == ","))
    }

    /// "we" before a verb, outside a subordinate clause.
    fn has_habit(&self) -> bool {
        let is_clause_of = |we: &FoundCue, it: &FoundCue| {
            it.kind == CueKind::Subordinator && it.at + it.n_tokens == we.at && it.at < we.at
        };
        self.cues.iter().any(|we| {
            we.kind == CueKind::We
                && (self.language.is_unspaced || !self.cues.iter().any(|it| is_clause_of(we, it)))
        })
    }

    /// Worded as an instruction: it opens with a verb or adverb of wish, or ends as instructions do.
    fn is_directive(&self) -> bool {
        let opening = self.opening();
        let is_wish = |kind| {
            matches!(kind, CueKind::Prohibit | CueKind::Choose | CueKind::Prefer | CueKind::Norm)
        };
        let opens = self.cues.iter().any(|it| {
            (is_wish(it.kind) && it.at == opening)
                || (it.kind == CueKind::Lasting
                    && it.at <= opening + self.language.words_before_adverb)
        });
        let last = self.text.trim_end_matches(['.', '!', '。', '！', ' ']);
        let ends = self.language.directive_endings.iter().any(|it| last.ends_with(it));
        let is_unspaced_wish = self.language.is_unspaced
            && (self.has(CueKind::Prohibit)
                || (self.language.directive_endings.is_empty() && self.has(CueKind::Choose)));
        opens || ends || opening > 0 || is_unspaced_wish
    }

    /// The word after the first verb of choice, preference or prohibition.
    fn object(&self) -> Option<&str> {
        let is_verb = |it: &&FoundCue| {
            matches!(it.kind, CueKind::Choose | CueKind::Prefer | CueKind::Prohibit)
        };
        let verb = self.cues.iter().rfind(|it| is_verb(it) && it.at <= self.opening() + 2)?;
        self.cut.tokens.get(verb.at + verb.n_tokens).map(String::as_str)
    }

    fn has_determined_object(&self) -> bool {
        let Some(object) = self.object() else { return false };
        let is_determiner = |it: &FoundCue| {
            matches!(it.kind, CueKind::Determiner | CueKind::Pronoun | CueKind::Deictic)
                && self.cut.tokens.get(it.at).is_some_and(|token| token == object)
        };
        self.cues.iter().any(is_determiner)
    }
}

/// Finds the traits of a sentence.
pub(super) fn find_traits(it: &SentenceContext<'_>) -> Vec<SentenceTrait> {
    use SentenceTrait as T;
    let mut acc = Vec::new();
    let mut add = |holds: bool, found: T| {
        if holds {
            acc.push(found);
        }
    };
    let has = |kind| it.has(kind);
    let (is_directive, has_habit) = (it.is_directive(), it.has_habit());
    let is_chosen = has(CueKind::Choose) && (is_directive || has_habit);
    // "Use vitest not jest": a negation after a choice sets two things against each other.
    let choice = it.first(CueKind::Choose);
    let is_negated_choice = choice.is_some_and(|verb| {
        it.cues.iter().any(|no| no.kind == CueKind::Negation && no.at > verb.at + 1)
    });
    let has_contrast = has(CueKind::Contrast) || (is_directive && is_negated_choice);
    let is_prohibition = has(CueKind::Prohibit) && is_directive;
    add(has(CueKind::Lasting), T::Lasting);
    add(has_habit, T::Habit);
    add(has_habit && has(CueKind::Negation), T::NegatedHabit);
    add(has(CueKind::Prefer), T::Prefer);
    add(has(CueKind::Norm), T::Norm);
    add(is_chosen, T::Choice);
    add(is_prohibition, T::Prohibition);
    add(has_contrast, T::Contrast);
    add(has(CueKind::Reach), T::Reach);
    add(has(CueKind::Occasion), T::Occasion);
    add(is_directive, T::Directive);
    let has_object = it.object().is_some();
    let wishes_object = is_directive && (is_chosen || is_prohibition) || has(CueKind::Prefer);
    add(wishes_object && has_object && !it.has_determined_object(), T::GenericObject);
    add(it.has_determined_object() && !has(CueKind::Lasting), T::Specific);
    add(has(CueKind::Objection) || it.has_objecting_lead, T::Objection);
    add(has(CueKind::Assertion), T::Assertion);
    add(has(CueKind::Negation), T::Negation);
    add(has(CueKind::Reason), T::Reason);
    let has_code = it.cut.tokens.iter().any(|it| it == CODE_TOKEN) || names_code(it.text);
    add(has_code, T::NamesCode);
    add(it.moment.after == Preceding::Refusal, T::InRefusal);
    add(it.moment.after == Preceding::Question, T::InAnswer);
    let is_question = has(CueKind::Question) || it.text.trim_end().ends_with(['?', '？']);
    add(is_question, T::Question);
    let is_addressed = is_directive || has_habit || has(CueKind::Norm) || has(CueKind::Prefer);
    add(has(CueKind::Lasting) && !is_addressed, T::Unaddressed);
    add(has(CueKind::Task), T::Task);
    add(has(CueKind::Deictic), T::Deictic);
    add(has(CueKind::Hedge), T::Hedge);
    add(has(CueKind::Past), T::Past);
    add(has(CueKind::Praise), T::Praise);
    add(it.is_item, T::ListItem);
    add(it.moment.is_first && it.has_company, T::OpensTask);
    add(it.cut.n_words > LONG_WORDS, T::Long);
    add(it.cut.n_words < SHORT_WORDS, T::VeryShort);
    acc
}

/// Returns whether the sentence refers to something outside itself: a pronoun so early that nothing in the
/// sentence can be meant by it.
pub(super) fn has_open_reference(cut: &CutSentence, cues: &[FoundCue]) -> bool {
    cues.iter().any(|it| {
        // "this repo": a demonstrative before a noun is no pronoun. A noun is a word that is no cue.
        let is_determiner = |cue: &FoundCue| cue.at == it.at && cue.kind == CueKind::Determiner;
        let next = it.at + it.n_tokens;
        let is_noun = cut.tokens.get(next).is_some_and(|it| it.starts_with(char::is_alphanumeric))
            && !cues.iter().any(|cue| cue.at == next);
        it.kind == CueKind::Pronoun
            && it.at < NO_ANTECEDENT_TOKENS
            && !(cues.iter().any(is_determiner) && is_noun)
    })
}
