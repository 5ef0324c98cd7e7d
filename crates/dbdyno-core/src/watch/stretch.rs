//! What the sampler thread tells the collector: stretches of equal snapshots, and who came and went.
//!
//! The bounded channel of the standard library is the ring between them: its buffer is allocated when it
//! is made, `try_send` neither blocks nor allocates, and nobody sleeps on it, so nobody is woken.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::source::Activity;

/// Consecutive equal snapshots of one process, without those of another step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Whose.
    pub slot: u32,
    /// Time of its first snapshot; the part before was something else.
    pub from_ns: u64,
    /// Time of the first snapshot behind it: stretches of a process leave no gap.
    pub to_ns: u64,
    /// What was seen.
    pub activity: Activity,
    /// How often.
    pub snapshots: u32,
    /// How often together with the state of the process.
    pub looked: u32,
    /// How often that was asleep.
    pub asleep: u32,
    /// It goes on in the next step.
    pub goes_on: bool,
}

/// In the order in which things happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A process was seen for the first time.
    Arrived {
        /// Where.
        slot: u32,
        /// Who.
        pid: i32,
        /// When.
        at_ns: u64,
    },
    /// The process of this slot was there for the last time before this one.
    Left {
        /// Where.
        slot: u32,
        /// When.
        at_ns: u64,
    },
    /// Something that a process did has ended, or the step has.
    Ended(Stretch),
    /// Everything of this step has been told.
    StepEnded {
        /// When it began.
        from_ns: u64,
        /// When it ended.
        to_ns: u64,
        /// Sweeps in it.
        sweeps: u64,
    },
}

/// Messages that the ring holds: at 100 processes that change at each of 10,000 sweeps a second, 65 ms
/// of them, several times the collector's pause; 6 MB.
const RING_MESSAGES: usize = 65_536;

/// A ring between sampler and collector.
pub fn ring() -> (SyncSender<Message>, Receiver<Message>) {
    sync_channel(RING_MESSAGES)
}
