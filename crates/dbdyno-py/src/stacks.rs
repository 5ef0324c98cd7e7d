//! Stacks and flame graphs. Recording goes on on a thread of its own, while this one looks for signals and asks on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use dbdyno_core::stacks;
use pyo3::prelude::*;

use crate::{CoreError, raise};

/// How long a Ctrl-C or a "no" of `go_on` may go unnoticed.
const CHECK_PERIOD: Duration = Duration::from_millis(50);

#[pyfunction]
#[pyo3(signature = (spec, go_on = None))]
pub fn record_stacks(py: Python<'_>, spec: String, go_on: Option<Py<PyAny>>) -> PyResult<String> {
    while_asked(py, go_on.as_ref(), |stop| stacks::record(&spec, stop))
}

#[pyfunction]
#[pyo3(signature = (spec, go_on = None))]
pub fn trace_calls(py: Python<'_>, spec: String, go_on: Option<Py<PyAny>>) -> PyResult<String> {
    while_asked(py, go_on.as_ref(), |stop| stacks::trace(&spec, stop))
}

#[pyfunction]
pub fn flame_graph(py: Python<'_>, folded: &str, options_json: &str) -> PyResult<String> {
    py.detach(|| stacks::flame_graph(folded, options_json)).map_err(raise)
}

#[pyfunction]
pub fn function_names(py: Python<'_>, path: &str) -> PyResult<Vec<String>> {
    py.detach(|| stacks::function_names(path.as_ref()))
        .map_err(|error| CoreError::new_err(("io", format!("{path}: {error}"))))
}

/// Runs `work` until it ends; a signal, or `go_on` saying no, tells it to end early.
fn while_asked(
    py: Python<'_>,
    go_on: Option<&Py<PyAny>>,
    work: impl FnOnce(&AtomicBool) -> dbdyno_core::error::Result<String> + Send,
) -> PyResult<String> {
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
                    return Err(CoreError::new_err(("internal", "the recording thread panicked; please report this")));
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
