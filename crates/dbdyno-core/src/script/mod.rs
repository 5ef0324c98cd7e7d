//! pgbench's script language: parsed once, evaluated per unit of work.
//!
//! ```text
//! text --parse--> Script { commands, statements }        errors are ScriptErrors: file:line:column: message
//!                    |
//!                    |- sql, substitute      where a command ends, where its variables stand
//!                    |- meta, flow           backslash commands; \if blocks become jumps
//!                    |- token, expression    what \set and \if compute
//!                    |
//! client: Expression::evaluate(variables, random) -> Value      errors are EvaluationErrors
//! ```

mod builtin;
mod error;
mod evaluate;
mod expression;
mod flow;
mod function;
mod meta;
mod parse;
mod random;
mod scatter;
mod sleep;
mod source;
mod sql;
mod substitute;
mod suggestion;
mod token;
mod types;
mod value;

pub use builtin::builtin_text;
pub use error::{EvaluationError, ScriptError};
pub(crate) use flow::{CAPTURE_IN_PIPELINE, END_OUTSIDE, PIPELINE_LEFT_OPEN, PIPELINE_TWICE, SYNC_OUTSIDE};
pub use parse::parse;
pub use random::Random;
pub use types::*;
