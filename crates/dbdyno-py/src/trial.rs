//! One trial, shown to a watcher while it runs.

use dbdyno_core::load::{self, Board};
use pyo3::prelude::*;

use crate::asking::while_shown;

#[pyfunction]
#[pyo3(signature = (spec, password, live = None))]
pub fn run_trial(py: Python<'_>, spec: String, password: Option<String>, live: Option<Py<PyAny>>) -> PyResult<String> {
    let board = live.as_ref().map(|_| Board::default());
    while_shown(
        py,
        "load",
        || load::run_trial(&spec, password.as_deref(), board.as_ref()),
        live.as_ref(),
        || board.as_ref().and_then(Board::text),
        load::request_stop,
    )
}
