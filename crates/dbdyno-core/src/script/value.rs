//! Values: how text becomes one, how an expression sees one, and how one becomes text again.

use std::io::Write;
use std::sync::Arc;

use super::error::EvaluationError;
use super::types::{Value, VariableId};

/// A value inside an expression: interpreted, and small enough to be copied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Boolean(bool),
    Integer(i64),
    Double(f64),
}

impl Scalar {
    /// The type's name in pgbench's messages.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "boolean",
            Self::Integer(_) => "int",
            Self::Double(_) => "double",
        }
    }

    /// As an integer; a double is rounded to the nearest, a tie to the even one.
    pub(super) fn to_integer(self) -> Result<i64, EvaluationError> {
        // 2^63, the first double above the 64-bit integers.
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        match self {
            Self::Integer(integer) => Ok(integer),
            Self::Double(double) => {
                let rounded = double.round_ties_even();
                let fits = (-LIMIT..LIMIT).contains(&rounded);
                if fits { Ok(rounded as i64) } else { Err(EvaluationError::DoubleToInteger(rounded)) }
            }
            _ => Err(self.not_coercible_to("int")),
        }
    }

    pub(super) fn to_double(self) -> Result<f64, EvaluationError> {
        match self {
            Self::Double(double) => Ok(double),
            Self::Integer(integer) => Ok(integer as f64),
            _ => Err(self.not_coercible_to("double")),
        }
    }

    pub(super) fn to_boolean(self) -> Result<bool, EvaluationError> {
        match self {
            Self::Boolean(boolean) => Ok(boolean),
            _ => Err(self.not_coercible_to("boolean")),
        }
    }

    /// As a condition: numbers other than zero are true, NULL is false.
    pub(super) fn is_true(self) -> bool {
        match self {
            Self::Null => false,
            Self::Boolean(boolean) => boolean,
            Self::Integer(integer) => integer != 0,
            Self::Double(double) => double != 0.0,
        }
    }

    pub(super) fn is_null(self) -> bool {
        self == Self::Null
    }

    fn not_coercible_to(self, to: &'static str) -> EvaluationError {
        EvaluationError::Coercion { from: self.type_name(), to }
    }

    /// What the text of `variable` stands for. pgbench takes a prefix of true, yes, false and no,
    /// whatever the case, then integers, then whatever C's strtod takes (but hexadecimal).
    fn from_text(variable: VariableId, text: &Arc<str>) -> Result<Self, EvaluationError> {
        let starts = |word: &str| word.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text));
        let is = |word: &str| word.eq_ignore_ascii_case(text);
        let malformed = || EvaluationError::Malformed { variable, text: text.clone() };
        if text.is_empty() {
            Err(malformed())
        } else if is("null") {
            Ok(Self::Null)
        } else if starts("true") || starts("yes") || is("on") {
            Ok(Self::Boolean(true))
        } else if starts("false") || starts("no") || is("off") || is("of") {
            Ok(Self::Boolean(false))
        } else if looks_like_integer(text) {
            let parsed = text.trim_ascii_start().parse();
            parsed.map(Self::Integer).map_err(|_| EvaluationError::TextOutOfRange { variable, text: text.clone() })
        } else {
            parse_double(text.trim_ascii_start()).map(Self::Double).ok_or_else(malformed)
        }
    }
}

/// Optional space, an optional sign, and digits to the end.
fn looks_like_integer(text: &str) -> bool {
    let unsigned = text.trim_ascii_start();
    let digits = unsigned.strip_prefix(['+', '-']).unwrap_or(unsigned);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number that a double can hold: neither too large nor, other than zero, too small for its full precision.
pub(super) fn parse_double(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let mantissa_digits = || mantissa.bytes().filter(u8::is_ascii_digit);
    let overflowed = value.is_infinite() && mantissa_digits().next().is_some();
    let underflowed = !value.is_normal() && value.is_finite() && mantissa_digits().any(|digit| digit != b'0');
    (!overflowed && !underflowed).then_some(value)
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Boolean(boolean) => Self::Boolean(boolean),
            Scalar::Integer(integer) => Self::Integer(integer),
            Scalar::Double(double) => Self::Double(double),
        }
    }
}

impl Value {
    /// A value that arrives as text: from `-D`, the workload, or a column under `\gset`.
    ///
    /// It stays text until an expression needs it, so that a name that looks like a boolean is sent
    /// as it came. Only an integer in its plain form becomes one at once: it is written the same way.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        match text.parse::<i64>() {
            Ok(integer) if itoa::Buffer::new().format(integer) == text => Self::Integer(integer),
            _ => Self::Text(Arc::from(text)),
        }
    }

    /// Appends the text that stands for the value in SQL sent in simple mode, and as a parameter in
    /// the other modes. `Unset` has none: simple mode leaves `:name` where it stands.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        match self {
            Self::Unset => {}
            Self::Null => out.extend_from_slice(b"NULL"),
            Self::Boolean(boolean) => out.extend_from_slice(if *boolean { b"true" } else { b"false" }),
            Self::Integer(integer) => out.extend_from_slice(itoa::Buffer::new().format(*integer).as_bytes()),
            Self::Double(double) => write_double(*double, out),
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
    }

    /// As an expression sees the value of `variable`.
    pub(super) fn interpret(&self, variable: VariableId) -> Result<Scalar, EvaluationError> {
        match self {
            Self::Integer(integer) => Ok(Scalar::Integer(*integer)),
            Self::Double(double) => Ok(Scalar::Double(*double)),
            Self::Boolean(boolean) => Ok(Scalar::Boolean(*boolean)),
            Self::Null => Ok(Scalar::Null),
            Self::Text(text) => Scalar::from_text(variable, text),
            Self::Unset => Err(EvaluationError::Undefined(variable)),
        }
    }
}

