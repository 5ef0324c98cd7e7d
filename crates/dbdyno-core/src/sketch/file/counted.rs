//! Columns that a server counted by itself, bucket by bucket, where reading them all would take too long.

use serde::Deserialize;

use super::super::registers::Registers;
use super::super::{Column, HashId, Precision, Sketch};
use super::{StoredColumn, write};
use crate::error::{CoreError, Result};

/// A column that a server counted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CountedColumn {
    name: String,
    r#type: String,
    precision: u8,
    rows: u64,
    nulls: u64,
    values: CountedValues,
}

/// What came of the buckets, the upper bits of hashes.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum CountedValues {
    /// The greatest number of leading zeros of the other bits, plus one.
    Registers,
    /// The least of the other bits.
    Minima,
}

/// One file of columns that a server counted by its own hash, from a JSON list of what they are and, of each, the
/// buckets that are not empty with what came of them.
///
/// # Errors
/// `spec_invalid`: another JSON; not as many lists as columns; a bucket or value that a precision has not.
pub fn from_registers(columns: &str, buckets: &[Vec<(u64, u64)>]) -> Result<Vec<u8>> {
    let invalid = |message: String| CoreError::new("spec_invalid", message);
    let columns: Vec<CountedColumn> =
        serde_json::from_str(columns).map_err(|error| invalid(format!("columns: {error}")))?;
    if columns.len() != buckets.len() {
        return Err(invalid(format!("{} columns with {} lists of buckets", columns.len(), buckets.len())));
    }
    let stored = columns.into_iter().zip(buckets).map(|(column, buckets)| {
        let name = column.name.clone();
        column.stored(buckets).map_err(|message| invalid(format!("column {name:?}: {message}")))
    });
    stored.collect::<Result<Vec<_>>>().map(|columns| write(&columns))
}

impl CountedColumn {
    fn stored(self, buckets: &[(u64, u64)]) -> Result<StoredColumn, String> {
        let precision = Precision::try_from(self.precision).map_err(|error| error.message)?;
        if self.nulls > self.rows {
            return Err(format!("{} nulls in {} rows", self.nulls, self.rows));
        }
        let registers = registers_of(precision, &self.values, buckets)?;
        let sketch = Sketch::from_registers(precision, registers).map_err(|error| error.message)?;
        Ok(StoredColumn {
            name: self.name,
            type_name: self.r#type,
            hash_id: HashId::PostgresExtended,
            seed: 0,
            rows: self.rows,
            nulls: self.nulls,
            column: Column::from_parts(sketch, None),
        })
    }
}

fn registers_of(precision: Precision, values: &CountedValues, buckets: &[(u64, u64)]) -> Result<Vec<u8>, String> {
    let (count, counted_bits) = (precision.registers() as u64, precision.counted_bits());
    if let Some((bucket, _)) = buckets.iter().find(|(bucket, _)| *bucket >= count) {
        return Err(format!("bucket {bucket} of {count}"));
    }
    match values {
        CountedValues::Registers => {
            let mut registers = vec![0; precision.registers()];
            for (bucket, value) in buckets {
                registers[*bucket as usize] = u8::try_from(*value).map_err(|_| format!("register {value}"))?;
            }
            Ok(registers)
        }
        CountedValues::Minima => {
            if let Some((_, least)) = buckets.iter().find(|(_, least)| least >> counted_bits > 0) {
                return Err(format!("minimum {least} has more than {counted_bits} bits"));
            }
            let hashes: Vec<u64> = buckets.iter().map(|(bucket, least)| bucket << counted_bits | least).collect();
            let mut registers = Registers::new(precision);
            registers.add(&hashes);
            Ok(registers.values().to_vec())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::estimates;
    use super::*;

    fn counted(bits: u8, values: &str) -> String {
        let column =
            json!({"name": "id", "type": "bigint", "precision": bits, "rows": 9, "nulls": 2, "values": values});
        json!([column]).to_string()
    }

    #[test]
    fn registers_and_minima_of_a_server_give_the_same_file() {
        let hashes: Vec<u64> =
            (0..5000_u64).map(|value| value.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17)).collect();
        let mut registers = Registers::new(Precision::LOWEST);
        registers.add(&hashes);
        let mut minima = std::collections::BTreeMap::new();
        for hash in hashes {
            let least: &mut u64 = minima.entry(hash >> 54).or_insert(u64::MAX);
            *least = (hash & (u64::MAX >> 10)).min(*least);
        }
        let registers = registers.values().iter().enumerate().map(|(bucket, value)| (bucket as u64, u64::from(*value)));
        let registers: Vec<(u64, u64)> = registers.filter(|(_, value)| *value > 0).collect();
        let by_registers = from_registers(&counted(10, "registers"), &[registers]).expect("possible");
        let by_minima = from_registers(&counted(10, "minima"), &[minima.into_iter().collect()]).expect("possible");
        assert_eq!(by_registers, by_minima);
        let column = &serde_json::from_str::<Value>(&estimates(&by_minima).expect("ours")).expect("JSON")["columns"][0];
        assert_eq!(
            (&json!("postgres_extended"), &json!(9), &json!(false)),
            (&column["hash"], &column["rows"], &column["exact"])
        );
    }

    #[test]
    fn what_no_server_can_have_counted_is_refused() {
        let refusal = |values: &str, bucket| from_registers(&counted(10, values), &[vec![bucket]]).unwrap_err().message;
        assert_eq!("column \"id\": bucket 1024 of 1024", refusal("minima", (1024, 0)));
        assert_eq!("column \"id\": minimum 18014398509481984 has more than 54 bits", refusal("minima", (0, 1 << 54)));
        assert_eq!("column \"id\": register 256", refusal("registers", (0, 256)));
        assert_eq!("column \"id\": register 3 is 56: with precision 10 none exceeds 55", refusal("registers", (3, 56)));
        assert_eq!(
            "1 columns with 0 lists of buckets",
            from_registers(&counted(10, "minima"), &[]).unwrap_err().message
        );
        assert!(from_registers("[{}]", &[vec![]]).unwrap_err().message.starts_with("columns: missing field `name`"));
        let more_nulls = counted(10, "minima").replace("\"nulls\":2", "\"nulls\":10");
        assert_eq!("column \"id\": 10 nulls in 9 rows", from_registers(&more_nulls, &[vec![]]).unwrap_err().message);
    }
}
