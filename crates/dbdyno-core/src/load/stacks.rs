//! Stacks of the clients' backends over the window of a trial.

use super::spec::TrialSpec;
use crate::stacks::{Prepared, Recorder, StacksOutcome, StacksSpec};

/// A recording that is prepared, under way, or refused.
pub(super) struct StacksOverWindow {
    frequency_hz: Option<u64>,
    prepared: Option<Prepared>,
    recorder: Option<Recorder>,
    refused: Option<String>,
}

impl StacksOverWindow {
    /// Prepares what the trial's spec asks of these backends.
    ///
    /// A trial goes on without stacks where they cannot be had, and says why.
    pub(super) fn new(spec: &TrialSpec, process_ids: &[i32]) -> Self {
        let mut over_window = StacksOverWindow { frequency_hz: None, prepared: None, recorder: None, refused: None };
        let Some(asked) = spec.stacks else { return over_window };
        over_window.frequency_hz = Some(asked.frequency_hz);
        let stacks = StacksSpec {
            pids: Some(process_ids.to_vec()),
            postmaster_pid: spec.waits.postmaster_pid,
            seconds_ns: None,
            frequency_hz: asked.frequency_hz,
            route: "auto".to_owned(),
        };
        match (spec.waits.postmaster_pid, Prepared::new(stacks)) {
            (None, _) => over_window.refused = Some("no stacks: the server is not on this host".to_owned()),
            (_, Err(error)) => over_window.refused = Some(error.message),
            (_, Ok(prepared)) => over_window.prepared = Some(prepared),
        }
        over_window
    }

    /// Begins, if asked to.
    pub(super) fn start(&mut self) {
        self.recorder = self.prepared.take().map(Prepared::start);
    }

    /// Ends, and says what was seen.
    pub(super) fn finish(self) -> Option<StacksOutcome> {
        let frequency_hz = self.frequency_hz?;
        let nothing = StacksOutcome { format: 1, note: self.refused, frequency_hz, ..Default::default() };
        Some(self.recorder.map_or(nothing, Recorder::finish))
    }
}
