//! Watching all processes of any server for some seconds, from outside.
//!
//! ```text
//!  sampler thread (punctual)                      collector (this thread)
//!  PGPROC, PgBackendStatus --sweep--> stretches --ring--> cells, episodes --> steps, live, Parquet
//!     ^ state of a few in turn <------ readers <---------- roster: /proc, clocks by process
//! ```
//!
//! In: a postmaster, or a connection where memory cannot be read. Out: for each step, how many snapshots
//! found each process in which wait event, state and query; of those that were looked at, how many found it
//! asleep; and the exact clocks of each process (docs/architecture.md, "Watching a server").
//!
//! Nothing is installed in the server, nothing is written to it, no signal is sent to it, and nothing of
//! ours stays attached.

mod attach;
mod collector;
mod course;
#[cfg(test)]
mod course_tests;
#[cfg(test)]
mod fake;
mod host;
mod liveness;
mod looks;
mod memory_slots;
mod outcome;
mod roster;
mod sampling;
mod snapshots_file;
mod source;
mod spec;
mod sql_slots;
mod stretch;
mod sweep;
mod tally;

pub use attach::watch_server;
pub use course::Control;
