//! How long waits last, from the transitions that snapshots show.
//!
//! An episode begins with the first snapshot that shows an event and ends with the first one that does not: or that
//! shows another statement or another unit. So two equal waits of one statement with less than a period between
//! them are one episode, and one much shorter than the period is mostly missed: what is said of lengths begins at
//! the period. Beginning and end are late by half a period each, in the mean, which cancels out.

use crate::chunks::{Chunks, Merge};
use crate::log_bins::LogBins;

/// Bins of the lengths.
pub const BINS_PER_DECADE: u32 = 10;
/// A trial has at most so many steps: those of fixed work grow with it.
pub const STEPS_MAX: usize = 64;

/// Episodes by step (of their end), event and length.
#[derive(Clone, Debug)]
pub struct Episodes {
    start_ns: u64,
    bins: LogBins,
    steps: Chunks<StepEpisodes>,
}

/// Of one step: a row of bins for each event that was met.
#[derive(Clone, Debug, Default)]
struct StepEpisodes(Vec<Option<Box<[u32; BINS]>>>);

/// As many as `LogBins` has.
const BINS: usize = 13 * BINS_PER_DECADE as usize;

impl Merge for StepEpisodes {
    fn take(&mut self, other: &mut Self) {
        for (event, row) in other.0.iter_mut().enumerate() {
            let Some(row) = row.take() else { continue };
            let mine = self.row(event);
            mine.iter_mut().zip(row.iter()).for_each(|(mine, theirs)| *mine += theirs);
        }
    }
}

impl StepEpisodes {
    fn row(&mut self, event: usize) -> &mut [u32; BINS] {
        if event >= self.0.len() {
            self.0.resize(event + 1, None);
        }
        self.0[event].get_or_insert_with(|| Box::new([0; BINS]))
    }
}

impl Episodes {
    /// Steps begin at `start_ns`.
    pub fn new(start_ns: u64, step_ns: u64) -> Self {
        let bins = LogBins::new(BINS_PER_DECADE);
        assert_eq!(BINS, bins.count());
        Episodes { start_ns, bins, steps: Chunks::new(step_ns, STEPS_MAX, StepEpisodes::default()) }
    }

    /// One has ended.
    pub fn add(&mut self, event: usize, begun_ns: u64, ended_ns: u64) {
        let bin = self.bins.of(ended_ns.saturating_sub(begun_ns));
        self.steps.at(ended_ns.saturating_sub(self.start_ns)).row(event)[bin] += 1;
    }

    /// How long a step is.
    pub fn step_ns(&self) -> u64 {
        self.steps.chunk_ns()
    }

    /// (step, event, bin, count), in order.
    pub fn counts(&self) -> Vec<(usize, usize, usize, u64)> {
        let mut counts = Vec::new();
        for (step, episodes) in self.steps.iter().enumerate() {
            for (event, row) in episodes.0.iter().enumerate() {
                let bins = row.iter().flat_map(|row| row.iter().enumerate()).filter(|(_, count)| **count > 0);
                counts.extend(bins.map(|(bin, &count)| (step, event, bin, u64::from(count))));
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_in_the_step_in_which_they_end() {
        let mut episodes = Episodes::new(1000, 100);
        episodes.add(2, 1000, 1010);
        episodes.add(2, 1001, 1011);
        episodes.add(1, 1100, 1250);
        assert_eq!(vec![(0, 2, 10, 2), (2, 1, 21, 1)], episodes.counts());
        episodes.add(1, 1000, 1000 + 100 * STEPS_MAX as u64);
        assert_eq!(200, episodes.step_ns());
        assert_eq!(vec![(0, 2, 10, 2), (1, 1, 21, 1), (32, 1, 38, 1)], episodes.counts());
    }
}
