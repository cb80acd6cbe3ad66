//! Claims of the agent and of accepted plans: sentences that the scratchpad stored, cut and described.

use observe::{Speaker, SpokenSentence, pad_words, states_cause};

use crate::cut::{cut_claim, points_back, strip_lead_in};
use crate::feature::{ClaimFeature, FeatureSet};
use crate::session_view::SessionView;
use crate::surface::{add_surface_features, name_parts};
use crate::{Claim, ClaimMoment};

/// Texts with more sentences are reports.
const MAX_SHORT_TEXT: u16 = 12;

/// Words of headings under which a plan gives its reasons.
const REASON_HEADINGS: &[&str] = &[
    "context",
    "problem",
    "root cause",
    "why",
    "insight",
    "constraint",
    "decision",
    "non-goal",
    "background",
    "rationale",
    "note",
    "caveat",
    "risk",
    "gotcha",
    "important",
];

/// Collects the claims in what the agent said.
pub(crate) fn collect(view: &SessionView<'_>) -> Vec<Claim> {
    view.pad.spoken_sentences.iter().filter_map(|it| to_claim(view, it)).collect()
}

fn to_claim(view: &SessionView<'_>, sentence: &SpokenSentence) -> Option<Claim> {
    let place = match sentence.speaker {
        Speaker::Plan => None,
        Speaker::Agent | Speaker::Thought => view.place_at(sentence.call),
    };
    let heading = Some(sentence.heading.as_str()).filter(|it| !it.is_empty());
    let text = cut_claim(&sentence.text, &sentence.previous, place.or(heading))?;
    let names = name_parts(&text);
    if sentence.order > 0 && view.is_retracted(sentence.order, &names) {
        return None;
    }
    let source = view.pad.agent_texts.get(sentence.text_index as usize);
    let moment = match sentence.speaker {
        Speaker::Plan => ClaimMoment::Plan,
        _ if view.is_in_resolved_failure(sentence.call) => ClaimMoment::Diagnosis,
        _ if source.is_some_and(|it| it.ends_turn) => ClaimMoment::Summary,
        _ => ClaimMoment::Conclusion,
    };
    let mut features = FeatureSet::default();
    features.insert(match moment {
        ClaimMoment::Plan => ClaimFeature::Plan,
        ClaimMoment::Diagnosis => ClaimFeature::Diagnosis,
        ClaimMoment::Summary => ClaimFeature::Summary,
        _ => ClaimFeature::Conclusion,
    });
    features.insert_if(ClaimFeature::Thought, sentence.speaker == Speaker::Thought);
    let is_long = source.is_some_and(|it| it.n_sentences > MAX_SHORT_TEXT);
    features.insert_if(ClaimFeature::LongText, is_long && moment != ClaimMoment::Plan);
    features.insert_if(ClaimFeature::StatesCause, states_cause(&pad_words(&sentence.text)));
    features.insert_if(ClaimFeature::NamesEdited, view.edits_touch(sentence.call, &names));
    features.insert_if(ClaimFeature::NamesUsed, view.commands_use(sentence.call, &names));
    features.insert_if(ClaimFeature::EditAndPass, view.is_borne_out(sentence.call));
    features.insert_if(ClaimFeature::AfterFailure, view.is_after_failure(sentence.call));
    let heading = sentence.heading.to_ascii_lowercase();
    features.insert_if(
        ClaimFeature::ReasonSection,
        REASON_HEADINGS.iter().any(|it| heading.contains(it)),
    );
    features.insert_if(ClaimFeature::PointsBack, points_back(strip_lead_in(&sentence.text)));
    add_surface_features(&mut features, &sentence.text, &text);
    Some(Claim {
        moment,
        files: view.files_of(&text, place),
        text,
        quote: sentence.text.clone(),
        restatement: String::new(),
        call: sentence.call,
        order: sentence.order,
        features,
        outcome: String::new(),
    })
}
