//! pgbench's script language: parsed once, evaluated per unit of work.

mod function;
mod types;

pub use types::*;
