//! From values to 64 bits, the same on every machine and in every build.

use twox_hash::XxHash3_64;

use super::instructions::for_each_processor;

/// How values became hashes. Sketches of different ones have nothing to say to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashId {
    /// [`fixed64`], [`bytes`] and [`combine`] of a value's canonical form.
    Dbdyno1 = 1,
    /// The server's `hash*extended(value, 0)`.
    PostgresExtended = 2,
}

impl HashId {
    /// In messages and documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dbdyno1 => "dbdyno1",
            Self::PostgresExtended => "postgres_extended",
        }
    }

    /// The one with this number in a file.
    #[must_use]
    pub fn of_number(number: u8) -> Option<Self> {
        [Self::Dbdyno1, Self::PostgresExtended].into_iter().find(|id| *id as u8 == number)
    }
}

/// A column of a group that is NULL has this in place of a hash.
pub const NULL_HASH: u64 = 0x6E75_6C6C_6E75_6C6C;

/// Hashes of values of up to eight bytes, by a bijection: different values never collide.
///
/// The values are put through the finaliser of MurmurHash3 (Appleby, public domain), each XORed with a key made of
/// the seed.
///
/// # Panics
/// If the slices differ in length.
pub fn fixed64(seed: u64, values: &[u64], hashes: &mut [u64]) {
    assert_eq!(values.len(), hashes.len(), "a hash for each value");
    mix_all(key_of(seed), values, hashes);
}

for_each_processor! {
    fn mix_all(key: u64, values: &[u64], hashes: &mut [u64]) = mix_one_by_one | mix_each | mix_each;
}

#[inline(always)]
fn mix_each(key: u64, values: &[u64], hashes: &mut [u64]) {
    for (hash, value) in hashes.iter_mut().zip(values) {
        *hash = mixed(value ^ key);
    }
}

/// With two numbers to a register and a multiplication put together from six, compilers lose a tenth of the speed of
/// one number at a time; they are told that each goes somewhere.
#[inline(always)]
fn mix_one_by_one(key: u64, values: &[u64], hashes: &mut [u64]) {
    for (hash, value) in hashes.iter_mut().zip(values) {
        let mut mixed = mixed(value ^ key);
        // SAFETY: there is no instruction in it.
        unsafe { std::arch::asm!("/* {0} */", inout(reg) mixed, options(pure, nomem, nostack, preserves_flags)) };
        *hash = mixed;
    }
}

/// The hash of a value of any length: XXH3-64 with the seed.
#[must_use]
#[inline]
pub fn bytes(seed: u64, value: &[u8]) -> u64 {
    match seed {
        // The same with a seed of 0, but a fifth faster: the seed needs no adding.
        0 => XxHash3_64::oneshot(value),
        seed => XxHash3_64::oneshot_with_seed(seed, value),
    }
}

/// The hash of a row of a column group, from the hashes of its columns in order, [`NULL_HASH`] where one is NULL.
#[must_use]
pub fn combine(seed: u64, hashes_of_the_columns: &[u64]) -> u64 {
    hashes_of_the_columns.iter().fold(key_of(seed), |state, hash| mixed(state ^ hash).wrapping_add(STEP))
}

/// The golden ratio in 64 bits.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Seeds that differ in one bit give keys that differ in half of them; no seed in use gives the key 0, under which 0,
/// the commonest of all values, would keep the hash 0.
fn key_of(seed: u64) -> u64 {
    mixed(seed.wrapping_add(STEP))
}

#[inline(always)]
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    bits ^ (bits >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_published_functions() {
        // fmix64(1), as in the reference implementation; XXH3 of nothing and of "abc", as xxHash 0.8 prints them.
        assert_eq!(0xB456_BCFC_34C2_CB2C, mixed(1));
        assert_eq!(0x2D06_8005_38D3_94C2, bytes(0, b""));
        assert_eq!(0x78AF_5F94_892F_3950, bytes(0, b"abc"));
    }

    #[test]
    fn a_block_is_hashed_value_by_value() {
        let values: Vec<u64> = (0..1000).map(|value| value * value).collect();
        let mut hashes = vec![0; values.len()];
        fixed64(7, &values, &mut hashes);
        let mut one = [0];
        for (value, hash) in values.iter().zip(hashes) {
            fixed64(7, &[*value], &mut one);
            assert_eq!(one[0], hash);
        }
    }

    #[test]
    fn groups_know_the_order_of_their_columns_and_where_a_null_is() {
        let groups =
            [combine(0, &[1, 2]), combine(0, &[2, 1]), combine(0, &[1, NULL_HASH]), combine(0, &[1]), combine(1, &[1])];
        for (index, group) in groups.iter().enumerate() {
            assert!(!groups[..index].contains(group), "{groups:x?}");
        }
    }

    #[test]
    fn hash_numbers_are_those_of_the_file_format() {
        assert_eq!(
            [None, Some(HashId::Dbdyno1), Some(HashId::PostgresExtended), None],
            [0, 1, 2, 3].map(HashId::of_number)
        );
    }
}
