//! The storage engine's bench. A cell goes on on a thread of its own, while this one looks for signals and asks on.

use dbdyno_core::storage::Bench;
use pyo3::prelude::*;

use crate::asking::while_asked;
use crate::raise;

#[pyclass(frozen, module = "dbdyno._core")]
pub struct StorageBench {
    bench: Bench,
}

#[pymethods]
impl StorageBench {
    #[new]
    fn new(py: Python<'_>, place: &str) -> PyResult<Self> {
        py.detach(|| Bench::open(place)).map(|bench| Self { bench }).map_err(raise)
    }

    #[getter]
    fn engine(&self) -> &'static str {
        self.bench.engine()
    }

    #[pyo3(signature = (cell, go_on = None))]
    fn run(&self, py: Python<'_>, cell: &str, go_on: Option<Py<PyAny>>) -> PyResult<String> {
        while_asked(py, go_on.as_ref(), |stop| {
            self.bench.run(cell, stop).map(|outcome| serde_json::json!(outcome).to_string())
        })
    }

    fn flush(&self, py: Python<'_>, flushes: &str) -> PyResult<String> {
        let outcome = py.detach(|| self.bench.flush(flushes)).map_err(raise)?;
        Ok(serde_json::json!(outcome).to_string())
    }

    #[pyo3(signature = (bytes, seed, go_on = None))]
    fn fill(&self, py: Python<'_>, bytes: u64, seed: u64, go_on: Option<Py<PyAny>>) -> PyResult<u64> {
        while_asked(py, go_on.as_ref(), |stop| self.bench.fill(bytes, seed, stop))
    }

    fn verify(&self, py: Python<'_>, offsets: Vec<u64>, seed: u64) -> PyResult<u64> {
        py.detach(|| self.bench.verify(&offsets, seed)).map_err(raise)
    }
}
