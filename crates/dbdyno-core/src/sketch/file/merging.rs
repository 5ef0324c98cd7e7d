//! The files of parts of a table as one of the whole.

use super::StoredColumn;
use crate::error::{CoreError, Result};

/// The columns of all parts, in the order of the first: rows and nulls added up, values united.
///
/// # Errors
/// `sketches_differ`: no part; a column that not all parts have once; a type, hash or seed that is not everywhere the
/// same. The message numbers parts from 1.
pub fn merge(parts: Vec<Vec<StoredColumn>>) -> Result<Vec<StoredColumn>> {
    let mut parts = parts.into_iter();
    let Some(mut merged) = parts.next() else {
        return Err(CoreError::new("sketches_differ", "no file to merge; name at least one"));
    };
    for (index, mut part) in parts.enumerate() {
        for column in &mut merged {
            let found = part.iter().position(|other| other.name == column.name);
            let other = found.map(|place| part.remove(place));
            column.merge(other, index + 2)?;
        }
        if let Some(column) = part.first() {
            return Err(differ(&column.name, format!("is in file {} and not in file 1", index + 2)));
        }
    }
    Ok(merged)
}

impl StoredColumn {
    fn merge(&mut self, other: Option<Self>, file: usize) -> Result<()> {
        let Some(other) = other else {
            return Err(differ(&self.name, format!("is in file 1 and not in file {file}")));
        };
        if self.type_name != other.type_name {
            let (mine, others) = (&self.type_name, &other.type_name);
            return Err(differ(&self.name, format!("is of type {mine} in file 1 and {others} in file {file}")));
        }
        if (self.hash_id, self.seed) != (other.hash_id, other.seed) {
            let hashed = |column: &Self| format!("{} with seed {}", column.hash_id.name(), column.seed);
            let (mine, others) = (hashed(self), hashed(&other));
            return Err(differ(
                &self.name,
                format!("is hashed by {mine} in file 1 and by {others} in file {file}; scan one of them again"),
            ));
        }
        let sum = |mine: u64, others: u64| {
            mine.checked_add(others).ok_or_else(|| differ(&self.name, "has more than 2^64 rows".into()))
        };
        self.rows = sum(self.rows, other.rows)?;
        self.nulls = sum(self.nulls, other.nulls)?;
        self.column.union(&other.column);
        Ok(())
    }
}

fn differ(column: &str, how: String) -> CoreError {
    CoreError::new("sketches_differ", format!("column {column:?} {how}"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{stored, unsampled};
    use super::super::{HashId, write};
    use super::*;

    fn message(parts: Vec<Vec<StoredColumn>>) -> String {
        let error = merge(parts).expect_err("refused");
        assert_eq!("sketches_differ", error.code);
        error.message
    }

    #[test]
    fn columns_meet_by_name_and_rows_add_up() {
        let first = vec![stored("a", 14, 9000), stored("b", 12, 10)];
        let second = vec![stored("b", 14, 30), stored("a", 11, 10_000)];
        let merged = merge(vec![first, second]).expect("of one kind");
        let whole = [
            StoredColumn { rows: 19_020, nulls: 20, ..stored("a", 11, 10_000) },
            StoredColumn { rows: 60, nulls: 20, ..stored("b", 12, 30) },
        ];
        assert_eq!(write(&whole), write(&merged));
    }

    #[test]
    fn what_does_not_belong_together_stays_apart() {
        let id = || stored("id", 14, 10);
        assert_eq!("no file to merge; name at least one", message(vec![]));
        let text = StoredColumn { type_name: "text".into(), ..id() };
        assert_eq!(
            "column \"id\" is of type bigint in file 1 and text in file 3",
            message(vec![vec![id()], vec![id()], vec![text]])
        );
        assert_eq!("column \"id\" is in file 1 and not in file 2", message(vec![vec![id()], vec![stored("x", 14, 1)]]));
        assert_eq!("column \"id\" is in file 2 and not in file 1", message(vec![vec![id()], vec![id(), id()]]));
        assert_eq!(
            "column \"id\" is hashed by dbdyno1 with seed 5 in file 1 and by postgres_extended with seed 0 in file 2; \
             scan one of them again",
            message(vec![vec![id()], vec![unsampled("id")]])
        );
        let seeded = StoredColumn { hash_id: HashId::Dbdyno1, seed: 6, ..id() };
        assert!(message(vec![vec![id()], vec![seeded]]).contains("seed 5 in file 1 and by dbdyno1 with seed 6"));
        assert_eq!(
            "column \"id\" has more than 2^64 rows",
            message(vec![vec![StoredColumn { rows: u64::MAX, ..id() }], vec![id()]])
        );
    }
}
