//! The choice: the best claims of a session, without repetitions.

use std::collections::BTreeSet;

use crate::Claim;
use crate::scorer::MIN_CLAIM_SCORE;
use crate::surface::content_words;

/// Claims that one session may become. They wait for confirmation and cost nothing until then.
pub const MAX_CLAIMS_PER_SESSION: usize = 10;
/// Share of the words of the shorter of two claims that make them the same, in per cent.
const SAME_WORDS_PERCENT: usize = 70;

/// A claim with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredClaim {
    pub claim: Claim,
    /// From 0 to 1.
    pub score: f32,
}

/// The best claims, best first. Of two that say the same, the better one stays.
pub fn choose_claims(mut scored: Vec<ScoredClaim>, limit: usize) -> Vec<ScoredClaim> {
    // Ties are decided by the order in the session, so that the same session gives the same claims.
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.claim.call.cmp(&b.claim.call)));
    let mut chosen: Vec<(BTreeSet<String>, ScoredClaim)> = Vec::new();
    for candidate in scored {
        if chosen.len() >= limit || candidate.score < MIN_CLAIM_SCORE {
            break;
        }
        let words = content_words(&candidate.claim.text);
        if !chosen.iter().any(|(known, _)| says_same(known, &words)) {
            chosen.push((words, candidate));
        }
    }
    chosen.into_iter().map(|it| it.1).collect()
}

fn says_same(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let shared = a.intersection(b).count();
    shared * 100 >= a.len().min(b.len()) * SAME_WORDS_PERCENT && shared > 0
}
