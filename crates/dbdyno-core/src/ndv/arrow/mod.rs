//! Columns that come as Arrow arrays, hashed as the same values from PostgreSQL are.
//!
//! ```text
//! record batch -> column by column: blocks of 1,024 rows -> HashRows: canonical, hashed -> counter
//!              `-> group by group:  the same, combined row by row                       -> counter
//! ```
//!
//! | type                                          | counted as               | what is hashed |
//! |---|---|---|
//! | integers of any width, booleans               | smallint ... boolean     | the value in 64 bits |
//! | floating-point numbers                        | real, double precision   | a double; one zero, one NaN |
//! | decimals of any width                         | numeric                  | digits to the base 10,000, without outer zeros |
//! | dates, times, timestamps of any unit          | date, time, timestamp    | days or microseconds, from 2000 on |
//! | durations, intervals                          | interval                 | microseconds, a month of 30 days, a day of 24 hours |
//! | texts and binaries in any layout              | text, bytea              | the bytes |
//! | dictionaries                                  | what they have entries of | each entry once |
//! | lists, structs, maps                          | integer[], ...           | the hashes of what they are made of |
//!
//! What is no whole number of microseconds, or lies beyond 64 bits of them, is hashed by its nanoseconds.

mod byte_values;
mod decimals;
mod dictionary;
mod exports;
mod instants;
mod nested;
mod numbers;
mod stream;
mod table;
mod types;

use arrow_array::Array;
use arrow_buffer::NullBuffer;

pub use stream::{ArrowStream, scan_arrow};

pub(super) use stream::bytes_of;
pub(super) use table::{Table, TableColumn};
pub(super) use types::hasher;

/// How the values of one column become hashes.
pub(super) trait HashRows {
    /// Hashes each row; of a row that is NULL the hash means nothing.
    ///
    /// The array has the type that the hasher was made for, as many rows as there is room for hashes, and these nulls.
    fn hash(&mut self, array: &dyn Array, nulls: Option<&NullBuffer>, hashes: &mut [u64]);
}
