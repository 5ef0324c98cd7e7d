//! Work that takes its time goes on on a thread of its own, while this one looks for signals and asks on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use dbdyno_core::error::Result;
use pyo3::prelude::*;

use crate::{CoreError, raise};

/// How long a Ctrl-C, or somebody who has seen enough, may go unnoticed.
const CHECK_PERIOD: Duration = Duration::from_millis(50);
/// How often a watcher is shown the work.
const LIVE_PERIOD: Duration = Duration::from_secs(1);

/// Runs `work` until it ends; `go_on` saying no tells it to end early, and so does a signal or an exception of
/// `go_on`'s, which is raised then.
pub fn while_asked<T: Send>(
    py: Python<'_>,
    go_on: Option<&Py<PyAny>>,
    work: impl FnOnce(&AtomicBool) -> Result<T> + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let asked = || go_on.map_or(Ok(true), |go_on| go_on.call0(py)?.extract::<bool>(py));
    while_looking(py, "measuring", || work(&stop), asked, || stop.store(true, Ordering::Relaxed))
}

/// Runs `work` until it ends, and shows `live` each second what `text` says of it; a signal, or an exception of
/// `live`'s, tells it by `stop` to end early and is raised then. `thread` is what the work is called.
pub fn while_shown<T: Send>(
    py: Python<'_>,
    thread: &str,
    work: impl FnOnce() -> Result<T> + Send,
    live: Option<&Py<PyAny>>,
    text: impl Fn() -> Option<String>,
    stop: impl Fn(),
) -> PyResult<T> {
    let mut shown = Instant::now();
    let look = || {
        if let Some(live) = live
            && shown.elapsed() >= LIVE_PERIOD
            && let Some(text) = text()
        {
            shown = Instant::now();
            live.call1(py, (text,))?;
        }
        Ok(true)
    };
    while_looking(py, thread, work, look, stop)
}

/// The interpreter handles a Ctrl-C only on the main thread and only when asked.
fn while_looking<T: Send>(
    py: Python<'_>,
    thread: &str,
    work: impl FnOnce() -> Result<T> + Send,
    mut look: impl FnMut() -> PyResult<bool>,
    stop: impl Fn(),
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || sender.send(work()));
        let mut interrupted: Option<PyErr> = None;
        loop {
            let received;
            (received, receiver) = py.detach(move || (receiver.recv_timeout(CHECK_PERIOD), receiver));
            match received {
                Ok(outcome) => return interrupted.map_or_else(|| outcome.map_err(raise), Err),
                Err(RecvTimeoutError::Disconnected) => {
                    let message = format!("the {thread} thread panicked; please report this");
                    return Err(CoreError::new_err(("internal", message)));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            match py.check_signals().and_then(|()| look()) {
                Ok(true) => {}
                Ok(false) => stop(),
                Err(reason) => {
                    stop();
                    interrupted.get_or_insert(reason);
                }
            }
        }
    })
}
