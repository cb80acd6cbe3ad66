//! Fits the weights of the claim scorer: logistic regression with strong L2 over features and embedding.
//!
//! A candidate is a positive example if it is, or nearly is, a sentence that readers found worth keeping;
//! all other candidates of the same sessions are negative. The report states the area under the ROC curve
//! (AUC) for weights of one set on the other, which is the number that counts; the written weights use both.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use claims::{Claim, ClaimFeature, content_words};
use infer::BuiltInEmbedder;

use super::{INSIGHT_SETS, InsightSet, group_by, session_name, text_of, words_of};
use crate::transcripts;

/// Rounds of gradient descent.
const N_ROUNDS: usize = 400;
const LEARNING_RATE: f32 = 0.5;
/// L2 penalty per round. Strong, because features must hold in another repository.
const L2: f32 = 0.02;
/// Scale of the embedding beside features of 0 and 1: its components are small.
const EMBEDDING_SCALE: f32 = 3.0;

/// One labelled candidate.
pub(super) struct Example {
    claim: Claim,
    embedding: Vec<f32>,
    is_worth: bool,
}

/// A fitted model.
struct FittedWeights {
    bias: f32,
    features: Vec<f32>,
    embedding: Vec<f32>,
}

pub(super) fn run(data: &Path, repos: Option<&Path>) -> anyhow::Result<()> {
    let embedder = BuiltInEmbedder::new();
    let mut sets = Vec::new();
    for set in INSIGHT_SETS {
        let examples = label_claims(set, data, repos, &embedder)?;
        let n_worth = examples.iter().filter(|it| it.is_worth).count();
        println!("{:<18} {} candidates, {n_worth} worth keeping", set.name, examples.len());
        sets.push(examples);
    }
    for (train, test) in [(0, 1), (1, 0)] {
        let weights = fit(&sets[train].iter().collect::<Vec<_>>());
        let by_all = area_under_curve(&sets[test], |it| weights.logit(it));
        let by_features = area_under_curve(&sets[test], |it| weights.feature_logit(it));
        let (hits, n) = best_tenth(&sets[test], |it| weights.logit(it));
        println!(
            "{} -> {}: AUC {by_all:.3} (features alone {by_features:.3}), best tenth right {hits} of {n}",
            INSIGHT_SETS[train].name, INSIGHT_SETS[test].name
        );
    }
    // `--on SET` fits on one set alone, for a blind test on the other.
    let on = std::env::args().skip_while(|it| it != "--on").nth(1);
    let chosen = sets
        .iter()
        .zip(INSIGHT_SETS)
        .filter(|(_, set)| on.as_deref().is_none_or(|it| it == set.name));
    let all: Vec<&Example> = chosen.flat_map(|(it, _)| it).collect();
    let weights = fit(&all);
    std::fs::write("crates/claims/src/weights.rs", weights.to_source(on.as_deref()))?;
    println!("wrote crates/claims/src/weights.rs");
    Ok(())
}

/// The candidates of the sessions that readers read, labelled.
fn label_claims(
    set: &InsightSet,
    data: &Path,
    repos: Option<&Path>,
    embedder: &BuiltInEmbedder,
) -> anyhow::Result<Vec<Example>> {
    let read: BTreeSet<String> =
        set.rows(data, "gold")?.iter().map(|it| text_of(it, "session").to_owned()).collect();
    let worth = group_by(set.rows(data, "worth")?, |it| text_of(it, "session").to_owned());
    let mut acc = Vec::new();
    for repo in set.repos {
        let words = words_of(repos, repo);
        for transcript in InsightSet::transcripts(data, repo)? {
            let session = session_name(&transcript);
            if !read.contains(&session) {
                continue;
            }
            let keys: Vec<BTreeSet<String>> = worth
                .get(&session)
                .into_iter()
                .flatten()
                .map(|it| content_words(text_of(it, "text")))
                .collect();
            let pad = transcripts::read_scratchpad(&transcript)?;
            for mut claim in claims::collect_claims(&pad) {
                claims::mark_known_names(&mut claim, |it| words.contains(it));
                let have = content_words(&claim.quote);
                let is_worth = keys.iter().any(|key| is_same_sentence(key, &have));
                let embedding = embedder.embed_one(&claim.quote);
                acc.push(Example { claim, embedding, is_worth });
            }
        }
    }
    Ok(acc)
}

/// Returns whether two sentences are nearly the same, by their content words.
fn is_same_sentence(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let shared = a.intersection(b).count() as f64;
    let (shorter, longer) = (a.len().min(b.len()) as f64, a.len().max(b.len()) as f64);
    shared >= 4.0 && shared >= 0.7 * shorter && shared >= 0.45 * longer
}

