//! The storage engine: reads, writes and flushes of one file, and how long each took.
//!
//! ```text
//! Place (JSON) -> Bench::open            a file of ours, a relation's file read-only, or a programmed device
//!   Cell (JSON)  -> Bench::run           one load for one window       -> CellOutcome (JSON)
//!   Flushes      -> Bench::flush         one method, some commits      -> FlushOutcome (JSON)
//!                      |- cell           one load from its plan to its outcome, on one thread or many
//!                      |- drive          the loop: what is due starts, what has ended is written down
//!                      |- device         what the loop asks of storage; made by
//!                      |    |- ring        io_uring: one thread, registered file and buffers
//!                      |    |- blocking    pread and pwrite: a thread for each I/O in flight
//!                      |    |- null        nothing at all: what the loop itself costs
//!                      |    `- programmed  a device of known truth on a clock of its own
//!                      `- record         histogram, series, heat map, Little's area
//! ```
//!
//! An I/O has two clocks as a unit of work has: response time from its intended start, service time from its
//! submission. In a closed loop they are one.

mod alongside;
mod arrivals;
mod bench;
mod blocking;
mod buffers;
mod cell;
mod device;
mod drive;
mod fill;
mod flush;
mod law;
mod null;
mod outcome;
mod places;
mod programmed;
mod programmed_flush;
mod record;
mod ring;
mod spec;

pub use bench::Bench;
pub use law::Law;
pub use outcome::{CellOutcome, FlushOutcome, HeatCell, StorageSeries};
pub use spec::{Cell, Flushes, Load, Method, Order, Place};
