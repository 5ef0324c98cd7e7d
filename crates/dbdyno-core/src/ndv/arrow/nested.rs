//! Lists, structs and maps: the hash of the hashes of what they are made of, in order.
//!
//! `hash::combine` does not do for these: a struct of 1 and [2] would have the hash of 2 and [1], because the state
//! after one value is the hash of the list of that value.

use arrow_array::Array;
use arrow_array::OffsetSizeTrait;
use arrow_array::cast::AsArray;
use arrow_buffer::NullBuffer;

use super::HashRows;
use crate::sketch::hash;

/// The elements of lists, of all rows at once.
struct Elements {
    seed: u64,
    hasher: Box<dyn HashRows>,
    hashes: Vec<u64>,
    scratch: Vec<u8>,
}

impl Elements {
    fn new(seed: u64, hasher: Box<dyn HashRows>) -> Self {
        Self { seed, hasher, hashes: Vec::new(), scratch: Vec::new() }
    }

    /// Hashes the rows, whose elements lie in `values` between these ends.
    fn hash(&mut self, values: &dyn Array, ends: impl Iterator<Item = (usize, usize)> + Clone, hashes: &mut [u64]) {
        let begin = ends.clone().map(|(begin, _)| begin).next().unwrap_or_default();
        let end = ends.clone().map(|(_, end)| end).last().unwrap_or_default();
        let values = values.slice(begin, end - begin);
        hash_with_nulls(self.hasher.as_mut(), values.as_ref(), &mut self.hashes);
        for (hash, (from, to)) in hashes.iter_mut().zip(ends) {
            let elements = self.hashes[from - begin..to - begin].iter().copied();
            *hash = hash_of_hashes(self.seed, elements, &mut self.scratch);
        }
    }
}

/// Hashes a whole array; NULL has a hash, too.
fn hash_with_nulls(hasher: &mut dyn HashRows, array: &dyn Array, hashes: &mut Vec<u64>) {
    hashes.clear();
    hashes.resize(array.len(), 0);
    let nulls = array.logical_nulls();
    hasher.hash(array, nulls.as_ref(), hashes);
    for row in (0..array.len()).filter(|row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(*row))) {
        hashes[row] = hash::NULL_HASH;
    }
}

fn hash_of_hashes(seed: u64, hashes: impl Iterator<Item = u64>, scratch: &mut Vec<u8>) -> u64 {
    scratch.clear();
    hashes.for_each(|hash| scratch.extend_from_slice(&hash.to_le_bytes()));
    hash::bytes(seed, scratch)
}

/// Lists of any length, and maps, which are lists of pairs.
pub(super) struct Lists<O> {
    elements: Elements,
    parts: fn(&dyn Array) -> (&dyn Array, &[O]),
}

fn list_parts<O: OffsetSizeTrait>(array: &dyn Array) -> (&dyn Array, &[O]) {
    let list = array.as_list::<O>();
    (list.values().as_ref(), list.value_offsets())
}

fn map_parts(array: &dyn Array) -> (&dyn Array, &[i32]) {
    let map = array.as_map();
    (map.entries(), map.value_offsets())
}

impl<O: OffsetSizeTrait> Lists<O> {
    pub(super) fn new(seed: u64, element: Box<dyn HashRows>) -> Self {
        Self { elements: Elements::new(seed, element), parts: list_parts }
    }
}

impl Lists<i32> {
    pub(super) fn of_pairs(seed: u64, pair: Box<dyn HashRows>) -> Self {
        Self { elements: Elements::new(seed, pair), parts: map_parts }
    }
}

impl<O: OffsetSizeTrait> HashRows for Lists<O> {
    fn hash(&mut self, array: &dyn Array, _nulls: Option<&NullBuffer>, hashes: &mut [u64]) {
        let (values, offsets) = (self.parts)(array);
        let ends = offsets.windows(2).map(|ends| (ends[0].as_usize(), ends[1].as_usize()));
        self.elements.hash(values, ends, hashes);
    }
}

/// Lists that are all of one length.
pub(super) struct FixedSizeLists {
    elements: Elements,
    length: usize,
}

impl FixedSizeLists {
    pub(super) fn new(seed: u64, element: Box<dyn HashRows>, length: usize) -> Self {
        Self { elements: Elements::new(seed, element), length }
    }
}

impl HashRows for FixedSizeLists {
    fn hash(&mut self, array: &dyn Array, _nulls: Option<&NullBuffer>, hashes: &mut [u64]) {
        let (list, length) = (array.as_fixed_size_list(), self.length);
        let ends = (0..list.len()).map(|row| (row * length, (row + 1) * length));
        self.elements.hash(list.values().as_ref(), ends, hashes);
    }
}

/// Structs: NULL where they are so, not where all of their fields are.
pub(super) struct Structs {
    seed: u64,
    fields: Vec<(Box<dyn HashRows>, Vec<u64>)>,
    scratch: Vec<u8>,
}

impl Structs {
    pub(super) fn new(seed: u64, fields: impl Iterator<Item = Box<dyn HashRows>>) -> Self {
        Self { seed, fields: fields.map(|hasher| (hasher, Vec::new())).collect(), scratch: Vec::new() }
    }
}

impl HashRows for Structs {
    fn hash(&mut self, array: &dyn Array, _nulls: Option<&NullBuffer>, hashes: &mut [u64]) {
        for ((hasher, hashes), column) in self.fields.iter_mut().zip(array.as_struct().columns()) {
            hash_with_nulls(hasher.as_mut(), column.as_ref(), hashes);
        }
        for (row, hash) in hashes.iter_mut().enumerate() {
            *hash = hash_of_hashes(self.seed, self.fields.iter().map(|(_, hashes)| hashes[row]), &mut self.scratch);
        }
    }
}
