//! Rows on their way from the stream to the sketches: some at a time, column by column.
//!
//! ```text
//! row ---> bits, row by row:     the value, or its hash        --hash()--> hashes, a block of a column at a time
//!          nulls, wide: marks
//! ```

use super::canonical::Decoder;
use super::exports::Exports;
use super::marks::{BLOCK_ROWS, Marks};
use super::spec::{ColumnSpec, GroupSpec};
use crate::error::{CoreError, Result};
use crate::sketch::{Precision, hash};
use crate::wire::Columns;

/// ANALYZE looks no closer at values of more than 1,024 bytes (WIDTH_THRESHOLD in its source), the four bytes of their
/// length included.
const NARROW_BYTES_MAX: usize = 1020;

/// The rows that have come since the sketches were updated.
#[derive(Debug)]
pub(super) struct Block {
    seed: u64,
    rows: usize,
    columns: Vec<BlockColumn>,
    groups: Vec<BlockGroup>,
    scratch: Vec<u8>,
}

/// One column of a block.
#[derive(Debug)]
pub(super) struct BlockColumn {
    name: String,
    type_name: String,
    decoder: Decoder,
    /// What came, row by row: a value, or already its hash.
    bits: Box<[u64]>,
    /// Those of rows that are NULL mean nothing.
    hashes: Box<[u64]>,
    /// What a sample keeps of each value.
    fingerprints: Box<[u32]>,
    nulls: Marks,
    wide: Marks,
    value_bytes: u64,
    exports: Option<Exports>,
}

/// The fingerprint of NULL.
pub(super) const NULL: u32 = 0;
/// The fingerprint of every value at which ANALYZE does not look.
pub(super) const WIDE: u32 = 1;

/// Several columns of a block as one.
#[derive(Debug)]
struct BlockGroup {
    columns: Vec<usize>,
    hashes: Box<[u64]>,
    /// Rows of which every column is NULL. Like GROUP BY, a group takes them as a value.
    nulls: Marks,
}

/// The hashes of a column or a group in a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashed<'a> {
    /// By row.
    pub hashes: &'a [u64],
    /// Rows that are NULL.
    pub nulls: &'a Marks,
    /// Whether the hashes of those rows are to be passed over.
    pub without_nulls: bool,
    /// The bytes of all values, as they came.
    pub value_bytes: u64,
}

fn room() -> Box<[u64]> {
    vec![0; BLOCK_ROWS].into()
}

impl Block {
    pub(super) fn new(columns: &[ColumnSpec], groups: &[GroupSpec], precision: Precision, seed: u64) -> Self {
        let columns = columns.iter().map(|column| BlockColumn::new(column, precision)).collect();
        let groups = groups
            .iter()
            .map(|group| BlockGroup { columns: group.columns.clone(), hashes: room(), nulls: Marks::none() })
            .collect();
        Self { seed, rows: 0, columns, groups, scratch: Vec::new() }
    }

