//! Files of sketches for those who speak JSON.

use serde::Serialize;

use super::super::{HashId, Overlap, Sample};
use super::{StoredColumn, merge, read, write};
use crate::error::{CoreError, Result};

#[derive(Serialize)]
struct FileDocument {
    format: u32,
    columns: Vec<ColumnDocument>,
}

#[derive(Serialize)]
struct ColumnDocument {
    name: String,
    r#type: String,
    hash: &'static str,
    seed: u64,
    precision: u32,
    rows: u64,
    nulls: u64,
    ndv: Interval,
    exact: bool,
}

#[derive(Serialize)]
struct Interval {
    estimate: f64,
    low: f64,
    high: f64,
}

/// What a file says: of each column its rows, nulls and number of different values.
///
/// # Errors
/// As [`read`].
pub fn estimates(file: &[u8]) -> Result<String> {
    let columns = read(file)?.into_iter().map(document_of).collect();
    Ok(json(&FileDocument { format: super::FORMAT, columns }))
}

fn document_of(stored: StoredColumn) -> ColumnDocument {
    let sketch = stored.column.sketch();
    let estimate = sketch.estimate();
    ColumnDocument {
        hash: stored.hash_id.name(),
        seed: stored.seed,
        precision: sketch.precision().bits(),
        rows: stored.rows,
        nulls: stored.nulls,
        ndv: Interval { estimate: estimate.distinct, low: estimate.low, high: estimate.high },
        exact: estimate.exact,
        name: stored.name,
        r#type: stored.type_name,
    }
}

/// The file of all parts.
///
/// # Errors
/// As [`read`], with the number of the file from 1, and [`merge`].
pub fn merged(files: &[Vec<u8>]) -> Result<Vec<u8>> {
    merge(read_all(files)?).map(|columns| write(&columns))
}

fn read_all(files: &[Vec<u8>]) -> Result<Vec<Vec<StoredColumn>>> {
    let numbered = |(index, file): (usize, &Vec<u8>)| {
        read(file).map_err(|error| CoreError::new(error.code, format!("file {}: {}", index + 1, error.message)))
    };
    files.iter().enumerate().map(numbered).collect()
}

#[derive(Serialize)]
struct OverlapDocument {
    /// File and column, from 0.
    first: [usize; 2],
    second: [usize; 2],
    seen_of_first: usize,
    seen_of_second: usize,
    common: usize,
    exact: bool,
}

/// Which columns of all files have values in common, and how much was seen of both: every pair that was hashed alike,
/// has samples and at least one hash in common.
///
/// # Errors
/// As [`read`], with the number of the file from 1.
pub fn overlaps(files: &[Vec<u8>]) -> Result<String> {
    let mut sampled: Vec<([usize; 2], (HashId, u64), Sample)> = Vec::new();
    for (file, columns) in read_all(files)?.iter().enumerate() {
        for (column, stored) in columns.iter().enumerate() {
            let hashing = (stored.hash_id, stored.seed);
            sampled.extend(stored.column.sample().map(|sample| ([file, column], hashing, sample)));
        }
    }
    let mut found = Vec::new();
    for (index, (first, hashing, mine)) in sampled.iter().enumerate() {
        for (second, _, theirs) in sampled[index + 1..].iter().filter(|(_, other, _)| hashing == other) {
            let Overlap { first: seen_of_first, second: seen_of_second, common, exact } =
                Overlap::between(mine, theirs);
            if common > 0 {
                let (first, second) = (*first, *second);
                found.push(OverlapDocument { first, second, seen_of_first, seen_of_second, common, exact });
            }
        }
    }
    Ok(json(&found))
}

fn json(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("numbers and texts")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::{stored, unsampled};
    use super::*;

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn estimates_say_what_is_known_of_a_column() {
        let document = parsed(&estimates(&write(&[stored("id", 14, 40), stored("key", 12, 10_000)])).expect("ours"));
        let first = json!({
            "name": "id", "type": "bigint", "hash": "dbdyno1", "seed": 5, "precision": 14, "rows": 50, "nulls": 10,
            "ndv": {"estimate": 40.0, "low": 40.0, "high": 40.0}, "exact": true,
        });
        assert_eq!((&json!(1), &first), (&document["format"], &document["columns"][0]));
        let ndv = ["low", "estimate", "high"].map(|key| document["columns"][1]["ndv"][key].as_f64().expect("a number"));
        assert!(ndv.is_sorted() && ndv[0] < 10_000.0 && 10_000.0 < ndv[2], "{ndv:?}");
        assert_eq!(json!(false), document["columns"][1]["exact"]);
    }

    #[test]
    fn files_are_merged_and_the_damaged_one_is_named() {
        let part = |values| write(&[stored("id", 14, values)]);
        let whole = StoredColumn { rows: 70, nulls: 20, ..stored("id", 14, 40) };
        assert_eq!(write(&[whole]), merged(&[part(10), part(40)]).expect("of one kind"));
        let error = merged(&[part(10), b"\x89DYN".to_vec()]).expect_err("cut off");
        assert_eq!(("sketch_file", "file 2: cut off after 4 bytes; copy it again"), (error.code, &*error.message));
    }

    #[test]
    fn overlaps_are_those_of_columns_hashed_alike_with_something_in_common() {
        let other_seed = StoredColumn { seed: 6, ..stored("seeded", 14, 50) };
        let files = [
            write(&[stored("a", 14, 50), unsampled("b"), stored("none", 14, 0)]),
            write(&[other_seed, stored("c", 14, 200)]),
        ];
        let expected = json!([
            {"first": [0, 0], "second": [1, 1], "seen_of_first": 50, "seen_of_second": 200, "common": 50, "exact": true},
        ]);
        assert_eq!(expected, parsed(&overlaps(&files).expect("ours")));
    }
}
