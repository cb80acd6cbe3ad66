//! Dump: writes every candidate claim of every session, with its features and its score, for inspection and for
//! readers. No key is needed, so the task also reads folders of transcripts that are not part of the data.

use std::path::Path;

use claims::ClaimFeature;
use infer::BuiltInEmbedder;
use serde_json::{Value, json};

use super::{INSIGHT_SETS, InsightSet, session_name, words_of};
use crate::{report, transcripts};

pub(super) fn run(data: &Path, repos: Option<&Path>) -> anyhow::Result<()> {
    let embedder = BuiltInEmbedder::new();
    for set in INSIGHT_SETS {
        let mut rows = Vec::new();
        for repo in set.repos {
            let words = words_of(repos, repo);
            for transcript in InsightSet::transcripts(data, repo)? {
                let pad = transcripts::read_scratchpad(&transcript)?;
                for mut claim in claims::collect_claims(&pad) {
                    claims::mark_known_names(&mut claim, |it| words.contains(it));
                    let embedding = embedder.embed_one(&claim.quote);
                    rows.push(to_row(&session_name(&transcript), &claim, &embedding));
                }
            }
        }
        let path = report::write_json_lines(&format!("claims_{}.jsonl", set.name), &rows)?;
        println!("{} claims written to {}", rows.len(), path.display());
    }
    Ok(())
}

fn to_row(session: &str, claim: &claims::Claim, embedding: &[f32]) -> Value {
    let features: Vec<&str> = claim.features.iter().map(ClaimFeature::slug).collect();
    json!({
        "session": session, "moment": format!("{:?}", claim.moment), "text": claim.text, "quote": claim.quote,
        "restatement": claim.restatement, "features": features, "outcome": claim.outcome,
        "refusal": claims::find_refusal(claim).map(claims::ClaimRefusal::reason),
        "score": claims::score_claim(claim.features, Some(embedding)), "embedding": embedding,
    })
}
