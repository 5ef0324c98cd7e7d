//! One scan on a thread of its own, while this one looks for signals and for what a watcher wants to see.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use dbdyno_core::ndv::{Board, scan_postgres};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::{CoreError, raise};

/// How long a Ctrl-C may go unnoticed while a table is read.
const SIGNAL_CHECK_PERIOD: Duration = Duration::from_millis(50);
/// How often a watcher is shown the scan.
const LIVE_PERIOD: Duration = Duration::from_secs(1);

/// (outcome, file of sketches). An exception of the watcher's ends the scan and is raised.
#[pyfunction]
#[pyo3(signature = (spec, password, live = None))]
pub fn ndv_scan_postgres<'py>(
    py: Python<'py>,
    spec: String,
    password: Option<String>,
    live: Option<Py<PyAny>>,
) -> PyResult<(String, Bound<'py, PyBytes>)> {
    let board = Board::default();
    let (sender, mut receiver) = channel();
    let (outcome, sketches) = std::thread::scope(|scope| {
        let board = &board;
        scope.spawn(move || sender.send(scan_postgres(&spec, password.as_deref(), board)));
        let mut interrupted: Option<PyErr> = None;
        let mut shown = Instant::now();
        loop {
            let received;
            (received, receiver) = py.detach(move || (receiver.recv_timeout(SIGNAL_CHECK_PERIOD), receiver));
            match received {
                Ok(outcome) => return interrupted.map_or_else(|| outcome.map_err(raise), Err),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(CoreError::new_err(("internal", "the reading thread panicked; please report this")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let mut seen = py.check_signals();
            if let (Some(live), Some(text)) = (&live, board.text())
                && shown.elapsed() >= LIVE_PERIOD
            {
                shown = Instant::now();
                seen = seen.and_then(|()| live.call1(py, (text,)).map(|_| ()));
            }
            if let Err(reason) = seen {
                board.request_stop();
                interrupted.get_or_insert(reason);
            }
        }
    })?;
    Ok((outcome, PyBytes::new(py, &sketches)))
}
