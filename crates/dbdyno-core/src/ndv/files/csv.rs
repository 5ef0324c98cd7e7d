//! CSV files: every value is a text, so 1 and 1.0 differ, and nothing between two delimiters is NULL.
//!
//! A type that is read off the first values may not fit a later one; texts fit all of them.

use std::fmt::Display;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field as ArrowField, Schema, SchemaRef};
use flate2::read::MultiGzDecoder;
use memchr::memchr_iter;

use super::super::arrow::Table;
use super::super::growth::Schedule;
use super::super::live::Board;
use super::super::outcome::Counts;
use super::super::source_spec::{CsvSpec, FilesSpec, SourceSpec};
use super::bad_file::{bad_file, unreadable};
use super::csv_fields::{Dialect, Field, Found};
use super::unpanicked;
use crate::error::{CoreError, Result};

const CHUNK_BYTES: usize = 256 * 1024;
/// A quote that is never closed makes the rest of a file one record.
const RECORD_BYTES_MAX: usize = 256 << 20;
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 16 << 20;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];

/// What was counted of all files, and the number of rows.
///
/// # Errors
/// `bad_file`, `spec_invalid`, `interrupted`.
pub(super) fn read(spec: &SourceSpec, files: &FilesSpec, board: &Board) -> Result<(Counts, u64)> {
    let dialect = dialect_of(files.csv)?;
    let mut table = Table::new(spec, &Records::open(&files.paths[0], dialect, files.csv.header)?.schema)?;
    let bytes_all: u64 = super::bytes_of(files)?.into_iter().sum();
    let mut rows = 0;
    for path in &files.paths {
        let mut records = Records::open(path, dialect, files.csv.header)?;
        let followed = table.follow(&records.schema, spec.columns.is_none());
        followed.map_err(|what| bad_file(path, format_args!("{what} in {}", files.paths[0].display())))?;
        while let Some((batch, bytes)) = records.batch()? {
            let batch_rows = batch.num_rows() as u64;
            if rows == 0 {
                let expected = (batch_rows as f64 * bytes_all as f64 / bytes as f64) as u64;
                table.expect(&Schedule::likely(expected));
                board.begin(expected);
            }
            table.add(&batch, board)?;
            board.add(batch_rows, bytes);
            rows += batch_rows;
        }
    }
    Ok((table.into_counts(), rows))
}

fn dialect_of(spec: CsvSpec) -> Result<Dialect> {
    let byte = |key: &str, value: char| {
        let fits = value.is_ascii() && value != '\n' && value != '\r';
        let invalid = || CoreError::new("spec_invalid", format!("{key} {value:?}: give one ASCII character"));
        fits.then_some(value as u8).ok_or_else(invalid)
    };
    let dialect = Dialect { delimiter: byte("delimiter", spec.delimiter)?, quote: byte("quote", spec.quote)? };
    match dialect.delimiter == dialect.quote {
        true => Err(CoreError::new("spec_invalid", format!("quote {:?}: it is the delimiter, too", spec.quote))),
        false => Ok(dialect),
    }
}

/// The records of a file.
struct Records<'a> {
    path: &'a Path,
    dialect: Dialect,
    input: Box<dyn Read>,
    is_over: bool,
    /// What has come of it; before `begin` it was read.
    bytes: Vec<u8>,
    begin: usize,
    /// Lines that ended before what is kept.
    lines_before: u64,
    schema: SchemaRef,
    fields: Vec<Field>,
}

/// Texts one behind the other.
struct Texts {
    data: Vec<u8>,
    ends: Vec<i32>,
    valid: Vec<bool>,
}

impl<'a> Records<'a> {
    /// The columns are those of the first line.
    fn open(path: &'a Path, dialect: Dialect, has_header: bool) -> Result<Self> {
        let failed = |error| unreadable(path, &error);
        let mut file = unpanicked::open(path)?;
        let mut magic = [0; GZIP_MAGIC.len()];
        let is_compressed = file.read_exact(&mut magic).is_ok() && magic == GZIP_MAGIC;
        file.rewind().map_err(failed)?;
        let input: Box<dyn Read> = if is_compressed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        let mut records = Self {
            path,
            dialect,
            input,
            is_over: false,
            bytes: Vec::new(),
            begin: 0,
            lines_before: 0,
            schema: Arc::new(Schema::empty()),
            fields: Vec::new(),
        };
        records.read_more()?;
        if records.bytes.starts_with(BYTE_ORDER_MARK) {
            records.begin = BYTE_ORDER_MARK.len();
        }
        records.read_schema(has_header)?;
        Ok(records)
    }

