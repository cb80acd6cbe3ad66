//! Claims: finds what was stated in a session and is likely worth keeping, as sightings. Reads the words of
//! the project's files and its rule files, and embeds the best candidates with the built-in model.
//!
//! The crate `claims` cuts and weighs; here the weighing gets what needs I/O:
//!
//! ```text
//! collect → names that exist? → refuse → score by features → embed the best → score → choose → sighting
//! ```
//!
//! A claim becomes a *candidate*: no agent is told of it before a person, another session or a language
//! model confirms it. Sentences are embedded by the built-in model only, so that none leaves the machine; with
//! a provider for embeddings, the features decide alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use claims::{Claim, ClaimMoment, MAX_CLAIMS_PER_SESSION, ScoredClaim, content_words};
use model::{PerMille, SignalKind};
use observe::{
    ClaimEvidence, ClaimSource, Evidence, PatternKey, Scratchpad, Sighting, TellCue, WishKind,
};
use source::ProjectWords;

use crate::blocking::run_blocking;
use crate::rules::list_rules;
use crate::text_admission::mask_secrets_in_text;
use crate::{Error, ProjectReader};

/// Candidates that are embedded: an embedding takes a few milliseconds, and few change their place.
const MAX_EMBEDDED_CLAIMS: usize = 24;
/// Milliseconds for which the words of a project are kept between two sessions.
const WORDS_VALID_MS: i64 = 10 * 60 * 1000;
/// Share of a claim's words that a rule must have to say the same, in per cent.
const RULE_SHARE_PERCENT: usize = 75;
/// Fewer words are shared by chance.
const MIN_RULE_WORDS: usize = 4;

/// Finds the claims of a session. `known` are the other sightings: what a detector of its own found is not
/// claimed twice.
pub(super) async fn find_claims(
    reader: &ProjectReader,
    pad: &Scratchpad,
    known: &[Sighting],
) -> Result<Vec<Sighting>, Error> {
    let mut collected = claims::collect_claims(pad);
    if collected.is_empty() {
        return Ok(Vec::new());
    }
    let words = project_words(reader).await;
    for claim in &mut collected {
        claims::mark_known_names(claim, |it| words.contains(it));
    }
    collected.retain(|it| claims::find_refusal(it).is_none());
    let stated = stated_words(reader, known);
    collected.retain(|it| !is_stated(&content_words(&it.text), &stated));
    let scored = score_claims(reader, collected).await;
    let chosen = claims::choose_claims(scored, MAX_CLAIMS_PER_SESSION);
    Ok(chosen.into_iter().map(|it| to_sighting(pad, it)).collect())
}

/// The words of the project's files, read once for several sessions.
pub(super) async fn project_words(reader: &ProjectReader) -> Arc<ProjectWords> {
    if let Some(words) = reader.project_words.get(reader.now, WORDS_VALID_MS) {
        return words;
    }
    let root = reader.place.root.clone();
    let words = Arc::new(run_blocking(move || ProjectWords::read(&root)).await);
    reader.project_words.set(reader.now, Arc::clone(&words));
    words
}

/// The words of everything that needs no claim: the project's rules, and sentences of other sightings.
fn stated_words(reader: &ProjectReader, known: &[Sighting]) -> Vec<BTreeSet<String>> {
    let rules = list_rules(reader).into_iter().flat_map(|it| it.rules);
    let mut acc: Vec<BTreeSet<String>> = rules.map(|it| content_words(&it.text)).collect();
    for sighting in known.iter().filter(|it| it.signal().row().textual && !is_doubtful_wish(it)) {
        acc.extend(sighting.evidence.quoted_text().map(|it| content_words(&it)));
    }
    acc
}

/// Returns whether a wish of a person waits for a confirmation, as a claim does. The claim has more evidence.
fn is_doubtful_wish(sighting: &Sighting) -> bool {
    let Evidence::UserCorrection { kind, .. } = &sighting.evidence else { return false };
    matches!(kind, WishKind::Correction | WishKind::Suggestion)
}

