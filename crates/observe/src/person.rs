//! Hears a person: finds in a message what the agent should remember, beyond the task at hand.
//!
//! | kind | example |
//! |---|---|
//! | told | "/remember the live tests need `API_KEY`", "merk dir: …" |
//! | standing rule | "never use npm here, always pnpm", "wir benutzen hier pnpm, nicht npm" |
//! | correction | "actually, the API returns cents, not euros", right after the agent worked |
//!
//! Everything else is ordinary: tasks, questions, praise, reports, pasted text. No list of phrases decides
//! alone: the words of a table with a row per language (`cue_table.rs`) and the structure of the sentence give
//! traits (`traits.rs`), whose weights add up (`weights.rs`). What is not the person's own text is taken out
//! first (`own_words.rs`). The fold calls [`hear_person`] for every message, the prompt hook for every prompt.
//! Pure, and linear in the text.

mod cue_table;
mod cues;
mod objection;
mod own_words;
#[cfg(test)]
mod tests;
mod traits;
mod weights;

use model::{UserMessage, UserMessageKind};

use cue_table::{CueKind, LANGUAGES, LanguageCues};
use cues::{CutSentence, FoundCue, cut_sentence, detect_language, find_cues, find_opening};
pub use objection::is_objection;
use own_words::{MAX_TYPED_SENTENCE_BYTES, TypedMessage, TypedSentence, read_typed};
use traits::{SentenceContext, find_traits, has_open_reference};
use weights::{MIN_CORRECTION_SCORE, MIN_RULE_SCORE, is_lasting_rule, weights_of};

/// Wishes that one message may hold; a longer list is a specification.
const MAX_WISHES: usize = 4;
/// Words of a text that can be remembered.
const MIN_WISH_WORDS: usize = 2;
/// Lead-ins that are cut off one after the other: "ok but hmm, …".
const MAX_LEAD_INS: usize = 4;

/// The kind of a person's wish, by which it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WishKind {
    /// The person asked to remember it: kept at once.
    Told,
    /// A norm beyond the task: kept at the end of the session.
    StandingRule,
    /// It rejects what the agent did or said: kept for the person to confirm.
    Correction,
    /// A norm that may hold for this task only: kept for the person to confirm.
    Suggestion,
}

impl WishKind {
    /// The name in the stored evidence.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::StandingRule => "standing_rule",
            Self::Correction => "correction",
            Self::Suggestion => "suggestion",
        }
    }

    /// Evidence of earlier versions names no kind: it held standing rules alone.
    pub fn from_slug(slug: Option<&str>) -> Self {
        match slug {
            Some("told") => Self::Told,
            Some("correction") => Self::Correction,
            Some("suggestion") => Self::Suggestion,
            _ => Self::StandingRule,
        }
    }
}

/// What the agent did before the person wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preceding {
    /// Nothing yet: the message opens the work.
    Nothing,
    /// It worked or answered.
    Work,
    /// It wanted to make a call, which the person refuses with the message.
    Refusal,
    /// It asked a question, which the message answers.
    Question,
}

/// The place of a message in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersonMoment {
    pub after: Preceding,
    /// No message came before it.
    pub is_first: bool,
}

/// Something that a person wants to be remembered, in the person's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonWish {
    pub kind: WishKind,
    pub text: String,
}

/// The wishes of a message. `moment` says what the agent did before it; an answer or a refusal follows a
/// question or a refused call in any case.
pub fn hear_message(message: &UserMessage, moment: PersonMoment) -> Vec<PersonWish> {
    let after = match message.kind {
        // Written by the agent.
        UserMessageKind::AcceptedPlan => return Vec::new(),
        UserMessageKind::Refusal => Preceding::Refusal,
        UserMessageKind::Answer => Preceding::Question,
        UserMessageKind::Prompt | UserMessageKind::Queued => moment.after,
    };
    hear_person(&message.text, PersonMoment { after, ..moment })
}

