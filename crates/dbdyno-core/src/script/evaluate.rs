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
            // Not f64::abs: pgbench leaves -0 as it is.
            Scalar::Double(double) => Ok(Scalar::Double(if double < 0.0 { -double } else { double })),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::expression::parse_expression;
    use crate::script::source::Source;
    use crate::script::types::Symbols;

    fn parsed(text: &str, symbols: &mut Symbols) -> Expression {
        parse_expression(&Source::new("x.sql", text), 0, symbols).unwrap().0
    }

    /// The value with `:i` = 42, `:d` = -2.75, `:b` = true, `:n` = NULL, and `:u` unset.
    fn value(text: &str) -> Result<Value, String> {
        let mut symbols = Symbols::default();
        let expression = parsed(text, &mut symbols);
        let values =
            [("i", Value::Integer(42)), ("d", Value::Double(-2.75)), ("b", Value::Boolean(true)), ("n", Value::Null)];
        let mut variables = vec![Value::Unset; symbols.len()];
        for (name, value) in values {
            if let Some(id) = symbols.find(name) {
                variables[id.0 as usize] = value;
            }
        }
        expression.evaluate(&variables, &mut Random::from_seed(1)).map_err(|error| error.describe(&symbols))
    }

    #[test]
    fn operators_bind_as_in_pgbench() {
        let table = [
            ("2 + 3 * 4 - 5", 9),
            ("20 - 5 - 3", 12),
            ("- 7 / 2 % 2", -1),
            ("- -3 + +4", 7),
            ("1 | 2 + 4", 7),
            ("1 << 2 + 1", 8),
            ("8 >> 1 << 2 & 12", 0),
            ("~ 1 + 2", -4),
            ("~ 1 | 2", -2),
            ("1 + ~ 2 * 3", -6),
            ("- ~ 1 + 2", 4),
            ("6 # 3 | 8", 13),
        ];
        for (text, expected) in table {
            assert_eq!(value(text), Ok(Value::Integer(expected)), "{text}");
        }
        let conditions = [
            ("not :i = 1 and :i > 1 or false", true),
            ("true or false and false", true),
            ("not false and false", false),
            ("1 < 2 is null", false),
            ("not :n is null", false),
            (":n is null isnull", false),
            (":i is not null is true", true),
            ("1 + 1 <> 2 or 2 >= 1 + 1", true),
        ];
        for (text, expected) in conditions {
            assert_eq!(value(text), Ok(Value::Boolean(expected)), "{text}");
        }
    }

    #[test]
    fn doubles_draw_integers_along() {
        assert_eq!(value(":i + :d"), Ok(Value::Double(39.25)));
        assert_eq!(value(":i / 4"), Ok(Value::Integer(10)));
        assert_eq!(value(":i / 4.0"), Ok(Value::Double(10.5)));
        assert_eq!(value(":d % 2"), Ok(Value::Integer(-1)));
        assert_eq!(value("least(:i, :d, 0)"), Ok(Value::Double(-2.75)));
        assert_eq!(value("greatest(:i, 7)"), Ok(Value::Integer(42)));
        assert_eq!(value(":i = 42.0"), Ok(Value::Boolean(true)));
        assert_eq!(value("1.0 / 0"), Ok(Value::Double(f64::INFINITY)));
    }

    #[test]
    fn null_makes_null_of_everything_but_is_and_case() {
        for text in
            [":n + 1", ":n = :n", "not :n", "sqrt(:n)", "least(1, :n)", "random(1, :n)", "permute(:n, 0, 1)", ":n / 0"]
        {
            assert_eq!(value(text), Ok(Value::Null), "{text}");
        }
        assert_eq!(value("case when :n then 1 else 2 end"), Ok(Value::Integer(2)));
        assert_eq!(value("case when false then 1 end"), Ok(Value::Null));
    }

    #[test]
    fn a_left_operand_that_decides_is_the_result() {
        assert_eq!(value("false and :u"), Ok(Value::Boolean(false)));
        assert_eq!(value("true or :u"), Ok(Value::Boolean(true)));
        assert_eq!(value(":n and false"), Ok(Value::Null));
        assert_eq!(value("true and :n"), Ok(Value::Null));
        assert_eq!(value("case when :b then 1 else 1 / 0 end"), Ok(Value::Integer(1)));
    }

    #[test]
    fn integers_never_leave_their_range_silently() {
        let failing = [
            ("9223372036854775807 + 1", "bigint add out of range"),
            ("-9223372036854775808 - 1", "bigint sub out of range"),
            ("- (-9223372036854775808)", "bigint sub out of range"),
            ("4611686018427387904 * 2", "bigint mul out of range"),
            ("-9223372036854775808 / -1", "bigint div out of range"),
            ("1 / 0", "division by zero"),
            ("1 % 0", "division by zero"),
            ("int(1e19)", "double to int overflow for 10000000000000000000.000000"),
            ("1 + :b", "cannot coerce boolean to int"),
            (":d + :b", "cannot coerce boolean to double"),
            (":i and :b", "cannot coerce int to boolean"),
            (":u", "undefined variable \"u\""),
            ("hash(1)", "undefined variable \"default_seed\""),
            ("permute(1, 0, 1)", "permute size parameter must be greater than zero"),
        ];
        for (text, message) in failing {
            assert_eq!(value(text), Err(message.to_owned()), "{text}");
        }
        assert_eq!(value("-9223372036854775808 % -1"), Ok(Value::Integer(0)));
        assert_eq!(value("abs(-9223372036854775808)"), Ok(Value::Integer(i64::MIN)));
        assert_eq!(value("-9223372036854775808 + 9223372036854775807"), Ok(Value::Integer(-1)));
    }

    #[test]
    fn what_is_constant_is_computed_while_parsing() {
        let folded = parsed("case when 1 < 2 then -5000 else 1 / 0 end", &mut Symbols::default());
        // The failing branch is no constant, and neither is what it stands in.
        assert!(matches!(folded, Expression::Call { function: Function::Case, .. }));
        let folded = parsed("- (3 * 4 - sqrt(16))", &mut Symbols::default());
        assert!(matches!(folded, Expression::Constant(Value::Double(-8.0))));
        let drawn = parsed("random(1, 6)", &mut Symbols::default());
        assert!(matches!(drawn, Expression::Call { function: Function::Random, .. }));
    }

    #[test]
    fn operands_of_greater_than_draw_from_right_to_left() {
        let (mut left_first, mut right_first) = (Random::from_seed(9), Random::from_seed(9));
        let less = parsed("random(1, 1000) < random(1, 1000)", &mut Symbols::default());
        let greater = parsed("random(1, 1000) > random(1, 1000)", &mut Symbols::default());
        for _ in 0..20 {
            assert_eq!(less.evaluate(&[], &mut left_first), greater.evaluate(&[], &mut right_first));
        }
    }

    #[test]
    fn conditions_are_true_unless_false_null_or_zero() {
        for (text, expected) in
            [("true", true), ("3", true), ("0.5", true), ("0", false), ("0.0", false), ("null", false)]
        {
            let condition = parsed(text, &mut Symbols::default());
            assert_eq!(condition.is_true(&[], &mut Random::from_seed(0)), Ok(expected), "{text}");
        }
    }
}
