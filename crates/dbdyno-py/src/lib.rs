//! The only crate of dbdyno that knows PyO3: conversions and one error table.
//!
//! Every function takes and returns scalars, texts and lists; the shapes of the JSON texts are in
//! docs/architecture.md, the signatures in python/dbdyno/_core.pyi.

mod asking;
mod ndv;
mod sketch;
mod stacks;
mod storage;
mod trace;
mod trial;
mod watch;

use std::collections::HashMap;

use dbdyno_core::error::CoreError as Failure;
use dbdyno_core::script::{Symbols, builtin_text, parse};
use dbdyno_core::{arguments, generate, load};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

create_exception!(dbdyno._core, CoreError, PyException, "`args` is (code, message).");

fn raise(failure: Failure) -> PyErr {
    CoreError::new_err((failure.code, failure.message))
}

#[pyfunction]
fn check_script(name: &str, text: &str) -> PyResult<String> {
    let mut symbols = Symbols::default();
    let script =
        parse(name, text, &mut symbols).map_err(|error| CoreError::new_err(("script_syntax", error.to_string())))?;
    Ok(serde_json::json!({"statements": script.statements.len(), "uses_pipeline": script.uses_pipeline}).to_string())
}

#[pyfunction]
fn sample_statements(
    name: &str,
    text: &str,
    variables: HashMap<String, String>,
    seed: u64,
    mode: &str,
) -> PyResult<String> {
    let mode = serde_json::from_value(serde_json::json!(mode))
        .map_err(|error| CoreError::new_err(("spec_invalid", format!("mode {mode:?}: {error}"))))?;
    let variables: Vec<(String, String)> = variables.into_iter().collect();
    let sampled = load::sample_statements(name, text, &variables, seed, mode).map_err(raise)?;
    Ok(serde_json::json!(sampled).to_string())
}

#[pyfunction]
fn builtin_script(name: &str) -> PyResult<&'static str> {
    builtin_text(name).ok_or_else(|| {
        let message = format!("builtin:{name}: no such script; there are tpcb-like, simple-update and select-only");
        CoreError::new_err(("unknown_builtin", message))
    })
}

/// (table, columns, rows, chunks).
type GeneratedTable = (&'static str, Vec<&'static str>, u64, u64);

/// The sizes do not depend on the seed; it is in the signature so that they may.
#[pyfunction]
fn generator_tables(generator: &str, scale: u64, seed: u64) -> PyResult<Vec<GeneratedTable>> {
    let _ = seed;
    let tables = generate::tables(generator, scale).map_err(raise)?;
    Ok(tables.into_iter().map(|size| (size.table, size.columns.to_vec(), size.rows, size.chunks)).collect())
}

#[pyfunction]
fn generate_chunk<'py>(
    py: Python<'py>,
    generator: &str,
    table: &str,
    scale: u64,
    seed: u64,
    chunk: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| generate::chunk(generator, table, scale, seed, chunk)).map_err(raise)?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
fn overwrite_arguments() {
    arguments::overwrite_passwords();
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::{
        CoreError, builtin_script, check_script, generate_chunk, generator_tables, overwrite_arguments,
        sample_statements,
    };
    #[pymodule_export]
    use crate::ndv::{ndv_scan_arrow, ndv_scan_files, ndv_scan_postgres};
    #[pymodule_export]
    use crate::sketch::{
        sketch_estimates, sketch_from_server, sketch_integers, sketch_merge, sketch_overlaps, sketch_texts,
    };
    #[pymodule_export]
    use crate::stacks::{flame_graph, function_names, record_stacks, trace_calls};
    #[pymodule_export]
    use crate::storage::StorageBench;
    #[pymodule_export]
    use crate::trace::trace_profile;
    #[pymodule_export]
    use crate::trial::run_trial;
    #[pymodule_export]
    use crate::watch::watch_server;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("BUILD_PROFILE", if cfg!(debug_assertions) { "debug" } else { "release" })
    }
}
