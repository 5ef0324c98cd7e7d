//! The clocks of the clients' backends.
//!
//! The kernel brings them up to date when a task leaves its CPU and at ticks (4 ms here), so what is
//! read of a running task may be a tick old. They are exact while it sleeps, and only a state read
//! *before* the clocks proves that it slept: the other order would call a stale figure exact if the
//! backend went to sleep in between. A task also calls itself asleep some instructions before it
//! leaves its CPU; so the pair is read twice, and counts as asleep if both agree.

pub use super::process::SchedstatFile;
use super::process::{StateFile, TaskState};
pub use super::switches::{KernelCounters, Switches, block_io_is_accounted};
pub use super::task_clock::TaskClock;
use crate::load::{BackendClocks, BackendCounters};

/// One backend's state and clocks.
pub struct ClockFiles {
    /// Asleep or not.
    pub state: StateFile,
    /// CPU and run queue.
    pub schedstat: SchedstatFile,
    counters: KernelCounters,
}

impl ClockFiles {
    /// Open both files of a process.
    pub fn open(pid: i32) -> std::io::Result<Self> {
        Ok(ClockFiles {
            state: StateFile::open(pid)?,
            schedstat: SchedstatFile::open(pid)?,
            counters: KernelCounters::open(pid)?,
        })
    }

    /// The clocks now; `None` when the process is gone.
    pub fn read(&self) -> Option<BackendClocks> {
        let first = (self.state.read()?, self.schedstat.read()?);
        let second = if first.0 == TaskState::Asleep { (self.state.read()?, self.schedstat.read()?) } else { first };
        let (cpu_ns, run_queue_ns) = second.1;
        Some(BackendClocks { cpu_ns, run_queue_ns, asleep: first == second && second.0 == TaskState::Asleep })
    }

    /// The counters now; `None` when the process is gone.
    pub fn read_counters(&self, block_io_is_accounted: bool) -> Option<BackendCounters> {
        let switches = self.counters.switches()?;
        let delay_ns = if block_io_is_accounted { self.counters.block_io_delay_ns() } else { None };
        Some(BackendCounters {
            voluntary_switches: switches.voluntary,
            involuntary_switches: switches.involuntary,
            block_io_delay_ns: delay_ns,
        })
    }
}