    /// Rows in it.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row; there must be room for it.
    ///
    /// # Errors
    /// `scan_failed`: a value of a length that its decoder does not know.
    #[inline]
    pub(super) fn add(&mut self, row: Columns<'_>) -> Result<()> {
        let at = self.rows;
        for (column, value) in self.columns.iter_mut().zip(row) {
            match value {
                None => column.nulls.set(at),
                Some(value) => column.set(at, value, self.seed, &mut self.scratch)?,
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Hashes what has come.
    pub(super) fn hash(&mut self) {
        for column in &mut self.columns {
            column.hash(self.rows, self.seed);
        }
        for group in &mut self.groups {
            group.hash(self.rows, self.seed, &self.columns);
        }
    }

    /// Makes what samples keep of the values, which are hashed.
    pub(super) fn take_fingerprints(&mut self) {
        self.columns.iter_mut().for_each(|column| column.take_fingerprints(self.rows));
    }

    /// By column, of each row: `NULL`, `WIDE`, or 32 bits of the value's hash.
    pub(super) fn fingerprints(&self) -> impl Iterator<Item = &[u32]> {
        self.columns.iter().map(|column| &column.fingerprints[..self.rows])
    }

    /// The hashes of all columns, and behind them those of all groups, when they are hashed.
    pub(super) fn hashed(&self) -> impl Iterator<Item = Hashed<'_>> {
        let columns = self.columns.iter().map(|column| Hashed {
            hashes: &column.hashes[..self.rows],
            nulls: &column.nulls,
            without_nulls: true,
            value_bytes: column.value_bytes,
        });
        let groups = self.groups.iter().map(|group| Hashed {
            hashes: &group.hashes[..self.rows],
            nulls: &group.nulls,
            without_nulls: false,
            value_bytes: group.columns.iter().map(|column| self.columns[*column].value_bytes).sum(),
        });
        columns.chain(groups)
    }

    /// Sketches for others of each column of which they are wanted.
    pub(super) fn exports(&self) -> impl Iterator<Item = Option<&Exports>> {
        self.columns.iter().map(|column| column.exports.as_ref())
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        self.rows = 0;
        for column in &mut self.columns {
            column.nulls.clear();
            column.wide.clear();
            column.value_bytes = 0;
        }
        self.groups.iter_mut().for_each(|group| group.nulls.clear());
    }
}

impl BlockColumn {
    fn new(spec: &ColumnSpec, precision: Precision) -> Self {
        let kinds = spec.interop_kinds();
        Self {
            name: spec.name.clone(),
            type_name: spec.type_name.clone(),
            decoder: spec.decoder,
            bits: room(),
            hashes: room(),
            fingerprints: vec![NULL; BLOCK_ROWS].into(),
            nulls: Marks::none(),
            wide: Marks::none(),
            value_bytes: 0,
            exports: (!kinds.is_empty()).then(|| Exports::new(&kinds, precision)),
        }
    }

    #[inline]
    fn set(&mut self, row: usize, value: &[u8], seed: u64, scratch: &mut Vec<u8>) -> Result<()> {
        let Some(bits) = self.decoder.bits(value, seed, scratch) else { return Err(self.wrong_length(value.len())) };
        self.bits[row] = bits;
        self.value_bytes += value.len() as u64;
        if value.len() > NARROW_BYTES_MAX {
            self.wide.set(row);
        }
        if let Some(exports) = &mut self.exports {
            match self.decoder.gives_values() {
                true => exports.add(&bits.to_le_bytes()),
                false => exports.add(value),
            }
        }
        Ok(())
    }

    #[cold]
    fn wrong_length(&self, bytes: usize) -> CoreError {
        let Self { name, type_name, decoder, .. } = self;
        let message = format!(
            "column {name} ({type_name}): a value of {bytes} bytes came, which the decoder {decoder:?} does not know; \
             give the column another decoder"
        );
        CoreError::new("scan_failed", message)
    }

    fn hash(&mut self, rows: usize, seed: u64) {
        match self.decoder.gives_values() {
            true => hash::fixed64(seed, &self.bits[..rows], &mut self.hashes[..rows]),
            false => std::mem::swap(&mut self.bits, &mut self.hashes),
        }
    }

    /// 32 bits of each hash.
    fn take_fingerprints(&mut self, rows: usize) {
        for (fingerprint, hash) in self.fingerprints[..rows].iter_mut().zip(&self.hashes) {
            *fingerprint = ((hash ^ (hash >> 32)) as u32).max(WIDE + 1);
        }
        self.nulls.rows().for_each(|row| self.fingerprints[row] = NULL);
        self.wide.rows().for_each(|row| self.fingerprints[row] = WIDE);
    }
}

impl BlockGroup {
    fn hash(&mut self, rows: usize, seed: u64, columns: &[BlockColumn]) {
        let mut values = vec![0; self.columns.len()];
        for row in 0..rows {
            let mut nulls = 0;
            for (value, column) in values.iter_mut().zip(&self.columns) {
                let column = &columns[*column];
                let is_null = column.nulls.has(row);
                *value = if is_null { hash::NULL_HASH } else { column.hashes[row] };
                nulls += usize::from(is_null);
            }
            self.hashes[row] = hash::combine(seed, &values);
            if nulls == self.columns.len() {
                self.nulls.set(row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(decoders: &[Decoder], groups: &[&[usize]]) -> Block {
        let column = |(index, decoder): (usize, &Decoder)| ColumnSpec {
            name: format!("c{index}"),
            type_name: "t".to_owned(),
            decoder: *decoder,
            interop: Vec::new(),
        };
        let columns: Vec<_> = decoders.iter().enumerate().map(column).collect();
        let group = |columns: &&[usize]| GroupSpec { name: String::new(), columns: columns.to_vec() };
        Block::new(&columns, &groups.iter().map(group).collect::<Vec<_>>(), Precision::default(), 5)
    }

    fn add(block: &mut Block, values: &[Option<&[u8]>]) -> Result<()> {
        let mut bytes = (values.len() as i16).to_be_bytes().to_vec();
        for value in values {
            bytes.extend(value.map_or(-1, |value| value.len() as i32).to_be_bytes());
            bytes.extend(value.unwrap_or_default());
        }
        block.add(Columns::new(&bytes))
    }

    fn fixed(value: u64) -> u64 {
        let mut hash = [0];
        hash::fixed64(5, &[value], &mut hash);
        hash[0]
    }

    #[test]
    fn values_are_hashed_and_counted_by_column() {
        let mut block = block(&[Decoder::Integer, Decoder::Bytes, Decoder::Hashed], &[]);
        add(&mut block, &[Some(&[0, 7]), Some(b"text"), Some(&0x9_0000_0008_u64.to_be_bytes())]).expect("a row");
        add(&mut block, &[None, Some(&[1; 1021]), None]).expect("a row");
        add(&mut block, &[Some(&[0, 7]), Some(&[1; 1020]), None]).expect("a row");
        block.hash();
        let seen: Vec<_> = block.hashed().collect();
        assert_eq!((fixed(7), fixed(7)), (seen[0].hashes[0], seen[0].hashes[2]));
        assert_eq!((hash::bytes(5, b"text"), hash::bytes(5, &[1; 1021])), (seen[1].hashes[0], seen[1].hashes[1]));
        assert_eq!(0x8_0000_0009, seen[2].hashes[0]);
        assert_eq!([1, 0, 2], [0, 1, 2].map(|column: usize| seen[column].nulls.count()));
        assert_eq!([4, 4 + 1021 + 1020, 8], [0, 1, 2].map(|column: usize| seen[column].value_bytes));
        drop(seen);
        block.take_fingerprints();
        let marks: Vec<Vec<u32>> =
            block.fingerprints().map(|column| column.iter().map(|mark| (*mark).min(2)).collect()).collect();
        assert_eq!(vec![vec![2, NULL, 2], vec![2, WIDE, 2], vec![2, NULL, NULL]], marks);
    }

    #[test]
    fn a_cleared_block_is_a_new_one() {
        let mut block = block(&[Decoder::Bytes], &[&[0]]);
        add(&mut block, &[None]).expect("a row");
        add(&mut block, &[Some(&[1; 2000])]).expect("a row");
        block.hash();
        block.clear();
        add(&mut block, &[Some(b"a")]).expect("a row");
        block.hash();
        let seen: Vec<_> = block.hashed().collect();
        assert_eq!(
            (1, 0, 1, false),
            (seen[0].hashes.len(), seen[0].nulls.count(), seen[0].value_bytes, seen[0].nulls.has(0))
        );
        assert_eq!((0, hash::bytes(5, b"a")), (seen[1].nulls.count(), seen[0].hashes[0]));
        drop(seen);
        block.take_fingerprints();
        assert!(block.fingerprints().all(|marks| marks.len() == 1 && marks[0] > WIDE));
    }

    #[test]
    fn a_group_is_null_where_all_of_it_is_and_a_value_everywhere() {
        let mut block = block(&[Decoder::Integer, Decoder::Bytes], &[&[1, 0]]);
        for row in [[Some([3].as_slice()), Some(b"x".as_slice())], [None, Some(b"x")], [None, None]] {
            add(&mut block, &row).expect("a row");
        }
        block.hash();
        let group = block.hashed().last().expect("one group");
        let text = hash::bytes(5, b"x");
        let expected = [[text, fixed(3)], [text, hash::NULL_HASH], [hash::NULL_HASH; 2]];
        assert_eq!(expected.map(|hashes| hash::combine(5, &hashes)).as_slice(), group.hashes);
        assert_eq!((1, true, false), (group.nulls.count(), group.nulls.has(2), group.without_nulls));
        assert_eq!(1 + 2, group.value_bytes);
    }

    #[test]
    fn a_value_that_the_decoder_does_not_know_is_named() {
        let mut block = block(&[Decoder::Bytes, Decoder::Integer], &[]);
        let error = add(&mut block, &[Some(b"x"), Some(b"abc")]).expect_err("three bytes");
        assert_eq!("scan_failed", error.code);
        assert_eq!(
            "column c1 (t): a value of 3 bytes came, which the decoder Integer does not know; give the column another decoder",
            error.message
        );
    }
}
