//! A uniform sample of rows that come one after another, nobody knows how many (algorithm R, Knuth, The Art of Computer
//! Programming, volume 2, 3.4.2).
//!
//! Algorithms that draw how many rows to pass over save draws where a sample is a small part of the rows, and cost three
//! logarithms a row that is taken. ANALYZE's is no small part of the pages it looks at, and a draw takes 2 ns.

use super::pages::below;
use crate::script::Random;

/// Which row goes to which place.
#[derive(Clone, Debug)]
pub(super) struct Reservoir {
    size: u64,
    seen: u64,
    random: Random,
}

impl Reservoir {
    /// With so many places.
    pub(super) fn new(size: u64, random: Random) -> Self {
        Self { size, seen: 0, random }
    }

    /// Rows that it has seen.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// Places that are filled.
    pub(super) fn filled(&self) -> u64 {
        self.seen.min(self.size)
    }

    /// Takes the next `count` rows, and calls `keep` with the number of each that is taken, counted from the first of
    /// them, and its place; a place that is new is the one behind the last.
    #[inline]
    pub(super) fn take(&mut self, count: u64, mut keep: impl FnMut(u64, u64)) {
        let first = self.seen;
        self.seen += count;
        let filled = self.filled().max(first);
        (first..filled).for_each(|row| keep(row - first, row));
        for row in filled..self.seen {
            let place = below(&mut self.random, row + 1);
            if place < self.size {
                keep(row - first, place);
            }
        }
    }
}

/// How many of `wanted` rows, drawn without replacement from parts of these sizes, come from each part.
pub(super) fn shares(sizes: &[u64], wanted: u64, random: &mut Random) -> Vec<u64> {
    let mut left = sizes.to_vec();
    let mut total: u64 = sizes.iter().sum();
    let mut taken = vec![0; sizes.len()];
    for _ in 0..wanted.min(total) {
        let mut drawn = below(random, total);
        for (part, left) in left.iter_mut().enumerate() {
            if drawn < *left {
                *left -= 1;
                taken[part] += 1;
                break;
            }
            drawn -= *left;
        }
        total -= 1;
    }
    taken
}

/// `wanted` different places of `count`, in random order.
pub(super) fn places(count: usize, wanted: usize, random: &mut Random) -> Vec<u32> {
    let mut places: Vec<u32> = (0..count as u32).collect();
    if wanted < count {
        for place in 0..wanted {
            places.swap(place, place + below(random, (count - place) as u64) as usize);
        }
        places.truncate(wanted);
    }
    places
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The rows in a reservoir that was given `count` rows, in pieces of this size.
    fn sample(size: usize, count: u64, piece: u64, seed: u64) -> Vec<u64> {
        let mut reservoir = Reservoir::new(size as u64, Random::from_seed(seed));
        let mut rows = Vec::new();
        for first in (0..count).step_by(piece as usize) {
            reservoir.take(piece.min(count - first), |row, place| match rows.get_mut(place as usize) {
                Some(kept) => *kept = first + row,
                None => {
                    assert_eq!(rows.len() as u64, place);
                    rows.push(first + row);
                }
            });
        }
        assert_eq!(count, reservoir.seen());
        rows
    }

    #[test]
    fn few_rows_are_all_taken() {
        assert_eq!((0..10).collect::<Vec<u64>>(), sample(10, 10, 3, 1));
        assert_eq!(vec![0, 1, 2], sample(10, 3, 2, 1));
    }

    #[test]
    fn pieces_change_nothing() {
        assert_eq!(sample(10, 1000, 1000, 7), sample(10, 1000, 1, 7));
        assert_eq!(sample(10, 1000, 1000, 7), sample(10, 1000, 10, 7));
    }

    #[test]
    fn every_row_is_taken_equally_often() {
        let mut taken = [0; 40];
        for seed in 0..8000 {
            let rows = sample(10, 40, 16, seed);
            assert_eq!(10, rows.iter().collect::<BTreeSet<_>>().len());
            rows.into_iter().for_each(|row| taken[row as usize] += 1);
        }
        // 8,000 draws of probability 1/4: a standard deviation of 39.
        assert!(taken.iter().all(|count| (2000_i32 - count).abs() < 160), "{taken:?}");
    }

    #[test]
    fn shares_follow_the_sizes_and_leave_nothing_over() {
        let mut random = Random::from_seed(5);
        let mut sums = [0; 3];
        for _ in 0..1000 {
            let taken = shares(&[30, 0, 10], 20, &mut random);
            assert_eq!((20, 0), (taken.iter().sum::<u64>(), taken[1]));
            sums.iter_mut().zip(taken).for_each(|(sum, taken)| *sum += taken);
        }
        // Hypergeometric with a mean of 15 and a variance of 20 x 3/4 x 1/4 x 20/39.
        assert!((i64::try_from(sums[0]).expect("small") - 15_000).abs() < 180, "{sums:?}");
        assert_eq!(vec![3, 4], shares(&[3, 4], 10, &mut random));
    }

    #[test]
    fn places_are_different_and_all_are_equally_likely() {
        let mut random = Random::from_seed(5);
        let mut taken = [0; 8];
        for _ in 0..4000 {
            let drawn = places(8, 3, &mut random);
            assert_eq!(3, drawn.iter().collect::<BTreeSet<_>>().len());
            drawn.into_iter().for_each(|place| taken[place as usize] += 1);
        }
        assert!(taken.iter().all(|count| (1500_i32 - count).abs() < 150), "{taken:?}");
        assert_eq!(vec![0, 1, 2], places(3, 5, &mut random));
    }
}
