//! Files of sketches, and the sketches of columns that Python has in memory.

use dbdyno_core::sketch::file::{self, StoredColumn};
use dbdyno_core::sketch::{Column, HashId, Precision, buffers};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::raise;

#[pyfunction]
pub fn sketch_estimates(py: Python<'_>, file: &[u8]) -> PyResult<String> {
    py.detach(|| file::estimates(file)).map_err(raise)
}

#[pyfunction]
pub fn sketch_merge<'py>(py: Python<'py>, files: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let merged = py.detach(|| file::merged(&files)).map_err(raise)?;
    Ok(PyBytes::new(py, &merged))
}

#[pyfunction]
pub fn sketch_overlaps(py: Python<'_>, files: Vec<Vec<u8>>) -> PyResult<String> {
    py.detach(|| file::overlaps(&files)).map_err(raise)
}

#[pyfunction]
pub fn sketch_from_server<'py>(
    py: Python<'py>,
    columns: &str,
    contents: Vec<Vec<u8>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let made = py.detach(|| file::from_server(columns, &contents)).map_err(raise)?;
    Ok(PyBytes::new(py, &made))
}

#[pyfunction]
#[pyo3(signature = (values, precision = 14, seed = 0))]
pub fn sketch_integers<'py>(py: Python<'py>, values: &[u8], precision: u8, seed: u64) -> PyResult<Bound<'py, PyBytes>> {
    let made = py.detach(|| {
        let values = buffers::numbers(values)?;
        let column = buffers::of_integers(Precision::try_from(precision)?, seed, &values);
        Ok(file_of("bigint", values.len(), seed, column))
    });
    made.map(|file| PyBytes::new(py, &file)).map_err(raise)
}

#[pyfunction]
#[pyo3(signature = (texts, ends, precision = 14, seed = 0))]
pub fn sketch_texts<'py>(
    py: Python<'py>,
    texts: &[u8],
    ends: &[u8],
    precision: u8,
    seed: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let made = py.detach(|| {
        let ends = buffers::numbers(ends)?;
        let column = buffers::of_texts(Precision::try_from(precision)?, seed, texts, &ends)?;
        Ok(file_of("text", ends.len(), seed, column))
    });
    made.map(|file| PyBytes::new(py, &file)).map_err(raise)
}

/// Of one column without a name and without nulls.
fn file_of(type_name: &str, rows: usize, seed: u64, column: Column) -> Vec<u8> {
    file::write(&[StoredColumn {
        name: String::new(),
        type_name: type_name.to_owned(),
        hash_id: HashId::Dbdyno1,
        seed,
        rows: rows as u64,
        nulls: 0,
        column,
    }])
}
