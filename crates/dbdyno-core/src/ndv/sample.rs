//! What ANALYZE would draw at a statistics target: a sample of rows, and of each value in it 32 bits of its hash.
//!
//! Two of n different values have the same 32 bits with a probability of n / 2^33 for each value: of the three million
//! rows of the greatest target, 0.03 % of the values are lost.

use serde::Serialize;

use super::block::{Block, NULL, WIDE};
use super::pages::PageChoice;
use super::reservoir::{Reservoir, places, shares};
use crate::script::Random;
use crate::sketch::hash;

/// ANALYZE's rows for each unit of the statistics target, and its pages.
pub(super) const ROWS_PER_TARGET: u64 = 300;

/// The sample of one connection for one statistics target.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    target: u32,
    pages: PageChoice,
    reservoir: Reservoir,
    /// For so many rows there is memory.
    rows_max: u64,
    overflowed: bool,
    columns: Vec<Vec<u32>>,
    /// Of the block at hand: which row goes to which place.
    taken: Vec<(u32, u32)>,
}

/// What a sample says about a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct SampleCounts {
    pub target: u32,
    /// Nulls included.
    pub rows: u64,
    pub nulls: u64,
    /// Different values among those that are neither NULL nor wide.
    pub distinct: u64,
    /// Of those, how many come once.
    pub once: u64,
    /// Values that ANALYZE takes for different without a look.
    pub wide: u64,
}

impl Sample {
    pub(super) fn new(target: u32, columns: usize, rows_max: u64, pages: PageChoice, random: Random) -> Self {
        let reservoir = Reservoir::new(u64::from(target) * ROWS_PER_TARGET, random);
        Self {
            target,
            pages,
            reservoir,
            rows_max,
            overflowed: false,
            columns: vec![Vec::new(); columns],
            taken: Vec::new(),
        }
    }

    /// Draws from the rows of a block, so many, of which the first is this one of the part; whether it takes any.
    pub(super) fn draw(&mut self, first_row: u64, rows: usize) -> bool {
        let Self { pages, reservoir, taken, .. } = self;
        taken.clear();
        if self.overflowed {
            return false;
        }
        pages.take(first_row, rows, |rows| {
            let first = rows.start as u32;
            reservoir.take(rows.len() as u64, |row, place| taken.push((first + row as u32, place as u32)));
        });
        if reservoir.filled() > self.rows_max {
            self.overflowed = true;
            self.columns.iter_mut().for_each(|places| *places = Vec::new());
            taken.clear();
        }
        !taken.is_empty()
    }

    /// Keeps the rows that were drawn of a block, whose fingerprints are made.
    pub(super) fn keep(&mut self, block: &Block) {
        let filled = self.reservoir.filled() as usize;
        for (places, fingerprints) in self.columns.iter_mut().zip(block.fingerprints()) {
            // Room that is not used costs nothing but addresses.
            places.reserve_exact(self.rows_max as usize - places.len());
            places.resize(filled, NULL);
            for (row, place) in &self.taken {
                places[*place as usize] = fingerprints[*row as usize];
            }
        }
    }

    pub(super) fn target(&self) -> u32 {
        self.target
    }

    /// Whether it had to be given up, because more rows came than there was memory for.
    pub(super) fn has_overflowed(&self) -> bool {
        self.overflowed
    }
}

/// The sample of all parts, as if one connection had drawn it; by column.
pub(super) fn merged(samples: &[&Sample], seed: u64) -> Vec<SampleCounts> {
    let target = samples[0].target;
    let mut random = Random::from_seed(hash::combine(seed, &[u64::from(target), u64::MAX]));
    let seen: Vec<u64> = samples.iter().map(|sample| sample.reservoir.seen()).collect();
    let rows = seen.iter().sum::<u64>().min(u64::from(target) * ROWS_PER_TARGET);
    let shares = match samples {
        [_] => vec![rows],
        _ => shares(&seen, rows, &mut random),
    };
    let chosen: Vec<Vec<u32>> = samples
        .iter()
        .zip(shares)
        .map(|(sample, share)| places(sample.reservoir.filled() as usize, share as usize, &mut random))
        .collect();
    let mut marks = Vec::with_capacity(rows as usize);
    (0..samples[0].columns.len())
        .map(|column| {
            marks.clear();
            for (sample, chosen) in samples.iter().zip(&chosen) {
                marks.extend(chosen.iter().map(|place| sample.columns[column][*place as usize]));
            }
            counts(target, &mut marks)
        })
        .collect()
}

