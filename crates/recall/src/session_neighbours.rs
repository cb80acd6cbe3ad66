//! Boosts memories recorded next to a good hit in the same session.
//!
//! A session is one run of an agent, or one conversation; its memories have an order. Each hit passes
//! a share of its score to the memories written right before and after it, and the best of a session
//! raises the rest of it a little. If the hit 10 has the score 1.0, its neighbours 9 and 11 gain
//!
//! ```text
//!  9:  0.16 as the one before + 0.16 from the session = 0.32
//! 11:  0.24 as the one after  + 0.16 from the session = 0.40
//! ```
//!
//! One pass over the original scores, so boosts do not feed back.

use std::collections::{HashMap, HashSet};

use crate::fusion::{FusedHit, sort_fused};

/// Share passed to the memories that follow, by distance (one, two), per mille. Answers follow
/// questions, so more goes to what follows.
const SHARE_AFTER: [u16; 2] = [240, 240];
/// Share passed to the memories that precede, by distance, per mille.
const SHARE_BEFORE: [u16; 2] = [160, 160];
/// Share that the best of a session passes to its other memories, per mille.
const SESSION_SHARE: u16 = 160;

/// Memories up to this length, in words, get the full boost: a turn of a conversation.
const FULL_BOOST_WORDS: f32 = 60.0;
/// Memories from this length on, in words, get none: they need no context.
const NO_BOOST_WORDS: f32 = 250.0;

/// Distance over which scores are passed on.
pub const NEIGHBOUR_WINDOW: usize = SHARE_AFTER.len();

/// Position of a memory in its session.
#[derive(Clone, Debug, Default)]
pub struct SessionPosition {
    pub session: u32,
    /// Adjacent memories with their distance; positive for later ones.
    pub neighbours: Vec<(u32, isize)>,
}

/// Adds the boosts and sorts, best first, ties by key. Returns the gain of each boosted memory.
///
/// `position_of` finds a memory in its session, `score_alone` scores a neighbour that was not a hit,
/// and `word_count` gives the length of a memory.
pub fn boost_neighbours(
    fused: &mut Vec<FusedHit>,
    position_of: impl Fn(u32) -> Option<SessionPosition>,
    score_alone: impl Fn(u32) -> Option<FusedHit>,
    word_count: impl Fn(u32) -> u32,
) -> HashMap<u32, f32> {
    // Every hit passes shares of its original score to its neighbours.
    let mut neighbour_gains: HashMap<u32, f32> = HashMap::new();
    let mut best_of_session: HashMap<u32, f32> = HashMap::new();
    let mut session_of: HashMap<u32, u32> = HashMap::new();
    for hit in fused.iter() {
        // A memory that was not recorded in a session has no neighbours.
        let Some(position) = position_of(hit.key) else { continue };
        let best = best_of_session.entry(position.session).or_default();
        *best = best.max(hit.score);
        session_of.insert(hit.key, position.session);
        for (neighbour, distance) in position.neighbours {
            let gain = neighbour_gains.entry(neighbour).or_default();
            *gain += hit.score * share_at_distance(distance);
            session_of.insert(neighbour, position.session);
        }
    }

    // Neighbours that were not hits join the list, so that their gains count too.
    let hit_keys: HashSet<u32> = fused.iter().map(|it| it.key).collect();
    let new_keys = neighbour_gains.keys().filter(|it| !hit_keys.contains(it));
    fused.extend(new_keys.filter_map(|it| score_alone(*it)));

    let mut gains = HashMap::new();
    for hit in fused.iter_mut() {
        let from_neighbours = neighbour_gains.get(&hit.key).copied().unwrap_or_default();
        // The session alone does not raise a memory without any score of its own.
        let has_score = hit.score + from_neighbours > 0.0;
        let from_session = match session_of.get(&hit.key) {
            Some(session) if has_score => as_fraction(SESSION_SHARE) * best_of_session[session],
            // No score, or not recorded in a session.
            Some(_) | None => 0.0,
        };
        let gain = length_factor(word_count(hit.key)) * (from_neighbours + from_session);
        hit.score += gain;
        if gain > 0.0 {
            gains.insert(hit.key, gain);
        }
    }
    sort_fused(fused);
    gains
}

