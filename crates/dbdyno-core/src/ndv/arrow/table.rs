//! Record batches into the counters of their columns and groups.

use std::collections::HashMap;

use arrow_array::{Array, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::Schema;

use super::super::block::Hashed;
use super::super::counter::Counter;
use super::super::live::Board;
use super::super::marks::{BLOCK_ROWS, Marks};
use super::super::outcome::{Counts, Described, NotCounted};
use super::super::source_spec::{NamedGroup, SourceSpec};
use super::{HashRows, types};
use crate::error::{CoreError, Result};
use crate::sketch::{HashId, hash};

/// The columns of a source, and the groups of them.
pub(in super::super) struct Table {
    pub columns: Vec<TableColumn>,
    pub groups: Vec<TableGroup>,
    pub not_counted: Vec<NotCounted>,
    seed: u64,
}

/// A column that is counted.
pub(in super::super) struct TableColumn {
    pub name: String,
    pub type_name: String,
    /// Its place in a batch.
    pub place: usize,
    pub counter: Counter,
    hasher: Box<dyn HashRows>,
}

/// Columns that are counted together.
pub(in super::super) struct TableGroup {
    pub name: String,
    /// By their places in `Table::columns`.
    pub columns: Vec<usize>,
    pub counter: Counter,
}

impl Table {
    /// Of what is asked of columns like these.
    ///
    /// # Errors
    /// `spec_invalid`: a column that is not there, or not alone under its name, or a group of one that is not counted.
    pub(in super::super) fn new(spec: &SourceSpec, schema: &Schema, rows_expected: u64) -> Result<Self> {
        let counter = || Counter::new(spec.precision(), rows_expected);
        let places = match &spec.columns {
            None => (0..schema.fields().len()).collect(),
            Some(names) => names.iter().map(|name| place_of(name, schema)).collect::<Result<Vec<_>>>()?,
        };
        let (mut columns, mut not_counted) = (Vec::new(), Vec::new());
        for place in places {
            let field = schema.field(place);
            let (name, type_name) = (field.name().clone(), types::name(field.data_type()));
            match types::hasher(field.data_type(), spec.seed) {
                Ok(hasher) => columns.push(TableColumn { name, type_name, place, counter: counter(), hasher }),
                Err(reason) => not_counted.push(NotCounted { column: name, type_name, reason }),
            }
        }
        let by_place: HashMap<usize, usize> =
            columns.iter().enumerate().map(|(index, column)| (column.place, index)).collect();
        let group = |group: &NamedGroup| {
            let column = |name: &String| {
                let place = place_of(name, schema)?;
                by_place.get(&place).copied().ok_or_else(|| not_in_group(&group.name, name, &not_counted))
            };
            let columns = group.columns.iter().map(column).collect::<Result<Vec<_>>>()?;
            Ok(TableGroup { name: group.name.clone(), columns, counter: counter() })
        };
        let groups = spec.groups.iter().map(group).collect::<Result<Vec<_>>>()?;
        Ok(Self { columns, groups, not_counted, seed: spec.seed })
    }

    /// What was counted.
    pub(in super::super) fn into_counts(self) -> Counts {
        let Self { columns, groups, not_counted, seed } = self;
        let described = |name: String, type_name: String| Described { name, type_name, hash_id: HashId::Dbdyno1, seed };
        let groups = groups.into_iter().map(|group| {
            let types: Vec<&str> = group.columns.iter().map(|column| columns[*column].type_name.as_str()).collect();
            (described(group.name, types.join(", ")), group.counter)
        });
        let groups = groups.collect();
        let columns = columns.into_iter().map(|column| (described(column.name, column.type_name), column.counter));
        Counts { columns: columns.collect(), groups, not_counted }
    }

    /// Counts the rows of a batch.
    ///
    /// # Errors
    /// `interrupted`.
    pub(in super::super) fn add(&mut self, batch: &RecordBatch, board: &Board) -> Result<()> {
        for column in &mut self.columns {
            column.add(batch.column(column.place).as_ref(), board)?;
        }
        for group in &mut self.groups {
            group.add(self.seed, &mut self.columns, batch, board)?;
        }
        Ok(())
    }
}

impl TableColumn {
    /// Counts the rows of an array of its type.
    ///
    /// # Errors
    /// `interrupted`.
    pub(in super::super) fn add(&mut self, array: &dyn Array, board: &Board) -> Result<()> {
        let mut hashes = [0; BLOCK_ROWS];
        let mut begin = 0;
        while begin < array.len() {
            board.check()?;
            let rows = self.counter.room().min(array.len() - begin);
            let nulls = self.hash(array.slice(begin, rows).as_ref(), &mut hashes[..rows]);
            let hashes = &hashes[..rows];
            self.counter.add(&Hashed { hashes, nulls: &nulls, without_nulls: true, value_bytes: 0 });
            begin += rows;
        }
        Ok(())
    }

    /// The rows that are NULL.
    fn hash(&mut self, block: &dyn Array, hashes: &mut [u64]) -> Marks {
        let nulls = block.logical_nulls();
        self.hasher.hash(block, nulls.as_ref(), hashes);
        nulls.as_ref().map_or_else(Marks::none, marks)
    }
}

impl TableGroup {
    fn add(&mut self, seed: u64, columns: &mut [TableColumn], batch: &RecordBatch, board: &Board) -> Result<()> {
        let mut of_columns = vec![(vec![0; BLOCK_ROWS], Marks::none()); self.columns.len()];
        let mut values = vec![0; self.columns.len()];
        let mut hashes = [0; BLOCK_ROWS];
        let mut begin = 0;
        while begin < batch.num_rows() {
            board.check()?;
            let rows = self.counter.room().min(batch.num_rows() - begin);
            for ((of_column, nulls), column) in of_columns.iter_mut().zip(&self.columns) {
                let column = &mut columns[*column];
                let block = batch.column(column.place).slice(begin, rows);
                *nulls = column.hash(block.as_ref(), &mut of_column[..rows]);
                nulls.rows().for_each(|row| of_column[row] = hash::NULL_HASH);
            }
            let mut all_null = Marks::none();
            for (row, hash) in hashes[..rows].iter_mut().enumerate() {
                values.iter_mut().zip(&of_columns).for_each(|(value, (of_column, _))| *value = of_column[row]);
                *hash = hash::combine(seed, &values);
                if of_columns.iter().all(|(_, nulls)| nulls.has(row)) {
                    all_null.set(row);
                }
            }
            let hashes = &hashes[..rows];
            self.counter.add(&Hashed { hashes, nulls: &all_null, without_nulls: false, value_bytes: 0 });
            begin += rows;
        }
        Ok(())
    }
}

fn marks(nulls: &NullBuffer) -> Marks {
    match nulls.null_count() {
        0 => Marks::none(),
        _ => Marks::of_words(nulls.inner().bit_chunks().iter_padded().map(|valid| !valid), nulls.len()),
    }
}

fn place_of(name: &str, schema: &Schema) -> Result<usize> {
    let mut places = schema.fields().iter().enumerate().filter(|(_, field)| field.name() == name);
    let invalid = |what: String| Err(CoreError::new("spec_invalid", format!("column {name}: {what}")));
    match (places.next(), places.next()) {
        (Some((place, _)), None) => Ok(place),
        (Some(_), Some(_)) => invalid("several columns have this name; give them different ones".to_owned()),
        (None, _) => {
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            invalid(format!("there is none of this name; there are {}", names.join(", ")))
        }
    }
}

fn not_in_group(group: &str, column: &str, not_counted: &[NotCounted]) -> CoreError {
    let why = not_counted.iter().find(|other| other.column == column);
    let message = match why {
        Some(NotCounted { type_name, reason, .. }) => {
            format!("group {group}: column {column} ({type_name}) is not counted: {reason}")
        }
        None => format!("group {group}: column {column} is not among the columns that are counted; add it"),
    };
    CoreError::new("spec_invalid", message)
}
