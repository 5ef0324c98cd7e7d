//! What is asked of the engine, as JSON.

use std::path::PathBuf;

use serde::Deserialize;

use super::law::Law;

/// Which storage.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Place {
    /// A file, which must be there.
    File {
        /// Its path.
        path: PathBuf,
        /// Past the page cache (`O_DIRECT`).
        direct: bool,
        /// Opened for writing as well. Never a device: refused where it is no regular file.
        write: bool,
        /// `auto`, `io_uring`, `threads` or `null`.
        engine: Engine,
    },
    /// A device of known truth.
    Programmed(Box<Law>),
}

/// How I/O is asked for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// `io_uring` where the kernel lets us, else `threads`.
    Auto,
    /// One thread.
    IoUring,
    /// A thread for each I/O in flight.
    Threads,
    /// Nothing is done: the engine's own cost.
    Null,
}

impl Engine {
    /// As outcomes name it; `auto` has been decided by then.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto | Self::IoUring => "io_uring",
            Self::Threads => "threads",
            Self::Null => "null",
        }
    }
}

/// One load for one window.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// When I/Os start.
    pub load: Load,
    /// Of all I/Os, how many are writes (0 to 1).
    pub write_share: f64,
    /// Where the next one goes.
    pub order: Order,
    /// Bytes of each.
    pub io_bytes: u32,
    /// Where the span begins.
    pub first_byte: u64,
    /// I/Os stay within it.
    pub span_bytes: u64,
    /// Load before the window.
    pub settle_ns: u64,
    /// What is written down.
    pub window_ns: u64,
    /// Of the series and the heat map.
    pub series_step_ns: u64,
    /// Of places and arrivals.
    pub seed: u64,
    /// Tell reads that bring nothing but zeros apart: pages that were never written need no device.
    #[serde(default)]
    pub look_for_zeros: bool,
    /// Ask for a flush of the file so often meanwhile, as a checkpoint does; 0: never. A programmed device's reads do
    /// not mind.
    #[serde(default)]
    pub flush_every_ns: u64,
}

/// When I/Os start.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// So many are in flight: one starts when one has ended.
    Closed {
        /// In flight.
        depth: usize,
        /// It ends when so many have started, if not before.
        #[serde(default)]
        most_ios: Option<u64>,
    },
    /// They come as a Poisson process, whatever the storage does.
    Open {
        /// Mean rate.
        per_s: f64,
        /// Most in flight; what comes then waits, and its response time with it.
        depth: usize,
    },
}

impl Load {
    /// Most in flight.
    #[must_use]
    pub fn depth(self) -> usize {
        match self {
            Self::Closed { depth, .. } | Self::Open { depth, .. } => depth,
        }
    }
}

/// Where the next I/O goes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Every place of the span is equally likely.
    Random,
    /// One after the other, and round again.
    Sequential,
}

/// Commits in a row by one method.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flushes {
    /// How a write is made durable.
    pub method: Method,
    /// Threads that commit; of several, one flushes for all that wait.
    pub writers: usize,
    /// Bytes of each commit.
    pub io_bytes: u32,
    /// Commits of each writer.
    pub commits: usize,
    /// Where the log begins.
    pub first_byte: u64,
    /// Where it begins anew. Beyond the file's end it grows.
    pub span_bytes: u64,
    /// How much later than it is each commit is said to be durable, in thousandths: a planted slowness, for proofs.
    #[serde(default)]
    pub slowed_per_mille: u32,
}

/// `wal_sync_method`'s names.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// write, then fdatasync
    Fdatasync,
    /// write, then fsync
    Fsync,
    /// write with O_DSYNC
    OpenDatasync,
    /// write with O_SYNC
    OpenSync,
}
