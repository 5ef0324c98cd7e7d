//! One connection's part of a scan: its rows, from the socket into the sketches.

use super::block::Block;
use super::budget::Budget;
use super::exports::Exports;
use super::growth::Schedule;
use super::marks::BLOCK_ROWS;
use super::pages::PageChoice;
use super::sample::{ROWS_PER_TARGET, Sample};
use super::spec::ScanSpec;
use super::tally::Tally;
use super::tuples::Tuples;
use crate::error::Result;
use crate::script::Random;
use crate::sketch::hash;
use crate::wire::Columns;

/// What is known of the rows of one part.
#[derive(Debug)]
pub(super) struct Part {
    tuples: Tuples,
    rest: Kept,
}

/// All but what lies between two pieces of the stream, so that both can be lent out at once.
#[derive(Debug)]
pub(super) struct Kept {
    block: Block,
    /// The block is emptied when it has so many rows.
    block_end: usize,
    /// Without those in the block.
    rows: u64,
    nothing_before: bool,
    pub schedule: Schedule,
    /// Of the columns, and behind them of the groups.
    pub tallies: Vec<Tally>,
    pub samples: Vec<Sample>,
}

impl Part {
    /// Nothing read yet of the part with this number.
    pub(super) fn new(spec: &ScanSpec, number: usize, budget: &Budget) -> Self {
        let part = &spec.parts[number];
        let schedule = Schedule::new(spec.rows_expected_of(part), budget.points_of(number));
        let counted = spec.columns.len() + spec.groups.len();
        let pages = part.first_page..part.first_page + part.pages;
        let sample = |(target, rows_max): &(u32, u64)| {
            let of_pages = random(spec.seed, &[u64::from(*target)]);
            let of_rows = random(spec.seed, &[u64::from(*target), number as u64]);
            let wanted = u64::from(*target) * ROWS_PER_TARGET;
            let choice = PageChoice::new(spec.pages(), wanted, pages.clone(), spec.rows_expected, of_pages);
            Sample::new(*target, spec.columns.len(), *rows_max, choice, of_rows)
        };
        let mut rest = Kept {
            block: Block::new(&spec.columns, &spec.groups, spec.precision(), spec.seed),
            block_end: 0,
            rows: 0,
            nothing_before: number == 0,
            schedule,
            tallies: (0..counted).map(|_| Tally::new(spec.precision())).collect(),
            samples: budget.samples.iter().map(sample).collect(),
        };
        rest.set_block_end();
        Self { tuples: Tuples::new(spec.columns.len()), rest }
    }

    /// Takes in a piece of the stream.
    ///
    /// # Errors
    /// `scan_failed`: the stream, or a value in it, is not what was expected.
    #[inline]
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<()> {
        let Self { tuples, rest } = self;
        tuples.take(piece, &mut |row| rest.add(row))
    }

    /// Rows that have come.
    pub(super) fn rows(&self) -> u64 {
        self.rest.rows + self.rest.block.rows() as u64
    }

    /// The stream is over: all that is kept of it.
    ///
    /// # Errors
    /// `scan_failed`: its end has not come.
    pub(super) fn finish(mut self) -> Result<Kept> {
        self.tuples.finish()?;
        self.rest.empty_block();
        Ok(self.rest)
    }
}

impl Kept {
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Sketches for others, by column, where they are wanted.
    pub(super) fn exports(&self) -> impl Iterator<Item = Option<&Exports>> {
        self.block.exports()
    }

    #[inline]
    fn add(&mut self, row: Columns<'_>) -> Result<()> {
        self.block.add(row)?;
        if self.block.rows() == self.block_end {
            self.empty_block();
        }
        Ok(())
    }

    /// Hands the block to everybody who looks at rows.
    fn empty_block(&mut self) {
        self.block.hash();
        for (tally, hashed) in self.tallies.iter_mut().zip(self.block.hashed()) {
            tally.add(&hashed);
        }
        let (rows_before, rows) = (self.rows, self.block.rows());
        let mut has_fingerprints = false;
        for sample in &mut self.samples {
            if sample.draw(rows_before, rows) {
                if !has_fingerprints {
                    self.block.take_fingerprints();
                    has_fingerprints = true;
                }
                sample.keep(&self.block);
            }
        }
        self.rows += self.block.rows() as u64;
        self.block.clear();
        if self.rows == self.schedule.next() {
            self.tallies.iter_mut().for_each(|tally| tally.point(self.nothing_before));
            if self.schedule.reach() {
                self.tallies.iter_mut().for_each(Tally::thin);
            }
        }
        self.set_block_end();
    }

    /// A block is full when there is no more room, or at a point of growth.
    fn set_block_end(&mut self) {
        self.block_end = (self.schedule.next() - self.rows).min(BLOCK_ROWS as u64) as usize;
    }
}

/// The stream of random numbers for this purpose.
fn random(seed: u64, purpose: &[u64]) -> Random {
    Random::from_seed(hash::combine(seed, purpose))
}
