//! What the load threads know of all units, by chunk of the trial and bin of response times: the cells that the
//! sampler's snapshots of some units are set against.

use crate::chunks::{Chunks, Merge};
use crate::log_bins::LogBins;
use crate::probe::{BINS_PER_DECADE, CHUNKS_MAX};

/// Exact sums over units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UnitSum {
    pub units: u64,
    pub response_ns: u64,
    pub queue_ns: u64,
}

/// By bin of response times; all bins, so that counting is two additions and allocates nothing.
#[derive(Clone, Debug)]
pub(super) struct BinSums(Vec<UnitSum>);

impl BinSums {
    /// (bin, sum) of the bins in use.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &UnitSum)> {
        self.0.iter().enumerate().filter(|(_, sum)| sum.units > 0)
    }
}

impl Merge for BinSums {
    fn take(&mut self, other: &mut Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&mut other.0) {
            let theirs = std::mem::take(theirs);
            mine.units += theirs.units;
            mine.response_ns += theirs.response_ns;
            mine.queue_ns += theirs.queue_ns;
        }
    }
}

/// All counted units that ended, failed ones included.
#[derive(Clone, Debug)]
pub(super) struct UnitSums {
    bins: LogBins,
    /// By end of the unit.
    pub chunks: Chunks<BinSums>,
}

impl UnitSums {
    /// None yet.
    pub(super) fn new(chunk_ns: u64) -> Self {
        let bins = LogBins::new(BINS_PER_DECADE);
        let empty = BinSums(vec![UnitSum::default(); bins.count()]);
        Self { bins, chunks: Chunks::new(chunk_ns, CHUNKS_MAX, empty) }
    }

    /// A unit ended so long after the window began.
    pub(super) fn add(&mut self, after_start_ns: u64, response_ns: u64, queue_ns: u64) {
        let sum = &mut self.chunks.at(after_start_ns).0[self.bins.of(response_ns)];
        sum.units += 1;
        sum.response_ns += response_ns;
        sum.queue_ns += queue_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_count_in_the_chunk_of_their_end_and_the_bin_of_their_response() {
        let mut sums = UnitSums::new(100);
        sums.add(50, 1000, 10);
        sums.add(60, 1010, 0);
        sums.add(150, 1000, 0);
        let of_chunk = |chunk: &BinSums| chunk.iter().map(|(bin, sum)| (bin, *sum)).collect::<Vec<_>>();
        let found: Vec<_> = sums.chunks.iter().map(of_chunk).collect();
        let expected: Vec<Vec<_>> = vec![
            vec![(150, UnitSum { units: 2, response_ns: 2010, queue_ns: 10 })],
            vec![(150, UnitSum { units: 1, response_ns: 1000, queue_ns: 0 })],
        ];
        assert_eq!(expected, found[..2]);
    }
}