impl FittedWeights {
    fn feature_logit(&self, example: &Example) -> f32 {
        self.bias + example.claim.features.iter().map(|it| self.features[it as usize]).sum::<f32>()
    }

    fn logit(&self, example: &Example) -> f32 {
        let vector = example.embedding.iter().zip(&self.embedding).map(|(a, b)| a * b);
        self.feature_logit(example) + vector.sum::<f32>()
    }

    /// The source of `weights.rs`.
    fn to_source(&self, on: Option<&str>) -> String {
        let on = on.unwrap_or("both sets");
        let mut acc = format!(
            "//! Weights of the scorer, fitted on {on} by `waylore-eval insights --train`; do not edit.\n\n"
        );
        let _ = writeln!(
            acc,
            "/// Added to every claim.\npub(crate) const BASE_LOGIT: f32 = {:.4};",
            self.bias
        );
        acc.push_str("/// In the order of `ClaimFeature::ALL`.\n#[rustfmt::skip]\npub(crate) const FEATURE_WEIGHTS: &[f32] = &[\n");
        for (feature, weight) in ClaimFeature::ALL.iter().zip(&self.features) {
            let _ = writeln!(acc, "    {weight:.3}, // {}", feature.slug());
        }
        acc.push_str("];\n/// One per dimension of the built-in embedding.\n#[rustfmt::skip]\npub(crate) const EMBEDDING_WEIGHTS: &[f32] = &[\n");
        for row in self.embedding.chunks(16) {
            let row: Vec<String> = row.iter().map(|it| format!("{it:.3}")).collect();
            let _ = writeln!(acc, "    {},", row.join(", "));
        }
        acc.push_str("];\n");
        acc
    }
}

/// Balanced logistic regression by gradient descent.
fn fit(examples: &[&Example]) -> FittedWeights {
    let n_dims = examples.first().map_or(0, |it| it.embedding.len());
    let mut weights = FittedWeights {
        bias: 0.0,
        features: vec![0.0; ClaimFeature::ALL.len()],
        embedding: vec![0.0; n_dims],
    };
    let n_worth = examples.iter().filter(|it| it.is_worth).count() as f32;
    let n_other = examples.len() as f32 - n_worth;
    for _ in 0..N_ROUNDS {
        let mut bias = 0.0;
        let mut features = vec![0.0; weights.features.len()];
        let mut embedding = vec![0.0; n_dims];
        for example in examples {
            let probability = 1.0 / (1.0 + (-weights.logit(example)).exp());
            // Both classes weigh the same in sum.
            let (target, share) =
                if example.is_worth { (1.0, 0.5 / n_worth) } else { (0.0, 0.5 / n_other) };
            let error = (probability - target) * share;
            bias += error;
            for feature in example.claim.features.iter() {
                features[feature as usize] += error;
            }
            for (sum, value) in embedding.iter_mut().zip(&example.embedding) {
                *sum += error * value;
            }
        }
        weights.bias -= LEARNING_RATE * bias;
        for (weight, gradient) in weights.features.iter_mut().zip(&features) {
            *weight -= LEARNING_RATE * (gradient + L2 * *weight);
        }
        // A scaled input with the same penalty is a penalty divided by the square of the scale.
        for (weight, gradient) in weights.embedding.iter_mut().zip(&embedding) {
            *weight -=
                LEARNING_RATE * (EMBEDDING_SCALE * EMBEDDING_SCALE * gradient + L2 * *weight);
        }
    }
    weights
}

fn area_under_curve(examples: &[Example], score: impl Fn(&Example) -> f32) -> f64 {
    let mut scored: Vec<(f32, bool)> = examples.iter().map(|it| (score(it), it.is_worth)).collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n_worth = scored.iter().filter(|it| it.1).count() as f64;
    let n_other = scored.len() as f64 - n_worth;
    let rank_sum: usize = scored.iter().enumerate().filter(|it| it.1.1).map(|it| it.0 + 1).sum();
    (rank_sum as f64 - n_worth * (n_worth + 1.0) / 2.0) / (n_worth * n_other).max(1.0)
}

/// How many of the best tenth are worth keeping, and how many there are.
fn best_tenth(examples: &[Example], score: impl Fn(&Example) -> f32) -> (usize, usize) {
    let mut scored: Vec<(f32, bool)> = examples.iter().map(|it| (score(it), it.is_worth)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let n = (scored.len() / 10).max(10).min(scored.len());
    (scored[..n].iter().filter(|it| it.1).count(), n)
}
