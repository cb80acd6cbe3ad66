//! What was learned next to a good answer, in the same session, is more likely to belong to it.
//!
//! Every candidate passes a share of its score on to those written right before and after it. One
//! pass, from the scores as they were: nothing echoes.

use std::collections::HashMap;

use crate::fuse::{Fused, sort};

/// What a memory passes on, in thousandths, by how many places away and on which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    pub after: &'static [u16],
    pub before: &'static [u16],
}

/// Questions are followed by their answers, so more is passed on to what comes after.
pub const REACH: Reach = Reach { after: &[300, 300], before: &[200, 200] };

impl Reach {
    /// How many places a score reaches at most.
    pub const fn window(self) -> usize {
        if self.after.len() > self.before.len() { self.after.len() } else { self.before.len() }
    }
}

/// Raises candidates by what their neighbours pass on. `beside` names the neighbours of a key with
/// their distance: positive for what was written after it. Best first, ties by key; says what each
/// gained.
pub fn raise(
    fused: &mut [Fused],
    reach: Reach,
    beside: impl Fn(u32) -> Vec<(u32, isize)>,
) -> HashMap<u32, f32> {
    let places: HashMap<u32, usize> =
        fused.iter().enumerate().map(|(at, it)| (it.key, at)).collect();
    let mut gains: HashMap<u32, f32> = HashMap::new();
    for from in fused.iter() {
        for (to, distance) in beside(from.key) {
            let shares = if distance > 0 { reach.after } else { reach.before };
            let share = distance.unsigned_abs().checked_sub(1).and_then(|it| shares.get(it));
            if let (Some(share), true) = (share, places.contains_key(&to)) {
                *gains.entry(to).or_default() += from.score * f32::from(*share) / 1000.0;
            }
        }
    }
    for it in fused.iter_mut() {
        it.score += gains.get(&it.key).copied().unwrap_or_default();
    }
    sort(fused);
    gains
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fused(scores: &[(u32, f32)]) -> Vec<Fused> {
        scores.iter().map(|&(key, score)| Fused { key, score, traces: Vec::new() }).collect()
    }

    /// All keys in one session, in order.
    fn in_a_row(key: u32) -> Vec<(u32, isize)> {
        let near = [-2_isize, -1, 1, 2];
        near.iter()
            .filter_map(|it| Some((key.checked_add_signed(i32::try_from(*it).ok()?)?, *it)))
            .collect()
    }

    #[test]
    fn an_answer_next_to_a_good_one_rises_above_a_lonely_one() {
        let mut list = fused(&[(10, 1.0), (50, 0.6), (11, 0.5)]);
        let gains = raise(&mut list, REACH, in_a_row);
        let order: Vec<u32> = list.iter().map(|it| it.key).collect();
        assert_eq!(order, [10, 11, 50]);
        assert!((gains[&11] - 0.3).abs() < 1e-6 && !gains.contains_key(&50));
    }

    #[test]
    fn nothing_echoes_and_nobody_new_appears() {
        let mut list = fused(&[(1, 1.0), (2, 1.0)]);
        raise(&mut list, REACH, in_a_row);
        assert_eq!(list.len(), 2);
        assert!((list[0].score - 1.3).abs() < 1e-6 && list[0].key == 2);
        assert!((list[1].score - 1.2).abs() < 1e-6);
    }
}
