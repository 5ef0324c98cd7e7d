//! Files that are one table, one behind the other.
//!
//! ```text
//! Parquet --- pages: each entry of a dictionary hashed once, plain values where they lie --.
//!         `-- arrays: what is nested, in a group, or encoded in another way ---------------+--> counters -> outcome
//! Arrow  ---- arrays ----------------------------------------------------------------------+
//! CSV    ---- fields ----------------------------------------------------------------------'
//! ```

mod bad_file;
mod csv;
mod csv_fields;
mod ipc;
mod ipc_messages;
mod page_values;
mod pages;
mod parquet;
mod runs;
mod unpanicked;

use super::live::Board;
use super::outcome::{Counts, SourceScan, Totals};
use super::source_spec::{FilesSpec, Format, SourceSpec};
use crate::clock;
use crate::error::{CoreError, Result};

/// Reads files from the first to the last and counts the columns of their table.
///
/// # Errors
/// `spec_invalid`; `bad_file` for one that is not there, not whole, or not like those before it; `interrupted` after
/// `board.request_stop`.
pub fn scan_files(spec_json: &str, board: &Board) -> Result<SourceScan> {
    let spec = SourceSpec::parse(spec_json)?;
    let invalid = |what: &str| CoreError::new("spec_invalid", what);
    let files = spec.files.as_ref().ok_or_else(|| invalid("files: which ones?"))?;
    if files.paths.is_empty() {
        return Err(invalid("paths: give one at least"));
    }
    let (started_ns, cpu_before_ns) = (clock::now_ns(), clock::thread_cpu_ns());
    let (counts, rows) = unpanicked::reading(|| read(&spec, files, board))?;
    let totals = Totals {
        rows,
        bytes: bytes_of(files)?.into_iter().sum(),
        elapsed_ns: clock::now_ns() - started_ns,
        client_cpu_ns: clock::thread_cpu_ns() - cpu_before_ns,
    };
    SourceScan::new(counts, totals)
}

/// What was counted, and the number of rows.
fn read(spec: &SourceSpec, files: &FilesSpec, board: &Board) -> Result<(Counts, u64)> {
    match files.format {
        Format::Parquet => parquet::read(spec, files, board),
        Format::Arrow => ipc::read(spec, files, board),
        Format::Csv => csv::read(spec, files, board),
    }
}

/// By file.
fn bytes_of(files: &FilesSpec) -> Result<Vec<u64>> {
    let bytes = |path: &std::path::PathBuf| {
        let metadata = path.metadata().map_err(|error| bad_file::unreadable(path, &error))?;
        Ok(metadata.len())
    };
    files.paths.iter().map(bytes).collect()
}
