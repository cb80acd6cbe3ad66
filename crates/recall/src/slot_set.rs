//! A growable bit set of slots.
//!
//! The engine numbers the memories of a notebook with small integers, the slots. A [`SlotSet`] is the
//! filter of a search: the memories that a query may return. The slots 0, 2 and 64 are stored as two
//! words of 64 bits, `0b101` and `0b1`.

/// Upper bound of slots, so that a corrupt number is an error and not an allocation of gigabytes.
pub const MAX_SLOTS: u32 = 1 << 26;

/// A set of slots. Slots are small numbers chosen by the caller; the set grows to the largest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotSet {
    /// Slot `s` is bit `s % 64` of word `s / 64`. Words beyond the end are zero.
    words: Vec<u64>,
}

impl SlotSet {
    pub fn new() -> Self {
        Self::default()
    }

    /// Every slot below `n`.
    pub fn first_n(n: u32) -> Self {
        let n = n.min(MAX_SLOTS);
        let mut words = vec![u64::MAX; n as usize / 64];
        // The last, partial word has its lowest `n % 64` bits set.
        if !n.is_multiple_of(64) {
            words.push((1 << (n % 64)) - 1);
        }
        Self { words }
    }

    /// Adds a slot; ignores one that is not below [`MAX_SLOTS`].
    pub fn insert(&mut self, slot: u32) {
        if slot >= MAX_SLOTS {
            return;
        }
        let word = slot as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (slot % 64);
    }

    pub fn remove(&mut self, slot: u32) {
        if let Some(word) = self.words.get_mut(slot as usize / 64) {
            *word &= !(1 << (slot % 64));
        }
    }

    pub fn contains(&self, slot: u32) -> bool {
        self.words.get(slot as usize / 64).is_some_and(|it| it >> (slot % 64) & 1 == 1)
    }

    pub fn count(&self) -> usize {
        self.words.iter().map(|it| it.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|it| *it == 0)
    }

    /// Keeps only slots that are in both sets.
    pub fn intersect(&mut self, other: &Self) {
        // Words that `other` does not have are zero.
        self.words.truncate(other.words.len());
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    /// Size of the intersection, without building it.
    pub fn intersection_count(&self, other: &Self) -> usize {
        let words = self.words.iter().zip(&other.words);
        words.map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// Slots in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0_u32..).step_by(64).zip(&self.words).flat_map(|(first_slot, word)| {
            let mut remaining_bits = *word;
            std::iter::from_fn(move || {
                if remaining_bits == 0 {
                    return None;
                }
                let bit = remaining_bits.trailing_zeros();
                // Clears the lowest bit that is set.
                remaining_bits &= remaining_bits - 1;
                Some(first_slot + bit)
            })
        })
    }
}

impl FromIterator<u32> for SlotSet {
    fn from_iter<I: IntoIterator<Item = u32>>(slots: I) -> Self {
        let mut res = Self::new();
        slots.into_iter().for_each(|it| res.insert(it));
        res
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_slot_beyond_the_limit_is_ignored() {
        let mut slots = SlotSet::new();
        slots.insert(u32::MAX);
        assert_eq!(slots, SlotSet::new());
    }

    proptest! {
        #[test]
        fn a_slot_set_behaves_like_a_btree_set(
            left in prop::collection::btree_set(0_u32..300, 0..60),
            right in prop::collection::btree_set(0_u32..300, 0..60),
            removed in 0_u32..400,
        ) {
            let mut slots: SlotSet = left.iter().copied().collect();
            let other: SlotSet = right.iter().copied().collect();
            prop_assert_eq!(slots.count(), left.len());
            prop_assert_eq!(slots.is_empty(), left.is_empty());
            let shared: BTreeSet<u32> = left.intersection(&right).copied().collect();
            prop_assert_eq!(slots.intersection_count(&other), shared.len());
            slots.remove(removed);
            prop_assert!(!slots.contains(removed));
            slots.intersect(&other);
            let expected: Vec<u32> = shared.into_iter().filter(|it| *it != removed).collect();
            prop_assert_eq!(slots.iter().collect::<Vec<_>>(), expected);
        }

        #[test]
        fn first_n_has_every_slot_below_n(n in 0_u32..200) {
            prop_assert!(SlotSet::first_n(n).iter().eq(0..n));
            prop_assert!(!SlotSet::first_n(n).contains(n));
        }
    }
}
