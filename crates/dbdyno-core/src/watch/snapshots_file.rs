//! The snapshots for those who want SQL over them: one row a stretch, in Apache Parquet.
//!
//! | column | type | |
//! |---|---|---|
//! | from_ns, to_ns | INT64 | since the watch began (metadata key `started_at_ns`); stretches of a process leave no gap |
//! | pid, backend_type | INT32, UTF8 | |
//! | query_id | INT64 | as PostgreSQL prints it; null where none |
//! | state, event | UTF8 | null where none |
//! | snapshots, looked, asleep | INT64 | equal ones in a row; those with a process state; those asleep |
//!
//! The file is written beside its place, in row groups as stretches come, and moved there when it is whole.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::source::SessionState;

const SCHEMA: &str = "message snapshots {
    REQUIRED INT64 from_ns;
    REQUIRED INT64 to_ns;
    REQUIRED INT32 pid;
    REQUIRED BYTE_ARRAY backend_type (UTF8);
    OPTIONAL INT64 query_id;
    OPTIONAL BYTE_ARRAY state (UTF8);
    OPTIONAL BYTE_ARRAY event (UTF8);
    REQUIRED INT64 snapshots;
    REQUIRED INT64 looked;
    REQUIRED INT64 asleep;
}";

/// Rows of a row group: 8 MB before compression, some seconds of a busy server.
const GROUP_ROWS: usize = 131_072;

/// One row, with the numbers of the outcome's tables.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Beginning and end.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
    /// Who.
    pub process: usize,
    /// Of its session.
    pub state: SessionState,
    /// 0: none.
    pub query_id: i64,
    /// 0: none.
    pub event: usize,
    /// Equal ones.
    pub snapshots: u64,
    /// With a process state.
    pub looked: u64,
    /// Asleep.
    pub asleep: u64,
}

/// Names for a row's numbers.
pub trait RowNames {
    /// (pid, backend type).
    fn process(&self, process: usize) -> (i32, &str);
    /// `Class:Name`.
    fn event(&self, event: usize) -> &str;
}

/// The file while it is written.
pub struct SnapshotsFile {
    path: PathBuf,
    partial: PathBuf,
    writer: SerializedFileWriter<File>,
    rows: Vec<Row>,
}

impl SnapshotsFile {
    /// Create it, with what is known before the first snapshot.
    pub fn create(path: &Path, started_at_ns: u64, route: &str, version: u32) -> Result<Self> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let schema = Arc::new(parse_message_type(SCHEMA).expect("a constant"));
        let metadata = [("started_at_ns", started_at_ns.to_string()), ("route", route.to_owned())];
        let metadata = metadata.into_iter().chain([("postgresql", version.to_string())]);
        let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_owned(), value)).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("dbdyno ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(metadata))
            .build();
        let writer = SerializedFileWriter::new(File::create(&partial)?, schema, Arc::new(properties))?;
        Ok(SnapshotsFile { path: path.to_owned(), partial, writer, rows: Vec::with_capacity(GROUP_ROWS) })
    }

    /// Add a row.
    pub fn push(&mut self, row: Row, names: &impl RowNames) -> Result<()> {
        self.rows.push(row);
        if self.rows.len() == GROUP_ROWS { self.write_group(names) } else { Ok(()) }
    }

    /// Write what is left and put the file in its place.
    pub fn close(mut self, names: &impl RowNames) -> Result<()> {
        if !self.rows.is_empty() {
            self.write_group(names)?;
        }
        self.writer.into_inner()?.sync_all()?;
        fs::rename(&self.partial, &self.path)?;
        Ok(())
    }

    /// Give up: nothing stays.
    pub fn discard(self) {
        // What cannot be removed may stay: it has no name that anyone looks for.
        let _ = fs::remove_file(&self.partial);
    }

    fn write_group(&mut self, names: &impl RowNames) -> Result<()> {
        let rows = &self.rows;
        let mut group = self.writer.next_row_group()?;
        write_all::<Int64Type>(&mut group, rows.iter().map(|row| row.from_ns as i64))?;
        write_all::<Int64Type>(&mut group, rows.iter().map(|row| row.to_ns as i64))?;
        write_all::<Int32Type>(&mut group, rows.iter().map(|row| names.process(row.process).0))?;
        let text = |text: &str| ByteArray::from(text.as_bytes().to_vec());
        write_all::<ByteArrayType>(&mut group, rows.iter().map(|row| text(names.process(row.process).1)))?;
        let some_id = |row: &Row| (row.query_id != 0).then_some(row.query_id);
        write_known::<Int64Type>(&mut group, rows.iter().map(some_id))?;
        write_known::<ByteArrayType>(&mut group, rows.iter().map(|row| row.state.name().map(text)))?;
        let some_event = |row: &Row| (row.event != 0).then(|| text(names.event(row.event)));
        write_known::<ByteArrayType>(&mut group, rows.iter().map(some_event))?;
        write_all::<Int64Type>(&mut group, rows.iter().map(|row| row.snapshots as i64))?;
        write_all::<Int64Type>(&mut group, rows.iter().map(|row| row.looked as i64))?;
        write_all::<Int64Type>(&mut group, rows.iter().map(|row| row.asleep as i64))?;
        group.close()?;
        self.rows.clear();
        Ok(())
    }
}

