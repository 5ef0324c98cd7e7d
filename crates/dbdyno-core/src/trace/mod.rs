//! Oracle's extended SQL trace (event 10046) to accounts that add up.
//!
//! ```text
//! file --input--> pieces --lines--> lines --recognise--> records --reader--> ledger
//!       ledger |- recursion     own = all - recursive calls
//!              |- containment   waits within calls, waits between calls
//!              `- rows          statement x session: calls, waits, plans, executions
//! ledger --scope, outcome--> JSON: a profile for the file and for each session, which adds up to the duration
//! ```
//!
//! The order of the file is the order of events. Every number leads back to lines.

mod board;
mod call_line;
mod containment;
mod errors;
mod events;
mod fields;
mod hashing;
mod input;
mod ledger;
mod ledger_cursors;
mod limits;
mod lines;
mod notes;
mod objects;
mod other_lines;
mod outcome;
mod plans;
mod profile;
mod reader;
mod recognise;
mod record;
mod recursion;
mod row_outcome;
mod rows;
mod scope;
mod scope_outcome;
mod session;
mod sessions;
mod sql_text;
mod statements;
mod sums;
mod wait_class;
mod wait_line;

pub use board::Board;
pub use profile::{profile, profile_bytes};

#[cfg(test)]
mod account_tests;
#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod form_tests;
#[cfg(test)]
mod generated_tests;
#[cfg(test)]
mod testing;
