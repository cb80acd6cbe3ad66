//! Boosts memories recorded next to a good hit in the same session.
//!
//! Each hit passes a share of its score to the memories written right before and after it, and the
//! best of a session raises the rest of it a little. One pass over the original scores, so boosts do
//! not feed back.

use std::collections::{HashMap, HashSet};

use crate::fusion::{FusedHit, sort_fused};

/// Share passed to the following and preceding memories by distance, per mille. Answers follow
/// questions, so more goes to what follows.
const SHARE_AFTER: [u16; 2] = [240, 240];
const SHARE_BEFORE: [u16; 2] = [160, 160];
/// Share that the best of a session passes to its other memories, per mille.
const SESSION_SHARE: u16 = 160;

/// Memories up to the first length (a turn of a conversation) get the full boost, from the second
/// length on none.
const FULL_BOOST_WORDS: f32 = 60.0;
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

/// Adds the boosts and sorts, best first, ties by key. Neighbours that were not hits enter with the
/// score that `own` gives them. Returns the gain of each.
pub fn boost_neighbours(
    fused: &mut Vec<FusedHit>,
    place: impl Fn(u32) -> Option<SessionPosition>,
    own: impl Fn(u32) -> Option<FusedHit>,
    words: impl Fn(u32) -> u32,
) -> HashMap<u32, f32> {
    let mut gains: HashMap<u32, f32> = HashMap::new();
    let mut best: HashMap<u32, f32> = HashMap::new();
    let mut sessions: HashMap<u32, u32> = HashMap::new();
    for from in fused.iter() {
        let Some(place) = place(from.key) else { continue };
        let of_session = best.entry(place.session).or_default();
        *of_session = of_session.max(from.score);
        sessions.insert(from.key, place.session);
        for (to, distance) in place.neighbours {
            let shares = if distance > 0 { SHARE_AFTER } else { SHARE_BEFORE };
            let share = distance.unsigned_abs().checked_sub(1).and_then(|it| shares.get(it));
            *gains.entry(to).or_default() += from.score * share.map_or(0.0, |it| as_fraction(*it));
            sessions.insert(to, place.session);
        }
    }
    let known: HashSet<u32> = fused.iter().map(|it| it.key).collect();
    fused.extend(gains.keys().filter(|it| !known.contains(it)).filter_map(|it| own(*it)));
    let mut raised = HashMap::new();
    for it in fused.iter_mut() {
        let beside = gains.get(&it.key).copied().unwrap_or_default();
        let session = sessions.get(&it.key).and_then(|it| best.get(it)).copied();
        let session = session.filter(|_| it.score + beside > 0.0).unwrap_or_default();
        let gain = length_factor(words(it.key)) * (beside + as_fraction(SESSION_SHARE) * session);
        it.score += gain;
        if gain > 0.0 {
            raised.insert(it.key, gain);
        }
    }
    sort_fused(fused);
    raised
}

#[expect(clippy::cast_precision_loss, reason = "beyond 2^24 words one more does not matter")]
fn length_factor(words: u32) -> f32 {
    ((NO_BOOST_WORDS - words as f32) / (NO_BOOST_WORDS - FULL_BOOST_WORDS)).clamp(0.0, 1.0)
}

fn as_fraction(thousandths: u16) -> f32 {
    f32::from(thousandths) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fused(scores: &[(u32, f32)]) -> Vec<FusedHit> {
        scores.iter().map(|&(key, score)| FusedHit { key, score, traces: Vec::new() }).collect()
    }

    /// Keys below 50 in one session, in order; the others alone.
    fn place(key: u32) -> Option<SessionPosition> {
        let near = |it: &i32| Some((key.checked_add_signed(*it)?, *it as isize));
        let beside = [-2, -1, 1, 2].iter().filter_map(near).collect();
        (key < 50).then_some(SessionPosition { session: 1, neighbours: beside })
    }

    fn stranger(key: u32) -> FusedHit {
        FusedHit { key, score: 0.1, traces: Vec::new() }
    }

    #[test]
    fn an_answer_next_to_a_good_one_rises_above_a_lonely_one() {
        let mut list = fused(&[(10, 1.0), (50, 0.7), (11, 0.5)]);
        boost_neighbours(&mut list, place, |_| None, |_| 20);
        let order: Vec<u32> = list.iter().map(|it| it.key).collect();
        assert_eq!(order, [10, 11, 50]);
    }

    #[test]
    fn nothing_echoes() {
        let mut list = fused(&[(1, 1.0), (2, 1.0)]);
        let gains = boost_neighbours(&mut list, place, |_| None, |_| 20);
        assert_eq!(list.len(), 2);
        assert!((gains[&2] - 0.4).abs() < 1e-6 && (gains[&1] - 0.32).abs() < 1e-6);
    }

    #[test]
    fn neighbours_come_in_behind_what_pulled_them() {
        let mut list = fused(&[(10, 1.0)]);
        boost_neighbours(&mut list, place, |it| Some(stranger(it)), |_| 20);
        let order: Vec<u32> = list.iter().map(|it| it.key).collect();
        assert_eq!(order, [10, 11, 12, 8, 9]);
    }

    #[test]
    fn a_long_text_stands_for_itself() {
        let gain = |words| {
            let mut list = fused(&[(10, 1.0), (11, 0.5)]);
            boost_neighbours(&mut list, place, |_| None, |_| words)
                .get(&11)
                .copied()
                .unwrap_or_default()
        };
        assert!(gain(20) > gain(150) && gain(150) > gain(400));
        assert!(gain(400).abs() < 1e-6);
    }

    #[test]
    fn what_stands_alone_stays_as_it_is() {
        let mut list = fused(&[(50, 0.5), (60, 0.4)]);
        assert!(boost_neighbours(&mut list, place, |it| Some(stranger(it)), |_| 20).is_empty());
        assert_eq!(list.len(), 2);
    }
}
