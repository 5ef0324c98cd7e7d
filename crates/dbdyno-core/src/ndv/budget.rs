//! What fits into the memory that a scan may use: sketches, then growth, then samples from the smallest target on.

use super::growth::POINTS_KEPT;
use super::sample::ROWS_PER_TARGET;
use super::spec::ScanSpec;
use crate::sketch::EXACT_LIMIT;

/// How much is kept beside the sketches.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// Points of growth in each part but the first, which keep a sketch each.
    pub points_with_sketches: usize,
    /// Statistics targets, and the rows of a sample for which there is room.
    pub samples: Vec<(u32, u64)>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Points of growth with a sketch each, the most first: even numbers.
const POINTS_TRIED: [usize; 3] = [24, 12, 6];
/// Blocks and the sample of small hashes, for each column of each part.
const BESIDE_BYTES: u64 = 48 * 1024;
const FINGERPRINT_BYTES: u64 = 4;

impl Budget {
    pub(super) fn of(spec: &ScanSpec) -> Self {
        let parts = spec.parts.len() as u64;
        let columns = spec.columns.len() as u64;
        let counted = columns + spec.groups.len() as u64;
        // The set of hashes is at most half full, and at least half of a power of two.
        let sketch_bytes = (EXACT_LIMIT as u64 * 16).max(spec.precision().registers() as u64);
        let mut left = spec.memory_limit_bytes.saturating_sub(parts * counted * (sketch_bytes + BESIDE_BYTES));
        let mut notes = Vec::new();

        let growth_bytes = |points: usize| (parts - 1) * counted * points as u64 * sketch_bytes;
        let points_with_sketches =
            POINTS_TRIED.into_iter().find(|points| growth_bytes(*points) <= left / 2).unwrap_or(0);
        if points_with_sketches == 0 && parts > 1 {
            notes.push(format!(
                "growth is shown for the first of {parts} connections only: sketches of {counted} columns at its points \
                 would take {}; read with one connection, or allow more memory",
                megabytes(growth_bytes(POINTS_TRIED[2]))
            ));
        }
        left -= growth_bytes(points_with_sketches);

        let mut targets = spec.sample_targets.clone();
        targets.sort_unstable();
        targets.dedup();
        let mut samples = Vec::new();
        for target in targets {
            let rows_max = u64::from(target) * ROWS_PER_TARGET;
            let bytes = |rows: u64| rows.saturating_mul(parts * columns * FINGERPRINT_BYTES);
            // A table half as large again as expected is nothing unusual.
            let rows_likely = rows_max.min(spec.rows_expected.saturating_mul(2));
            let fitting = [rows_max, rows_likely].into_iter().find(|rows| *rows > 0 && bytes(*rows) <= left);
            match fitting {
                Some(rows) => {
                    left -= bytes(rows);
                    samples.push((target, rows));
                }
                None => notes.push(format!(
                    "what ANALYZE would see at the statistics target {target} is left out: samples of {columns} columns \
                     would take {}, and {} of the memory limit are left",
                    megabytes(bytes(rows_max)),
                    megabytes(left)
                )),
            }
        }
        Self { points_with_sketches, samples, notes }
    }

    /// Points of growth in a part.
    pub(super) fn points_of(&self, part: usize) -> usize {
        if part == 0 { POINTS_KEPT } else { self.points_with_sketches }
    }
}

/// A sample that had to be given up on the way.
pub(super) fn overflow_note(target: u32) -> String {
    format!(
        "what ANALYZE would see at the statistics target {target} is left out: many more rows came than were expected, \
         and there is no memory for their sample"
    )
}

fn megabytes(bytes: u64) -> String {
    format!("{:.0} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(columns: usize, parts: usize, rows_expected: u64, memory_limit_bytes: u64) -> Budget {
        let column = serde_json::json!({"name": "c", "type": "t", "decoder": "integer"});
        let part =
            |part: usize| serde_json::json!({"begin_sql": ["BEGIN"], "copy_sql": "", "first_page": part, "pages": 1});
        let spec = serde_json::json!({
            "target": {"host": "h", "port": 1, "user": "u", "dbname": "d"},
            "parts": (0..parts).map(part).collect::<Vec<_>>(), "columns": vec![column; columns],
            "precision": 14, "seed": 0, "server_seed": 1, "rows_expected": rows_expected, "sample_targets": [10_000, 100, 1000],
            "memory_limit_bytes": memory_limit_bytes,
        });
        Budget::of(&ScanSpec::parse(&spec.to_string()).expect("valid"))
    }

    const GB: u64 = 1 << 30;

    #[test]
    fn an_ordinary_table_has_everything() {
        let all = vec![(100, 30_000), (1000, 300_000), (10_000, 3_000_000)];
        assert_eq!(Budget { points_with_sketches: 24, samples: all, notes: vec![] }, budget(20, 2, 1_000_000, GB));
    }

    #[test]
    fn a_wide_table_has_the_greatest_target_only_where_its_rows_are_few() {
        let many = budget(100, 1, 1_000_000_000, GB);
        assert_eq!(vec![(100, 30_000), (1000, 300_000)], many.samples);
        assert_eq!(
            vec![
                "what ANALYZE would see at the statistics target 10000 is left out: samples of 100 columns would take \
                 1200 MB, and 924 MB of the memory limit are left"
            ],
            many.notes
        );
        assert_eq!(Some(&(10_000, 1_000_000)), budget(100, 1, 500_000, GB).samples.last());
    }

    #[test]
    fn growth_of_several_connections_is_coarser_before_it_is_left_out() {
        assert_eq!(12, budget(200, 2, 1000, GB).points_with_sketches);
        let none = budget(100, 8, 1000, GB / 4);
        assert_eq!((0, 1), (none.points_with_sketches, none.notes.len()));
        assert!(none.notes[0].starts_with("growth is shown for the first of 8 connections only"), "{:?}", none.notes);
    }
}