/// Digits that every double keeps through text and back (C's DBL_DIG).
const DOUBLE_DIGITS: usize = 15;

/// What PostgreSQL calls a double without digits, in SQL and in messages.
pub(super) fn not_finite(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        None
    }
}

/// C's `%.15g`: 15 significant digits, no trailing zeros, an exponent where it is shorter.
fn write_double(value: f64, out: &mut Vec<u8>) {
    if let Some(name) = not_finite(value) {
        return out.extend_from_slice(name.as_bytes());
    }
    let start = out.len();
    append(out, format_args!("{value:.*e}", DOUBLE_DIGITS - 1));
    let exponent_at = out.iter().rposition(|&byte| byte == b'e').expect("{:e} writes an e");
    let exponent: i32 = std::str::from_utf8(&out[exponent_at + 1..])
        .ok()
        .and_then(|digits| digits.parse().ok())
        .expect("{:e} writes a number behind the e");
    if (-4..DOUBLE_DIGITS as i32).contains(&exponent) {
        out.truncate(start);
        append(out, format_args!("{value:.*}", (DOUBLE_DIGITS as i32 - 1 - exponent) as usize));
        trim_fraction(out, start);
    } else {
        out.truncate(exponent_at);
        trim_fraction(out, start);
        let sign = if exponent < 0 { '-' } else { '+' };
        append(out, format_args!("e{sign}{:02}", exponent.abs()));
    }
}

fn append(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a Vec takes every write");
}

/// Drops the zeros that end the number from `start`, and then its point if nothing follows it.
fn trim_fraction(out: &mut Vec<u8>, start: usize) {
    if !out[start..].contains(&b'.') {
        return;
    }
    while out.last() == Some(&b'0') {
        out.pop();
    }
    if out.last() == Some(&b'.') {
        out.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIABLE: VariableId = VariableId(0);

    fn written(value: &Value) -> String {
        let mut text = b"x=".to_vec();
        value.write_text(&mut text);
        String::from_utf8(text).unwrap().split_off(2)
    }

    fn interpreted(text: &str) -> Result<Scalar, EvaluationError> {
        Value::Text(text.into()).interpret(VARIABLE)
    }

    #[test]
    fn values_are_written_as_pgbench_writes_them() {
        assert_eq!(written(&Value::Unset), "");
        assert_eq!(written(&Value::Null), "NULL");
        assert_eq!(written(&Value::Boolean(true)), "true");
        assert_eq!(written(&Value::Boolean(false)), "false");
        assert_eq!(written(&Value::Integer(i64::MIN)), "-9223372036854775808");
        assert_eq!(written(&Value::from_text(" as it came ")), " as it came ");
    }

    #[test]
    fn doubles_are_written_with_fifteen_digits() {
        let table = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (100_000.0, "100000"),
            (1.0 / 3.0, "0.333333333333333"),
            (0.1 + 0.2, "0.3"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (999_999_999_999_999.9, "1e+15"),
            (123_456_789_012_345_678.0, "1.23456789012346e+17"),
            (1e100, "1e+100"),
            (f64::MIN_POSITIVE, "2.2250738585072e-308"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ];
        for (double, expected) in table {
            assert_eq!(written(&Value::Double(double)), expected);
        }
    }

    #[test]
    fn only_an_integer_in_its_plain_form_is_one_at_once() {
        assert_eq!(Value::from_text("-10"), Value::Integer(-10));
        for text in ["010", "+10", " 10", "10 ", "1e1", "true", "null", "", "9223372036854775808"] {
            assert_eq!(Value::from_text(text), Value::Text(text.into()));
        }
    }

    #[test]
    fn text_is_a_number_a_boolean_or_null_when_an_expression_needs_it() {
        let booleans =
            [("t", true), ("TRUE", true), ("ye", true), ("on", true), ("F", false), ("n", false), ("of", false)];
        for (text, boolean) in booleans {
            assert_eq!(interpreted(text), Ok(Scalar::Boolean(boolean)), "{text}");
        }
        assert_eq!(interpreted("Null"), Ok(Scalar::Null));
        assert_eq!(interpreted(" +007"), Ok(Scalar::Integer(7)));
        assert_eq!(interpreted("-1.5e3"), Ok(Scalar::Double(-1500.0)));
        assert_eq!(interpreted(" .5"), Ok(Scalar::Double(0.5)));
        assert_eq!(interpreted("-inf"), Ok(Scalar::Double(f64::NEG_INFINITY)));
        assert_eq!(interpreted("0e-999"), Ok(Scalar::Double(0.0)));
    }

    #[test]
    fn other_text_is_malformed() {
        for text in ["", "o", "truely", "1 ", "-", "1x", "1e999", "1e-999"] {
            assert_eq!(interpreted(text), Err(EvaluationError::Malformed { variable: VARIABLE, text: text.into() }));
        }
        let long = "9223372036854775808";
        assert_eq!(interpreted(long), Err(EvaluationError::TextOutOfRange { variable: VARIABLE, text: long.into() }));
    }

    #[test]
    fn doubles_become_the_nearest_integer() {
        for (double, integer) in
            [(0.5, 0), (1.5, 2), (2.5, 2), (-0.5, 0), (-1.5, -2), (7.3, 7), (-2.0_f64.powi(63), i64::MIN)]
        {
            assert_eq!(Scalar::Double(double).to_integer(), Ok(integer), "{double}");
        }
        assert_eq!(
            Scalar::Double(2.0_f64.powi(63)).to_integer().unwrap_err().to_string(),
            "double to int overflow for 9223372036854775808.000000"
        );
        assert!(Scalar::Double(f64::NAN).to_integer().is_err());
    }
}
