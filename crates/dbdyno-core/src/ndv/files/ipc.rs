//! Arrow's files, and streams of Arrow that were written to files.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::super::arrow::{Table, bytes_of};
use super::super::growth::Schedule;
use super::super::live::Board;
use super::super::outcome::Counts;
use super::super::source_spec::{FilesSpec, SourceSpec};
use super::bad_file::{bad_file, unreadable};
use crate::error::Result;

const MAGIC: &[u8] = b"ARROW1";
/// A stream may end without it, but then nobody knows whether it was cut off.
const END_OF_STREAM: [u8; 8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];

/// The batches of a file.
struct Batches {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>>>,
}

/// What was counted of all files, and the number of rows.
///
/// # Errors
/// `bad_file`, `spec_invalid`, `interrupted`.
pub(super) fn read(spec: &SourceSpec, files: &FilesSpec, board: &Board) -> Result<(Counts, u64)> {
    let mut table = Table::new(spec, &open(&files.paths[0])?.schema)?;
    let bytes_all: u64 = super::bytes_of(files)?.into_iter().sum();
    let mut rows = 0;
    for path in &files.paths {
        let Batches { schema, batches } = open(path)?;
        let followed = table.follow(&schema, spec.columns.is_none());
        followed.map_err(|what| bad_file(path, format_args!("{what} in {}", files.paths[0].display())))?;
        for batch in batches {
            let batch = batch.map_err(|error| bad_file(path, error))?;
            let (batch_rows, batch_bytes) = (batch.num_rows() as u64, bytes_of(&batch));
            if rows == 0 {
                // Arrays take the same room in a file, unless it is compressed.
                let expected = batch_rows as f64 * bytes_all as f64 / batch_bytes.max(1) as f64;
                table.expect(&Schedule::likely(expected as u64));
                board.begin(expected as u64);
            }
            table.add(&batch, board)?;
            board.add(batch_rows, batch_bytes);
            rows += batch_rows;
        }
    }
    Ok((table.into_counts(), rows))
}

fn open(path: &Path) -> Result<Batches> {
    let mut file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let mut magic = [0; MAGIC.len()];
    let is_file = file.read_exact(&mut magic).is_ok() && magic == MAGIC;
    if !is_file && !ends_well(&mut file) {
        return Err(bad_file(path, "it is no file of Arrow's, and no stream that was written to its end"));
    }
    file.rewind().map_err(|error| unreadable(path, &error))?;
    let failed = |error: ArrowError| bad_file(path, error);
    let file = BufReader::new(file);
    Ok(match is_file {
        true => {
            let reader = FileReader::try_new(file, None).map_err(failed)?;
            Batches { schema: reader.schema(), batches: Box::new(reader) }
        }
        false => {
            let reader = StreamReader::try_new(file, None).map_err(failed)?;
            Batches { schema: reader.schema(), batches: Box::new(reader) }
        }
    })
}

fn ends_well(file: &mut File) -> bool {
    let mut end = [0; END_OF_STREAM.len()];
    file.seek(SeekFrom::End(-(END_OF_STREAM.len() as i64))).is_ok()
        && file.read_exact(&mut end).is_ok()
        && end == END_OF_STREAM
}
