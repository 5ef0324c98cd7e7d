//! The load engine: clients, arrivals, both clocks, histograms; one trial at a time.

mod observer;
mod outcome;
mod spec;

pub use observer::{BackendClocks, NullObserver, Observer, Phase, PhaseCell};
pub use outcome::*;
pub use spec::*;
