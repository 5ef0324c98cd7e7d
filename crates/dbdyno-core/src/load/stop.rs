//! Ending a trial early: the only thing that reaches into one from outside.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::CoreError;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Ends the trial in progress soon, cleanly: `run_trial` returns the error `interrupted`.
/// Safe in a signal handler.
pub fn request_stop() {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Whether the trial is to end.
pub(super) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The error, if a stop was requested; the request is then used up.
pub(super) fn take_request() -> Result<(), CoreError> {
    if REQUESTED.swap(false, Ordering::Relaxed) {
        return Err(CoreError::new("interrupted", "the trial was interrupted; what was measured before it is kept"));
    }
    Ok(())
}
