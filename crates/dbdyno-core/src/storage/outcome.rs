//! What came of it, as JSON.

use serde::Serialize;

use crate::tally::{Distribution, Lateness};

/// Of one cell. Times are those of I/Os that ended within the window.
#[derive(Clone, Debug, Serialize)]
pub struct CellOutcome {
    /// `io_uring`, `threads`, `null` or `programmed`.
    pub engine: &'static str,
    /// When the window began, on the storage's clock.
    pub from_ns: u64,
    /// Its length.
    pub window_ns: u64,
    /// Ended within it.
    pub reads: u64,
    /// Ended within it.
    pub writes: u64,
    /// Moved by them.
    pub bytes: u64,
    /// Of whole I/Os before, in and after the window, and the bytes that they moved: what the kernel's counters saw.
    pub reads_in_all: u64,
    /// Likewise.
    pub writes_in_all: u64,
    /// From the intended start.
    pub response_time: Distribution,
    /// Of the reads alone; null where there are no writes.
    pub read_response_time: Option<Distribution>,
    /// From the submission; null in a closed loop, where it is the same.
    pub service_time: Option<Distribution>,
    /// Of reads that brought nothing but zeros; null where nobody looked.
    pub zero_response_time: Option<Distribution>,
    /// How long after it was due and there was room an I/O was submitted: the engine's own delay.
    pub lateness_ns: Lateness,
    /// Mean number in the system over the window: in flight, and in an open loop those that wait for room as well.
    pub concurrency: f64,
    /// From the first intended start possible to the last end.
    pub elapsed_ns: u64,
    /// The longest time in which no I/O ended although one was in flight, before and after the window as well.
    pub longest_silence_ns: u64,
    /// How long each flush took that was asked for alongside.
    pub flush_times_ns: Vec<u64>,
    /// CPU of the engine's threads over all I/Os, the kernel's share in it.
    pub cpu_ns: u64,
    /// By step of the window.
    pub series: StorageSeries,
    /// Of the heat map.
    pub bins_per_decade: u32,
    /// How many I/Os of which response times in which step; of reads alone where there are both.
    pub heat: Vec<HeatCell>,
}

/// By step.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StorageSeries {
    /// Of one step.
    pub step_ns: u64,
    /// I/Os that ended.
    pub ios: Vec<u64>,
    /// Sum of their response times.
    pub response_time_sum_ns: Vec<u64>,
    /// Longest of them.
    pub response_time_max_ns: Vec<u64>,
}

/// Step, bin of response time, I/Os: bin b holds `10^(b/bins_per_decade) <= ns < 10^((b+1)/bins_per_decade)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HeatCell(pub usize, pub usize, pub u64);

/// Of commits in a row.
#[derive(Clone, Debug, Serialize)]
pub struct FlushOutcome {
    /// Of each commit, those of all writers: from its write to the moment it is durable.
    pub times_ns: Vec<u64>,
    /// From the first write to the last flush.
    pub elapsed_ns: u64,
    /// Flushes that were asked for; fewer than commits where one served several.
    pub flushes: u64,
}
