//! What two sets have in common, seen in the hashes that both are known by.

/// Different hashes of a set: all of them up to `last`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Ascending, each once.
    pub hashes: Vec<u64>,
    /// Up to this one they are complete; 2^64 - 1 where all are here.
    pub last: u64,
}

/// What two sets have in common among the hashes up to which both samples are complete: of different values of each
/// as good as a random choice, by the same chance for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Of the first set.
    pub first: usize,
    /// Of the second set.
    pub second: usize,
    /// Of both.
    pub common: usize,
    /// The counts are those of the whole sets.
    pub exact: bool,
}

impl Overlap {
    /// By both samples.
    #[must_use]
    pub fn between(first: &Sample, second: &Sample) -> Self {
        let last = first.last.min(second.last);
        let known = |sample: &Sample| sample.hashes.partition_point(|hash| *hash <= last);
        let (first, second) = (&first.hashes[..known(first)], &second.hashes[..known(second)]);
        let common = count_common(first, second);
        Self { first: first.len(), second: second.len(), common, exact: last == u64::MAX }
    }

    /// How much of the first set is in the second; none if nothing of the first was seen.
    #[must_use]
    pub fn containment(&self) -> Option<f64> {
        (self.first > 0).then(|| self.common as f64 / self.first as f64)
    }

    /// The size of what is in both over that of what is in either; none if nothing was seen.
    #[must_use]
    pub fn jaccard(&self) -> Option<f64> {
        let either = self.first + self.second - self.common;
        (either > 0).then(|| self.common as f64 / either as f64)
    }
}

fn count_common(mut first: &[u64], mut second: &[u64]) -> usize {
    let mut common = 0;
    while let ([mine, others_of_first @ ..], [theirs, others_of_second @ ..]) = (first, second) {
        common += usize::from(mine == theirs);
        if mine <= theirs {
            first = others_of_first;
        }
        if theirs <= mine {
            second = others_of_second;
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn sample(hashes: impl IntoIterator<Item = u64>, last: u64) -> Sample {
        Sample { hashes: hashes.into_iter().collect(), last }
    }

    #[test]
    fn whole_sets_give_exact_shares() {
        let overlap = Overlap::between(&sample(0..600, u64::MAX), &sample(400..1400, u64::MAX));
        assert_eq!(Overlap { first: 600, second: 1000, common: 200, exact: true }, overlap);
        assert_eq!((Some(1.0 / 3.0), Some(1.0 / 7.0)), (overlap.containment(), overlap.jaccard()));
        let nothing = Overlap::between(&sample([], u64::MAX), &sample([], u64::MAX));
        assert_eq!((None, None), (nothing.containment(), nothing.jaccard()));
    }

    #[test]
    fn beyond_the_end_of_the_shorter_sample_nothing_counts() {
        let overlap = Overlap::between(&sample([1, 5, 9], 9), &sample([5, 8, 9, 12], u64::MAX));
        assert_eq!(Overlap { first: 3, second: 3, common: 2, exact: false }, overlap);
    }

    proptest! {
        #[test]
        fn common_hashes_are_those_of_the_intersection(
            first in proptest::collection::btree_set(0u64..300, 0..200),
            second in proptest::collection::btree_set(0u64..300, 0..200),
            last in 0u64..300,
        ) {
            let overlap = Overlap::between(&sample(first.clone(), last), &sample(second.clone(), u64::MAX));
            let upto = |set: BTreeSet<u64>| set.into_iter().filter(|hash| *hash <= last).collect::<BTreeSet<_>>();
            let (first, second) = (upto(first), upto(second));
            let common = first.intersection(&second).count();
            prop_assert_eq!(Overlap { first: first.len(), second: second.len(), common, exact: false }, overlap);
        }
    }
}
