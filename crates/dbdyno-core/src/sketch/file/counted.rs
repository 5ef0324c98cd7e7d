//! Columns that a server counted by itself, where reading them all would take too long.

use serde::Deserialize;

use super::super::{Column, EXACT_LIMIT, HashId, Precision, Sketch, buffers};
use super::{StoredColumn, write};
use crate::error::{CoreError, Result};

/// A column that a server counted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CountedColumn {
    name: String,
    r#type: String,
    seed: u64,
    precision: u8,
    rows: u64,
    nulls: u64,
    kept: Kept,
}

/// What the server was asked for.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kept {
    /// All different hashes, u64 each.
    Hashes,
    /// 2^precision, u8 each.
    Registers,
}

/// One file of columns that a server counted by its own hash, from a JSON list of what they are and, of each, its
/// hashes or registers as the file has them, in any order.
///
/// # Errors
/// `spec_invalid`: another JSON; not as many contents as columns; more hashes than a sketch keeps; registers that a
/// precision has not.
pub fn from_server(columns: &str, contents: &[Vec<u8>]) -> Result<Vec<u8>> {
    let invalid = |message: String| CoreError::new("spec_invalid", message);
    let columns: Vec<CountedColumn> =
        serde_json::from_str(columns).map_err(|error| invalid(format!("columns: {error}")))?;
    if columns.len() != contents.len() {
        return Err(invalid(format!("{} columns with {} contents", columns.len(), contents.len())));
    }
    let stored = columns.into_iter().zip(contents).map(|(column, content)| {
        let name = column.name.clone();
        column.stored(content).map_err(|message| invalid(format!("column {name:?}: {message}")))
    });
    stored.collect::<Result<Vec<_>>>().map(|columns| write(&columns))
}

impl CountedColumn {
    fn stored(self, content: &[u8]) -> Result<StoredColumn, String> {
        if self.nulls > self.rows {
            return Err(format!("{} nulls in {} rows", self.nulls, self.rows));
        }
        let column = self.column(content)?;
        Ok(StoredColumn {
            name: self.name,
            type_name: self.r#type,
            hash_id: HashId::PostgresExtended,
            seed: self.seed,
            rows: self.rows,
            nulls: self.nulls,
            column,
        })
    }

    fn column(&self, content: &[u8]) -> Result<Column, String> {
        let precision = Precision::try_from(self.precision).map_err(|error| error.message)?;
        match self.kept {
            Kept::Registers => {
                let sketch = Sketch::from_registers(precision, content).map_err(|error| error.message)?;
                Ok(Column::from_parts(sketch, None))
            }
            Kept::Hashes => {
                let hashes = buffers::numbers(content).map_err(|error| error.message)?;
                if hashes.len() > EXACT_LIMIT {
                    return Err(format!("{} hashes; a sketch keeps {EXACT_LIMIT}", hashes.len()));
                }
                let mut column = Column::new(precision);
                column.add_hashes(&hashes);
                Ok(column)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{estimates, merged, read};
    use super::*;

    fn counted(bits: u8, kept: &str) -> String {
        let column = json!({
            "name": "id", "type": "bigint", "seed": 1, "precision": bits, "rows": 9, "nulls": 2, "kept": kept
        });
        json!([column]).to_string()
    }

    fn bytes_of(hashes: &[u64]) -> Vec<u8> {
        hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect()
    }

    fn hashes_of(count: u64) -> Vec<u64> {
        (0..count).map(|value| value.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17)).collect()
    }

    #[test]
    fn hashes_of_a_server_are_all_there_and_merge_with_its_registers() {
        let hashes = hashes_of(3000);
        let few = from_server(&counted(10, "hashes"), &[bytes_of(&hashes)]).expect("possible");
        let stored = &read(&few).expect("ours")[0];
        let mut ascending = hashes.clone();
        ascending.sort_unstable();
        assert_eq!(Some(ascending), stored.column.sketch().exact_hashes());
        assert_eq!((HashId::PostgresExtended, 1, 9, 2), (stored.hash_id, stored.seed, stored.rows, stored.nulls));

        let mut whole = Column::new(Precision::LOWEST);
        whole.add_hashes(&hashes_of(20_000));
        let registers = whole.sketch().registers().expect("too many to keep").to_vec();
        let many = from_server(&counted(10, "registers"), std::slice::from_ref(&registers)).expect("possible");
        let both = read(&merged(&[few, many.clone()]).expect("of one hash")).expect("ours");
        assert_eq!(Some(&*registers), both[0].column.sketch().registers());
        let said = &serde_json::from_str::<Value>(&estimates(&many).expect("ours")).expect("JSON")["columns"][0];
        assert_eq!(
            (&json!("postgres_extended"), &json!(1), &json!(false)),
            (&said["hash"], &said["seed"], &said["exact"])
        );
    }

    #[test]
    fn what_no_server_can_have_counted_is_refused() {
        let refusal = |kept: &str, content: Vec<u8>| from_server(&counted(10, kept), &[content]).unwrap_err().message;
        assert_eq!("column \"id\": 9 bytes: numbers of 64 bits have 8 each", refusal("hashes", vec![0; 9]));
        assert_eq!("column \"id\": 8193 hashes; a sketch keeps 8192", refusal("hashes", bytes_of(&hashes_of(8193))));
        let mut impossible = vec![0; 1024];
        impossible[3] = 56;
        assert_eq!(
            "column \"id\": register 3 is 56: with precision 10 none exceeds 55",
            refusal("registers", impossible)
        );
        assert_eq!("1 columns with 0 contents", from_server(&counted(10, "hashes"), &[]).unwrap_err().message);
        assert!(from_server("[{}]", &[vec![]]).unwrap_err().message.starts_with("columns: missing field `name`"));
        let more_nulls = counted(10, "hashes").replace("\"nulls\":2", "\"nulls\":10");
        assert_eq!("column \"id\": 10 nulls in 9 rows", from_server(&more_nulls, &[vec![]]).unwrap_err().message);
    }
}
