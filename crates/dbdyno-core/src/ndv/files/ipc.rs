//! Arrow's files, and streams of Arrow that were written to files.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::super::arrow::{Table, bytes_of};
use super::super::growth::Schedule;
use super::super::live::Board;
use super::super::outcome::Counts;
use super::super::source_spec::{FilesSpec, SourceSpec};
use super::bad_file::{bad_file, unreadable};
use super::ipc_messages::Messages;
use super::unpanicked;
use crate::error::Result;

const MAGIC: &[u8] = b"ARROW1";
/// Before the first message of a file.
const MAGIC_BYTES: u64 = 8;

/// The batches of a file.
struct Batches {
    schema: SchemaRef,
    batches: Messages,
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

/// A stream may end without saying so, but then nobody knows whether it was cut off: its messages have to.
fn open(path: &Path) -> Result<Batches> {
    let failed = |error: io::Error| unreadable(path, &error);
    let bad = |error: ArrowError| bad_file(path, error);
    let mut file = unpanicked::open(path)?;
    let bytes = file.metadata().map_err(failed)?.len();
    let mut magic = [0; MAGIC.len()];
    let is_file = file.read_exact(&mut magic).is_ok() && magic == MAGIC;
    file.rewind().map_err(failed)?;
    let again = unpanicked::open(path)?;
    if is_file {
        let footer = FileReader::try_new(BufReader::new(again), None).map_err(bad)?;
        file.seek(SeekFrom::Start(MAGIC_BYTES)).map_err(failed)?;
        let batches = Messages::new(file, bytes - MAGIC_BYTES, Some(footer.num_batches()));
        return Ok(Batches { schema: footer.schema(), batches });
    }
    let schema = StreamReader::try_new(BufReader::new(again), None).map_err(bad)?.schema();
    Ok(Batches { schema, batches: Messages::new(file, bytes, None) })
}
