//! Parquet files, row group by row group, column by column.
//!
//! A column that can be is read page by page. As arrays, which are decoded to be hashed and thrown away, the columns of
//! `benches/ndv_files.py` took 1.1 to 8 times as much CPU: most a text of 1,000 values in a dictionary, least a column
//! without repetitions, of which both spend most of the time on decompressing.

use std::fmt::Display;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::Schema;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::super::arrow::{Table, TableColumn};
use super::super::growth::Schedule;
use super::super::live::Board;
use super::super::outcome::Counts;
use super::super::source_spec::{FilesSpec, SourceSpec};
use super::bad_file::bad_file;
use super::page_values::Plain;
use super::pages::{self, Failure};
use super::unpanicked;
use crate::error::Result;

/// Rows of an array that a column or a group is read in, where it is not read page by page.
const BATCH_ROWS: usize = 8192;

/// One file, open.
struct OpenFile<'a> {
    path: &'a Path,
    file: Arc<File>,
    metadata: ArrowReaderMetadata,
}

/// What was counted of all files, and the number of rows.
///
/// # Errors
/// `bad_file`, `spec_invalid`, `interrupted`.
pub(super) fn read(spec: &SourceSpec, files: &FilesSpec, board: &Board) -> Result<(Counts, u64)> {
    // The footers first: what does not belong together is found before anything was read.
    let first = OpenFile::open(&files.paths[0])?;
    let mut table = Table::new(spec, first.schema())?;
    let mut rows = 0;
    for path in &files.paths {
        let file = OpenFile::open(path)?;
        let followed = table.follow(file.schema(), spec.columns.is_none());
        followed.map_err(|what| bad_file(path, format_args!("{what} in {}", files.paths[0].display())))?;
        rows += file.rows()?;
    }
    table.expect(&Schedule::certain(rows));
    board.begin(rows);
    for path in &files.paths {
        let file = OpenFile::open(path)?;
        let followed = table.follow(file.schema(), spec.columns.is_none());
        followed.map_err(|what| bad_file(path, what))?;
        for row_group in 0..file.metadata.metadata().num_row_groups() {
            file.count(row_group, spec.seed, &mut table, board)?;
        }
    }
    Ok((table.into_counts(), rows))
}

impl<'a> OpenFile<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        let file = unpanicked::open(path)?;
        let metadata =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(|error| bad_file(path, error))?;
        Ok(Self { path, file: Arc::new(file), metadata })
    }

    fn schema(&self) -> &Schema {
        self.metadata.schema()
    }

    fn rows(&self) -> Result<u64> {
        let rows = self.metadata.metadata().row_groups().iter().map(|group| u64::try_from(group.num_rows()));
        let rows: Option<Vec<u64>> = rows.map(std::result::Result::ok).collect();
        let sum = rows.and_then(|rows| rows.into_iter().try_fold(0_u64, u64::checked_add));
        sum.ok_or_else(|| bad_file(self.path, "a row group has less than no rows"))
    }

    /// Counts the columns and the groups of a row group.
    fn count(&self, row_group: usize, seed: u64, table: &mut Table, board: &Board) -> Result<()> {
        let metadata = self.metadata.metadata().row_group(row_group);
        let rows = metadata.num_rows() as u64;
        for column in &mut table.columns {
            let (name, before) = (column.name.clone(), column.counter.rows());
            let failed =
                |what: String| bad_file(self.path, format_args!("row group {row_group}, column {name}: {what}"));
            self.count_column(row_group, seed, column, board).map_err(|failure| match failure {
                Failure::Bad(what) => failed(what),
                Failure::Stopped(error) => error,
            })?;
            let found = column.counter.rows() - before;
            if found != rows {
                return Err(failed(format!("it has {found} rows where {rows} are expected")));
            }
            board.add(0, self.bytes(metadata, column.place));
        }
        self.count_groups(row_group, table, board)?;
        board.add(rows, 0);
        Ok(())
    }

    fn count_column(
        &self,
        row_group: usize,
        seed: u64,
        column: &mut TableColumn,
        board: &Board,
    ) -> std::result::Result<(), Failure> {
        let metadata = self.metadata.metadata().row_group(row_group);
        let bad = |error: &dyn Display| Failure::Bad(error.to_string());
        let by_pages = self.plain(metadata, column.place, seed).filter(|_| !column.is_exported());
        let Some((leaf, mut plain)) = by_pages else {
            for batch in self.arrays(row_group, [column.place]).map_err(|error| bad(&error))? {
                let batch = batch.map_err(|error| bad(&error))?;
                column.add(batch.column(0).as_ref(), board).map_err(Failure::Stopped)?;
            }
            return Ok(());
        };
        let (chunk, rows) = (metadata.column(leaf), metadata.num_rows() as usize);
        let pages = SerializedPageReader::new(Arc::clone(&self.file), chunk, rows, None);
        let mut pages = pages.map_err(|error| bad(&error))?;
        let is_nullable = chunk.column_descr().max_def_level() > 0;
        pages::count(&mut pages, is_nullable, &mut plain, &mut column.counter, board)
    }

    fn count_groups(&self, row_group: usize, table: &mut Table, board: &Board) -> Result<()> {
        let places = table.places_in_groups();
        if places.is_empty() {
            return Ok(());
        }
        let failed = |error: &dyn Display| bad_file(self.path, format_args!("row group {row_group}: {error}"));
        let mut found = 0;
        for batch in self.arrays(row_group, places.iter().copied()).map_err(|error| failed(&error))? {
            let batch = batch.map_err(|error| failed(&error))?;
            table.add_to_groups(&batch, &places, board)?;
            found += batch.num_rows() as u64;
        }
        let rows = self.metadata.metadata().row_group(row_group).num_rows() as u64;
        match found == rows {
            true => Ok(()),
            false => Err(failed(&format_args!("it has {found} rows where {rows} are expected"))),
        }
    }

    /// The leaf of a column that is read page by page, and how its values are hashed.
    fn plain(&self, metadata: &RowGroupMetaData, place: usize, seed: u64) -> Option<(usize, Plain)> {
        let schema = self.metadata.metadata().file_metadata().schema_descr();
        let root = schema.root_schema().get_fields().get(place).filter(|field| field.is_primitive())?;
        let leaf = (0..schema.num_columns()).find(|leaf| schema.get_column_root_idx(*leaf) == place)?;
        let chunk = metadata.columns().get(leaf)?;
        let descriptor = chunk.column_descr();
        if descriptor.max_rep_level() > 0 || !pages::are_known(chunk.encodings()) {
            return None;
        }
        let data_type = self.schema().field(place).data_type();
        Some((leaf, Plain::of(root.get_physical_type(), descriptor.type_length(), data_type, seed)?))
    }

    fn arrays(
        &self,
        row_group: usize,
        places: impl IntoIterator<Item = usize>,
    ) -> ParquetResult<ParquetRecordBatchReader> {
        let mask = ProjectionMask::roots(self.metadata.metadata().file_metadata().schema_descr(), places);
        ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.try_clone()?, self.metadata.clone())
            .with_row_groups(vec![row_group])
            .with_projection(mask)
            .with_batch_size(BATCH_ROWS)
            .build()
    }

    /// Of a column in a row group, compressed.
    fn bytes(&self, metadata: &RowGroupMetaData, place: usize) -> u64 {
        let schema = self.metadata.metadata().file_metadata().schema_descr();
        let leaves = (0..schema.num_columns()).filter(|leaf| schema.get_column_root_idx(*leaf) == place);
        leaves.map(|leaf| metadata.column(leaf).compressed_size().max(0) as u64).sum()
    }
}
