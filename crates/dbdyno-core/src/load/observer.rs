//! The seam between the load engine and the probes: what each tells the other during a trial.
//!
//! The engine says what each client is doing (`PhaseCell`) and asks for the kernel's clocks and counters of one
//! backend at both edges of that client's span.

/// What the engine asks of the probes. One per trial; called by load threads.
pub trait Observer: Sync {
    /// Clocks of one backend, read when its client is between units. None where they cannot be read
    /// (another host).
    fn read_clocks(&self, client: usize) -> Option<BackendClocks>;

    /// Counters of one backend, read where its clocks are. None where they cannot be read.
    fn read_counters(&self, client: usize) -> Option<BackendCounters>;
}

/// The kernel's account of one backend since it was born.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackendClocks {
    /// Time on a CPU.
    pub cpu_ns: u64,
    /// Time runnable, waiting for a CPU.
    pub run_queue_ns: u64,
    /// Whether the backend was asleep when read, so that the figures are exact.
    pub asleep: bool,
}

/// What the kernel counts about a backend beside its clocks, since it was born.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackendCounters {
    /// Times that it left its CPU to wait.
    pub voluntary_switches: u64,
    /// Times that it had to leave it.
    pub involuntary_switches: u64,
    /// Waits for block devices; None where the kernel does not measure them.
    pub block_io_delay_ns: Option<u64>,
}
