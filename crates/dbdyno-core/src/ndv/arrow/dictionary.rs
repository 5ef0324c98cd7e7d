//! Columns of indices into a dictionary, of which each entry is hashed once.

use std::marker::PhantomData;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::ArrowDictionaryKeyType;
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_data::ArrayData;

use super::HashRows;

/// The hashes of the dictionary that came last.
pub(super) struct Dictionary<K> {
    entries: Box<dyn HashRows>,
    /// Held, so that other entries never lie where these do.
    hashed: Option<ArrayData>,
    hashes: Vec<u64>,
    key: PhantomData<K>,
}

impl<K: ArrowDictionaryKeyType> Dictionary<K> {
    pub(super) fn new(entries: Box<dyn HashRows>) -> Self {
        Self { entries, hashed: None, hashes: Vec::new(), key: PhantomData }
    }

    /// Batches of one file or one producer mostly share a dictionary.
    fn take(&mut self, entries: &dyn Array) {
        let data = entries.to_data();
        if self.hashed.as_ref().is_some_and(|hashed| hashed.ptr_eq(&data)) {
            return;
        }
        self.hashes.clear();
        self.hashes.resize(entries.len(), 0);
        self.entries.hash(entries, entries.logical_nulls().as_ref(), &mut self.hashes);
        self.hashed = Some(data);
    }
}

impl<K: ArrowDictionaryKeyType> HashRows for Dictionary<K> {
    fn hash(&mut self, array: &dyn Array, _nulls: Option<&NullBuffer>, hashes: &mut [u64]) {
        let array = array.as_dictionary::<K>();
        self.take(array.values().as_ref());
        for (hash, key) in hashes.iter_mut().zip(array.keys().values()) {
            // The index of a NULL may be any.
            *hash = self.hashes.get(key.as_usize()).copied().unwrap_or_default();
        }
    }
}