/// The next column of a group, one without nulls.
fn write_all<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = T::T>,
) -> Result<()> {
    let values: Vec<T::T> = values.collect();
    let mut column = group.next_column()?.expect("the schema has it");
    column.typed::<T>().write_batch(&values, None, None)?;
    column.close()
}

/// The next column, one with nulls: definition level 0.
fn write_known<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<()> {
    let (mut known, mut levels) = (Vec::new(), Vec::new());
    for value in values {
        levels.push(i16::from(value.is_some()));
        known.extend(value);
    }
    let mut column = group.next_column()?.expect("the schema has it");
    column.typed::<T>().write_batch(&known, Some(&levels), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    struct Names;

    impl RowNames for Names {
        fn process(&self, process: usize) -> (i32, &str) {
            [(4711, "client backend"), (4712, "walwriter")][process]
        }

        fn event(&self, event: usize) -> &str {
            ["", "IO:WalSync"][event]
        }
    }

    fn row(number: u64) -> Row {
        let process = (number % 2) as usize;
        let (state, query_id) = if process == 0 { (SessionState::Active, -7) } else { (SessionState::Unknown, 0) };
        Row {
            from_ns: number * 10,
            to_ns: number * 10 + 10,
            process,
            state,
            query_id,
            event: process,
            snapshots: number,
            looked: 2,
            asleep: 1,
        }
    }

    #[test]
    fn a_closed_file_gives_all_rows_of_all_groups_back() {
        let path = std::env::temp_dir().join(format!("dbdyno-snapshots-{}.parquet", std::process::id()));
        let rows = GROUP_ROWS as u64 + 3;
        let mut file = SnapshotsFile::create(&path, 1_700_000_000, "mapped", 18).expect("created");
        (0..rows).for_each(|number| file.push(row(number), &Names).expect("written"));
        assert!(!path.exists(), "what is there is whole");
        file.close(&Names).expect("closed");
        let reader = SerializedFileReader::new(File::open(&path).expect("there")).expect("Parquet");
        fs::remove_file(&path).expect("ours");
        let metadata = reader.metadata();
        assert_eq!((2, rows as i64), (metadata.num_row_groups(), metadata.file_metadata().num_rows()));
        let pairs = metadata.file_metadata().key_value_metadata().expect("three pairs");
        let values: Vec<_> = pairs.iter().map(|pair| pair.value.as_deref().expect("a value")).collect();
        assert_eq!(values, ["1700000000", "mapped", "18"]);
        for (number, found) in reader.get_row_iter(None).expect("rows").enumerate() {
            let (found, number) = (found.expect("a row"), number as i64);
            assert_eq!((number * 10, number * 10 + 10), (found.get_long(0).unwrap(), found.get_long(1).unwrap()));
            let counts = [7, 8, 9].map(|column| found.get_long(column).unwrap());
            assert_eq!([number, 2, 1], counts);
            let is_client = number % 2 == 0;
            assert_eq!(if is_client { 4711 } else { 4712 }, found.get_int(2).unwrap());
            assert_eq!(if is_client { "client backend" } else { "walwriter" }, found.get_string(3).unwrap());
            assert_eq!(is_client.then_some(-7), found.get_long(4).ok());
            assert_eq!(is_client.then_some("active"), found.get_string(5).ok().map(String::as_str));
            assert_eq!((!is_client).then_some("IO:WalSync"), found.get_string(6).ok().map(String::as_str));
        }
    }

    #[test]
    fn a_file_given_up_leaves_nothing() {
        let path = std::env::temp_dir().join(format!("dbdyno-given-up-{}.parquet", std::process::id()));
        let mut file = SnapshotsFile::create(&path, 0, "mapped", 18).expect("created");
        file.push(row(1), &Names).expect("kept");
        let partial = file.partial.clone();
        assert!(partial.exists());
        file.discard();
        assert!(!path.exists() && !partial.exists());
    }
}
