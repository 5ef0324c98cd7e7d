//! The data of shipped schemas, made from a seed: rows in COPY's text format, in chunks that can be made alone.
//!
//! ```text
//! (generator, table, scale, seed, chunk) -> bytes
//! ```
//!
//! Row i of a table depends on the seed, the scale, the table and i, and on nothing that was made before it. So a
//! chunk can be made by any thread, again, or not at all, and the chunks put together in the order of their numbers are
//! always the same table. Only integers are drawn: the bytes do not depend on a machine's floating point.
//!
//! A row costs no allocation: values go straight into the chunk's one buffer.

mod baskets;
mod calendar;
mod copy_text;
mod draws;
mod order_entry;
mod web_returns;
mod words;

use std::ops::Range;

use crate::error::{CoreError, Result};
use copy_text::CopyText;
use draws::Draws;

/// Row numbers must stay far from where products of them overflow.
const SCALE_MAX: u64 = 1_000_000;

/// What COPY needs to load one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSize {
    /// Its name.
    pub table: &'static str,
    /// Its columns, in the order of the values.
    pub columns: &'static [&'static str],
    /// How many rows it has.
    pub rows: u64,
    /// In how many chunks they come, numbered from 0.
    pub chunks: u64,
}

/// One table of a generator.
struct Table {
    name: &'static str,
    columns: &'static [&'static str],
    rows: fn(scale: u64) -> u64,
    rows_per_chunk: u64,
    /// Of one row, generously: the buffer is made once.
    bytes_per_row: usize,
    write: fn(&Source, u64, &mut CopyText),
}

/// What every row of a data set depends on.
#[derive(Clone, Copy, Debug)]
struct Source {
    seed: u64,
    scale: u64,
}

impl Source {
    /// The random numbers of row `row` in `stream`: one stream a table, and more for what tables share.
    fn draws(&self, stream: Stream, row: u64) -> Draws {
        Draws::of_row(self.seed, stream as u64, row)
    }
}

/// What draws of the same row number must not share.
#[derive(Clone, Copy, Debug)]
enum Stream {
    Customer = 1,
    Address,
    Card,
    Warehouse,
    Product,
    Price,
    Description,
    Inventory,
    Order,
    Item,
    Basket,
    Logon,
    WebReturn,
}

/// The tables of `generator` at `scale`, in the order in which to load them.
pub fn tables(generator: &str, scale: u64) -> Result<Vec<TableSize>> {
    check_scale(scale)?;
    Ok(of_generator(generator)?.iter().map(|table| table.size(scale)).collect())
}

/// The rows of one chunk of `table`, each ended by a line break.
pub fn chunk(generator: &str, table: &str, scale: u64, seed: u64, number: u64) -> Result<Vec<u8>> {
    check_scale(scale)?;
    let known = of_generator(generator)?;
    let table = known.iter().find(|each| each.name == table).ok_or_else(|| unknown_table(generator, table, known))?;
    let rows = table.rows_of_chunk(scale, number)?;
    let mut text = CopyText::with_capacity((rows.end - rows.start) as usize * table.bytes_per_row);
    let source = Source { seed, scale };
    for row in rows {
        (table.write)(&source, row, &mut text);
    }
    Ok(text.into_bytes())
}

impl Table {
    fn size(&self, scale: u64) -> TableSize {
        let rows = (self.rows)(scale);
        TableSize { table: self.name, columns: self.columns, rows, chunks: rows.div_ceil(self.rows_per_chunk) }
    }

    fn rows_of_chunk(&self, scale: u64, number: u64) -> Result<Range<u64>> {
        let size = self.size(scale);
        if number >= size.chunks {
            let message = format!("{}: no chunk {number}; there are {}, counted from 0", self.name, size.chunks);
            return Err(CoreError::new("unknown_chunk", message));
        }
        let first = number * self.rows_per_chunk;
        Ok(first..size.rows.min(first + self.rows_per_chunk))
    }
}

fn of_generator(name: &str) -> Result<&'static [Table]> {
    match name {
        "order-entry" => Ok(order_entry::TABLES),
        "web-returns" => Ok(web_returns::TABLES),
        _ => {
            let message = format!("generator {name:?}: there is none; there are order-entry and web-returns");
            Err(CoreError::new("unknown_generator", message))
        }
    }
}

fn unknown_table(generator: &str, name: &str, known: &[Table]) -> CoreError {
    let names = known.iter().map(|table| table.name).collect::<Vec<_>>().join(", ");
    CoreError::new("unknown_table", format!("generator {generator}: no table {name:?}; there are {names}"))
}

fn check_scale(scale: u64) -> Result<()> {
    if (1..=SCALE_MAX).contains(&scale) {
        return Ok(());
    }
    Err(CoreError::new("bad_scale", format!("scale {scale}: must be from 1 to {SCALE_MAX}")))
}
