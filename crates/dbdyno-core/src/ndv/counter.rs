//! One column, or group of columns, that one reader reads from its first row to its last.

use super::block::Hashed;
use super::growth::{GrowthPoint, PartGrowth, Schedule, growth};
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
    /// Of nothing.
    pub(super) fn new(precision: Precision) -> Self {
        Self { tally: Tally::new(precision), schedule: Schedule::likely(0), rows: 0 }
    }

    /// Rows will come as this schedule expects them. None has come yet.
    pub(super) fn expect(&mut self, schedule: &Schedule) {
        assert_eq!(0, self.rows, "points of growth lie from the first row on");
        self.schedule = schedule.clone();
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

    /// Adds a block of so many rows, of which these are NULL, by the hashes that the others have: each once or more.
    pub(super) fn add_values(&mut self, rows: usize, nulls: usize, hashes: &[u64]) {
        self.tally.nulls += nulls as u64;
        self.tally.column.add_hashes(hashes);
        self.have_come(rows);
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
