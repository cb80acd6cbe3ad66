//! Refusals: claims that cannot last, whatever their score.

use observe::{code_words, pad_words};

use crate::feature::ClaimFeature;
use crate::{Claim, ClaimMoment};

/// The reason why a claim is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimRefusal {
    /// A task, a question or a report of a person.
    NoStatement,
    /// The first message states no rule.
    FirstPromptWithoutRule,
    /// A report of a change without its reason.
    ChangeReport,
    /// About this moment: a line number, a version, the agent itself.
    MomentBound,
    /// Nothing that followed bears it out.
    NotBorneOut,
    /// The agent was not sure.
    Hedged,
    /// Most of its names no longer exist.
    NamesGone,
}

impl ClaimRefusal {
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NoStatement => "a task, a question or a report, not a statement",
            Self::FirstPromptWithoutRule => "the first message of a session describes its task",
            Self::ChangeReport => "reports a change without its reason",
            Self::MomentBound => "is about this moment only",
            Self::NotBorneOut => "nothing that followed bears it out",
            Self::Hedged => "the agent was not sure",
            Self::NamesGone => "names code that does not exist",
        }
    }
}

/// First words of a report of a change.
#[rustfmt::skip]
const CHANGE_WORDS: &[&str] = &[
    "added", "changed", "committed", "created", "deleted", "extracted", "fixed", "implemented", "merged", "moved", "pushed", "refactored", "removed", "renamed", "replaced", "updated",
];

/// Words that give the reason of a change.
const REASON_PHRASES: &[&str] = &[
    " because ",
    " since ",
    " so that ",
    " instead of ",
    " otherwise ",
    " to avoid ",
    " to prevent ",
    " to satisfy ",
];

/// Words that bind a sentence to its moment.
#[rustfmt::skip]
const MOMENT_PHRASES: &[&str] = &[
    " the user ", " i have ", " i had ", " i was ", " i am ", " i did ", " i made ", " i just ", " i see ", " i found ", " i need ", " my ", " unused ", " import ", " imports ", " imported ", " all tests ",
    " now passes ", " now works ", " now compiles ",
];

/// The reason to refuse a claim; `None` if it may be kept.
pub fn find_refusal(claim: &Claim) -> Option<ClaimRefusal> {
    let has = |it: ClaimFeature| claim.features.contains(it);
    if has(ClaimFeature::NamesGone) && !claim.moment.is_person() {
        return Some(ClaimRefusal::NamesGone);
    }
    match claim.moment {
        ClaimMoment::FirstPrompt | ClaimMoment::Remark => {
            let is_followed =
                has(ClaimFeature::AgentConcedes) || has(ClaimFeature::PersonEditsFollow);
            let corrects = has(ClaimFeature::ActCorrectiveQuestion) && is_followed;
            if !has(ClaimFeature::ActRule) && !corrects {
                return Some(ClaimRefusal::NoStatement);
            }
            let is_first = claim.moment == ClaimMoment::FirstPrompt;
            (is_first && !has(ClaimFeature::Norm)).then_some(ClaimRefusal::FirstPromptWithoutRule)
        }
        ClaimMoment::Refusal | ClaimMoment::Answer | ClaimMoment::Plan => None,
        ClaimMoment::Diagnosis | ClaimMoment::Summary | ClaimMoment::Conclusion => {
            refuse_agent(claim)
        }
    }
}

fn refuse_agent(claim: &Claim) -> Option<ClaimRefusal> {
    let has = |it: ClaimFeature| claim.features.contains(it);
    let quote = pad_words(&claim.quote);
    let first = quote[1..].split(' ').next().unwrap_or_default();
    let has_reason = REASON_PHRASES.iter().any(|it| quote.contains(it));
    if CHANGE_WORDS.binary_search(&first).is_ok() && !has_reason {
        return Some(ClaimRefusal::ChangeReport);
    }
    let text = pad_words(&claim.text);
    if MOMENT_PHRASES.iter().any(|it| text.contains(it)) || names_line(&claim.text) {
        return Some(ClaimRefusal::MomentBound);
    }
    if has(ClaimFeature::Hedge) {
        return Some(ClaimRefusal::Hedged);
    }
    let is_used = has(ClaimFeature::NamesEdited)
        || (has(ClaimFeature::EditAndPass) && has(ClaimFeature::StatesCause))
        || (!has(ClaimFeature::Thought)
            && (has(ClaimFeature::AfterFailure) || has(ClaimFeature::NamesUsed)));
    let is_summary = claim.moment == ClaimMoment::Summary;
    (!is_summary && !is_used).then_some(ClaimRefusal::NotBorneOut)
}

/// Returns whether a text names a line of a file or a version: both change soon.
fn names_line(text: &str) -> bool {
    let words = pad_words(text);
    let after_line = words.split(" line ").skip(1).chain(words.split(" lines ").skip(1));
    let names_number =
        after_line.into_iter().any(|it| it.starts_with(|next: char| next.is_ascii_digit()));
    let is_version = |word: &str| {
        let bare = word.trim_matches(|it: char| !it.is_ascii_digit());
        bare.split('.').count() == 3
            && bare.split('.').all(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
    };
    let has_position = code_words(text).iter().any(|it| {
        it.rsplit_once(':').is_some_and(|(_, after)| {
            !after.is_empty() && after.bytes().all(|it| it.is_ascii_digit())
        })
    });
    names_number || has_position || text.split_whitespace().any(is_version)
}
