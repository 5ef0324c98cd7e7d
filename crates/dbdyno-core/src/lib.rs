//! The data plane of dbdyno: everything that runs while a trial is measured.
//!
//! ```text
//! spec (JSON) -> load::run_trial -> outcome (JSON)
//!                  |- script   what a client executes: pgbench's language, parsed once, evaluated per unit
//!                  |- wire     how it is said: PostgreSQL's protocol over a socket, TCP or TLS
//!                  |- load     when it is said: clients, arrivals, both clocks, histograms
//!                  |- probe    what the server did meanwhile: wait snapshots, CPU and run-queue clocks
//!                  `- stacks   in which functions: stacks of running and of sleeping backends
//!
//! spec (JSON) -> storage::Bench -> outcome (JSON)    what a file's storage does under a load of reads, writes, flushes
//! spec (JSON) -> ndv::scan_postgres -> outcome (JSON), sketches    how many different values a table's columns have
//!
//! spec (JSON) -> trace::profile -> outcome (JSON)    where the time of an Oracle session went, from its trace
//!
//! values -> sketch::Column -> sketch::file           how many different ones there are, in files that merge
//! ```
//!
//! Nothing here knows Python. Durations are integer nanoseconds of CLOCK_MONOTONIC.

pub mod arguments;
pub mod chunks;
mod clock;
pub mod error;
pub mod generate;
pub mod load;
pub mod log_bins;
pub mod ndv;
mod perf;
pub mod probe;
pub mod script;
pub mod sketch;
pub mod stacks;
pub mod storage;
pub mod tally;
pub mod trace;
pub mod watch;
pub mod wire;

pub use error::CoreError;
