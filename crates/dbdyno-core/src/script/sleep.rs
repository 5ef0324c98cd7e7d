//! How long `\sleep` is, once its variable is known.

use super::error::EvaluationError;
use super::types::{SleepDuration, Value, VariableId};

impl SleepDuration {
    /// The duration under a client's variables; a negative one is no sleep, as in pgbench.
    pub fn nanoseconds(&self, unit_ns: u64, variables: &[Value]) -> Result<u64, EvaluationError> {
        let units = match self {
            Self::Constant(units) => *units,
            Self::Variable(id) => whole_units(*id, variables.get(id.0 as usize).unwrap_or(&Value::Unset))?,
        };
        Ok(u64::try_from(units).unwrap_or(0).saturating_mul(unit_ns))
    }
}

/// A number is cut to an integer; text counts as far as it is one (C's atoi).
fn whole_units(variable: VariableId, value: &Value) -> Result<i64, EvaluationError> {
    match value {
        Value::Integer(units) => Ok(*units),
        Value::Double(units) => Ok(*units as i64),
        Value::Unset => Err(EvaluationError::Undefined(variable)),
        Value::Null | Value::Boolean(_) | Value::Text(_) => {
            let mut text = Vec::new();
            value.write_text(&mut text);
            let text = String::from_utf8_lossy(&text);
            leading_integer(&text).ok_or_else(|| EvaluationError::SleepTime { variable, text: text.into() })
        }
    }
}

fn leading_integer(text: &str) -> Option<i64> {
    let signed = usize::from(text.starts_with(['+', '-']));
    let digits = text[signed..].bytes().take_while(u8::is_ascii_digit).count();
    text[..signed + digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    fn of(value: Value) -> Result<u64, EvaluationError> {
        SleepDuration::Variable(VariableId(0)).nanoseconds(MILLISECOND, &[value])
    }

    #[test]
    fn numbers_and_text_that_begins_with_one_are_durations() {
        assert_eq!(SleepDuration::Constant(3).nanoseconds(MILLISECOND, &[]), Ok(3_000_000));
        assert_eq!(SleepDuration::Constant(-3).nanoseconds(MILLISECOND, &[]), Ok(0));
        assert_eq!(SleepDuration::Constant(i64::MAX).nanoseconds(MILLISECOND, &[]), Ok(u64::MAX));
        assert_eq!(of(Value::Integer(2)), Ok(2_000_000));
        assert_eq!(of(Value::Double(1.9)), Ok(1_000_000));
        assert_eq!(of(Value::from_text("7 or so")), Ok(7_000_000));
    }

    #[test]
    fn other_values_are_errors() {
        let not_a_time = |text: &str| Err(EvaluationError::SleepTime { variable: VariableId(0), text: text.into() });
        assert_eq!(of(Value::Unset), Err(EvaluationError::Undefined(VariableId(0))));
        assert_eq!(of(Value::Boolean(true)), not_a_time("true"));
        assert_eq!(of(Value::Null), not_a_time("NULL"));
        assert_eq!(of(Value::from_text("soon")), not_a_time("soon"));
    }
}
