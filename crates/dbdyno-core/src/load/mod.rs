//! The load engine: clients, arrivals, both clocks, histograms; one trial at a time.
//!
//! ```text
//! spec -> trial: plan, session, worker threads, exposure, probe -> assemble -> outcome
//!                           |
//!   live: what a watcher sees of it   (once a second, if there is one)
//!   worker: readiness loop  |- dispatch    which client gets which unit (arrivals)
//!                           |- lifecycle   a unit from start to end, tries and failures
//!                           |- execute     from command to command of its script
//!                           |- client      what it sends; answer: what comes back (capture: \gset, \aset)
//!                           |- fetch       results in portions
//!                           |- exchange    bytes out and in, without waiting
//!                           |- settle      the pauses at the edges of a span, for exact clocks
//!                           |- tickets     fixed work: which units are still to be done
//!                           |- phase_cell  what the client does, for the sampler; letters about units that it saw
//!                           `- record      counts, histograms, series, sums by unit (unit_sums)
//! profile, cells: what the record and the probe's snapshots come to
//! sample: what a client would send, found without a server
//! ```

mod answer;
mod arrivals;
mod assemble;
mod capture;
mod cells;
mod client;
mod dispatch;
mod estimates;
mod exchange;
mod execute;
mod exposure;
mod fetch;
mod lifecycle;
mod live;
mod observer;
mod outcome;
mod packed_cells;
mod phase_cell;
mod plan;
mod prepare;
mod process_memory;
mod profile;
mod readiness;
mod record;
mod sample;
mod series;
mod session;
mod settle;
mod span;
mod spec;
mod stacks;
mod statement;
mod stop;
mod streams;
mod think_time;
mod tickets;
mod trial;
mod unit_sums;
mod window;
mod worker;

pub use live::Board;
pub use observer::{BackendClocks, BackendCounters, Observer};
pub use outcome::*;
pub use phase_cell::{EndedUnit, Phase, PhaseCell, Place};
pub use record::UnitTimes;
pub use sample::{SampledStatement, sample_statements};
pub use spec::*;
pub use stop::request_stop;
pub use think_time::{ThinkTime, ThinkTimeDistribution};
pub use trial::run_trial;