fn counts(target: u32, marks: &mut [u32]) -> SampleCounts {
    marks.sort_unstable();
    let mut found = SampleCounts { target, rows: marks.len() as u64, ..SampleCounts::default() };
    for equal in marks.chunk_by(|one, other| one == other) {
        match equal[0] {
            NULL => found.nulls = equal.len() as u64,
            WIDE => found.wide = equal.len() as u64,
            _ => {
                found.distinct += 1;
                found.once += u64::from(equal.len() == 1);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::canonical::Decoder;
    use super::super::spec::ColumnSpec;
    use super::*;
    use crate::sketch::Precision;
    use crate::wire::Columns;

    fn block() -> Block {
        let column =
            |decoder| ColumnSpec { name: "c".to_owned(), type_name: "t".to_owned(), decoder, interop: Vec::new() };
        Block::new(&[column(Decoder::Integer), column(Decoder::Bytes)], &[], Precision::default(), 0)
    }

    fn add(block: &mut Block, number: Option<i64>, text: Option<&[u8]>) {
        let mut bytes = vec![0, 2];
        for value in [number.map(|number| number.to_be_bytes().to_vec()), text.map(<[u8]>::to_vec)] {
            bytes.extend(value.as_ref().map_or(-1, |value| value.len() as i32).to_be_bytes());
            bytes.extend(value.unwrap_or_default());
        }
        block.add(Columns::new(&bytes)).expect("a row");
    }

    fn take(sample: &mut Sample, first_row: u64, block: &mut Block) {
        if sample.draw(first_row, block.rows()) {
            block.take_fingerprints();
            sample.keep(block);
        }
    }

    /// A part with so many rows: the number divided by `per_value`, and NULL.
    fn part(rows: u64, per_value: u64, target: u32, rows_max: u64, seed: u64) -> Sample {
        let pages = PageChoice::new(0, 0, 0..0, 0, Random::from_seed(seed));
        let mut sample = Sample::new(target, 2, rows_max, pages, Random::from_seed(seed));
        let mut block = block();
        for row in 0..rows {
            add(&mut block, Some((row / per_value) as i64), None);
            if block.rows() == 100 || row == rows - 1 {
                block.hash();
                take(&mut sample, row + 1 - block.rows() as u64, &mut block);
                block.clear();
            }
        }
        sample
    }

    #[test]
    fn values_are_told_apart_and_nulls_and_wide_ones_counted() {
        let mut sample = part(0, 1, 1, 1000, 1);
        let mut block = block();
        let wide = vec![b'w'; 1021];
        let texts = [Some(b"a".as_slice()), Some(b"b"), Some(b"a"), None, Some(&wide), Some(&wide), None, Some(b"")];
        texts.iter().for_each(|text| add(&mut block, None, *text));
        block.hash();
        take(&mut sample, 0, &mut block);
        let counts = merged(&[&sample], 0);
        assert_eq!(SampleCounts { target: 1, rows: 8, nulls: 8, ..SampleCounts::default() }, counts[0]);
        assert_eq!(SampleCounts { target: 1, rows: 8, nulls: 2, distinct: 3, once: 2, wide: 2 }, counts[1]);
    }

    #[test]
    fn a_table_smaller_than_the_sample_is_counted_whole() {
        let counts = merged(&[&part(250, 2, 1, 1000, 1)], 0);
        let expected = SampleCounts { target: 1, rows: 250, distinct: 125, ..SampleCounts::default() };
        assert_eq!(expected, counts[0]);
    }

    #[test]
    fn parts_are_sampled_as_one_table() {
        let parts = [part(10_000, 1, 1, 1000, 1), part(30_000, 30_000, 1, 1000, 2), part(0, 1, 1, 1000, 3)];
        let parts: Vec<&Sample> = parts.iter().collect();
        let distinct: Vec<u64> = (0..400)
            .map(|seed| {
                let counts = merged(&parts, seed)[0];
                assert_eq!(300, counts.rows);
                counts.distinct - 1
            })
            .collect();
        // A quarter of the 300 rows has values of its own (the value 0 is in both parts): 7.5 is a standard deviation,
        // but that the parts' own samples stay the same.
        let mean = distinct.iter().sum::<u64>() as f64 / distinct.len() as f64;
        assert!((mean - 75.0).abs() < 3.0, "{mean}");
        assert!(distinct.iter().any(|one| *one > 80) && distinct.iter().any(|one| *one < 70), "{distinct:?}");
    }

    #[test]
    fn a_sample_without_memory_is_given_up() {
        let sample = part(400, 1, 1, 299, 1);
        assert!(sample.has_overflowed() && sample.columns.iter().all(Vec::is_empty));
        assert!(!part(400, 1, 1, 300, 1).has_overflowed());
        assert!(!part(299, 1, 1, 299, 1).has_overflowed());
    }
}
