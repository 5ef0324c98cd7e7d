//! How many different values: an exact set of hashes while there are few, HyperLogLog registers when there are many.
//!
//! ```text
//! values -> hash::fixed64 | hash::bytes -> hashes, a block at a time
//!   -> Column -> Sketch    up to 8,192 different hashes as they are, then 2^p registers; Estimate with its interval
//!             `- BottomK   the 1,024 smallest hashes: how much of one column is in another
//! ```
//!
//! A hash is 64 bits. The upper p name the register, which keeps the greatest number of leading zeros of the others,
//! plus one: so registers of one precision fold into those of a lower one, and the union of the sketches of parts is
//! the sketch of the whole, register by register.
//!
//! Sketches say something about each other only if the same value gets the same hash: [`HashId`] and the seed say how
//! values were hashed, and nothing joins across them.

mod bottom_k;
pub mod buffers;
mod column;
mod estimator;
mod exact;
pub mod file;
pub mod hash;
mod instructions;
mod interop;
mod overlap;
mod precision;
mod registers;
mod select;
mod set;
mod standard_error;

pub use bottom_k::BottomK;
pub use column::Column;
pub use hash::HashId;
pub use instructions::Instructions;
pub use interop::{InteropKind, InteropSketch};
pub use overlap::{Overlap, Sample};
pub use precision::Precision;
pub use set::{EXACT_LIMIT, Estimate, Sketch};
