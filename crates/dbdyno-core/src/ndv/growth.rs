//! How the number of different values grows with the rows of a table, in their physical order.
//!
//! ```text
//! rows  0 ----.----.----.----.----.----.----.----.---- N      the points of one connection, evenly
//! rows  0 ----.----.----.----. | 0 -.--.--.--.--.--.-- N2     of two: a point of the second is the union of
//!       '- all of the first ---+----' and the second so far   all before it, in the order of the pages
//! ```
//!
//! So a point says the same however many connections read: what the first so many rows of the table hold. That takes
//! copies of sketches at the points of all parts but the first, whose estimates can be made on the way.
//!
//! How many rows will come is only expected. Points lie evenly, and when there are too many, every second one goes
//! (and the next ones come at twice the distance): half of `kept` or more are left however many rows there are.

use serde::Serialize;

use super::tally::Tally;
use crate::sketch::Sketch;

/// Points of a scan by one connection: a fortieth of the rows is the distance of two if their number was known.
pub(super) const POINTS_KEPT: usize = 80;
/// Tenths of the rows are what is reported.
const POINTS_REPORTED: u64 = 10;
/// If there are so many times fewer rows than expected, there are still enough points.
const FEWER_ROWS_MAX: f64 = 1024.0;

/// When the next point comes; the same for all columns.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    kept: usize,
    step: f64,
    points: Vec<u64>,
}

/// A column so far.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub nulls: u64,
    /// Different values of this part, where no other part comes before it.
    pub distinct: f64,
    /// Where one does.
    pub sketch: Option<Sketch>,
}

/// What the first rows of a table hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct GrowthPoint {
    pub rows: u64,
    pub nulls: u64,
    pub ndv: f64,
}

impl Schedule {
    /// For so many rows, more or less (0: nobody knows), with at most `kept` points; an even number, or 0 for none.
    pub(super) fn new(rows_expected: f64, kept: usize) -> Self {
        // Halves of the expected distance are exact, so if the expectation was right the points come to lie on it.
        let expected = rows_expected / (kept / 2) as f64;
        let mut step = expected;
        while step >= 2.0 && step > expected / FEWER_ROWS_MAX {
            step /= 2.0;
        }
        Self { kept, step: step.max(1.0), points: Vec::new() }
    }

    /// For just so many rows: a point at each tenth of them, and no other, because a point costs as much as some
    /// thousand values.
    pub(super) fn certain(rows: u64) -> Self {
        Self { kept: POINTS_KEPT, step: (rows as f64 / POINTS_REPORTED as f64).max(1.0), points: Vec::new() }
    }

    /// For so many rows, or up to four times fewer, or any number more.
    pub(super) fn likely(rows: u64) -> Self {
        let step = rows as f64 / (POINTS_KEPT / 2) as f64 / 4.0;
        Self { kept: POINTS_KEPT, step: step.max(1.0), points: Vec::new() }
    }

    /// The row behind which the next point lies.
    pub(super) fn next(&self) -> u64 {
        match self.kept {
            0 => u64::MAX,
            _ => ((self.points.len() + 1) as f64 * self.step).round() as u64,
        }
    }

    /// The next point has been reached; true if every second one is to be forgotten.
    pub(super) fn reach(&mut self) -> bool {
        self.points.push(self.next());
        let too_many = self.points.len() == self.kept;
        if too_many {
            thin(&mut self.points);
            self.step *= 2.0;
        }
        too_many
    }

    /// By the number of rows.
    pub(super) fn points(&self) -> &[u64] {
        &self.points
    }
}

/// Forgets the first, the third, the fifth, ...
pub(super) fn thin<T>(points: &mut Vec<T>) {
    let mut number = 0;
    points.retain(|_| {
        number += 1;
        number % 2 == 0
    });
}

/// One column over all parts.
#[derive(Debug)]
pub(super) struct PartGrowth<'a> {
    pub rows: u64,
    /// By the number of the part's rows.
    pub schedule: &'a [u64],
    pub tally: &'a Tally,
}

