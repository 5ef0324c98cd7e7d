//! Evaluation of expressions, once per unit of work and `\set`: no allocation, no lock.
//!
//! The semantics are pgbench's and differ from SQL's in places: `NULL AND false` is NULL, `=` does
//! not compare booleans, an operation on integers overflows into an error and never into a double.

use super::error::EvaluationError;
use super::function::{ARGUMENTS_MAX, Function};
use super::random::Random;
use super::scatter;
use super::types::{Expression, Value};
use super::value::Scalar;

type Evaluated = Result<Scalar, EvaluationError>;

/// What an expression reads and draws from.
struct Scope<'a> {
    variables: &'a [Value],
    random: &'a mut Random,
}

impl Expression {
    /// The value under a client's variables; draws from its random numbers where the script says so.
    pub fn evaluate(&self, variables: &[Value], random: &mut Random) -> Result<Value, EvaluationError> {
        self.scalar(&mut Scope { variables, random }).map(Value::from)
    }

    /// The value as a condition of `\if`: numbers other than zero are true, NULL is false.
    pub fn is_true(&self, variables: &[Value], random: &mut Random) -> Result<bool, EvaluationError> {
        self.scalar(&mut Scope { variables, random }).map(Scalar::is_true)
    }

    fn scalar(&self, scope: &mut Scope<'_>) -> Evaluated {
        match self {
            Self::Constant(value) => Ok(constant(value)),
            Self::Variable(id) => scope.variables.get(id.0 as usize).unwrap_or(&Value::Unset).interpret(*id),
            Self::Call { function, arguments } => call(*function, arguments, scope),
        }
    }
}

/// Parsing makes constants of interpreted values only.
fn constant(value: &Value) -> Scalar {
    match value {
        Value::Boolean(boolean) => Scalar::Boolean(*boolean),
        Value::Integer(integer) => Scalar::Integer(*integer),
        Value::Double(double) => Scalar::Double(*double),
        Value::Null | Value::Unset | Value::Text(_) => Scalar::Null,
    }
}

fn call(function: Function, arguments: &[Expression], scope: &mut Scope<'_>) -> Evaluated {
    match (function, arguments) {
        (Function::And, [left, right]) => connective(left, right, false, scope),
        (Function::Or, [left, right]) => connective(left, right, true, scope),
        (Function::Case, branches) => case(branches, scope),
        (Function::Debug, [operand, place]) => debug(operand, place, scope),
        (Function::Least | Function::Greatest, operands) => extremum(function, operands, scope),
        (Function::Pi, []) => Ok(Scalar::Double(std::f64::consts::PI)),
        (_, [operand]) => unary(function, operand.scalar(scope)?),
        (_, [left, right]) => {
            let (left, right) = (left.scalar(scope)?, right.scalar(scope)?);
            binary(function, left, right, scope.random)
        }
        (_, [first, second, third]) => {
            let operands = [first.scalar(scope)?, second.scalar(scope)?, third.scalar(scope)?];
            ternary(function, operands, scope.random)
        }
        _ => unreachable!("the parser checks the number of operands"),
    }
}

/// AND and OR: the left operand decides alone if it is `decisive` (or NULL, which SQL would look beyond).
fn connective(left: &Expression, right: &Expression, decisive: bool, scope: &mut Scope<'_>) -> Evaluated {
    let left = left.scalar(scope)?;
    if left.is_null() || left.to_boolean()? == decisive {
        return Ok(left);
    }
    let right = right.scalar(scope)?;
    if right.is_null() { Ok(right) } else { right.to_boolean().map(Scalar::Boolean) }
}

fn case(branches: &[Expression], scope: &mut Scope<'_>) -> Evaluated {
    let mut rest = branches;
    while let [condition, value, tail @ ..] = rest {
        if condition.scalar(scope)?.is_true() {
            return value.scalar(scope);
        }
        rest = tail;
    }
    rest[0].scalar(scope)
}