/// The wishes in a text that a person sent.
pub fn hear_person(text: &str, moment: PersonMoment) -> Vec<PersonWish> {
    let paragraphs = match read_typed(text) {
        TypedMessage::Command(text) => {
            return vec![PersonWish { kind: WishKind::Told, text: text.to_owned() }];
        }
        TypedMessage::Prose(paragraphs) => paragraphs,
    };
    let cut = |it: &TypedSentence<'_>| cut_sentence(it.text);
    let cuts: Vec<CutSentence> = paragraphs.iter().flatten().map(cut).collect();
    let language = detect_language(&cuts);
    let has_company = cuts.len() > 1;
    let mut acc = Vec::new();
    for paragraph in &paragraphs {
        for (nth, sentence) in paragraph.iter().enumerate() {
            let hearing = Hearing { language, moment, has_company, paragraph, nth };
            acc.extend(hearing.hear(sentence));
        }
    }
    acc.dedup_by(|a, b| a.text == b.text);
    acc.truncate(MAX_WISHES);
    acc
}

/// A sentence in its paragraph.
struct Hearing<'a> {
    language: &'static LanguageCues,
    moment: PersonMoment,
    has_company: bool,
    paragraph: &'a [TypedSentence<'a>],
    nth: usize,
}

impl Hearing<'_> {
    fn hear(&self, sentence: &TypedSentence<'_>) -> Option<PersonWish> {
        if sentence.text.len() > MAX_TYPED_SENTENCE_BYTES {
            return None;
        }
        let (text, has_objecting_lead) = cut_lead_ins(sentence.text, self.language);
        let cut = cut_sentence(text);
        let cues = find_cues(&cut, self.language);
        let is_question = text.ends_with(['?', '？']);
        if let Some(cue) = find_request(&cut, self.language)
            && (cue.kind == CueKind::RememberAsked || !is_question)
        {
            let line = &sentence.line[sentence.text.len() - text.len()..];
            return self.told(text, line, if cue.at == 0 { cue.end } else { 0 });
        }
        let context = SentenceContext {
            text,
            cut: &cut,
            cues: &cues,
            language: self.language,
            moment: self.moment,
            is_item: sentence.is_item,
            has_company: self.has_company,
            has_objecting_lead,
        };
        let (mut rule, mut correction) = (0, 0);
        let traits = find_traits(&context);
        for it in &traits {
            let (for_rule, for_correction) = weights_of(*it);
            rule += for_rule;
            correction += for_correction;
        }
        let is_after_work = self.moment.after != Preceding::Nothing;
        let is_open = has_open_reference(&cut, &cues);
        let kind = if rule >= MIN_RULE_SCORE {
            if is_lasting_rule(&traits) { WishKind::StandingRule } else { WishKind::Suggestion }
        } else if correction >= MIN_CORRECTION_SCORE && is_after_work {
            WishKind::Correction
        } else {
            return None;
        };
        // "always check it": without its subject it is no rule, but the person can tell from the place.
        let subject = is_open.then(|| self.sentence_before()).flatten();
        let kind = if is_open && subject.is_none() { WishKind::Correction } else { kind };
        if kind == WishKind::Correction && !is_after_work {
            return None;
        }
        let text = match subject {
            Some(before) => format!("{before} {text}"),
            None => text.to_owned(),
        };
        Some(PersonWish { kind, text })
    }

    /// The text that the person asked to remember: what follows the request in its line, else the next
    /// sentence, else the one before.
    fn told(&self, text: &str, line: &str, end: usize) -> Option<PersonWish> {
        let after = |text: &str| {
            let rest = text.get(end..).unwrap_or_default();
            rest.trim_start_matches([' ', ':', ',', '-', '–', '—', '：', '、', '，'])
                .trim()
                .to_owned()
        };
        // A colon announces everything that follows in the line.
        let is_announced =
            text[end..].trim_start().starts_with([':', '：']) || text[..end].ends_with([':', '：']);
        let mut told = after(if is_announced { line } else { text });
        if cut_sentence(&told).n_words < MIN_WISH_WORDS {
            let next = self.paragraph.get(self.nth + 1).map(|it| it.text);
            next.or_else(|| self.sentence_before())?.clone_into(&mut told);
        }
        Some(PersonWish { kind: WishKind::Told, text: told })
    }

    /// The sentence before in the same paragraph, if it can name a subject.
    fn sentence_before(&self) -> Option<&str> {
        let before = self.nth.checked_sub(1).map(|it| self.paragraph[it].text)?;
        let before = cut_lead_ins(before, self.language).0;
        let cut = cut_sentence(before);
        let is_clear = !has_open_reference(&cut, &find_cues(&cut, self.language));
        let is_statement = !before.ends_with(['?', '？', ':']);
        (is_clear && is_statement && cut.n_words >= MIN_WISH_WORDS).then_some(before)
    }
}

