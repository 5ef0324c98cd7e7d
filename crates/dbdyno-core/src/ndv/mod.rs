//! Distinct counts of a table's columns in one pass.
//!
//! ```text
//! COPY ... (FORMAT binary) --wire--> pieces -> tuples -> block: rows, column by column, canonical, hashed
//!                                                          |- tally    sketch, nulls, bytes, points of growth
//!                                                          `- sample   what ANALYZE would draw at a statistics target
//! one such line for each connection; scan joins what they keep -> outcome (JSON), file of sketches
//! ```

mod arrow;
mod block;
mod budget;
mod canonical;
mod counter;
mod exports;
mod files;
mod growth;
mod live;
mod marks;
mod outcome;
mod pages;
mod part;
mod reservoir;
mod sample;
mod scan;
mod session;
mod source_spec;
mod spec;
mod tally;
mod tuples;

pub use arrow::{ArrowStream, scan_arrow};
pub use canonical::Decoder;
pub use exports::Exported;
pub use files::scan_files;
pub use live::Board;
pub use outcome::SourceScan;
pub use scan::scan_postgres;