fn debug(operand: &Expression, place: &Expression, scope: &mut Scope<'_>) -> Evaluated {
    let scalar = operand.scalar(scope)?;
    let mut text = Vec::new();
    if !scalar.is_null() {
        text.push(b' ');
        Value::from(scalar).write_text(&mut text);
    }
    let place = if let Expression::Constant(Value::Text(place)) = place { place } else { "" };
    eprintln!("debug({place}): {}{}", scalar.type_name(), String::from_utf8_lossy(&text));
    Ok(scalar)
}

fn extremum(function: Function, operands: &[Expression], scope: &mut Scope<'_>) -> Evaluated {
    let mut gathered = [Scalar::Null; ARGUMENTS_MAX];
    let gathered = &mut gathered[..operands.len()];
    for (slot, operand) in gathered.iter_mut().zip(operands) {
        *slot = operand.scalar(scope)?;
    }
    if gathered.iter().any(|operand| operand.is_null()) {
        return Ok(Scalar::Null);
    }
    let least = function == Function::Least;
    if gathered.iter().any(|operand| matches!(operand, Scalar::Double(_))) {
        // As in C: a NaN keeps nothing, so what follows it replaces it.
        let keeps = |kept: f64, next: f64| if least { kept < next } else { kept > next };
        let better = |kept, next| if keeps(kept, next) { kept } else { next };
        fold(gathered, Scalar::to_double, better).map(Scalar::Double)
    } else {
        let better = if least { i64::min } else { i64::max };
        fold(gathered, Scalar::to_integer, better).map(Scalar::Integer)
    }
}

fn fold<T>(
    operands: &[Scalar],
    convert: impl Fn(Scalar) -> Result<T, EvaluationError>,
    better: impl Fn(T, T) -> T,
) -> Result<T, EvaluationError> {
    let mut kept = convert(operands[0])?;
    for operand in &operands[1..] {
        kept = better(kept, convert(*operand)?);
    }
    Ok(kept)
}

fn unary(function: Function, operand: Scalar) -> Evaluated {
    if operand.is_null() {
        return Ok(Scalar::Null);
    }
    match function {
        Function::Not => operand.to_boolean().map(|boolean| Scalar::Boolean(!boolean)),
        Function::Absolute => match operand {
            Scalar::Double(double) => Ok(Scalar::Double(double.abs())),
            // The least integer has no positive counterpart; pgbench, too, returns it unchanged.
            _ => operand.to_integer().map(|integer| Scalar::Integer(integer.wrapping_abs())),
        },
        Function::Integer => operand.to_integer().map(Scalar::Integer),
        Function::Double => operand.to_double().map(Scalar::Double),
        Function::SquareRoot => operand.to_double().map(|double| Scalar::Double(double.sqrt())),
        Function::NaturalLogarithm => operand.to_double().map(|double| Scalar::Double(double.ln())),
        Function::Exponential => operand.to_double().map(|double| Scalar::Double(double.exp())),
        _ => unreachable!("{function:?} does not take one operand"),
    }
}

fn binary(function: Function, left: Scalar, right: Scalar, random: &mut Random) -> Evaluated {
    use Function::*;
    if function == Is {
        return Ok(Scalar::Boolean(left == right));
    }
    if left.is_null() || right.is_null() {
        return Ok(Scalar::Null);
    }
    match function {
        Add => arithmetic(left, right, "add", i64::checked_add, |a, b| a + b),
        Subtract => arithmetic(left, right, "sub", i64::checked_sub, |a, b| a - b),
        Multiply => arithmetic(left, right, "mul", i64::checked_mul, |a, b| a * b),
        Divide => divide(left, right),
        Modulo => modulo(left.to_integer()?, right.to_integer()?),
        Equal => comparison(left, right, i64::eq, f64::eq),
        NotEqual => comparison(left, right, i64::ne, f64::ne),
        Less => comparison(left, right, i64::lt, f64::lt),
        LessOrEqual => comparison(left, right, i64::le, f64::le),
        Power => Ok(Scalar::Double(left.to_double()?.powf(right.to_double()?))),
        _ => on_integers(function, left.to_integer()?, right.to_integer()?, random).map(Scalar::Integer),
    }
}