/// Share of a score that is passed over a distance; none at distance 0 and beyond the window.
fn share_at_distance(distance: isize) -> f32 {
    let shares = if distance > 0 { SHARE_AFTER } else { SHARE_BEFORE };
    // The share for distance 1 is at index 0.
    let Some(index) = distance.unsigned_abs().checked_sub(1) else { return 0.0 };
    shares.get(index).map_or(0.0, |it| as_fraction(*it))
}

/// Share of the boost that a memory of this length gets. A long one needs no context.
#[expect(clippy::cast_precision_loss, reason = "beyond 2^24 words one more does not matter")]
fn length_factor(n_words: u32) -> f32 {
    ((NO_BOOST_WORDS - n_words as f32) / (NO_BOOST_WORDS - FULL_BOOST_WORDS)).clamp(0.0, 1.0)
}

fn as_fraction(thousandths: u16) -> f32 {
    f32::from(thousandths) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of a memory that gets the full boost.
    const SHORT: fn(u32) -> u32 = |_| 20;

    fn hits(scores: &[(u32, f32)]) -> Vec<FusedHit> {
        scores.iter().map(|&(key, score)| FusedHit { key, score, traces: Vec::new() }).collect()
    }

    fn keys(hits: &[FusedHit]) -> Vec<u32> {
        hits.iter().map(|it| it.key).collect()
    }

    /// Keys below 50 are one session in the order of the keys; the others are in none.
    fn position_of(key: u32) -> Option<SessionPosition> {
        let neighbour =
            |distance: &i32| Some((key.checked_add_signed(*distance)?, *distance as isize));
        let neighbours = [-2, -1, 1, 2].iter().filter_map(neighbour).collect();
        (key < 50).then_some(SessionPosition { session: 1, neighbours })
    }

    /// The hit of a memory that only a neighbour brings into the list.
    #[expect(clippy::unnecessary_wraps, reason = "the signature of `score_alone`")]
    fn weak_hit(key: u32) -> Option<FusedHit> {
        Some(FusedHit { key, score: 0.1, traces: Vec::new() })
    }

    #[test]
    fn a_neighbour_of_a_good_hit_rises_above_a_better_hit_without_neighbours() {
        let mut list = hits(&[(10, 1.0), (50, 0.7), (11, 0.5)]);
        boost_neighbours(&mut list, position_of, |_| None, SHORT);
        assert_eq!(keys(&list), [10, 11, 50]);
    }

    #[test]
    fn gains_are_computed_from_the_original_scores() {
        let mut list = hits(&[(1, 1.0), (2, 1.0)]);
        let gains = boost_neighbours(&mut list, position_of, |_| None, SHORT);
        assert_eq!(list.len(), 2);
        // Neighbour and session: 0.24 + 0.16 after, 0.16 + 0.16 before.
        assert!((gains[&2] - 0.4).abs() < 1e-6 && (gains[&1] - 0.32).abs() < 1e-6);
    }

    #[test]
    fn neighbours_that_were_not_hits_join_the_list_behind_the_hit() {
        let mut list = hits(&[(10, 1.0)]);
        boost_neighbours(&mut list, position_of, weak_hit, SHORT);
        assert_eq!(keys(&list), [10, 11, 12, 8, 9]);
    }

    #[test]
    fn the_boost_falls_with_length_to_nothing() {
        let gain = |n_words| {
            let mut list = hits(&[(10, 1.0), (11, 0.5)]);
            let gains = boost_neighbours(&mut list, position_of, |_| None, |_| n_words);
            gains.get(&11).copied().unwrap_or_default()
        };
        assert!(gain(20) > gain(150) && gain(150) > gain(400));
        assert!(gain(400).abs() < 1e-6);
    }

    #[test]
    fn memories_without_a_session_are_not_boosted() {
        let mut list = hits(&[(50, 0.5), (60, 0.4)]);
        assert!(boost_neighbours(&mut list, position_of, weak_hit, SHORT).is_empty());
        assert_eq!(list.len(), 2);
    }
}
