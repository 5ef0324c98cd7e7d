//! The seam between the load engine and the probes: what each tells the other during a trial.
//!
//! The engine says in which phase each client is (`PhaseCell`, one relaxed store per change, so that
//! the sampler thread never disturbs a load thread) and asks for the kernel's clocks of one backend
//! at both edges of that client's span.

use std::sync::atomic::{AtomicU8, Ordering};

/// What the engine asks of the probes. One per trial; called by load threads.
pub trait Observer: Sync {
    /// Clocks of one backend, read when its client is between units. None where they cannot be read
    /// (another host).
    fn read_clocks(&self, client: usize) -> Option<BackendClocks>;
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

/// Where a client is, as the sampler thread needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Not measured now: warm-up, settling, cool-down.
    OutsideSpan = 0,
    /// Measured and idle: think time, or an open-loop client without work.
    BetweenUnits = 1,
    /// A counted unit of work is in progress.
    InUnit = 2,
}

/// One client's phase, on a cache line of its own: load threads write it, the sampler reads it.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct PhaseCell(AtomicU8);

impl PhaseCell {
    /// Says where the client is now.
    pub fn set(&self, phase: Phase) {
        self.0.store(phase as u8, Ordering::Relaxed);
    }

    /// Where the client is.
    #[must_use]
    pub fn get(&self) -> Phase {
        match self.0.load(Ordering::Relaxed) {
            2 => Phase::InUnit,
            1 => Phase::BetweenUnits,
            _ => Phase::OutsideSpan,
        }
    }
}
