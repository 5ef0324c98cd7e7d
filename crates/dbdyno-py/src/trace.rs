//! Oracle's traces, shown to a watcher while they are read.

use dbdyno_core::trace::{Board, profile};
use pyo3::prelude::*;

use crate::asking::while_shown;

#[pyfunction]
#[pyo3(signature = (spec, live = None))]
pub fn trace_profile(py: Python<'_>, spec: String, live: Option<Py<PyAny>>) -> PyResult<String> {
    let board = Board::default();
    let (text, stop) = (|| board.text(), || board.request_stop());
    while_shown(py, "reading", || profile(&spec, &board), live.as_ref(), text, stop)
}
