//! pgbench's deterministic scatterers: two hashes and a permutation. The same input gives the same
//! output on every machine and in pgbench itself, so that data made by one is found by the other.

use super::random::Random;

/// `hash` and `hash_murmur2`: Appleby's MurmurHash2, 64-bit form, of one 8-byte block.
pub(super) fn murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xC6A4_A793_5BD1_E995;
    const SHIFT: u32 = 47;
    let fold = |bits: u64| bits ^ (bits >> SHIFT);
    let block = fold((value as u64).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
    let length_bytes = 8_u64;
    let start = seed as u64 ^ length_bytes.wrapping_mul(MULTIPLIER);
    let mixed = (start ^ block).wrapping_mul(MULTIPLIER);
    fold(fold(mixed).wrapping_mul(MULTIPLIER)) as i64
}

/// `hash_fnv1a`: 64-bit FNV-1a of the value's bytes, lowest first; the seed enters the offset basis.
pub(super) fn fnv1a(value: i64, seed: i64) -> i64 {
    const OFFSET_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01B3;
    let start = OFFSET_BASIS ^ seed as u64;
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    value.to_le_bytes().into_iter().fold(start, step) as i64
}

/// pgbench's number of rounds: enough that neighbours land far apart.
const PERMUTE_ROUNDS: usize = 6;

/// `permute`: the image of `value mod size` under the permutation of 0..size that `seed` selects.
///
/// Each round scrambles the lower and the upper power-of-two part of the range, which overlap
/// unless the size is a power of two itself, and then turns the whole range by a random offset.
/// Every step is a bijection, hence so is the whole. `size` must be positive.
pub(super) fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let size = size as u64;
    let mut random = Random::from_seed(seed as u64);
    let mut position = value as u64 % size;
    for _ in 0..PERMUTE_ROUNDS {
        position = Scrambler::draw(&mut random, size).apply(position);
        let mirrored = size - 1 - position;
        position = size - 1 - Scrambler::draw(&mut random, size).apply(mirrored);
        // Both terms are below 2^63, so the sum cannot overflow.
        position = (position + random.up_to(size - 1)) % size;
    }
    position as i64
}

/// A bijection of 0..=mask, mask + 1 being the largest power of two that is not above the size.
struct Scrambler {
    bits: u32,
    mask: u64,
    multiplier: u64,
    flips: u64,
}

impl Scrambler {
    fn draw(random: &mut Random, size: u64) -> Self {
        let bits = size.ilog2();
        let mask = (1_u64 << bits) - 1;
        // Only an odd multiplier is invertible modulo a power of two.
        let multiplier = (random.next_u64() & mask) | 1;
        let flips = random.next_u64() & mask;
        Self { bits, mask, multiplier, flips }
    }

    /// Values above the mask stay where they are. The final turn by one bit moves the well-mixed
    /// top bit to the bottom, which a multiplication mixes worst.
    fn apply(&self, position: u64) -> u64 {
        if position > self.mask {
            return position;
        }
        let mixed = (position.wrapping_mul(self.multiplier) ^ self.flips) & self.mask;
        ((mixed << 1) & self.mask) | (mixed >> (self.bits - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // All values are those of pgbench 18.6.

    #[test]
    fn hashes_are_those_of_pgbench() {
        assert_eq!(murmur2(10, 5432), -5_817_877_081_768_721_676);
        assert_eq!(murmur2(i64::MIN, -1), 5_949_093_009_533_562_506);
        assert_eq!(fnv1a(10, 5432), -7_793_829_335_365_542_153);
        assert_eq!(fnv1a(-1, 0), -8_289_690_350_564_177_859);
    }

    #[test]
    fn permutations_are_those_of_pgbench() {
        assert_eq!(permute(0, i64::MAX, 5432), 8_941_447_457_790_205_183);
        assert_eq!(permute(123_456_789, 1 << 62, -3), 598_581_945_713_427_626);
        assert_eq!(permute(5, 16, 1), 10);
        assert_eq!(permute(2, 3, 1), 1);
    }

    #[test]
    fn values_outside_the_range_are_taken_modulo_the_size() {
        assert_eq!(permute(21, 16, 1), permute(5, 16, 1));
        // As an unsigned number -1 is 2^64 - 1, which is 5 modulo 10.
        assert_eq!(permute(-1, 10, 1), permute(5, 10, 1));
        assert_eq!(permute(-1, 10, 1), 3);
        assert_eq!(permute(7, 1, 1), 0);
    }
}
