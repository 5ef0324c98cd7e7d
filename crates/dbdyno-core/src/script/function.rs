//! The operators and functions of pgbench's expressions.

/// What an `Expression::Call` does with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `a + b`; the others follow.
    Add,
}
