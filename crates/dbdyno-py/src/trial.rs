//! One trial on a thread of its own, while this one looks for signals and for what a watcher wants to see.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use dbdyno_core::load::{self, Board};
use pyo3::prelude::*;

use crate::{CoreError, raise};

/// How long a Ctrl-C may go unnoticed while a trial runs.
const SIGNAL_CHECK_PERIOD: Duration = Duration::from_millis(50);
/// How often a watcher is shown the trial.
const LIVE_PERIOD: Duration = Duration::from_secs(1);

/// The interpreter handles a Ctrl-C only on the main thread and only when asked.
#[pyfunction]
#[pyo3(signature = (spec, password, live = None))]
pub fn run_trial(py: Python<'_>, spec: String, password: Option<String>, live: Option<Py<PyAny>>) -> PyResult<String> {
    let board = live.as_ref().map(|_| Board::default());
    let (sender, mut receiver) = channel();
    std::thread::scope(|scope| {
        let on_board = board.as_ref();
        scope.spawn(move || sender.send(load::run_trial(&spec, password.as_deref(), on_board)));
        let mut interrupted: Option<PyErr> = None;
        let mut shown = Instant::now();
        loop {
            let received;
            (received, receiver) = py.detach(move || (receiver.recv_timeout(SIGNAL_CHECK_PERIOD), receiver));
            match received {
                Ok(outcome) => return interrupted.map_or_else(|| outcome.map_err(raise), Err),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(CoreError::new_err(("internal", "the load thread panicked; please report this")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let mut seen = py.check_signals();
            if let (Some(live), Some(board)) = (&live, &board)
                && shown.elapsed() >= LIVE_PERIOD
            {
                shown = Instant::now();
                seen = seen.and_then(|()| show(py, live, board));
            }
            if let Err(reason) = seen {
                load::request_stop();
                interrupted.get_or_insert(reason);
            }
        }
    })
}

fn show(py: Python<'_>, live: &Py<PyAny>, board: &Board) -> PyResult<()> {
    match board.text() {
        Some(text) => live.call1(py, (text,)).map(|_| ()),
        None => Ok(()),
    }
}
