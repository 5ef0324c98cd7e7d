//! What can be wrong with a script: its text (`ScriptError`, before anything runs) and its values
//! (`EvaluationError`, while a client runs it).

use std::sync::Arc;

use super::types::{Symbols, VariableId};
use super::value::not_finite;

/// A mistake in a script's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct ScriptError {
    /// The script's name.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What was seen and what to do, on one line.
    pub message: String,
}

/// An expression that has no value. The messages are pgbench's.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvaluationError {
    /// The operation (`add`, `sub`, `mul`, `div`) left the 64-bit integers.
    #[error("bigint {0} out of range")]
    OutOfRange(&'static str),
    /// `/` or `%` by an integer zero.
    #[error("division by zero")]
    DivisionByZero,
    /// NaN, or too far from zero for a 64-bit integer.
    #[error("double to int overflow for {}", six_decimals(*.0))]
    DoubleToInteger(f64),
    /// A value of the wrong type.
    #[error("cannot coerce {from} to {to}")]
    Coercion {
        /// The type it has.
        from: &'static str,
        /// The type that was needed.
        to: &'static str,
    },
    /// A random function whose low bound is above the high one.
    #[error("empty range given to random")]
    EmptyRange,
    /// A random function over more values than a 64-bit integer counts.
    #[error("random range is too large")]
    RangeTooLarge,
    /// `random_gaussian`'s parameter.
    #[error("gaussian parameter must be at least 2.000000 (not {})", six_decimals(*.0))]
    GaussianParameter(f64),
    /// `random_exponential`'s parameter.
    #[error("exponential parameter must be greater than zero (not {})", six_decimals(*.0))]
    ExponentialParameter(f64),
    /// `random_zipfian`'s parameter.
    #[error("zipfian parameter must be in range [1.001, 1000] (not {})", six_decimals(*.0))]
    ZipfianParameter(f64),
    /// `permute` over no values.
    #[error("permute size parameter must be greater than zero")]
    PermuteSize,
    /// A variable that nothing has set.
    #[error("undefined variable")]
    Undefined(VariableId),
    /// A variable whose text is no number, boolean or NULL.
    #[error("malformed variable value: {text:?}")]
    Malformed {
        /// Which.
        variable: VariableId,
        /// What it holds.
        text: Arc<str>,
    },
    /// A variable whose text is an integer of more than 64 bits.
    #[error("value {text:?} is out of range for type bigint")]
    TextOutOfRange {
        /// Which.
        variable: VariableId,
        /// What it holds.
        text: Arc<str>,
    },
    /// A `\sleep` variable that does not begin with a number.
    #[error("invalid sleep time {text:?}")]
    SleepTime {
        /// Which.
        variable: VariableId,
        /// What it holds.
        text: Arc<str>,
    },
}

impl EvaluationError {
    /// The message with the variable's name in it, where the error is about one.
    #[must_use]
    pub fn describe(&self, symbols: &Symbols) -> String {
        match self {
            Self::Undefined(variable) => format!("undefined variable {:?}", symbols.name(*variable)),
            Self::Malformed { variable, text } => {
                format!("malformed variable {:?} value: {text:?}", symbols.name(*variable))
            }
            Self::TextOutOfRange { variable, .. } => {
                format!("{self}, in variable {:?}", symbols.name(*variable))
            }
            Self::SleepTime { variable, .. } => format!("{self} for variable {:?}", symbols.name(*variable)),
            _ => self.to_string(),
        }
    }
}

/// PostgreSQL's `%f`.
fn six_decimals(value: f64) -> String {
    not_finite(value).map_or_else(|| format!("{value:.6}"), str::to_owned)
}
