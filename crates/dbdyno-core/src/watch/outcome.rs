//! What a watch hands back: counts of snapshots and exact clocks, no estimates.
//!
//! Times are nanoseconds since `started_at_ns`. docs/architecture.md shows the JSON.

use serde::Serialize;

/// Everything that was seen.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Of this document.
    pub format: u32,
    /// How wait events were read.
    pub route: String,
    /// Why not by a better route, and what was not seen.
    pub note: Option<String>,
    /// `time`, `stopped` or `server_gone`.
    pub ended: Ending,
    /// CLOCK_REALTIME.
    pub started_at_ns: u64,
    /// Until the last step ended.
    pub elapsed_ns: u64,
    /// Of all steps.
    pub sweeps: u64,
    /// Mean time between two sweeps; null without one.
    pub period_ns: Option<u64>,
    /// What watching cost.
    pub sampler: SamplerCost,
    /// PostgreSQL's major version.
    pub version: u32,
    /// `Class:Name`; the first, empty, is no wait event.
    pub events: Vec<String>,
    /// In the order in which they were seen.
    pub processes: Vec<ProcessSeen>,
    /// One after the other, without a gap.
    pub steps: Vec<Step>,
    /// The Parquet file, where one was asked for and could be written.
    pub snapshots_path: Option<String>,
}

/// Why a watch is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// All seconds are over.
    Time,
    /// The caller, or Ctrl-C.
    Stopped,
    /// The server ended, was killed, or threw its shared memory away.
    ServerGone,
}

/// CPU time of our two threads.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct SamplerCost {
    /// Of both: the one that sweeps and the one that adds up.
    pub cpu_ns: u64,
    /// Of the second.
    pub adding_up_cpu_ns: u64,
    /// Of the first, for each sweep.
    pub cpu_ns_per_sweep: u64,
    /// Of the CPU time of all of the host's CPUs.
    pub host_share: f64,
    /// What was allowed.
    pub budget: f64,
    /// The same of the server's session that answers us, by the route `sql` on this host.
    pub server_cpu_ns: Option<u64>,
}

/// A process of the server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProcessSeen {
    /// Process id.
    pub pid: i32,
    /// As pg_stat_activity spells it; `unknown` where it was gone before it could be asked.
    pub backend_type: String,
    /// For whom a parallel worker works.
    pub leader_pid: Option<i32>,
    /// First seen.
    pub first_ns: u64,
    /// Gone, or the end of the watch.
    pub last_ns: u64,
    /// Where `cpu_ns` is from; null where no clock can be read.
    pub clock: Option<&'static str>,
    /// On a CPU between first and last sight.
    pub cpu_ns: Option<u64>,
    /// In line for one.
    pub run_queue_ns: Option<u64>,
    /// Gave up its CPU.
    pub voluntary_switches: Option<u64>,
    /// Was made to.
    pub involuntary_switches: Option<u64>,
    /// Waited for block devices, where the kernel measures it.
    pub block_io_delay_ns: Option<u64>,
}

/// A second, usually.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Step {
    /// Number, from 0.
    pub step: u64,
    /// Beginning.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
    /// Snapshots of each process that was there all the time.
    pub sweeps: u64,
    /// [process, query id, state, event, seen, looked, asleep].
    pub cells: Vec<Cell>,
    /// [process, CPU ns, run queue ns] of those that used any.
    pub clocks: Vec<(usize, Option<u64>, Option<u64>)>,
    /// [event, bin, count]: waits that ended, by length; 10 bins a decade of nanoseconds.
    pub episodes: Vec<(usize, u32, u64)>,
}

/// [process, query id, state, event, seen, looked, asleep].
pub type Cell = (usize, Option<String>, Option<&'static str>, usize, u64, u64, u64);

/// A step as it is shown while the watch goes on: with what is new in the tables that it refers to.
#[derive(Debug, Serialize)]
pub struct LiveStep<'a> {
    /// The step.
    #[serde(flatten)]
    pub step: &'a Step,
    /// Processes since the last step; their clocks are as of now.
    pub processes: Vec<ProcessSeen>,
    /// Names of events since the last step.
    pub events: &'a [String],
}
