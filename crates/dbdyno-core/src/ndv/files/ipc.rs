//! Arrow's files, and streams of Arrow that were written to files.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use arrow_ipc::reader::{StreamReader, read_footer_length};
use arrow_ipc::root_as_footer;
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
    let begin = if is_file { MAGIC_BYTES } else { 0 };
    let batches = is_file.then(|| batches_of(&mut file, bytes)).transpose().map_err(|what| bad_file(path, what))?;
    // Where a file begins its messages lie as in a stream, whose reader decodes nothing before it is asked to.
    let mut again = unpanicked::open(path)?;
    again.seek(SeekFrom::Start(begin)).map_err(failed)?;
    let schema = StreamReader::try_new(BufReader::new(again), None).map_err(bad)?.schema();
    file.seek(SeekFrom::Start(begin)).map_err(failed)?;
    Ok(Batches { schema, batches: Messages::new(file, bytes - begin, batches) })
}

/// How many batches there are, by the footer of a file.
fn batches_of(file: &mut File, bytes: u64) -> std::result::Result<usize, String> {
    let mut end = [0; 10];
    file.seek(SeekFrom::End(-(end.len() as i64))).map_err(|error| error.to_string())?;
    file.read_exact(&mut end).map_err(|error| error.to_string())?;
    let footer_bytes = read_footer_length(end).map_err(|error| error.to_string())? as u64;
    let begin = bytes.checked_sub(footer_bytes + end.len() as u64).ok_or("its footer is longer than the file")?;
    file.seek(SeekFrom::Start(begin)).map_err(|error| error.to_string())?;
    let mut footer = vec![0; footer_bytes as usize];
    file.read_exact(&mut footer).map_err(|error| error.to_string())?;
    let footer = root_as_footer(&footer).map_err(|error| error.to_string())?;
    Ok(footer.recordBatches().map_or(0, |batches| batches.len()))
}
