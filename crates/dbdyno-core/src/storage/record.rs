//! What one thread writes down about its I/Os. Nothing here allocates after the start; threads are merged at the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::outcome::{HeatCell, StorageSeries};
use super::spec::{Cell, Load};
use crate::log_bins::LogBins;
use crate::tally::Tally;

/// Of the heat map: 4.7 % apart, as everywhere.
pub(super) const BINS_PER_DECADE: u32 = 50;

/// The record of one thread.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    from_ns: u64,
    until_ns: u64,
    step_ns: u64,
    bins: Arc<LogBins>,
    pub response: Tally,
    /// Of the reads alone, where there are writes as well; then the heat map is theirs, too.
    pub reads: Option<Tally>,
    /// None in a closed loop, where it is the response time.
    pub service: Option<Tally>,
    pub lateness: Tally,
    /// [0]: reads, [1]: writes.
    pub within: [u64; 2],
    pub in_all: [u64; 2],
    pub bytes: u64,
    pub looks_for_zeros: bool,
    /// Response times of reads that brought nothing but zeros.
    pub zeros: Tally,
    /// Time spent within the window by I/Os, from their intended starts.
    area_ns: u128,
    /// When the last I/O ended, on whichever thread.
    last_end_ns: Arc<AtomicU64>,
    pub longest_silence_ns: u64,
    ios: Vec<u64>,
    sum_ns: Vec<u64>,
    max_ns: Vec<u64>,
    /// By step, then bin.
    heat: Vec<u32>,
}

impl Recorder {
    /// For a window that begins at `from_ns` on the device's clock.
    pub(super) fn new(cell: &Cell, from_ns: u64) -> Self {
        let bins = Arc::new(LogBins::new(BINS_PER_DECADE));
        let steps = cell.window_ns.div_ceil(cell.series_step_ns) as usize;
        Self {
            from_ns,
            until_ns: from_ns + cell.window_ns,
            step_ns: cell.series_step_ns,
            response: Tally::new(),
            reads: (cell.write_share > 0.0).then(Tally::new),
            service: matches!(cell.load, Load::Open { .. }).then(Tally::new),
            lateness: Tally::new(),
            within: [0; 2],
            in_all: [0; 2],
            bytes: 0,
            looks_for_zeros: cell.look_for_zeros,
            zeros: Tally::new(),
            area_ns: 0,
            last_end_ns: Arc::default(),
            longest_silence_ns: 0,
            ios: vec![0; steps],
            sum_ns: vec![0; steps],
            max_ns: vec![0; steps],
            heat: vec![0; steps * bins.count()],
            bins,
        }
    }

    /// One was submitted, so long after it could have been.
    pub(super) fn started(&mut self, now_ns: u64, late_ns: u64) {
        if self.service.is_some() && (self.from_ns..self.until_ns).contains(&now_ns) {
            self.lateness.record(late_ns);
        }
    }

    /// One has ended.
    pub(super) fn ended(&mut self, write: bool, bytes: u32, intended_ns: u64, started_ns: u64, at_ns: u64) {
        self.in_all[usize::from(write)] += 1;
        let overlap_ns = at_ns.min(self.until_ns).saturating_sub(intended_ns.max(self.from_ns));
        self.area_ns += u128::from(overlap_ns);
        // Threads may see each other's end late, which errs by less than one I/O.
        let silent_since_ns = self.last_end_ns.load(Ordering::Relaxed).max(started_ns);
        self.longest_silence_ns = self.longest_silence_ns.max(at_ns.saturating_sub(silent_since_ns));
        self.last_end_ns.store(at_ns, Ordering::Relaxed);
        if !(self.from_ns..self.until_ns).contains(&at_ns) {
            return;
        }
        let response_ns = at_ns - intended_ns;
        self.within[usize::from(write)] += 1;
        self.bytes += u64::from(bytes);
        self.response.record(response_ns);
        if let Some(service) = &mut self.service {
            service.record(at_ns - started_ns);
        }
        let step = ((at_ns - self.from_ns) / self.step_ns) as usize;
        self.ios[step] += 1;
        self.sum_ns[step] += response_ns;
        self.max_ns[step] = self.max_ns[step].max(response_ns);
        if let Some(reads) = &mut self.reads {
            if write {
                return;
            }
            reads.record(response_ns);
        }
        self.heat[step * self.bins.count() + self.bins.of(response_ns)] += 1;
    }

    /// The read that has just been written down brought nothing but zeros.
    pub(super) fn zero(&mut self, intended_ns: u64, at_ns: u64) {
        if (self.from_ns..self.until_ns).contains(&at_ns) {
            self.zeros.record(at_ns - intended_ns);
        }
    }

    /// Another thread's record of the same window as well.
    pub(super) fn merge(&mut self, other: &Self) {
        self.response.merge(&other.response);
        for (mine, theirs) in [(&mut self.service, &other.service), (&mut self.reads, &other.reads)] {
            if let (Some(mine), Some(theirs)) = (mine, theirs) {
                mine.merge(theirs);
            }
        }
        self.longest_silence_ns = self.longest_silence_ns.max(other.longest_silence_ns);
        self.lateness.merge(&other.lateness);
        for kind in 0..2 {
            self.within[kind] += other.within[kind];
            self.in_all[kind] += other.in_all[kind];
        }
        self.bytes += other.bytes;
        self.zeros.merge(&other.zeros);
        self.area_ns += other.area_ns;
        add_each(&mut self.ios, &other.ios, |mine, theirs| mine + theirs);
        add_each(&mut self.sum_ns, &other.sum_ns, |mine, theirs| mine + theirs);
        add_each(&mut self.max_ns, &other.max_ns, u64::max);
        add_each(&mut self.heat, &other.heat, |mine, theirs| mine + theirs);
    }

    /// Mean number of I/Os in the system over the window.
    pub(super) fn concurrency(&self) -> f64 {
        self.area_ns as f64 / (self.until_ns - self.from_ns) as f64
    }

    /// 0 where there was no I/O.
    pub(super) fn last_end_ns(&self) -> u64 {
        self.last_end_ns.load(Ordering::Relaxed)
    }

    pub(super) fn series(&self) -> StorageSeries {
        StorageSeries {
            step_ns: self.step_ns,
            ios: self.ios.clone(),
            response_time_sum_ns: self.sum_ns.clone(),
            response_time_max_ns: self.max_ns.clone(),
        }
    }

    /// The cells that hold something.
    pub(super) fn heat(&self) -> Vec<HeatCell> {
        let bins = self.bins.count();
        let used = self.heat.iter().enumerate().filter(|(_, count)| **count > 0);
        used.map(|(place, count)| HeatCell(place / bins, place % bins, u64::from(*count))).collect()
    }
}

fn add_each<T: Copy>(mine: &mut [T], theirs: &[T], add: impl Fn(T, T) -> T) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = add(*mine, *theirs));
}