/// Removes the doubtful wishes that one of the claims states with more evidence.
pub(super) fn drop_claimed_wishes(sightings: &mut Vec<Sighting>, claims: &[Sighting]) {
    let words_of = |it: &Sighting| content_words(&it.evidence.quoted_text().unwrap_or_default());
    let claimed: Vec<BTreeSet<String>> = claims.iter().map(words_of).collect();
    sightings.retain(|it| !is_doubtful_wish(it) || !is_stated(&words_of(it), &claimed));
}

fn is_stated(claim: &BTreeSet<String>, stated: &[BTreeSet<String>]) -> bool {
    claim.len() >= MIN_RULE_WORDS
        && stated
            .iter()
            .any(|it| claim.intersection(it).count() * 100 >= claim.len() * RULE_SHARE_PERCENT)
}

/// Scores all claims by their features, and the best of them once more with their embeddings.
async fn score_claims(reader: &ProjectReader, collected: Vec<Claim>) -> Vec<ScoredClaim> {
    let score =
        |claim: Claim| ScoredClaim { score: claims::score_claim(claim.features, None), claim };
    let mut scored: Vec<ScoredClaim> = collected.into_iter().map(score).collect();
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.claim.call.cmp(&b.claim.call)));
    scored.truncate(MAX_EMBEDDED_CLAIMS);
    if !reader.config.models.is_built_in() {
        return scored;
    }
    // The built-in model is part of the program and always opens; without it the features decide.
    let Ok(model) = reader.config.models.embeddings().await else { return scored };
    let quotes: Vec<String> = scored.iter().map(|it| it.claim.quote.clone()).collect();
    let embed = move || {
        let quotes: Vec<&str> = quotes.iter().map(String::as_str).collect();
        model.embed_documents(&quotes)
    };
    let Ok(vectors) = run_blocking(embed).await else { return scored };
    for (it, vector) in scored.iter_mut().zip(&vectors) {
        it.score = claims::score_claim(it.claim.features, Some(vector));
    }
    scored
}

/// A chosen claim as a sighting, with its secrets masked.
fn to_sighting(pad: &Scratchpad, chosen: ScoredClaim) -> Sighting {
    let ScoredClaim { claim, score } = chosen;
    let source = match claim.moment {
        ClaimMoment::FirstPrompt
        | ClaimMoment::Remark
        | ClaimMoment::Refusal
        | ClaimMoment::Answer => ClaimSource::Person,
        ClaimMoment::Plan => ClaimSource::Plan,
        ClaimMoment::Diagnosis | ClaimMoment::Summary | ClaimMoment::Conclusion => {
            ClaimSource::Agent
        }
    };
    let words: Vec<String> = content_words(&claim.quote).into_iter().collect();
    let key = PatternKey::claim(source, &model::fingerprint_text(&words.join(" ")));
    // The agent's restatement says what a short remark of a person was about.
    let text = if claim.restatement.is_empty() {
        claim.text
    } else {
        format!("{} — {}", claim.text, claim.restatement)
    };
    let said_at = pad.calls.get(claim.call.saturating_sub(1) as usize).map(|it| it.at);
    let evidence = ClaimEvidence {
        source,
        text,
        quote: claim.quote,
        tell_at: claim.files.iter().map(|it| TellCue::File(it.as_str().to_owned())).collect(),
        files: claim.files,
        outcome: Some(claim.outcome).filter(|it| !it.is_empty()),
        score: PerMille::from_fraction(f64::from(score)).unwrap_or(PerMille::ZERO),
        said_at: said_at.or(pad.started),
    };
    // A person's own words carry no external text, unless the whole record may be invented.
    let tainted =
        if source == ClaimSource::Person { pad.is_foreign() } else { pad.is_tainted(claim.order) };
    let mut sighting = Sighting {
        key,
        occurrences: 1,
        order: claim.order,
        tainted,
        evidence: Evidence::Claim(Box::new(evidence)),
    };
    debug_assert_eq!(sighting.signal(), SignalKind::Claim);
    sighting.map_texts(mask_secrets_in_text);
    sighting
}
