//! A stream of record batches that another program's memory holds (the Arrow C stream interface).

use std::ffi::c_void;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchReader};

use super::super::growth::Schedule;
use super::super::live::Board;
use super::super::outcome::{SourceScan, Totals};
use super::super::source_spec::SourceSpec;
use super::table::Table;
use crate::clock;
use crate::error::{CoreError, Result};

/// A stream that was handed over to us, and is released with it.
pub struct ArrowStream(FFI_ArrowArrayStream);

impl ArrowStream {
    /// Takes the stream out of where it lies.
    ///
    /// # Safety
    /// The pointer is that of an `ArrowArrayStream` as the Arrow C stream interface has it, which nobody else uses
    /// meanwhile.
    #[must_use]
    pub unsafe fn from_raw(stream: *mut c_void) -> Self {
        // SAFETY: what the caller promises.
        Self(unsafe { FFI_ArrowArrayStream::from_raw(stream.cast()) })
    }
}

/// Reads a stream to its end and counts its columns.
///
/// # Errors
/// `spec_invalid`; `scan_failed` for what the producer of the stream says; `interrupted` after `board.request_stop`.
pub fn scan_arrow(spec_json: &str, stream: ArrowStream, board: &Board) -> Result<SourceScan> {
    let spec = SourceSpec::parse(spec_json)?;
    if spec.files.is_some() {
        return Err(CoreError::new("spec_invalid", "files: a stream is read; leave them out"));
    }
    let failed = |error| CoreError::new("scan_failed", format!("stream: {error}"));
    let batches = RecordBatchStreamReader::try_new(stream.0).map_err(failed)?;
    let mut table = Table::new(&spec, &batches.schema())?;
    table.expect(&Schedule::likely(spec.rows_expected));
    let (started_ns, cpu_before_ns) = (board.begin(spec.rows_expected), clock::thread_cpu_ns());
    let (mut rows, mut bytes) = (0, 0);
    for batch in batches {
        let batch = batch.map_err(failed)?;
        table.add(&batch, board)?;
        let batch_bytes = bytes_of(&batch);
        board.add(batch.num_rows() as u64, batch_bytes);
        rows += batch.num_rows() as u64;
        bytes += batch_bytes;
    }
    let elapsed_ns = clock::now_ns() - started_ns;
    let client_cpu_ns = clock::thread_cpu_ns() - cpu_before_ns;
    let totals = Totals { rows, bytes, elapsed_ns, client_cpu_ns };
    SourceScan::new(table.into_counts(), totals)
}

/// Of its arrays, without what lies before and behind them in memory.
pub(in super::super) fn bytes_of(batch: &RecordBatch) -> u64 {
    let bytes = |column: &arrow_array::ArrayRef| column.to_data().get_slice_memory_size().unwrap_or_default() as u64;
    batch.columns().iter().map(bytes).sum()
}
