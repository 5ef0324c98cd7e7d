//! A set of hashes: open addressing by buckets of one cache line, at most half full.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm_castps_si128, _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_load_si128, _mm_movemask_epi8, _mm_packs_epi32,
    _mm_set1_epi32, _mm_shuffle_ps, _mm256_cmpeq_epi64, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_set1_epi64x,
};

use super::instructions::for_each_processor;

const BUCKET: usize = 8;
const FIRST_BUCKETS: usize = 8;

/// Hashes in the order they came, then zeros.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket([u64; BUCKET]);

/// The set. The hash 0 itself is remembered beside, as a slot of 0 is empty.
#[derive(Clone, Debug)]
pub(super) struct HashSet {
    /// A power of two of them.
    buckets: Box<[Bucket]>,
    /// Without the hash 0.
    filled: usize,
    has_zero: bool,
}

impl HashSet {
    pub(super) fn new() -> Self {
        Self { buckets: empty(FIRST_BUCKETS), filled: 0, has_zero: false }
    }

    pub(super) fn with_room(hashes: usize) -> Self {
        let mut set = Self::new();
        set.reserve(hashes);
        set
    }

    pub(super) fn len(&self) -> usize {
        self.filled + usize::from(self.has_zero)
    }

    /// Takes from the front of `hashes` those in the set, and the one after them, which may not be.
    pub(super) fn skip_known(&self, hashes: &mut &[u64]) -> Option<u64> {
        let known = count_known(&self.buckets, hashes);
        let (hash, rest) = hashes[known..].split_first()?;
        *hashes = rest;
        Some(*hash)
    }

    /// Adds a hash; false if it was there.
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        if hash == 0 {
            return !std::mem::replace(&mut self.has_zero, true);
        }
        let mask = self.buckets.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let bucket = &mut self.buckets[place].0;
            // Both go through the whole bucket: where its hashes end is nothing that a processor could foresee.
            if bucket.iter().fold(false, |found, slot| found | (*slot == hash)) {
                return false;
            }
            let filled = count_filled(bucket);
            match bucket.get_mut(filled) {
                Some(slot) => {
                    *slot = hash;
                    break;
                }
                None => place = (place + 1) & mask,
            }
        }
        self.filled += 1;
        if self.filled * 2 > self.buckets.len() * BUCKET {
            self.reserve(self.filled * 2);
        }
        true
    }

    /// Room for so many hashes, so that the set need not grow step by step.
    pub(super) fn reserve(&mut self, hashes: usize) {
        let wanted = (hashes * 2).next_power_of_two() / BUCKET;
        if wanted > self.buckets.len() {
            let hashes = self.hashes();
            *self = Self { buckets: empty(wanted), filled: 0, has_zero: false };
            for hash in hashes {
                self.insert(hash);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.buckets.fill(Bucket([0; BUCKET]));
        self.filled = 0;
        self.has_zero = false;
    }

    /// In no order.
    pub(super) fn hashes(&self) -> Vec<u64> {
        // Every bucket is copied as a whole, and the next one over what was empty of it.
        let mut hashes = vec![0; self.filled + BUCKET];
        let mut count = 0;
        for Bucket(bucket) in &self.buckets {
            hashes[count..count + BUCKET].copy_from_slice(bucket);
            count += count_filled(bucket);
        }
        hashes.truncate(count);
        hashes.extend(self.has_zero.then_some(0));
        hashes
    }

    /// Ascending.
    pub(super) fn sorted(&self) -> Vec<u64> {
        let mut hashes = self.hashes();
        hashes.sort_unstable();
        hashes
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.buckets)
    }
}

fn empty(buckets: usize) -> Box<[Bucket]> {
    vec![Bucket([0; BUCKET]); buckets].into()
}

fn count_filled(bucket: &[u64; BUCKET]) -> usize {
    bucket.iter().map(|slot| usize::from(*slot != 0)).sum()
}

for_each_processor! {
    fn count_known(buckets: &[Bucket], hashes: &[u64]) -> usize = count_portably | count_avx2 | count_avx2;
}

/// How many of the leading hashes are in the bucket where they belong. Whole buckets are compared, because the place
/// of a hash within its bucket is nothing that a processor could foresee.
#[inline(always)]
fn count_leading(buckets: &[Bucket], hashes: &[u64], holds: impl Fn(&Bucket, u64) -> bool) -> usize {
    let mask = buckets.len() - 1;
    for (place, hash) in hashes.iter().enumerate() {
        // What is 0 is found in every bucket that is not full.
        if !holds(&buckets[*hash as usize & mask], *hash) || *hash == 0 {
            return place;
        }
    }
    hashes.len()
}

#[cfg(not(target_arch = "x86_64"))]
fn count_portably(buckets: &[Bucket], hashes: &[u64]) -> usize {
    count_leading(buckets, hashes, |bucket, hash| bucket.0.contains(&hash))
}

/// There is no comparison of 64 bits for every x86-64: the upper halves are compared, and the first that is equal looked
/// at again. That another one had been meant is rare, and the hash is then looked up as one that is not known.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn count_portably(buckets: &[Bucket], hashes: &[u64]) -> usize {
    count_leading(buckets, hashes, |bucket, hash| {
        // SAFETY: a bucket is twice four hashes long, and every x86-64 has SSE2.
        let equal = unsafe {
            let upper = _mm_set1_epi32(((hash >> 32) as u32).cast_signed());
            let fours = [&bucket.0[..4], &bucket.0[4..]].map(|four| {
                let pairs = [four[..2].as_ptr(), four[2..].as_ptr()];
                let [first, second] = pairs.map(|pair| _mm_castsi128_ps(_mm_load_si128(pair.cast())));
                _mm_cmpeq_epi32(_mm_castps_si128(_mm_shuffle_ps::<0b11_01_11_01>(first, second)), upper)
            });
            _mm_movemask_epi8(_mm_packs_epi32(fours[0], fours[1]))
        };
        bucket.0[equal.trailing_zeros() as usize / 2 % BUCKET] == hash
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn count_avx2(buckets: &[Bucket], hashes: &[u64]) -> usize {
    count_leading(buckets, hashes, |bucket, hash| {
        let hash = _mm256_set1_epi64x(hash.cast_signed());
        let (first, second) = bucket.0.split_at(4);
        // SAFETY: both halves are four hashes long.
        let halves = unsafe { [_mm256_loadu_si256(first.as_ptr().cast()), _mm256_loadu_si256(second.as_ptr().cast())] };
        let [first, second] = halves.map(|half| _mm256_cmpeq_epi64(half, hash));
        _mm256_movemask_epi8(_mm256_or_si256(first, second)) != 0
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_set_holds_what_a_set_holds(hashes in proptest::collection::vec(prop_oneof![0u64..40, any::<u64>()], 0..2000)) {
            let mut ours = HashSet::new();
            let mut theirs = BTreeSet::new();
            for hash in hashes {
                prop_assert!(ours.skip_known(&mut &[hash][..]).is_some() || theirs.contains(&hash));
                prop_assert_eq!(theirs.insert(hash), ours.insert(hash));
            }
            prop_assert_eq!(theirs.len(), ours.len());
            prop_assert_eq!(theirs.into_iter().collect::<Vec<_>>(), ours.sorted());
        }
    }
}
