//! What a connection keeps of a column or a group.

use super::block::Hashed;
use super::growth::{self, Point};
use super::marks::BLOCK_ROWS;
use crate::sketch::{Column, Precision};

/// Of what has been read so far.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    pub column: Column,
    pub nulls: u64,
    /// The bytes of all values, as they came.
    pub value_bytes: u64,
    /// At the places of the connection's schedule.
    pub points: Vec<Point>,
}

impl Tally {
    pub(super) fn new(precision: Precision) -> Self {
        Self { column: Column::new(precision), nulls: 0, value_bytes: 0, points: Vec::new() }
    }

    /// Adds the rows of a block.
    pub(super) fn add(&mut self, block: &Hashed<'_>) {
        self.nulls += block.nulls.count() as u64;
        self.value_bytes += block.value_bytes;
        if block.nulls.count() == 0 || !block.without_nulls {
            return self.column.add_hashes(block.hashes);
        }
        let mut present = [0; BLOCK_ROWS];
        let mut count = 0;
        for (row, hash) in block.hashes.iter().enumerate() {
            present[count] = *hash;
            count += usize::from(!block.nulls.has(row));
        }
        self.column.add_hashes(&present[..count]);
    }

    /// Remembers the state of now: the estimate alone if nothing of the table comes before, else the sketch.
    pub(super) fn point(&mut self, nothing_before: bool) {
        let sketch = self.column.sketch();
        self.points.push(match nothing_before {
            true => Point { nulls: self.nulls, distinct: sketch.estimate().distinct, sketch: None },
            false => Point { nulls: self.nulls, distinct: 0.0, sketch: Some(sketch.clone()) },
        });
    }

    /// Adds what another connection keeps of the same column; points stay as they are.
    pub(super) fn unite(&mut self, other: &Self) {
        self.column.union(&other.column);
        self.nulls += other.nulls;
        self.value_bytes += other.value_bytes;
    }

    /// The state of now alone.
    pub(super) fn without_points(&self) -> Self {
        Self { column: self.column.clone(), points: Vec::new(), ..*self }
    }

    /// Forgets every second state.
    pub(super) fn thin(&mut self) {
        growth::thin(&mut self.points);
    }

    #[cfg(test)]
    pub(super) fn add_for_test(&mut self, hashes: &[u64], nulls: &super::marks::Marks) {
        self.add(&Hashed { hashes, nulls, without_nulls: true, value_bytes: 0 });
    }
}

#[cfg(test)]
mod tests {
    use super::super::marks::Marks;
    use super::*;

    #[test]
    fn nulls_are_counted_and_are_no_values_but_of_a_group() {
        let mut nulls = Marks::none();
        [1, 3, 4].iter().for_each(|row| nulls.set(*row));
        let block = Hashed { hashes: &[10, 11, 10, 12, 13, 14], nulls: &nulls, without_nulls: true, value_bytes: 24 };
        let mut column = Tally::new(Precision::default());
        column.add(&block);
        assert_eq!((3, 24), (column.nulls, column.value_bytes));
        assert_eq!(Some(vec![10, 14]), column.column.sketch().exact_hashes());
        let mut group = Tally::new(Precision::default());
        group.add(&Hashed { without_nulls: false, ..block });
        assert_eq!(3, group.nulls);
        assert_eq!(Some(vec![10, 11, 12, 13, 14]), group.column.sketch().exact_hashes());
    }
}
