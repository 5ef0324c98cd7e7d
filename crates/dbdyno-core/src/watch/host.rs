//! What this host knows about a process of the server: its title, its state, its clocks.

use std::collections::BTreeMap;

use super::sweep::StateReader;
use crate::probe::clocks::{KernelCounters, SchedstatFile, Switches, TaskClock, block_io_is_accounted};
use crate::probe::{StateFile, TaskState, process_kind};

/// What a process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// As pg_stat_activity spells it.
    pub backend_type: String,
    /// For whom a parallel worker works.
    pub leader_pid: Option<i32>,
}

/// The clocks and counters of one process, CPU and run queue since its birth.
pub trait Meter: Send {
    /// Where the CPU time is from.
    fn clock(&self) -> &'static str;
    /// On a CPU; none when that cannot be known any more.
    fn cpu_ns(&self) -> Option<u64>;
    /// In line for one.
    fn run_queue_ns(&self) -> Option<u64>;
    /// Given up and taken.
    fn switches(&self) -> Option<Switches>;
    /// Waited for block devices; none where the kernel does not measure it.
    fn block_io_delay_ns(&self) -> Option<u64>;
}

/// Asks about processes.
pub trait Host {
    /// Reads one process's state.
    type Reader: StateReader;

    /// None: gone, or it has not yet said what it is.
    fn kind(&self, pid: i32) -> Option<Kind>;

    /// Whether there is such a process; it may be on another host, and then counts as there.
    fn is_alive(&self, pid: i32) -> bool;

    /// Whether its processes are on this host.
    fn reads_clocks(&self) -> bool;

    /// State and clocks; none for processes of another host, or gone.
    fn open(&self, pid: i32) -> Option<(Self::Reader, Box<dyn Meter>)>;
}

impl StateReader for StateFile {
    fn read(&self) -> Option<TaskState> {
        StateFile::read(self)
    }
}

/// This host, by /proc and perf_event_open.
pub struct ThisHost {
    block_io_is_accounted: bool,
}

impl ThisHost {
    /// Whether block-I/O delay is accounted is a switch of the whole host.
    pub fn new() -> Self {
        ThisHost { block_io_is_accounted: block_io_is_accounted().is_ok() }
    }
}

impl Host for ThisHost {
    type Reader = StateFile;

    fn kind(&self, pid: i32) -> Option<Kind> {
        let (backend_type, leader_pid) = process_kind(pid)?;
        Some(Kind { backend_type, leader_pid })
    }

    fn is_alive(&self, pid: i32) -> bool {
        StateFile::open(pid).is_ok_and(|state| state.read().is_some())
    }

    fn reads_clocks(&self) -> bool {
        true
    }

    fn open(&self, pid: i32) -> Option<(StateFile, Box<dyn Meter>)> {
        let schedstat = SchedstatFile::open(pid).ok()?;
        let (before_ns, _) = schedstat.read()?;
        let meter = ProcessMeter {
            schedstat,
            task_clock: TaskClock::open(pid).ok().map(|clock| (clock, before_ns)),
            counters: KernelCounters::open(pid).ok()?,
            block_io_is_accounted: self.block_io_is_accounted,
        };
        Some((StateFile::open(pid).ok()?, Box::new(meter)))
    }
}

struct ProcessMeter {
    schedstat: SchedstatFile,
    /// With the CPU time that was used before it was opened.
    task_clock: Option<(TaskClock, u64)>,
    counters: KernelCounters,
    block_io_is_accounted: bool,
}

impl Meter for ProcessMeter {
    fn clock(&self) -> &'static str {
        if self.task_clock.is_some() { "task-clock" } else { "schedstat" }
    }

    /// The task clock can also be read when its process is gone.
    fn cpu_ns(&self) -> Option<u64> {
        match &self.task_clock {
            Some((clock, before_ns)) => clock.read_ns().ok().map(|since_ns| before_ns + since_ns),
            None => self.schedstat.read().map(|(cpu_ns, _)| cpu_ns),
        }
    }

    fn run_queue_ns(&self) -> Option<u64> {
        self.schedstat.read().map(|(_, run_queue_ns)| run_queue_ns)
    }

    fn switches(&self) -> Option<Switches> {
        self.counters.switches()
    }

    fn block_io_delay_ns(&self) -> Option<u64> {
        self.block_io_is_accounted.then(|| self.counters.block_io_delay_ns()).flatten()
    }
}

/// What the server itself says of its processes, by pid.
pub type Kinds = BTreeMap<i32, Kind>;
