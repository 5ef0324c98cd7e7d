//! Stacks and flame graphs.

use dbdyno_core::stacks;
use pyo3::prelude::*;

use crate::asking::while_asked;
use crate::{CoreError, raise};

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
