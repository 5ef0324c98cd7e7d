//! The few hashes of a block that can change anything, most often none.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm_and_si128, _mm_castps_si128, _mm_castsi128_ps, _mm_cmpgt_epi32, _mm_loadu_si128, _mm_movemask_ps,
    _mm_set1_epi32, _mm_shuffle_ps, _mm_xor_si128, _mm256_and_si256, _mm256_castsi256_pd, _mm256_cmpgt_epi64,
    _mm256_loadu_si256, _mm256_movemask_pd, _mm256_set1_epi64x, _mm256_xor_si256, _mm512_and_si512,
    _mm512_cmple_epu64_mask, _mm512_loadu_si512, _mm512_set1_epi64,
};

use super::instructions::for_each_processor;

/// So many hashes at a time.
pub(super) const BLOCK: usize = 64;

/// The places, as bits, of those hashes of which the counted bits are at most `last`.
#[inline]
pub(super) fn places_of(counted: u64, last: u64, block: &[u64]) -> u64 {
    match block.try_into() {
        Ok(block) => places_in_block(counted, last, block),
        Err(_) => places_one_by_one(counted, last, block),
    }
}

/// The hashes at these places.
pub(super) fn at_places(mut places: u64, block: &[u64]) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let hash = *block.get(places.trailing_zeros() as usize)?;
        places &= places - 1;
        Some(hash)
    })
}

for_each_processor! {
    fn places_in_block(counted: u64, last: u64, block: &[u64; BLOCK]) -> u64 = places_portably | places_avx2 | places_avx512;
}

fn places_one_by_one(counted: u64, last: u64, block: &[u64]) -> u64 {
    let mut places = 0;
    for (place, hash) in block.iter().enumerate() {
        places |= u64::from(hash & counted <= last) << place;
    }
    places
}

#[cfg(not(target_arch = "x86_64"))]
fn places_portably(counted: u64, last: u64, block: &[u64; BLOCK]) -> u64 {
    places_one_by_one(counted, last, block)
}

/// There is no comparison of 64 bits for every x86-64: the upper halves are compared, and the few that pass looked at
/// again. One comparison a hash is slower, because a processor guesses wrong whenever one passes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn places_portably(counted: u64, last: u64, block: &[u64; BLOCK]) -> u64 {
    const FOUR: usize = 4;
    let upper = |bits: u64| ((bits >> 32) as u32).cast_signed();
    let mut beyond = 0;
    // SAFETY: every x86-64 has SSE2; the four hashes are there, and nothing has to be aligned.
    unsafe {
        let sign = _mm_set1_epi32(i32::MIN);
        let last = _mm_xor_si128(_mm_set1_epi32(upper(last)), sign);
        let counted = _mm_set1_epi32(upper(counted));
        for (place, four) in block.as_chunks::<FOUR>().0.iter().enumerate() {
            let pairs = [four[..2].as_ptr(), four[2..].as_ptr()];
            let [first, second] = pairs.map(|pair| _mm_castsi128_ps(_mm_loadu_si128(pair.cast())));
            let uppers = _mm_castps_si128(_mm_shuffle_ps::<0b11_01_11_01>(first, second));
            let unsigned = _mm_xor_si128(_mm_and_si128(uppers, counted), sign);
            let mask = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpgt_epi32(unsigned, last)));
            beyond |= u64::from(mask.cast_unsigned()) << (place * FOUR);
        }
    }
    let (mut places, mut looked_at) = (0, !beyond);
    while looked_at != 0 {
        let place = looked_at.trailing_zeros();
        places |= u64::from(block[place as usize] & counted <= last) << place;
        looked_at &= looked_at - 1;
    }
    places
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn places_avx2(counted: u64, last: u64, block: &[u64; BLOCK]) -> u64 {
    const FOUR: usize = 4;
    // There is only a comparison of signed numbers; the other sign bit makes them follow as unsigned ones do.
    let sign = _mm256_set1_epi64x(i64::MIN);
    let last = _mm256_xor_si256(_mm256_set1_epi64x(last.cast_signed()), sign);
    let counted = _mm256_set1_epi64x(counted.cast_signed());
    let mut beyond = 0;
    for (place, four) in block.as_chunks::<FOUR>().0.iter().enumerate() {
        // SAFETY: the four hashes are there, and nothing has to be aligned.
        let hashes = unsafe { _mm256_loadu_si256(four.as_ptr().cast()) };
        let unsigned = _mm256_xor_si256(_mm256_and_si256(hashes, counted), sign);
        let mask = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(unsigned, last)));
        beyond |= u64::from(mask.cast_unsigned()) << (place * FOUR);
    }
    !beyond
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn places_avx512(counted: u64, last: u64, block: &[u64; BLOCK]) -> u64 {
    const EIGHT: usize = 8;
    let last = _mm512_set1_epi64(last.cast_signed());
    let counted = _mm512_set1_epi64(counted.cast_signed());
    let mut places = 0;
    for (place, eight) in block.as_chunks::<EIGHT>().0.iter().enumerate() {
        // SAFETY: the eight hashes are there, and nothing has to be aligned.
        let hashes = unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) };
        let mask = _mm512_cmple_epu64_mask(_mm512_and_si512(hashes, counted), last);
        places |= u64::from(mask) << (place * EIGHT);
    }
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hashes() -> impl Strategy<Value = Vec<u64>> {
        let hash = (any::<u64>(), 0u32..30, any::<bool>());
        let hash = hash.prop_map(|(bits, shift, full)| if full { u64::MAX << shift } else { bits >> shift });
        proptest::collection::vec(hash, 0..=BLOCK)
    }

    proptest! {
        #[test]
        fn the_hashes_that_matter_come_out_in_order(hashes in hashes(), uncounted in 0u32..20, zeros in 0u32..64) {
            let (counted, last) = (u64::MAX >> uncounted, u64::MAX >> zeros);
            let expected: Vec<u64> = hashes.iter().copied().filter(|hash| hash & counted <= last).collect();
            let found: Vec<u64> = at_places(places_of(counted, last, &hashes), &hashes).collect();
            prop_assert_eq!(expected, found);
        }

        #[test]
        fn every_processor_finds_the_same(
            hashes in proptest::collection::vec(any::<u64>(), BLOCK), counted in any::<u64>(), last in any::<u64>(),
        ) {
            let block = hashes[..].try_into().expect("a block");
            let expected = places_one_by_one(counted, last, &hashes);
            prop_assert_eq!(expected, places_portably(counted, last, block));
            if is_x86_feature_detected!("avx2") {
                // SAFETY: it is there.
                prop_assert_eq!(expected, unsafe { places_avx2(counted, last, block) });
            }
            if is_x86_feature_detected!("avx512f") {
                // SAFETY: it is there.
                prop_assert_eq!(expected, unsafe { places_avx512(counted, last, block) });
            }
        }
    }
}
