//! The smallest hashes of a set: a sample of its different values that two sets draw alike, so that what one has of
//! the other's can be counted (Cohen and Kaplan, "Summarizing data using bottom-k sketches", PODC 2007).

use super::exact::HashSet;
use super::overlap::{Overlap, Sample};
use super::select::{BLOCK, at_places, places_of};

/// Hashes that are looked up together.
const PENDING: usize = 64;

/// The k smallest hashes that were added, or all of them if there were fewer.
#[derive(Clone, Debug)]
pub struct BottomK {
    /// At least the k smallest.
    hashes: HashSet,
    /// Not looked up yet: one at a time each would cost a wrong guess of the processor.
    pending: Vec<u64>,
    /// No hash beyond this one is wanted, because k are known up to it.
    last: u64,
}

impl BottomK {
    /// k.
    pub const SIZE: usize = 1024;

    /// Of nothing.
    #[must_use]
    pub fn new() -> Self {
        let hashes = HashSet::with_room(2 * Self::SIZE);
        Self { hashes, pending: Vec::with_capacity(PENDING + BLOCK), last: u64::MAX }
    }

    /// Of these hashes.
    #[must_use]
    pub fn of(hashes: &[u64]) -> Self {
        let mut smallest = Self::new();
        smallest.add_hashes(hashes);
        smallest
    }

    /// Adds a block of hashes, each as often as it likes.
    pub fn add_hashes(&mut self, hashes: &[u64]) {
        for block in hashes.chunks(BLOCK) {
            self.pending.extend(at_places(places_of(u64::MAX, self.last, block), block));
            if self.pending.len() >= PENDING {
                self.add_pending();
            }
        }
    }

    /// Adds all that is in another.
    pub fn union(&mut self, other: &Self) {
        self.add_hashes(&other.hashes());
    }

    /// At most k hashes, ascending.
    #[must_use]
    pub fn hashes(&self) -> Vec<u64> {
        let mut hashes = self.hashes.hashes();
        hashes.extend(&self.pending);
        hashes.sort_unstable();
        hashes.dedup();
        hashes.truncate(Self::SIZE);
        hashes
    }

    /// What is known of the set's hashes.
    #[must_use]
    pub fn sample(&self) -> Sample {
        let hashes = self.hashes();
        // Fewer than k are all there are.
        let last = hashes.get(Self::SIZE - 1).copied().unwrap_or(u64::MAX);
        Sample { hashes, last }
    }

    /// What this set and another have in common.
    #[must_use]
    pub fn overlap(&self, other: &Self) -> Overlap {
        Overlap::between(&self.sample(), &other.sample())
    }

    /// What it takes on the heap.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.hashes.memory_bytes() + self.pending.capacity() * size_of::<u64>()
    }

    fn add_pending(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let mut unknown = &pending[..];
        while let Some(hash) = self.hashes.skip_known(&mut unknown) {
            // `last` may have become less since it was seen.
            if hash <= self.last && self.hashes.insert(hash) && self.hashes.len() == 2 * Self::SIZE {
                self.keep_smallest();
            }
        }
        self.pending = pending;
        self.pending.clear();
    }

    fn keep_smallest(&mut self) {
        let mut smallest = self.hashes.hashes();
        let (_, last, _) = smallest.select_nth_unstable(Self::SIZE - 1);
        self.last = *last;
        self.hashes.clear();
        for hash in &smallest[..Self::SIZE] {
            self.hashes.insert(*hash);
        }
    }
}

impl Default for BottomK {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::hash;
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> BottomK {
        let values: Vec<u64> = values.into_iter().collect();
        let mut hashes = vec![0; values.len()];
        hash::fixed64(0, &values, &mut hashes);
        BottomK::of(&hashes)
    }

    #[test]
    fn small_sets_are_compared_exactly_and_large_ones_by_a_sample() {
        assert_eq!(Overlap { first: 600, second: 1000, common: 200, exact: true }, of(0..600).overlap(&of(400..1400)));
        let overlap = of(0..100_000).overlap(&of(50_000..300_000));
        assert!(!overlap.exact && overlap.second == BottomK::SIZE, "{overlap:?}");
        assert!((overlap.containment().expect("some") - 0.5).abs() < 0.08, "{overlap:?}");
        assert!((overlap.jaccard().expect("some") - 1.0 / 6.0).abs() < 0.05, "{overlap:?}");
        let contained = of(0..20_000).overlap(&of(0..100_000));
        assert_eq!(Some(1.0), contained.containment());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn the_smallest_hashes_stay_whatever_the_order(
            values in proptest::collection::vec(0u64..6000, 0..6000), split in 0usize..6000,
        ) {
            let split = split.min(values.len());
            let mut united = of(values[..split].iter().copied());
            united.union(&of(values[split..].iter().copied()));
            let whole: BTreeSet<u64> = values.into_iter().collect();
            let whole: Vec<u64> = whole.into_iter().collect();
            let mut hashes = vec![0; whole.len()];
            hash::fixed64(0, &whole, &mut hashes);
            hashes.sort_unstable();
            hashes.truncate(BottomK::SIZE);
            prop_assert_eq!(hashes, united.hashes());
        }
    }
}