fn is_double(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::Double(_))
}

fn arithmetic(
    left: Scalar,
    right: Scalar,
    name: &'static str,
    integers: impl Fn(i64, i64) -> Option<i64>,
    doubles: impl Fn(f64, f64) -> f64,
) -> Evaluated {
    if is_double(left) || is_double(right) {
        return Ok(Scalar::Double(doubles(left.to_double()?, right.to_double()?)));
    }
    let result = integers(left.to_integer()?, right.to_integer()?);
    result.map(Scalar::Integer).ok_or(EvaluationError::OutOfRange(name))
}

fn comparison(
    left: Scalar,
    right: Scalar,
    integers: impl Fn(&i64, &i64) -> bool,
    doubles: impl Fn(&f64, &f64) -> bool,
) -> Evaluated {
    let holds = if is_double(left) || is_double(right) {
        doubles(&left.to_double()?, &right.to_double()?)
    } else {
        integers(&left.to_integer()?, &right.to_integer()?)
    };
    Ok(Scalar::Boolean(holds))
}

fn divide(left: Scalar, right: Scalar) -> Evaluated {
    if matches!((left, right), (Scalar::Integer(_), Scalar::Integer(0))) {
        return Err(EvaluationError::DivisionByZero);
    }
    arithmetic(left, right, "div", i64::checked_div, |a, b| a / b)
}

/// The remainder with the dividend's sign; doubles are rounded to integers first.
fn modulo(left: i64, right: i64) -> Evaluated {
    if right == 0 {
        return Err(EvaluationError::DivisionByZero);
    }
    Ok(Scalar::Integer(left.wrapping_rem(right)))
}

fn on_integers(function: Function, left: i64, right: i64, random: &mut Random) -> Result<i64, EvaluationError> {
    Ok(match function {
        Function::BitAnd => left & right,
        Function::BitOr => left | right,
        Function::BitXor => left ^ right,
        // A shift uses the low 6 bits of its distance, as the processor does under pgbench.
        Function::ShiftLeft => left.wrapping_shl(right as u32),
        Function::ShiftRight => left.wrapping_shr(right as u32),
        Function::HashMurmur2 => scatter::murmur2(left, right),
        Function::HashFnv1a => scatter::fnv1a(left, right),
        Function::Random => return random.uniform(left, right),
        _ => unreachable!("{function:?} does not take two operands"),
    })
}

fn ternary(function: Function, operands: [Scalar; 3], random: &mut Random) -> Evaluated {
    let [first, second, third] = operands;
    if operands.iter().any(|operand| operand.is_null()) {
        return Ok(Scalar::Null);
    }
    let (first, second) = (first.to_integer()?, second.to_integer()?);
    let drawn = match function {
        Function::Permute => permute(first, second, third.to_integer()?),
        Function::RandomExponential => random.exponential(first, second, third.to_double()?),
        Function::RandomGaussian => random.gaussian(first, second, third.to_double()?),
        Function::RandomZipfian => random.zipfian(first, second, third.to_double()?),
        _ => unreachable!("{function:?} does not take three operands"),
    };
    drawn.map(Scalar::Integer)
}

fn permute(value: i64, size: i64, seed: i64) -> Result<i64, EvaluationError> {
    if size <= 0 {
        return Err(EvaluationError::PermuteSize);
    }
    Ok(scatter::permute(value, size, seed))
}

/// The expression's value in its place, where that is known before any unit of work runs. What
/// would fail is left to fail when it is evaluated: it may stand in a branch that is never taken.
pub(super) fn fold_constant(expression: Expression) -> Expression {
    let Expression::Call { function, arguments } = &expression else { return expression };
    let known = arguments.iter().all(|argument| matches!(argument, Expression::Constant(_)));
    if !function.is_pure() || !known {
        return expression;
    }
    let value = expression.evaluate(&[], &mut Random::from_seed(0));
    value.map_or(expression, Expression::Constant)
}
