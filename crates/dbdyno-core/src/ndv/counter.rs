//! One column, or group of columns, that one reader reads from its first row to its last.

use super::block::Hashed;
use super::growth::{GrowthPoint, POINTS_KEPT, PartGrowth, Schedule, growth};
use super::marks::BLOCK_ROWS;
use super::tally::Tally;
use crate::sketch::Precision;

/// What is known of the rows that have come. Columns need not go in step: each has a counter of its own.
#[derive(Debug)]
pub(super) struct Counter {
    pub tally: Tally,
    schedule: Schedule,
    rows: u64,
}

impl Counter {
    /// Of nothing; so many rows are expected, 0 if nobody knows.
    pub(super) fn new(precision: Precision, rows_expected: u64) -> Self {
        Self { tally: Tally::new(precision), schedule: Schedule::new(rows_expected as f64, POINTS_KEPT), rows: 0 }
    }

    /// The rows that the next block may have at most: up to the next point of growth.
    pub(super) fn room(&self) -> usize {
        (self.schedule.next() - self.rows).min(BLOCK_ROWS as u64) as usize
    }

    /// Adds a block, for which there must be room.
    pub(super) fn add(&mut self, block: &Hashed<'_>) {
        self.tally.add(block);
        self.have_come(block.hashes.len());
    }

    fn have_come(&mut self, rows: usize) {
        self.rows += rows as u64;
        if self.rows == self.schedule.next() {
            self.tally.point(true);
            if self.schedule.reach() {
                self.tally.thin();
            }
        }
    }

    /// Rows that have come.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// How the number of values has grown.
    pub(super) fn growth(&self) -> Vec<GrowthPoint> {
        growth(&[PartGrowth { rows: self.rows, schedule: self.schedule.points(), tally: &self.tally }])
    }
}
