//! Sums of calls and of waits, which all lead back to lines.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

use super::record::Call;

/// What a call and its recursive calls have spent together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    pub cpu_ns: i64,
    pub elapsed_ns: i64,
    pub physical_reads: i64,
    pub consistent_reads: i64,
    pub current_reads: i64,
}

impl Spent {
    #[inline(always)]
    pub(super) fn of(call: &Call) -> Self {
        Self {
            cpu_ns: call.cpu_ns,
            elapsed_ns: call.elapsed_ns,
            physical_reads: call.physical_reads,
            consistent_reads: call.consistent_reads,
            current_reads: call.current_reads,
        }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, other: &Self) {
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.elapsed_ns = self.elapsed_ns.saturating_add(other.elapsed_ns);
        self.physical_reads = self.physical_reads.saturating_add(other.physical_reads);
        self.consistent_reads = self.consistent_reads.saturating_add(other.consistent_reads);
        self.current_reads = self.current_reads.saturating_add(other.current_reads);
    }

    #[inline(always)]
    pub(super) fn subtract(&mut self, other: &Self) {
        self.cpu_ns = self.cpu_ns.saturating_sub(other.cpu_ns);
        self.elapsed_ns = self.elapsed_ns.saturating_sub(other.elapsed_ns);
        self.physical_reads = self.physical_reads.saturating_sub(other.physical_reads);
        self.consistent_reads = self.consistent_reads.saturating_sub(other.consistent_reads);
        self.current_reads = self.current_reads.saturating_sub(other.current_reads);
    }
}

/// All calls of one kind of a statement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallSums {
    pub count: u64,
    pub all: Spent,
    /// Without recursive calls.
    pub own: Spent,
    pub misses: i64,
    pub rows: i64,
    pub first_line: u64,
    pub slowest_ns: i64,
    pub slowest_line: u64,
}

impl CallSums {
    #[inline(always)]
    pub(super) fn record(&mut self, call: &Call, own: &Spent, line: u64) {
        if self.count == 0 {
            self.first_line = line;
        }
        if self.count == 0 || call.elapsed_ns > self.slowest_ns {
            (self.slowest_ns, self.slowest_line) = (call.elapsed_ns, line);
        }
        self.count += 1;
        self.all.add(&Spent::of(call));
        self.own.add(own);
        self.misses = self.misses.saturating_add(call.misses);
        self.rows = self.rows.saturating_add(call.rows);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        self.first_line = self.first_line.min(other.first_line);
        if other.slowest_ns > self.slowest_ns {
            (self.slowest_ns, self.slowest_line) = (other.slowest_ns, other.slowest_line);
        }
        self.count += other.count;
        self.all.add(&other.all);
        self.own.add(&other.own);
        self.misses = self.misses.saturating_add(other.misses);
        self.rows = self.rows.saturating_add(other.rows);
    }
}

/// Of durations: two digits, a few kilobytes each, so that there may be thousands.
pub(super) type Durations = Histogram<u32>;

/// One that grows as needed.
pub(super) fn durations() -> Durations {
    let mut histogram = Histogram::new_with_bounds(1, 2_000_000, 2).expect("the bounds are valid");
    histogram.auto(true);
    histogram
}

/// In the encoding that all our documents have: HdrHistogram V2 of three digits, compressed, base64.
pub(super) fn encoded(histogram: &Durations) -> String {
    let highest = histogram.max().max(2);
    let mut wide: Histogram<u32> = Histogram::new_with_bounds(1, highest, 3).expect("the bounds are valid");
    for bucket in histogram.iter_recorded() {
        let middle = histogram.median_equivalent(bucket.value_iterated_to()).min(highest);
        wide.record_n(middle, bucket.count_at_value()).expect("within the bounds");
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&wide, &mut bytes).expect("a Vec takes every write");
    STANDARD.encode(bytes)
}

/// All waits for one event while a statement's cursor was the current one.
#[derive(Clone, Debug)]
pub(super) struct WaitSums {
    /// Its place among the events.
    pub event: u32,
    pub count: u64,
    pub elapsed_ns: i64,
    /// As far as it was between two calls.
    pub between_count: u64,
    pub between_ns: i64,
    pub shortest_ns: i64,
    pub longest_ns: i64,
    pub first_line: u64,
    pub longest_line: u64,
    /// None beyond the limit.
    pub histogram: Option<Box<Durations>>,
}

impl WaitSums {
    pub(super) fn new(event: u32, line: u64, histogram: Option<Box<Durations>>) -> Self {
        Self {
            event,
            count: 0,
            elapsed_ns: 0,
            between_count: 0,
            between_ns: 0,
            shortest_ns: i64::MAX,
            longest_ns: i64::MIN,
            first_line: line,
            longest_line: line,
            histogram,
        }
    }

    #[inline(always)]
    pub(super) fn record(&mut self, elapsed_ns: i64, line: u64) {
        self.count += 1;
        self.elapsed_ns = self.elapsed_ns.saturating_add(elapsed_ns);
        self.shortest_ns = self.shortest_ns.min(elapsed_ns);
        if elapsed_ns > self.longest_ns {
            (self.longest_ns, self.longest_line) = (elapsed_ns, line);
        }
        if let Some(histogram) = &mut self.histogram {
            histogram.record(elapsed_ns.max(0) as u64).expect("it grows");
        }
    }

    /// One of those recorded was between two calls.
    #[inline(always)]
    pub(super) fn between(&mut self, elapsed_ns: i64) {
        self.between_count += 1;
        self.between_ns = self.between_ns.saturating_add(elapsed_ns);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.elapsed_ns = self.elapsed_ns.saturating_add(other.elapsed_ns);
        self.between_count += other.between_count;
        self.between_ns = self.between_ns.saturating_add(other.between_ns);
        self.shortest_ns = self.shortest_ns.min(other.shortest_ns);
        self.first_line = self.first_line.min(other.first_line);
        if other.longest_ns > self.longest_ns {
            (self.longest_ns, self.longest_line) = (other.longest_ns, other.longest_line);
        }
        self.histogram = match (self.histogram.take(), &other.histogram) {
            (Some(mut mine), Some(theirs)) => {
                mine.add(&**theirs).expect("it grows");
                Some(mine)
            }
            _ => None,
        };
    }
}

/// From the earliest begin to the latest moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub begin_ns: i64,
    pub end_ns: i64,
    pub begin_line: u64,
    pub end_line: u64,
}

impl Default for Extent {
    fn default() -> Self {
        Self { begin_ns: i64::MAX, end_ns: i64::MIN, begin_line: 0, end_line: 0 }
    }
}

impl Extent {
    #[inline(always)]
    pub(super) fn add(&mut self, begin_ns: i64, end_ns: i64, line: u64) {
        if begin_ns < self.begin_ns {
            (self.begin_ns, self.begin_line) = (begin_ns, line);
        }
        if end_ns > self.end_ns {
            (self.end_ns, self.end_line) = (end_ns, line);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if other.begin_ns < self.begin_ns {
            (self.begin_ns, self.begin_line) = (other.begin_ns, other.begin_line);
        }
        if other.end_ns > self.end_ns {
            (self.end_ns, self.end_line) = (other.end_ns, other.end_line);
        }
    }

    /// 0 where no line has a time.
    pub(super) fn duration_ns(&self) -> i64 {
        self.end_ns.checked_sub(self.begin_ns).filter(|duration| *duration > 0).unwrap_or(0)
    }
}
