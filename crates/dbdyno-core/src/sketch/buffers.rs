//! Columns that lie in memory as a whole.

use std::borrow::Cow;

use super::{Column, Precision, hash};
use crate::error::{CoreError, Result};

/// Hashes that are made before they are added: what they came from and they stay in the first-level cache.
const BLOCK: usize = 256;
/// How far ahead of the texts that are hashed memory is asked for: a tenth of the time of texts of 200 bytes (20.3 and
/// 18.3 ns each, Zen 3), and nothing between 1 and 4 KiB.
const AHEAD: usize = 2048;
const CACHE_LINE: usize = 64;

/// The column of these integers.
#[must_use]
pub fn of_integers(precision: Precision, seed: u64, values: &[u64]) -> Column {
    let mut column = Column::new(precision);
    let mut hashes = [0; BLOCK];
    for block in values.chunks(BLOCK) {
        let hashes = &mut hashes[..block.len()];
        hash::fixed64(seed, block, hashes);
        column.add_hashes(hashes);
    }
    column
}

/// The column of these texts, one behind the other, each up to its end.
///
/// # Errors
/// `spec_invalid`: an end before the one before it, or behind the texts.
pub fn of_texts(precision: Precision, seed: u64, texts: &[u8], ends: &[u64]) -> Result<Column> {
    let mut column = Column::new(precision);
    let mut hashes = [0; BLOCK];
    let mut begin = 0;
    for block in ends.chunks(BLOCK) {
        let hashes = &mut hashes[..block.len()];
        for (hash, end) in hashes.iter_mut().zip(block) {
            let end = *end as usize;
            let text = texts.get(begin..end).ok_or_else(|| {
                let message = format!("text {begin} to {end} of {}: ends must ascend and stay inside", texts.len());
                CoreError::new("spec_invalid", message)
            })?;
            fetch(texts, begin + AHEAD, text.len());
            *hash = hash::bytes(seed, text);
            begin = end;
        }
        column.add_hashes(hashes);
    }
    Ok(column)
}

/// Has these bytes brought near, where there are any: a processor's own guesses stop at the end of each page.
#[inline(always)]
fn fetch(bytes: &[u8], begin: usize, count: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (begin..begin + count).step_by(CACHE_LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has it, and what is not there is not fetched.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, begin, count);
}

/// Numbers of 64 bits that came as bytes, least first: where they lie, if they are aligned as this processor has them.
///
/// # Errors
/// `spec_invalid`: a number that is not whole.
pub fn numbers(bytes: &[u8]) -> Result<Cow<'_, [u64]>> {
    let (eights, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(CoreError::new("spec_invalid", format!("{} bytes: numbers of 64 bits have 8 each", bytes.len())));
    }
    // SAFETY: every eight bytes are a u64.
    match unsafe { bytes.align_to::<u64>() } {
        ([], aligned, []) if cfg!(target_endian = "little") => Ok(Cow::Borrowed(aligned)),
        _ => Ok(eights.iter().map(|eight| u64::from_le_bytes(*eight)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_texts_are_counted_whole_blocks_and_the_rest() {
        let integers = |count: u64| of_integers(Precision::default(), 0, &(0..count).collect::<Vec<_>>());
        assert_eq!([0.0, 1.0, 600.0], [0, 1, 600].map(|count| integers(count).sketch().estimate().distinct));
        let texts = |text: &str, ends: &[u64]| of_texts(Precision::default(), 0, text.as_bytes(), ends);
        let counted = texts("ababcabc", &[2, 4, 5, 7, 8]).expect("in order").sketch().estimate();
        assert_eq!((2.0, true), (counted.distinct, counted.exact));
        let many: Vec<u64> = (1..=1000).collect();
        assert_eq!(1.0, texts(&"x".repeat(1000), &many).expect("in order").sketch().estimate().distinct);
        assert_eq!("text 2 to 1 of 3: ends must ascend and stay inside", texts("abc", &[2, 1]).unwrap_err().message);
        assert!(texts("abc", &[4]).is_err());
    }

    #[test]
    fn bytes_are_numbers_wherever_they_lie() {
        let bytes = [0_u8, 1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0];
        let begins =
            (0..8).map(|begin| numbers(&[vec![0; begin], bytes[1..].to_vec()].concat()[begin..]).map(Cow::into_owned));
        assert!(begins.into_iter().all(|found| found == Ok(vec![1, 258])));
        assert_eq!("17 bytes: numbers of 64 bits have 8 each", numbers(&bytes).unwrap_err().message);
    }
}
