//! One watch on a thread of its own, while this one looks for signals and shows each step to the caller.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use dbdyno_core::watch::{self, Control};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::{CoreError, raise};

/// How long a Ctrl-C may go unnoticed.
const SIGNAL_CHECK_PERIOD: Duration = Duration::from_millis(50);

enum Told {
    Step(String),
    Done(dbdyno_core::error::Result<String>),
}

/// A Ctrl-C, and a watcher that has seen enough, end the watch early with what was seen; an exception of the
/// watcher's ends it too, and is raised.
#[pyfunction]
#[pyo3(signature = (spec, password, live = None))]
pub fn watch_server(
    py: Python<'_>,
    spec: String,
    password: Option<String>,
    live: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (sender, mut receiver) = channel();
    let steps = sender.clone();
    let on_step = live.as_ref().map(|_| -> Box<dyn Fn(String) + Send + Sync> {
        // Whoever listened may have gone.
        Box::new(move |step| drop(steps.send(Told::Step(step))))
    });
    let control = Control { on_step, ..Control::default() };
    std::thread::scope(|scope| {
        let on_thread = &control;
        scope.spawn(move || sender.send(Told::Done(watch::watch_server(&spec, password.as_deref(), on_thread))));
        let mut failure: Option<PyErr> = None;
        loop {
            let told;
            (told, receiver) = py.detach(move || (receiver.recv_timeout(SIGNAL_CHECK_PERIOD), receiver));
            match told {
                Ok(Told::Done(outcome)) => return failure.map_or_else(|| outcome.map_err(raise), Err),
                // The last step comes when the watcher has had enough.
                Ok(Told::Step(_)) if control.stop.load(Ordering::Relaxed) => {}
                Ok(Told::Step(step)) => match show(py, live.as_ref(), step) {
                    Ok(true) => {}
                    Ok(false) => control.stop.store(true, Ordering::Relaxed),
                    Err(error) => {
                        control.stop.store(true, Ordering::Relaxed);
                        failure.get_or_insert(error);
                    }
                },
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(CoreError::new_err(("internal", "the watching thread panicked; please report this")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = py.check_signals() {
                control.stop.store(true, Ordering::Relaxed);
                if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    failure.get_or_insert(error);
                }
            }
        }
    })
}

fn show(py: Python<'_>, live: Option<&Py<PyAny>>, step: String) -> PyResult<bool> {
    match live {
        Some(live) => live.call1(py, (step,))?.is_truthy(py),
        None => Ok(true),
    }
}