    fn read_schema(&mut self, has_header: bool) -> Result<()> {
        let Some(at) = self.next()? else { return Err(bad_file(self.path, "it is empty")) };
        let name = |(place, field): (usize, &Field)| {
            let mut name = Vec::new();
            if has_header {
                field.write(&self.bytes[at..], self.dialect.quote, &mut name);
            }
            match name.is_empty() {
                true => format!("column{}", place + 1),
                false => String::from_utf8_lossy(&name).into_owned(),
            }
        };
        let names: Vec<String> = self.fields.iter().enumerate().map(name).collect();
        let field = |name: String| ArrowField::new(name, DataType::Utf8, true);
        self.schema = Arc::new(Schema::new(names.into_iter().map(field).collect::<Vec<_>>()));
        if !has_header {
            self.begin = at;
        }
        Ok(())
    }

    /// The next rows, and the bytes that they take in the file; None at its end.
    fn batch(&mut self) -> Result<Option<(RecordBatch, u64)>> {
        let count = self.schema.fields().len();
        let mut columns: Vec<Texts> = (0..count).map(|_| Texts::new()).collect();
        let (mut rows, mut bytes) = (0, 0);
        while rows < BATCH_ROWS && (bytes < BATCH_BYTES || rows == 0) {
            let Some(at) = self.next()? else { break };
            bytes += self.begin - at;
            let is_blank = self.fields.len() == 1 && self.fields[0].is_null();
            if is_blank && count > 1 {
                continue;
            }
            if self.fields.len() != count {
                let found = self.fields.len();
                return Err(self.bad_line(at, format_args!("{found} fields where {count} are expected")));
            }
            for (column, field) in columns.iter_mut().zip(&self.fields) {
                column.add(*field, &self.bytes[at..], self.dialect.quote);
            }
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let array = |(texts, field): (Texts, &Arc<ArrowField>)| {
            texts.array().ok_or_else(|| {
                let what = format!("column {}: a text is not in UTF-8; convert the file first", field.name());
                bad_file(self.path, what)
            })
        };
        let arrays = columns.into_iter().zip(self.schema.fields()).map(array).collect::<Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays);
        Ok(Some((batch.map_err(|error| bad_file(self.path, error))?, bytes as u64)))
    }

    /// Finds the fields of the next record, whose first byte it gives; None at the end of the file.
    fn next(&mut self) -> Result<Option<usize>> {
        loop {
            let rest = &self.bytes[self.begin..];
            if rest.is_empty() && self.is_over {
                return Ok(None);
            }
            let found = self.dialect.record(rest, self.is_over, &mut self.fields);
            match found.map_err(|what| self.bad_line(self.begin, what))? {
                Found::Record(bytes) => {
                    let at = self.begin;
                    self.begin += bytes;
                    return Ok(Some(at));
                }
                Found::More => self.read_more()?,
            }
        }
    }

    /// Reads as much again as is kept, so that a long record is not looked at too often.
    fn read_more(&mut self) -> Result<()> {
        self.lines_before += lines(&self.bytes[..self.begin]);
        self.bytes.drain(..self.begin);
        self.begin = 0;
        let kept = self.bytes.len();
        if kept > RECORD_BYTES_MAX {
            let what = format_args!("a record of more than {} MB; is a quote left open?", kept >> 20);
            return Err(self.bad_line(0, what));
        }
        let wanted = kept.max(CHUNK_BYTES);
        self.bytes.reserve(wanted);
        let read = self.input.by_ref().take(wanted as u64).read_to_end(&mut self.bytes);
        self.is_over = read.map_err(|error| unreadable(self.path, &error))? < wanted;
        Ok(())
    }

    /// What is wrong with the record that begins here.
    fn bad_line(&self, at: usize, what: impl Display) -> CoreError {
        let line = 1 + self.lines_before + lines(&self.bytes[..at]);
        bad_file(self.path, format_args!("line {line}: {what}"))
    }
}

fn lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

impl Texts {
    fn new() -> Self {
        Self { data: Vec::new(), ends: vec![0], valid: Vec::new() }
    }

    fn add(&mut self, field: Field, record: &[u8], quote: u8) {
        field.write(record, quote, &mut self.data);
        self.ends.push(i32::try_from(self.data.len()).expect("a batch ends long before"));
        self.valid.push(!field.is_null());
    }

    /// None where a text is not in UTF-8.
    fn array(self) -> Option<ArrayRef> {
        let nulls = self.valid.contains(&false).then(|| NullBuffer::from(self.valid));
        let array = StringArray::try_new(OffsetBuffer::new(self.ends.into()), self.data.into(), nulls).ok()?;
        Some(Arc::new(array))
    }
}
