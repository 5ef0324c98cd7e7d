//! Tables by small keys that come from a trace, not from an enemy: one multiplication a word.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by numbers or short names.
pub(super) type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// Each word is mixed in by a multiplication (Knuth's golden ratio), the high half folded down at the end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mixer(u64);

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        let last = rest.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        self.write_u64(last);
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_i64(&mut self, value: i64) {
        self.write_u64(value as u64);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(FACTOR);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
