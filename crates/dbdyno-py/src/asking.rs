//! Work that takes its time goes on on a thread of its own, while this one looks for signals and asks on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;

use crate::{CoreError, raise};

/// How long a Ctrl-C or a "no" of `go_on` may go unnoticed.
const CHECK_PERIOD: Duration = Duration::from_millis(50);

/// Runs `work` until it ends; a signal, or `go_on` saying no, tells it to end early.
pub fn while_asked<T: Send>(
    py: Python<'_>,
    go_on: Option<&Py<PyAny>>,
    work: impl FnOnce(&AtomicBool) -> dbdyno_core::error::Result<T> + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let (sender, mut receiver) = channel();
    std::thread::scope(|scope| {
        let stop = &stop;
        scope.spawn(move || sender.send(work(stop)));
        let mut interrupted: Option<PyErr> = None;
        loop {
            let received;
            (received, receiver) = py.detach(move || (receiver.recv_timeout(CHECK_PERIOD), receiver));
            match received {
                Ok(outcome) => return interrupted.map_or_else(|| outcome.map_err(raise), Err),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(CoreError::new_err(("internal", "the measuring thread panicked; please report this")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let asked = || go_on.map_or(Ok(true), |go_on| go_on.call0(py)?.extract::<bool>(py));
            match py.check_signals().and_then(|()| asked()) {
                Ok(true) => {}
                Ok(false) => stop.store(true, Ordering::Relaxed),
                Err(reason) => {
                    stop.store(true, Ordering::Relaxed);
                    interrupted.get_or_insert(reason);
                }
            }
        }
    })
}
