//! Claims of the agent and of accepted plans: sentences that the scratchpad stored, cut and described.
//!
//! Example: the agent edits `src/timer.rs`, a test fails, and the agent says "Found it: it reads the clock
//! twice because `tick` calls `now`." It edits again, and the same test passes. The claim is
//! "src/timer.rs: it reads the clock twice because `tick` calls `now`.", made at the moment `Diagnosis`,
//! with the features `AfterFailure`, `EditAndPass`, `PointsBack` and others.
//!
//! Words: a *moment* is the situation in which a sentence was said, a *feature* a yes-or-no property that
//! the scorer weighs, a *place* the source file that was edited shortly before the sentence. A *speaker* is
//! the agent in its replies (`Agent`), the agent in its reasoning (`Thought`), or an accepted plan (`Plan`).
//! `call` is the number of tool calls before the sentence: what follows it has that number or a higher one.

use std::collections::BTreeSet;

use observe::{AgentText, Speaker, SpokenSentence, pad_words, states_cause};

use crate::cut::{cut_claim, points_back, strip_lead_in};
use crate::feature::{ClaimFeature, FeatureSet};
use crate::person::moment_feature;
use crate::session_view::SessionView;
use crate::surface::{add_surface_features, name_parts};
use crate::{Claim, ClaimMoment};

/// Sentences up to which a text of the agent is short; longer ones are reports.
const MAX_SHORT_TEXT_SENTENCES: u16 = 12;

/// Headings under which a plan gives its reasons, or words of them, as `pad_words` writes them.
const REASON_HEADINGS: &[&str] = &[
    "context",
    "problem",
    "root cause",
    "why",
    "insight",
    "constraint",
    "decision",
    "non goal",
    "background",
    "rationale",
    "note",
    "caveat",
    "risk",
    "gotcha",
    "important",
];

/// Collects the claims in what the agent said and in the plans that a person accepted.
pub(crate) fn collect(view: &SessionView<'_>) -> Vec<Claim> {
    view.pad.spoken_sentences.iter().filter_map(|it| to_claim(view, it)).collect()
}

/// Turns a sentence into a claim; `None` if no part of it can stand alone or if the agent took it back.
fn to_claim(view: &SessionView<'_>, sentence: &SpokenSentence) -> Option<Claim> {
    // A plan is written before the work, so the file that was edited last says nothing about it.
    let place = match sentence.speaker {
        Speaker::Plan => None,
        Speaker::Agent | Speaker::Thought => view.place_at(sentence.call),
    };
    // A sentence such as "It reads …" needs a subject. Without a place, the heading above it is one; only
    // sentences of plans have headings.
    let heading = Some(sentence.heading.as_str()).filter(|it| !it.is_empty());
    let text = cut_claim(&sentence.text, &sentence.previous, place.or(heading))?;
    let names = name_parts(&text);
    if view.is_retracted(sentence.order, &names) {
        return None;
    }
    // A plan is no text of the agent, so the text with its index is another one.
    let source = match sentence.speaker {
        Speaker::Plan => None,
        Speaker::Agent | Speaker::Thought => view.pad.agent_texts.get(sentence.text_index as usize),
    };
    let moment = find_moment(view, sentence, source);
    let mut features = collect_features(view, sentence, moment, &names);
    let is_long = source.is_some_and(|it| it.n_sentences > MAX_SHORT_TEXT_SENTENCES);
    features.insert_if(ClaimFeature::LongText, is_long);
    add_surface_features(&mut features, &sentence.text, &text);
    Some(Claim {
        moment,
        files: view.files_of(&text, place),
        text,
        quote: sentence.text.clone(),
        // Only what a person said is restated; see `person`.
        restatement: String::new(),
        call: sentence.call,
        order: sentence.order,
        features,
        // `collect_claims` fills it in.
        outcome: String::new(),
    })
}

/// The moment of a sentence. `source` is the text of the agent that holds it; `None` for a plan.
fn find_moment(
    view: &SessionView<'_>,
    sentence: &SpokenSentence,
    source: Option<&AgentText>,
) -> ClaimMoment {
    match sentence.speaker {
        Speaker::Plan => ClaimMoment::Plan,
        // Between the failure of a command and its next success. Unlike `AfterFailure`, however long ago
        // the failure was, but only if the same command succeeds later.
        _ if view.is_in_resolved_failure(sentence.call) => ClaimMoment::Diagnosis,
        _ if source.is_some_and(|it| it.ends_turn) => ClaimMoment::Summary,
        _ => ClaimMoment::Conclusion,
    }
}

/// The features that depend on who said a sentence, when, and what happened around it.
fn collect_features(
    view: &SessionView<'_>,
    sentence: &SpokenSentence,
    moment: ClaimMoment,
    names: &BTreeSet<String>,
) -> FeatureSet {
    let mut features = FeatureSet::default();
    features.insert(moment_feature(moment));
    features.insert_if(ClaimFeature::Thought, sentence.speaker == Speaker::Thought);
    // The sentence as it was said: the cut may have removed the phrase that states the cause.
    features.insert_if(ClaimFeature::StatesCause, states_cause(&pad_words(&sentence.text)));
    // What happened next: edits or commands with its names, an edit and then a check that passed.
    features.insert_if(ClaimFeature::NamesEdited, view.edits_touch(sentence.call, names));
    features.insert_if(ClaimFeature::NamesUsed, view.commands_use(sentence.call, names));
    features.insert_if(ClaimFeature::EditAndPass, view.is_borne_out(sentence.call));
    // Any failure among the last calls, whether it is resolved later or not.
    features.insert_if(ClaimFeature::AfterFailure, view.is_after_failure(sentence.call));
    features.insert_if(ClaimFeature::ReasonSection, is_reason_heading(&sentence.heading));
    features.insert_if(ClaimFeature::PointsBack, points_back(strip_lead_in(&sentence.text)));
    features
}

/// Returns whether a heading says that reasons follow, in the singular or the plural.
fn is_reason_heading(heading: &str) -> bool {
    let words = pad_words(heading);
    REASON_HEADINGS
        .iter()
        .any(|it| words.contains(&format!(" {it} ")) || words.contains(&format!(" {it}s ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_reasons_are_whole_words() {
        for heading in ["Context", "Risks and caveats", "Non-goals", "Why this way"] {
            assert!(is_reason_heading(heading), "{heading}");
        }
        assert!(!is_reason_heading("Footnotes"));
    }
}
