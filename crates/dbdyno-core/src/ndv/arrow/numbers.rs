//! Values of a fixed width.

use std::marker::PhantomData;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_buffer::NullBuffer;

use super::HashRows;
use crate::sketch::hash;

/// Numbers that are their 64 bits.
pub(super) struct Numbers<T, F> {
    seed: u64,
    bits: F,
    native: PhantomData<T>,
}

impl<T: ArrowPrimitiveType, F: Fn(T::Native) -> u64> Numbers<T, F> {
    pub(super) fn new(seed: u64, bits: F) -> Self {
        Self { seed, bits, native: PhantomData }
    }
}

impl<T: ArrowPrimitiveType, F: Fn(T::Native) -> u64> HashRows for Numbers<T, F> {
    fn hash(&mut self, array: &dyn Array, _nulls: Option<&NullBuffer>, hashes: &mut [u64]) {
        let mut bits = [0; BLOCK];
        for (values, hashes) in array.as_primitive::<T>().values().chunks(BLOCK).zip(hashes.chunks_mut(BLOCK)) {
            let bits = &mut bits[..values.len()];
            bits.iter_mut().zip(values).for_each(|(bits, value)| *bits = (self.bits)(*value));
            hash::fixed64(self.seed, bits, hashes);
        }
    }
}

/// Values and what they become stay in the first-level cache.
pub(super) const BLOCK: usize = 256;

/// One zero, one NaN, as PostgreSQL has them.
pub(super) fn double_bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}

/// Values whose canonical form is some bytes.
pub(super) struct Encoded<T, F> {
    seed: u64,
    encode: F,
    scratch: Vec<u8>,
    native: PhantomData<T>,
}

impl<T: ArrowPrimitiveType, F: Fn(T::Native, &mut Vec<u8>)> Encoded<T, F> {
    /// `encode` writes a value's bytes behind what is there, which is nothing.
    pub(super) fn new(seed: u64, encode: F) -> Self {
        Self { seed, encode, scratch: Vec::new(), native: PhantomData }
    }
}

impl<T: ArrowPrimitiveType, F: Fn(T::Native, &mut Vec<u8>)> HashRows for Encoded<T, F> {
    fn hash(&mut self, array: &dyn Array, nulls: Option<&NullBuffer>, hashes: &mut [u64]) {
        for (row, (hash, value)) in hashes.iter_mut().zip(array.as_primitive::<T>().values()).enumerate() {
            if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
                self.scratch.clear();
                (self.encode)(*value, &mut self.scratch);
                *hash = hash::bytes(self.seed, &self.scratch);
            }
        }
    }
}

/// Zeros and ones.
pub(super) struct Booleans {
    pub seed: u64,
}

impl HashRows for Booleans {
    fn hash(&mut self, array: &dyn Array, _nulls: Option<&NullBuffer>, hashes: &mut [u64]) {
        let mut both = [0; 2];
        hash::fixed64(self.seed, &[0, 1], &mut both);
        for (hash, value) in hashes.iter_mut().zip(array.as_boolean().values()) {
            *hash = both[usize::from(value)];
        }
    }
}

/// A column that is NULL throughout.
pub(super) struct NoValues;

impl HashRows for NoValues {
    fn hash(&mut self, _array: &dyn Array, _nulls: Option<&NullBuffer>, _hashes: &mut [u64]) {}
}
