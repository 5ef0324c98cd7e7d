//! The operators and functions of pgbench's expressions.

/// What an `Expression::Call` does with its operands.
///
/// `a > b` is `Less` with its operands exchanged, `-a` is `0 - a` and `~a` is `-1 # a`, as in pgbench:
/// the order in which operands draw random numbers is part of what a seed reproduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Each is the operator or function of pgbench that its name says.
pub enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Not,
    /// `a IS b`: the same type and the same value.
    Is,
    /// Condition, value, condition, value, ..., value of ELSE.
    Case,
    Absolute,
    /// Prints its first operand to standard error, with the second as the place, and returns it.
    Debug,
    Double,
    Exponential,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Integer,
    Least,
    NaturalLogarithm,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    SquareRoot,
}

/// How many operands a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arity {
    Exactly(usize),
    AtLeastOne,
    /// So many, and then a seed that is `:default_seed` unless given.
    ThenSeed(usize),
}

/// pgbench's limit for `least` and `greatest`: their operands are gathered in an array of this length.
pub(super) const ARGUMENTS_MAX: usize = 16;

/// Every function that a script can call, by name.
pub(super) const FUNCTIONS: [(&str, Function, Arity); 21] = [
    ("abs", Function::Absolute, Arity::Exactly(1)),
    ("debug", Function::Debug, Arity::Exactly(1)),
    ("double", Function::Double, Arity::Exactly(1)),
    ("exp", Function::Exponential, Arity::Exactly(1)),
    ("greatest", Function::Greatest, Arity::AtLeastOne),
    ("hash", Function::HashMurmur2, Arity::ThenSeed(1)),
    ("hash_fnv1a", Function::HashFnv1a, Arity::ThenSeed(1)),
    ("hash_murmur2", Function::HashMurmur2, Arity::ThenSeed(1)),
    ("int", Function::Integer, Arity::Exactly(1)),
    ("least", Function::Least, Arity::AtLeastOne),
    ("ln", Function::NaturalLogarithm, Arity::Exactly(1)),
    ("mod", Function::Modulo, Arity::Exactly(2)),
    ("permute", Function::Permute, Arity::ThenSeed(2)),
    ("pi", Function::Pi, Arity::Exactly(0)),
    ("pow", Function::Power, Arity::Exactly(2)),
    ("power", Function::Power, Arity::Exactly(2)),
    ("random", Function::Random, Arity::Exactly(2)),
    ("random_exponential", Function::RandomExponential, Arity::Exactly(3)),
    ("random_gaussian", Function::RandomGaussian, Arity::Exactly(3)),
    ("random_zipfian", Function::RandomZipfian, Arity::Exactly(3)),
    ("sqrt", Function::SquareRoot, Arity::Exactly(1)),
];

impl Function {
    /// Whether the same operands always give the same value and nothing else happens.
    pub(super) fn is_pure(self) -> bool {
        !matches!(
            self,
            Self::Debug | Self::Random | Self::RandomExponential | Self::RandomGaussian | Self::RandomZipfian
        )
    }
}
