//! One scan, shown to a watcher while it reads.

use dbdyno_core::error::Result;
use dbdyno_core::ndv::{ArrowStream, Board, Exported, SourceScan, scan_arrow, scan_files, scan_postgres};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use crate::asking::while_shown;

/// Outcome, file of sketches, and (column, kind, sketch) for other programs.
type Scanned<'py> = (String, Bound<'py, PyBytes>, Vec<(String, &'static str, Bound<'py, PyBytes>)>);

#[pyfunction]
#[pyo3(signature = (spec, password, live = None))]
pub fn ndv_scan_postgres<'py>(
    py: Python<'py>,
    spec: String,
    password: Option<String>,
    live: Option<Py<PyAny>>,
) -> PyResult<Scanned<'py>> {
    while_watched(py, live, |board| scan_postgres(&spec, password.as_deref(), board)).map(|scan| converted(py, scan))
}

#[pyfunction]
#[pyo3(signature = (spec, stream, live = None))]
pub fn ndv_scan_arrow<'py>(
    py: Python<'py>,
    spec: String,
    stream: &Bound<'py, PyAny>,
    live: Option<Py<PyAny>>,
) -> PyResult<Scanned<'py>> {
    let capsule = stream.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: the Arrow PyCapsule interface says that this is what a capsule of this name holds. Whoever made the
    // capsule finds the stream released.
    let stream = unsafe { ArrowStream::from_raw(pointer.as_ptr()) };
    while_watched(py, live, |board| scan_arrow(&spec, stream, board)).map(|scan| converted(py, scan))
}

#[pyfunction]
#[pyo3(signature = (spec, live = None))]
pub fn ndv_scan_files<'py>(py: Python<'py>, spec: String, live: Option<Py<PyAny>>) -> PyResult<Scanned<'py>> {
    while_watched(py, live, |board| scan_files(&spec, board)).map(|scan| converted(py, scan))
}

fn converted(py: Python<'_>, scan: SourceScan) -> Scanned<'_> {
    let exported = |each: Exported| (each.column, each.kind, PyBytes::new(py, &each.sketch));
    (scan.outcome, PyBytes::new(py, &scan.sketches), scan.exported.into_iter().map(exported).collect())
}

fn while_watched<T: Send>(
    py: Python<'_>,
    live: Option<Py<PyAny>>,
    scan: impl FnOnce(&Board) -> Result<T> + Send,
) -> PyResult<T> {
    let board = Board::default();
    while_shown(py, "reading", || scan(&board), live.as_ref(), || board.text(), || board.request_stop())
}
