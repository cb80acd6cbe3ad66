//! What was learned next to a good answer, in the same session, is more likely to belong to it.
//!
//! Every candidate passes a share of its score on to those written right before and after it, and
//! the best of a session lifts the rest of it a little. One pass, from the scores as they were:
//! nothing echoes.

use std::collections::{HashMap, HashSet};

use crate::fuse::{Fused, sort};

/// What a candidate passes on, in thousandths, to what was written after it and before it, by how
/// many places away. Questions are followed by their answers, so more goes to what comes after.
const AFTER: [u16; 2] = [240, 240];
const BEFORE: [u16; 2] = [160, 160];
/// What the best of a session passes on to the others of it.
const SESSION: u16 = 160;

/// Up to so many words a memory leans on what stands beside it in full, a turn of a conversation;
/// from so many on it stands for itself.
const LEANS: f32 = 60.0;
const STANDS: f32 = 250.0;

/// How many places a score reaches.
pub const WINDOW: usize = AFTER.len();

/// A memory's place in its session.
#[derive(Clone, Debug, Default)]
pub struct Place {
    pub session: u32,
    /// Those around it, with their distance: positive for what was written after it.
    pub beside: Vec<(u32, isize)>,
}

/// Raises candidates by what their neighbours pass on; neighbours that were no candidates come in
/// with the score `own` gives them. Best first, ties by key; says what each gained.
pub fn raise(
    fused: &mut Vec<Fused>,
    place: impl Fn(u32) -> Option<Place>,
    own: impl Fn(u32) -> Option<Fused>,
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
        for (to, distance) in place.beside {
            let shares = if distance > 0 { AFTER } else { BEFORE };
            let share = distance.unsigned_abs().checked_sub(1).and_then(|it| shares.get(it));
            *gains.entry(to).or_default() += from.score * share.map_or(0.0, |it| part(*it));
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
        let gain = leaning(words(it.key)) * (beside + part(SESSION) * session);
        it.score += gain;
        if gain > 0.0 {
            raised.insert(it.key, gain);
        }
    }
    sort(fused);
    raised
}

#[expect(clippy::cast_precision_loss, reason = "beyond 2^24 words one more does not matter")]
fn leaning(words: u32) -> f32 {
    ((STANDS - words as f32) / (STANDS - LEANS)).clamp(0.0, 1.0)
}

fn part(thousandths: u16) -> f32 {
    f32::from(thousandths) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fused(scores: &[(u32, f32)]) -> Vec<Fused> {
        scores.iter().map(|&(key, score)| Fused { key, score, traces: Vec::new() }).collect()
    }

    /// Keys below 50 in one session, in order; the others alone.
    fn place(key: u32) -> Option<Place> {
        let near = |it: &i32| Some((key.checked_add_signed(*it)?, *it as isize));
        let beside = [-2, -1, 1, 2].iter().filter_map(near).collect();
        (key < 50).then_some(Place { session: 1, beside })
    }

    fn stranger(key: u32) -> Fused {
        Fused { key, score: 0.1, traces: Vec::new() }
    }

    #[test]
    fn an_answer_next_to_a_good_one_rises_above_a_lonely_one() {
        let mut list = fused(&[(10, 1.0), (50, 0.7), (11, 0.5)]);
        raise(&mut list, place, |_| None, |_| 20);
        let order: Vec<u32> = list.iter().map(|it| it.key).collect();
        assert_eq!(order, [10, 11, 50]);
    }

    #[test]
    fn nothing_echoes() {
        let mut list = fused(&[(1, 1.0), (2, 1.0)]);
        let gains = raise(&mut list, place, |_| None, |_| 20);
        assert_eq!(list.len(), 2);
        assert!((gains[&2] - 0.4).abs() < 1e-6 && (gains[&1] - 0.32).abs() < 1e-6);
    }

    #[test]
    fn neighbours_come_in_behind_what_pulled_them() {
        let mut list = fused(&[(10, 1.0)]);
        raise(&mut list, place, |it| Some(stranger(it)), |_| 20);
        let order: Vec<u32> = list.iter().map(|it| it.key).collect();
        assert_eq!(order, [10, 11, 12, 8, 9]);
    }

    #[test]
    fn a_long_text_stands_for_itself() {
        let gain = |words| {
            let mut list = fused(&[(10, 1.0), (11, 0.5)]);
            raise(&mut list, place, |_| None, |_| words).get(&11).copied().unwrap_or_default()
        };
        assert!(gain(20) > gain(150) && gain(150) > gain(400));
        assert!(gain(400).abs() < 1e-6);
    }

    #[test]
    fn what_stands_alone_stays_as_it_is() {
        let mut list = fused(&[(50, 0.5), (60, 0.4)]);
        assert!(raise(&mut list, place, |it| Some(stranger(it)), |_| 20).is_empty());
        assert_eq!(list.len(), 2);
    }
}
