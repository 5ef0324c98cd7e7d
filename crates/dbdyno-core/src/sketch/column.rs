//! What is kept of a column while it is read.

use super::{BottomK, Precision, Sample, Sketch};

/// The number of a column's different values, and a sample of them.
#[derive(Clone, Debug)]
pub struct Column {
    sketch: Sketch,
    sample: Sampling,
}

#[derive(Clone, Debug)]
enum Sampling {
    /// The sketch keeps all hashes: of a column with few values each would be looked up twice.
    InSketch,
    Smallest(BottomK),
    /// The registers were made elsewhere, and no sample with them.
    None,
}

impl Column {
    /// Of nothing.
    #[must_use]
    pub fn new(precision: Precision) -> Self {
        Self { sketch: Sketch::new(precision), sample: Sampling::InSketch }
    }

    /// With what was made elsewhere. A sketch that keeps its hashes needs no sample; registers may come without.
    #[must_use]
    pub fn from_parts(sketch: Sketch, smallest: Option<BottomK>) -> Self {
        let sample = match smallest {
            _ if sketch.is_exact() => Sampling::InSketch,
            Some(smallest) => Sampling::Smallest(smallest),
            None => Sampling::None,
        };
        Self { sketch, sample }
    }

    /// Adds a block of hashes, each as often as it likes.
    pub fn add_hashes(&mut self, hashes: &[u64]) {
        if let Some(no_longer_kept) = self.sketch.add(hashes) {
            self.begin_sample(&no_longer_kept);
        }
        if let Sampling::Smallest(smallest) = &mut self.sample {
            smallest.add_hashes(hashes);
        }
    }

    /// Adds all that is in another; precisions may differ, and the lower one stays.
    pub fn union(&mut self, other: &Self) {
        if let Some(no_longer_kept) = self.sketch.unite(&other.sketch) {
            self.begin_sample(&no_longer_kept);
        }
        match (&mut self.sample, other.smallest()) {
            (Sampling::Smallest(mine), Some(others)) => mine.union(&others),
            (Sampling::Smallest(_), None) => self.sample = Sampling::None,
            (Sampling::InSketch | Sampling::None, _) => {}
        }
    }

    /// The number of different values.
    #[must_use]
    pub fn sketch(&self) -> &Sketch {
        &self.sketch
    }

    /// The sample of them, where there is one.
    #[must_use]
    pub fn smallest(&self) -> Option<BottomK> {
        match &self.sample {
            Sampling::InSketch => self.sketch.exact_hashes().map(|hashes| BottomK::of(&hashes)),
            Sampling::Smallest(smallest) => Some(smallest.clone()),
            Sampling::None => None,
        }
    }

    /// What is known of its hashes: all, or the smallest, where there are any.
    #[must_use]
    pub fn sample(&self) -> Option<Sample> {
        match &self.sample {
            Sampling::InSketch => self.sketch.exact_hashes().map(|hashes| Sample { hashes, last: u64::MAX }),
            Sampling::Smallest(smallest) => Some(smallest.sample()),
            Sampling::None => None,
        }
    }

    /// What it takes on the heap.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let of_sample = match &self.sample {
            Sampling::Smallest(smallest) => smallest.memory_bytes(),
            Sampling::InSketch | Sampling::None => 0,
        };
        self.sketch.memory_bytes() + of_sample
    }

    fn begin_sample(&mut self, hashes: &[u64]) {
        self.sample = Sampling::Smallest(BottomK::of(hashes));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::hash;
    use super::*;

    fn hashes_of(values: std::ops::Range<u64>) -> Vec<u64> {
        let values: Vec<u64> = values.collect();
        let mut hashes = vec![0; values.len()];
        hash::fixed64(0, &values, &mut hashes);
        hashes
    }

    fn column_of(values: std::ops::Range<u64>) -> Column {
        let mut column = Column::new(Precision::default());
        hashes_of(values).chunks(300).for_each(|block| column.add_hashes(block));
        column
    }

    #[test]
    fn few_values_are_all_in_the_sample_and_of_many_the_smallest() {
        let few = column_of(0..5000).sample().expect("all were seen");
        assert_eq!((5000, u64::MAX), (few.hashes.len(), few.last));
        let many = column_of(0..10_000).sample().expect("all were seen");
        assert_eq!((BottomK::SIZE, many.hashes[BottomK::SIZE - 1]), (many.hashes.len(), many.last));
    }

    #[test]
    fn what_came_without_a_sample_leaves_none_behind() {
        let made_elsewhere = Sketch::from_registers(Precision::default(), vec![1; 16_384]).expect("possible");
        let unsampled = Column::from_parts(made_elsewhere, None);
        for mut column in [column_of(0..10), column_of(0..10_000), unsampled.clone()] {
            column.union(&unsampled);
            assert!(column.smallest().is_none() && !column.sketch().is_exact());
        }
        let mut column = unsampled.clone();
        column.union(&column_of(0..10));
        assert!(column.smallest().is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn the_sample_is_that_of_all_values_before_and_after_they_are_too_many_to_keep(
            first in 0u64..20_000, from in 0u64..20_000, count in 0u64..20_000,
        ) {
            let mut united = column_of(0..first);
            united.union(&column_of(from..from + count));
            let mut whole = BottomK::new();
            whole.add_hashes(&hashes_of(0..first));
            whole.add_hashes(&hashes_of(from..from + count));
            prop_assert_eq!(whole.hashes(), united.smallest().expect("all were seen").hashes());
        }
    }
}
