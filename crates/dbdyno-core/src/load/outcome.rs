//! The trial outcome: what `run_trial` found. Its shape is described in docs/architecture.md.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::probe::BackgroundProcess;
use crate::stacks::StacksOutcome;
use crate::tally::{Distribution, Lateness};

/// A whole outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// When the window began, by CLOCK_REALTIME.
    pub started_at_ns: u64,
    /// As asked for.
    pub window_ns: u64,
    /// As asked for.
    pub fixed_units: Option<u64>,
    /// Window start to the later of window end and the last counted unit's end; fixed work: start of its first
    /// unit to end of its last one.
    pub elapsed_ns: u64,
    /// Counted units by fate.
    pub units: Units,
    /// All units that ended well, from the start of the load to its end: what the server's counters cover.
    pub units_with_warm_up: u64,
    /// Successful counted units per second; docs/architecture.md says over which time.
    pub throughput_per_s: f64,
    /// Mean number of units in the system (intended start to end) over the window; fixed work: over elapsed_ns.
    pub mean_in_flight: f64,
    /// Intended start to end, successful units.
    pub response_time: Distribution,
    /// Start to end, successful units.
    pub service_time: Distribution,
    /// Intended start to start, successful units.
    pub queue_time: Distribution,
    /// In the order of the spec.
    pub scripts: Vec<ScriptOutcome>,
    /// The row that `\gset` or `\aset` took last on the first client, by variable; null is NULL.
    pub captured: BTreeMap<String, Option<String>>,
    /// Over the window, by time of completion.
    pub series: Series,
    /// Where the response time went.
    pub profile: Profile,
    /// Server processes that serve no client.
    pub background: Vec<BackgroundProcess>,
    /// What the instrument itself cost.
    pub driver: Driver,
    /// WAL positions, if they were asked for and could be read.
    pub exposure: Exposure,
    /// Stacks of the clients' backends, if they were asked for.
    pub stacks: Option<StacksOutcome>,
}

/// All counted units = successful + skipped + failed; retried and late ones are among them.
#[derive(Clone, Copy, Debug, Default, Serialize, PartialEq, Eq)]
pub struct Units {
    /// Ended without an error, perhaps after retries.
    pub successful: u64,
    /// Never started.
    pub skipped: u64,
    /// The sum of the four classes below.
    pub failed: u64,
    /// Tried more than once.
    pub retried: u64,
    /// Over the latency limit; without a limit: started too long after the intended start.
    pub late: u64,
    /// Given up after SQLSTATE 40001.
    pub failed_serialization: u64,
    /// Given up after SQLSTATE 40P01.
    pub failed_deadlock: u64,
    /// Given up after any other error.
    pub failed_other: u64,
    /// Not ended when the drain limit was reached.
    pub failed_unfinished: u64,
}

/// One script of the workload.
#[derive(Clone, Debug, Serialize)]
pub struct ScriptOutcome {
    /// As in the spec.
    pub name: String,
    /// Counted units that ended well.
    pub successful: u64,
    /// Counted units that did not.
    pub failed: u64,
    /// Of the successful ones.
    pub response_time: Distribution,
    /// Of its units that were seen.
    pub snapshots: Vec<SnapshotsOutcome>,
    /// In the order of the script.
    pub statements: Vec<StatementOutcome>,
}

/// One statement of a script.
#[derive(Clone, Debug, Serialize)]
pub struct StatementOutcome {
    /// First line in the script.
    pub line: u32,
    /// As written.
    pub text: String,
    /// Rows that its executions in counted units returned.
    pub rows: u64,
    /// Rows that they inserted, updated, deleted or merged, by the server's command tags.
    pub rows_affected: u64,
    /// From sending to completion, executions in counted units.
    pub service_time: Distribution,
    /// Of the server working on it; none where it stands in a pipeline.
    pub snapshots: Vec<SnapshotsOutcome>,
}

/// Everything that completed in the window, in equal steps.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Series {
    /// Length of a step.
    pub step_ns: u64,
    /// Successful units.
    pub units: Vec<u64>,
    /// Sum of their response times.
    pub response_time_sum_ns: Vec<u64>,
    /// Failed units.
    pub failed: Vec<u64>,
}

