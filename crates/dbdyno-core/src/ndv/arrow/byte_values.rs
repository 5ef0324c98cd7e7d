//! Texts and binaries, in the layouts that Arrow has for them.

use std::marker::PhantomData;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{ByteArrayType, ByteViewType};
use arrow_buffer::{ArrowNativeType, NullBuffer};

use super::HashRows;
use crate::sketch::hash;

/// One behind the other, with offsets.
pub(super) struct Offsets<T> {
    seed: u64,
    layout: PhantomData<T>,
}

/// Short ones in their views, long ones wherever the views point.
pub(super) struct Views<T> {
    seed: u64,
    layout: PhantomData<T>,
}

/// All of one length.
pub(super) struct FixedSize {
    pub seed: u64,
}

impl<T: ByteArrayType> Offsets<T> {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, layout: PhantomData }
    }
}

impl<T: ByteViewType> Views<T> {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, layout: PhantomData }
    }
}

impl<T: ByteArrayType> HashRows for Offsets<T> {
    fn hash(&mut self, array: &dyn Array, _nulls: Option<&NullBuffer>, hashes: &mut [u64]) {
        let array = array.as_bytes::<T>();
        let data = array.value_data();
        for (hash, ends) in hashes.iter_mut().zip(array.value_offsets().windows(2)) {
            *hash = hash::bytes(self.seed, &data[ends[0].as_usize()..ends[1].as_usize()]);
        }
    }
}

impl<T: ByteViewType> HashRows for Views<T> {
    fn hash(&mut self, array: &dyn Array, nulls: Option<&NullBuffer>, hashes: &mut [u64]) {
        let array = array.as_byte_view::<T>();
        for (row, hash) in hashes.iter_mut().enumerate() {
            // The view of a NULL may point anywhere.
            if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
                let value: &[u8] = array.value(row).as_ref();
                *hash = hash::bytes(self.seed, value);
            }
        }
    }
}

impl HashRows for FixedSize {
    fn hash(&mut self, array: &dyn Array, _nulls: Option<&NullBuffer>, hashes: &mut [u64]) {
        let array = array.as_fixed_size_binary();
        for (row, hash) in hashes.iter_mut().enumerate() {
            *hash = hash::bytes(self.seed, array.value(row));
        }
    }
}
