//! Record batches into the counters of their columns and groups.

use std::collections::{BTreeSet, HashMap};

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::Schema;

use super::super::block::Hashed;
use super::super::counter::Counter;
use super::super::exports::Exports;
use super::super::growth::Schedule;
use super::super::live::Board;
use super::super::marks::{BLOCK_ROWS, Marks};
use super::super::outcome::{Counts, Described, NotCounted};
use super::super::source_spec::{NamedGroup, SourceSpec};
use super::exports;
use super::{HashRows, types};
use crate::error::{CoreError, Result};
use crate::sketch::{HashId, hash};

/// The columns of a source, and the groups of them.
pub(in super::super) struct Table {
    pub columns: Vec<TableColumn>,
    pub groups: Vec<TableGroup>,
    pub not_counted: Vec<NotCounted>,
    seed: u64,
    is_exported: bool,
}

/// A column that is counted.
pub(in super::super) struct TableColumn {
    pub name: String,
    pub type_name: String,
    /// Its place in a batch.
    pub place: usize,
    pub counter: Counter,
    hasher: Box<dyn HashRows>,
    /// None where none was asked for, or none is possible.
    exports: Option<Exports>,
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
    pub(in super::super) fn new(spec: &SourceSpec, schema: &Schema) -> Result<Self> {
        let counter = || Counter::new(spec.precision());
        let places = match &spec.columns {
            None => (0..schema.fields().len()).collect(),
            Some(names) => names.iter().map(|name| place_of(name, schema)).collect::<Result<Vec<_>>>()?,
        };
        let kinds = spec.interop();
        let exports = |data_type| {
            let wanted = !kinds.is_empty() && exports::is_known(data_type);
            wanted.then(|| Exports::new(&kinds, spec.precision()))
        };
        let (mut columns, mut not_counted) = (Vec::new(), Vec::new());
        for place in places {
            let field = schema.field(place);
            let (name, type_name) = (field.name().clone(), types::name(field.data_type()));
            match types::hasher(field.data_type(), spec.seed) {
                Ok(hasher) => {
                    let exports = exports(field.data_type());
                    columns.push(TableColumn { name, type_name, place, counter: counter(), hasher, exports });
                }
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
        Ok(Self { columns, groups, not_counted, seed: spec.seed, is_exported: !kinds.is_empty() })
    }

    /// Goes on with batches that are like this: the same columns, in any order and layout.
    ///
    /// # Errors
    /// What is different.
    pub(in super::super) fn follow(&mut self, schema: &Schema, all_columns: bool) -> Result<(), String> {
        for column in &mut self.columns {
            let same_place = schema.fields().get(column.place).filter(|field| *field.name() == column.name);
            let place = match same_place {
                Some(_) => column.place,
                None => place_of(&column.name, schema).map_err(|error| error.message)?,
            };
            let field = schema.field(place);
            let type_name = types::name(field.data_type());
            if type_name != column.type_name {
                return Err(format!("column {} is {type_name}, which is {} before", column.name, column.type_name));
            }
            column.hasher = types::hasher(field.data_type(), self.seed)
                .map_err(|reason| format!("column {} ({type_name}): {reason}", column.name))?;
            column.place = place;
        }
        let known = |name: &str| {
            self.columns.iter().any(|column| column.name == name)
                || self.not_counted.iter().any(|other| other.column == name)
        };
        match schema.fields().iter().find(|field| all_columns && !known(field.name())) {
            Some(field) => Err(format!("column {} is new", field.name())),
            None => Ok(()),
        }
    }

    /// What was counted.
    pub(in super::super) fn into_counts(self) -> Counts {
        let Self { columns, groups, not_counted, seed, is_exported } = self;
        let described = |name: String, type_name: String| Described { name, type_name, hash_id: HashId::Dbdyno1, seed };
        let group = |group: TableGroup| {
            let types: Vec<&str> = group.columns.iter().map(|column| columns[*column].type_name.as_str()).collect();
            (described(group.name, types.join(", ")), group.counter)
        };
        let groups = groups.into_iter().map(group).collect();
        let mut counts =
            Counts { columns: Vec::new(), groups, not_counted, exported: Vec::new(), not_exported: Vec::new() };
        for column in columns {
            match column.exports {
                Some(exports) => counts.exported.extend(Exports::written(&column.name, &[&exports])),
                None if is_exported => counts.not_exported.push(format!("{} ({})", column.name, column.type_name)),
                None => {}
            }
            counts.columns.push((described(column.name, column.type_name), column.counter));
        }
        counts
    }

    /// Counts the rows of a batch.
    ///
    /// # Errors
    /// `interrupted`.
    pub(in super::super) fn add(&mut self, batch: &RecordBatch, board: &Board) -> Result<()> {
        for column in &mut self.columns {
            column.add(batch.column(column.place).as_ref(), board)?;
        }
        let places: Vec<usize> = (0..batch.num_columns()).collect();
        self.add_to_groups(batch, &places, board)
    }

    /// Counts the groups of a batch that has only the columns with these places, in ascending order.
    ///
    /// # Errors
    /// `interrupted`.
    pub(in super::super) fn add_to_groups(
        &mut self,
        batch: &RecordBatch,
        places: &[usize],
        board: &Board,
    ) -> Result<()> {
        for group in &mut self.groups {
            let array = |column: &usize| {
                let place = self.columns[*column].place;
                batch.column(places.binary_search(&place).expect("the batch has all columns of groups"))
            };
            let arrays: Vec<&ArrayRef> = group.columns.iter().map(array).collect();
            group.add(self.seed, &mut self.columns, &arrays, board)?;
        }
        Ok(())
    }

    /// The places of all columns that are in a group, ascending.
    pub(in super::super) fn places_in_groups(&self) -> Vec<usize> {
        let columns = self.groups.iter().flat_map(|group| &group.columns);
        let places: BTreeSet<usize> = columns.map(|column| self.columns[*column].place).collect();
        places.into_iter().collect()
    }

    /// Rows will come as this schedule expects them. None has come yet.
    pub(in super::super) fn expect(&mut self, schedule: &Schedule) {
        self.columns.iter_mut().for_each(|column| column.counter.expect(schedule));
        self.groups.iter_mut().for_each(|group| group.counter.expect(schedule));
    }
}

impl TableColumn {
    /// Whether the values themselves are wanted, and not only their hashes.
    pub(in super::super) fn is_exported(&self) -> bool {
        self.exports.is_some()
    }

    /// Counts the rows of an array of its type.
    ///
    /// # Errors
    /// `interrupted`.
    pub(in super::super) fn add(&mut self, array: &dyn Array, board: &Board) -> Result<()> {
        if let Some(exports) = &mut self.exports {
            exports.add_array(array);
        }
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
    /// Counts the rows of its columns' arrays.
    fn add(&mut self, seed: u64, columns: &mut [TableColumn], arrays: &[&ArrayRef], board: &Board) -> Result<()> {
        let mut of_columns = vec![(vec![0; BLOCK_ROWS], Marks::none()); arrays.len()];
        let mut hashes = [0; BLOCK_ROWS];
        let (mut begin, end) = (0, arrays[0].len());
        while begin < end {
            board.check()?;
            let rows = self.counter.room().min(end - begin);
            for (((of_column, nulls), column), array) in of_columns.iter_mut().zip(&self.columns).zip(arrays) {
                *nulls = columns[*column].hash(array.slice(begin, rows).as_ref(), &mut of_column[..rows]);
                nulls.rows().for_each(|row| of_column[row] = hash::NULL_HASH);
            }
            let nulls = combine(seed, &of_columns, &mut hashes[..rows]);
            let hashes = &hashes[..rows];
            self.counter.add(&Hashed { hashes, nulls: &nulls, without_nulls: false, value_bytes: 0 });
            begin += rows;
        }
        Ok(())
    }
}

/// The hashes of rows from those of their columns; the rows that are NULL throughout.
fn combine(seed: u64, of_columns: &[(Vec<u64>, Marks)], hashes: &mut [u64]) -> Marks {
    let mut values = vec![0; of_columns.len()];
    let mut all_null = Marks::none();
    for (row, hash) in hashes.iter_mut().enumerate() {
        values.iter_mut().zip(of_columns).for_each(|(value, (of_column, _))| *value = of_column[row]);
        *hash = hash::combine(seed, &values);
        if of_columns.iter().all(|(_, nulls)| nulls.has(row)) {
            all_null.set(row);
        }
    }
    all_null
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