/// The points nearest to the tenths of all rows; the last is all of them. Parts come in the order of their pages.
pub(super) fn growth(parts: &[PartGrowth<'_>]) -> Vec<GrowthPoint> {
    let rows_all: u64 = parts.iter().map(|part| part.rows).sum();
    let tenths: Vec<u64> =
        (1..=POINTS_REPORTED).map(|tenth| (rows_all as f64 * tenth as f64 / 10.0).round() as u64).collect();
    let mut found: Vec<GrowthPoint> = Vec::new();
    let (mut rows_before, mut nulls_before, mut before) = (0, 0, None::<Sketch>);
    for part in parts.iter().filter(|part| part.rows > 0) {
        let wanted = tenths.iter().filter(|tenth| (rows_before + 1..=rows_before + part.rows).contains(tenth));
        for at in wanted.filter_map(|tenth| nearest(part, tenth - rows_before)) {
            let (rows, nulls, ndv) = part.at(at, before.as_ref());
            found.push(GrowthPoint { rows: rows_before + rows, nulls: nulls_before + nulls, ndv });
        }
        rows_before += part.rows;
        nulls_before += part.tally.nulls;
        let sketch = part.tally.column.sketch();
        match &mut before {
            None => before = Some(sketch.clone()),
            Some(before) => before.union(sketch),
        }
    }
    found.dedup_by_key(|point| point.rows);
    found
}

/// The place in the schedule that is nearest to so many rows; its length stands for the end of the part.
fn nearest(part: &PartGrowth<'_>, rows: u64) -> Option<usize> {
    (0..=part.schedule.len()).min_by_key(|place| part.rows_at(*place).abs_diff(rows))
}

impl PartGrowth<'_> {
    fn rows_at(&self, place: usize) -> u64 {
        self.schedule.get(place).copied().unwrap_or(self.rows)
    }

    /// Rows and nulls of the part up to a place, and the different values of them and of all before.
    fn at(&self, place: usize, before: Option<&Sketch>) -> (u64, u64, f64) {
        let whole = self.tally.column.sketch();
        let (nulls, sketch, distinct) = match self.tally.points.get(place) {
            Some(point) => (point.nulls, point.sketch.as_ref(), point.distinct),
            None => (self.tally.nulls, Some(whole), 0.0),
        };
        let ndv = match (before, sketch) {
            (Some(before), Some(sketch)) => {
                let mut union = before.clone();
                union.union(sketch);
                union.estimate().distinct
            }
            (None, Some(sketch)) => sketch.estimate().distinct,
            (_, None) => distinct,
        };
        (self.rows_at(place), nulls, ndv)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::marks::Marks;
    use super::*;
    use crate::sketch::{Precision, hash};

    /// Parts that read these values, one part after the other.
    fn read(parts: &[&[u64]], rows_expected: f64, kept: usize) -> Vec<GrowthPoint> {
        let mut tallies = Vec::new();
        for (index, values) in parts.iter().enumerate() {
            let mut schedule = Schedule::new(rows_expected / parts.len() as f64, kept);
            let mut tally = Tally::new(Precision::default());
            for (row, value) in values.iter().enumerate() {
                let mut hash = [0];
                hash::fixed64(1, &[*value], &mut hash);
                tally.add_for_test(&hash, &Marks::none());
                if schedule.next() == row as u64 + 1 {
                    tally.point(index == 0);
                    if schedule.reach() {
                        tally.thin();
                    }
                }
            }
            tallies.push((values.len() as u64, schedule, tally));
        }
        let parts: Vec<_> = tallies
            .iter()
            .map(|(rows, schedule, tally)| PartGrowth { rows: *rows, schedule: schedule.points(), tally })
            .collect();
        growth(&parts)
    }

    fn rows(points: &[GrowthPoint]) -> Vec<u64> {
        points.iter().map(|point| point.rows).collect()
    }

    #[test]
    fn points_are_tenths_where_the_expectation_was_right() {
        let values: Vec<u64> = (0..2000).map(|row| row / 4).collect();
        let points = read(&[&values], 2000.0, POINTS_KEPT);
        assert_eq!((1..=10).map(|tenth| 200 * tenth).collect::<Vec<u64>>(), rows(&points));
        assert_eq!(
            (1..=10).map(|tenth| 50.0 * f64::from(tenth)).collect::<Vec<f64>>(),
            points.iter().map(|point| point.ndv).collect::<Vec<_>>()
        );
    }

    #[test]
    fn several_parts_grow_in_the_order_of_the_table() {
        let values: Vec<u64> = (0..2000).map(|row| row / 4).collect();
        let whole = read(&[&values], 2000.0, POINTS_KEPT);
        let (first, second) = values.split_at(1000);
        assert_eq!(whole, read(&[first, second], 2000.0, 40));
        let (first, second) = values.split_at(1001);
        let parts = read(&[first, second, &[]], 2000.0, 40);
        assert!(rows(&whole).iter().zip(rows(&parts)).all(|(one, other)| one.abs_diff(other) <= 25), "{parts:?}");
        assert!(parts.iter().all(|point| point.ndv == point.rows.div_ceil(4) as f64), "{parts:?}");
    }

    /// The points of a scan of so many rows.
    fn points_of(mut schedule: Schedule, rows: u64) -> Vec<u64> {
        while schedule.next() <= rows {
            schedule.reach();
        }
        schedule.points().to_vec()
    }

    #[test]
    fn where_the_rows_are_known_there_is_a_point_for_each_tenth() {
        assert_eq!((1..=10).map(|tenth| 123 * tenth).collect::<Vec<_>>(), points_of(Schedule::certain(1230), 1230));
        assert_eq!(vec![13, 25, 38, 50, 63, 75, 88, 100, 113, 125], points_of(Schedule::certain(125), 125));
        assert_eq!(vec![1, 2, 3], points_of(Schedule::certain(3), 3));
        assert_eq!(Vec::<u64>::new(), points_of(Schedule::certain(0), 0));
    }

    #[test]
    fn where_they_are_likely_there_are_enough_for_four_times_fewer_and_any_number_more() {
        for (rows, likely) in [(1000, 1000), (1000, 4000), (100_000, 50), (7, 0)] {
            let points = points_of(Schedule::likely(likely), rows);
            assert!(points.len() >= 40.min(rows as usize) - 1 && points.len() < 80, "{rows} {likely} {points:?}");
        }
    }

    #[test]
    fn a_table_may_be_small_or_empty() {
        assert_eq!(Vec::<GrowthPoint>::new(), read(&[&[]], 0.0, POINTS_KEPT));
        assert_eq!(vec![1, 2, 3], rows(&read(&[&[5, 6, 7]], 3.0, POINTS_KEPT)));
        assert_eq!(vec![3], rows(&read(&[&[5, 6, 7]], 0.0, 0)), "without points the end remains");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn points_lie_near_the_tenths_whatever_was_expected(rows_all in 100usize..20_000, factor in -7.0f64..7.0) {
            let expected = rows_all as f64 * factor.exp2();
            let points = read(&[&vec![1; rows_all]], expected, POINTS_KEPT);
            prop_assert_eq!(10, points.len());
            for (tenth, point) in (1..).zip(&points) {
                let off = (point.rows as f64 - rows_all as f64 * f64::from(tenth) / 10.0).abs();
                prop_assert!(off <= rows_all as f64 / 60.0 + 1.0, "{:?}", points);
            }
            prop_assert_eq!(rows_all as u64, points[9].rows);
        }
    }
}