/// Sums over the counted units; the parts add up to `total_ns` exactly.
#[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
pub struct Profile {
    /// How waits were read.
    pub route: String,
    /// Why not by a better route, or why sampling ended early.
    pub note: Option<String>,
    /// What CPU and run queue were read from.
    pub server_clocks: String,
    /// Intended start to start.
    pub queue_ns: u64,
    /// Backends on a CPU; null where it cannot be read.
    pub cpu_ns: Option<u64>,
    /// Of `cpu_ns`, what a hypervisor took from the host's CPUs meanwhile, in proportion to CPU time; null where it
    /// cannot be read.
    pub stolen_ns: Option<u64>,
    /// Backends waiting for a CPU; null where it cannot be read.
    pub run_queue_ns: Option<u64>,
    /// Backends asleep, by wait event, without the client's.
    pub waits_ns: BTreeMap<String, u64>,
    /// Backends asleep without a wait event.
    pub asleep_no_wait_event_ns: u64,
    /// Backends asleep, waiting for the client to read or write.
    pub client_and_network_ns: u64,
    /// What is left over, either way.
    pub unaccounted_ns: i64,
    /// Sum of the response times of all counted units that ended, failed ones included.
    pub total_ns: u64,
    /// Sweeps of the sampler while a client was in its span.
    pub snapshots: u64,
    /// Of single backends, found asleep within a span.
    pub snapshots_asleep: u64,
    /// CPU time of the sampler thread over the trial.
    pub sampler_cpu_ns: u64,
    /// CPU time of one sweep in the mean, without waking up for it; null where there was none.
    pub sampler_cpu_ns_sweeping: Option<u64>,
    /// How long that thread lived: somewhat longer than the clients' spans.
    pub sampler_elapsed_ns: u64,
    /// How often it woke up; `snapshots` counts those within a client's span.
    pub sampler_wake_ups: u64,
    /// Mean time between two sweeps, as it was; null where there were fewer than two.
    pub period_ns: Option<u64>,
    /// Snapshots of single backends with a state.
    pub looked: u64,
    /// Backends left their CPU to wait; null where it cannot be read.
    pub voluntary_switches: Option<u64>,
    /// Backends had to leave their CPU; null where it cannot be read.
    pub involuntary_switches: Option<u64>,
    /// Backends waited for block devices, in steps of 10 ms; null where the kernel does not measure it.
    pub block_io_delay_ns: Option<u64>,
    /// Why it is null.
    pub block_io_note: Option<String>,
    /// Units are cut into chunks of this length by their end.
    pub chunk_ns: u64,
    /// Of response times: bin b holds 10^(b/n) <= response_ns < 10^((b+1)/n).
    pub bins_per_decade: u32,
    /// Names that snapshots go by; the first is that of no wait event, and empty.
    pub events: Vec<String>,
    /// All counted units that ended, by chunk and bin; packed where it is written down.
    #[serde(serialize_with = "super::packed_cells::serialize")]
    pub cells: Vec<CellOutcome>,
    /// Lengths of waits; null where nothing was sampled.
    pub episodes: Option<EpisodesOutcome>,
}

/// Index of the event, seen, looked, asleep.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct SnapshotsOutcome(pub usize, pub u64, pub u64, pub u64);

/// Chunk, bin, units, response_ns, queue_ns, and of those that were seen: steps of the clocks between two looks
/// within one unit (cpu_ns, run_queue_ns), and snapshots.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct CellOutcome(pub usize, pub usize, pub u64, pub u64, pub u64, pub u64, pub u64, pub Vec<SnapshotsOutcome>);

/// How long waits lasted, from the transitions seen.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct EpisodesOutcome {
    /// Steps of time, by the wait's end.
    pub step_ns: u64,
    /// Of lengths.
    pub bins_per_decade: u32,
    /// Step, index of the event, bin, count.
    pub cells: Vec<(usize, usize, usize, u64)>,
    /// Shorter ones are mostly missed.
    pub shortest_ns: Option<u64>,
}

/// The load threads, metered over the window, or over the time that fixed work took.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Driver {
    /// CPU time of all load threads.
    pub cpu_ns: u64,
    /// How many there were.
    pub threads: usize,
    /// The busiest one's CPU time over the window's length: near 1 the client was the limit.
    pub busiest_thread_share: f64,
    /// How long after a unit could and should have started it did.
    pub lateness_ns: Lateness,
    /// Most memory that the process had in use, from its start to the end of the trial; null where the kernel
    /// does not say.
    pub memory_bytes_max: Option<u64>,
}

/// What a crash would have lost, sampled during the window.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Exposure {
    /// Nanoseconds since the window began, WAL insert position, flushed position (bytes).
    /// Null where sampling was not asked for or not permitted.
    pub samples: Option<Vec<(u64, u64, u64)>>,
}