/// The request to remember something, in any language: people who type "merk dir" may go on in English. In a
/// language without blanks it may end the sentence.
fn find_request(cut: &CutSentence, language: &'static LanguageCues) -> Option<FoundCue> {
    const KINDS: [CueKind; 2] = [CueKind::Remember, CueKind::RememberAsked];
    let openings = LANGUAGES.iter().flat_map(|it| KINDS.map(|kind| find_opening(cut, it, kind)));
    let longest = openings.flatten().max_by_key(|it| it.end);
    // A longer phrase of the language itself has another meaning: "remember to", "remember when".
    let own = find_cues(cut, language);
    let is_shadowed =
        |it: &FoundCue| own.iter().any(|cue| cue.at == 0 && cue.n_tokens > it.n_tokens);
    let elsewhere = own.iter().find(|it| language.is_unspaced && KINDS.contains(&it.kind)).copied();
    longest.filter(|it| !is_shadowed(it)).or(elsewhere)
}

/// The sentence without "ok but", "hmm no,", and whether one of them rejects something.
fn cut_lead_ins<'a>(sentence: &'a str, language: &'static LanguageCues) -> (&'a str, bool) {
    let mut text = sentence;
    let mut objects = false;
    for _ in 0..MAX_LEAD_INS {
        let cut = cut_sentence(text);
        if find_opening(&cut, language, CueKind::Remember).is_some() {
            break;
        }
        let Some(lead) = find_opening(&cut, language, CueKind::LeadIn) else { break };
        let rest = &text[lead.end..];
        let is_separated = rest
            .starts_with([',', '.', '!', ':', ';', '…', '、', '，', ' '].as_slice())
            && !rest.starts_with(' ')
            || language.is_unspaced
            || rest.trim_start().starts_with(['-', '–', '—']);
        // "no mocks", "look at it": the word belongs to the sentence.
        let has_meaning = [
            CueKind::Negation,
            CueKind::Task,
            CueKind::Praise,
            CueKind::Deictic,
            CueKind::Prohibit,
        ]
        .iter()
        .any(|it| find_opening(&cut, language, *it).is_some());
        let has_subject = cut.tokens.get(lead.n_tokens).is_some_and(|it| is_subject(it, language));
        if !is_separated && has_meaning && !has_subject {
            break;
        }
        let rest =
            rest.trim_start_matches([' ', ',', '.', '!', ':', ';', '…', '-', '–', '—', '、', '，']);
        if cut_sentence(rest).n_words < MIN_WISH_WORDS {
            break;
        }
        objects |= find_opening(&cut, language, CueKind::Objection).is_some();
        text = rest;
    }
    (text, objects)
}

/// Returns whether a token begins a clause of its own: "no we use pnpm".
fn is_subject(token: &str, language: &'static LanguageCues) -> bool {
    let cut = cut_sentence(token);
    find_opening(&cut, language, CueKind::We).is_some()
        || find_opening(&cut, language, CueKind::LeadIn).is_some()
        || find_opening(&cut, language, CueKind::Choose).is_some()
        || find_opening(&cut, language, CueKind::Lasting).is_some()
}
