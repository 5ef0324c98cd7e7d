//! HyperLogLog registers of a byte each (Flajolet, Fusy, Gandouet and Meunier, 2007).

use super::Precision;
use super::instructions::for_each_processor;
use super::select::{BLOCK, at_places, places_of};
use crate::error::{CoreError, Result};

/// 2^p registers.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    precision: Precision,
    values: Box<[u8]>,
    /// The smallest value of all. Of 10 million different hashes 15 of 16 do not exceed it, and raise nothing.
    least: u8,
    /// How many registers have it.
    count_of_least: usize,
}

impl Registers {
    pub(super) fn new(precision: Precision) -> Self {
        Self::of_possible(precision, vec![0; precision.registers()].into())
    }

    /// Refuses another number of registers and values that none can have.
    pub(super) fn from_values(precision: Precision, values: Box<[u8]>) -> Result<Self> {
        let (found, greatest) = (values.len(), precision.counted_bits() + 1);
        if found != precision.registers() {
            let message = format!("{found} registers: precision {} has {}", precision.bits(), precision.registers());
            return Err(CoreError::new("sketch_invalid", message));
        }
        match values.iter().position(|value| u32::from(*value) > greatest) {
            Some(place) => {
                let (value, bits) = (values[place], precision.bits());
                let message = format!("register {place} is {value}: with precision {bits} none exceeds {greatest}");
                Err(CoreError::new("sketch_invalid", message))
            }
            None => Ok(Self::of_possible(precision, values)),
        }
    }

    fn of_possible(precision: Precision, values: Box<[u8]>) -> Self {
        let mut registers = Self { precision, values, least: 0, count_of_least: 0 };
        registers.find_least();
        registers
    }

    pub(super) fn precision(&self) -> Precision {
        self.precision
    }

    pub(super) fn values(&self) -> &[u8] {
        &self.values
    }

    /// Adds a block of hashes.
    pub(super) fn add(&mut self, hashes: &[u64]) {
        for block in hashes.chunks(BLOCK) {
            self.count_of_least -= match self.least {
                0 => raise_all(&mut self.values, 0, block),
                least => {
                    let counted = u64::MAX >> self.precision.bits();
                    // A value beyond `least` has at least that many leading zeros.
                    let places = places_of(counted, counted.unbounded_shr(u32::from(least)), block);
                    raise_few(&mut self.values, least, at_places(places, block))
                }
            };
            if self.count_of_least == 0 {
                self.find_least();
            }
        }
    }

    #[cold]
    fn find_least(&mut self) {
        self.least = self.values.iter().copied().min().unwrap_or(0);
        self.count_of_least = self.values.iter().filter(|value| **value == self.least).count();
    }

    /// The registers that one pass with the lower precision would have made.
    pub(super) fn folded(&self, precision: Precision) -> Self {
        let dropped = self.precision.bits() - precision.bits();
        let mut folded = Self::new(precision);
        for (register, value) in self.values.iter().enumerate().filter(|(_, value)| **value > 0) {
            // The bits that no longer name the register are the first of those counted.
            let counted = register as u32 & ((1 << dropped) - 1);
            let value = match counted {
                0 => dropped as u8 + value,
                _ => (dropped - counted.ilog2()) as u8,
            };
            let kept = &mut folded.values[register >> dropped];
            *kept = value.max(*kept);
        }
        folded.find_least();
        folded
    }

    /// Takes the greater of each two; the lower precision wins.
    pub(super) fn union(&mut self, other: &Self) {
        if other.precision < self.precision {
            *self = self.folded(other.precision);
        }
        if other.precision > self.precision {
            return self.union(&other.folded(self.precision));
        }
        for (mine, others) in self.values.iter_mut().zip(&other.values) {
            *mine = (*mine).max(*others);
        }
        self.find_least();
    }
}

for_each_processor! {
    fn raise_all(values: &mut [u8], least: u8, hashes: &[u64]) -> usize = raise_shifting | raise_counting | raise_counting;
}

#[inline(always)]
fn raise_counting(values: &mut [u8], least: u8, hashes: &[u64]) -> usize {
    raise_each(values, least, hashes.iter().copied(), |counted, register| register <= counted.leading_zeros() as u8)
}

/// Not every processor counts zeros as fast as it shifts: those beyond the register's are counted only where all of
/// them are.
#[inline(always)]
fn raise_shifting(values: &mut [u8], least: u8, hashes: &[u64]) -> usize {
    raise_each(values, least, hashes.iter().copied(), |counted, register| counted >> 1 >> (63 - register) == 0)
}

fn raise_few(values: &mut [u8], least: u8, hashes: impl Iterator<Item = u64>) -> usize {
    raise_each(values, least, hashes, |counted, register| counted >> 1 >> (63 - register) == 0)
}

/// Returns how many registers no longer have `least`; `exceeds` tells whether what is counted has at least as many
/// leading zeros as a register says.
#[inline(always)]
fn raise_each(
    values: &mut [u8],
    least: u8,
    hashes: impl Iterator<Item = u64>,
    exceeds: impl Fn(u64, u8) -> bool,
) -> usize {
    let bits = values.len().trailing_zeros();
    // The bit below the counted ones ends the count where all of them are zero.
    let end = 1 << (bits - 1);
    let mut raised = 0;
    for hash in hashes {
        let counted = hash << bits | end;
        let register = &mut values[(hash >> (64 - bits)) as usize];
        if exceeds(counted, *register) {
            raised += usize::from(*register == least);
            *register = counted.leading_zeros() as u8 + 1;
        }
    }
    raised
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn precision(bits: u8) -> Precision {
        Precision::try_from(bits).expect("10 to 18")
    }

    fn of(bits: u8, hashes: &[u64]) -> Registers {
        let mut registers = Registers::new(precision(bits));
        registers.add(hashes);
        registers
    }

    #[test]
    fn a_register_holds_the_leading_zeros_of_what_does_not_name_it_plus_one() {
        let hashes = [u64::MAX, 1 << 54 | 1 << 53, 2 << 54 | 1, 3 << 54];
        let registers = of(10, &hashes);
        assert_eq!([1, 1, 54, 55], [1023, 1, 2, 3].map(|register| registers.values()[register]));
        assert_eq!(4, registers.values().iter().filter(|value| **value > 0).count());
    }

    #[test]
    fn impossible_registers_are_refused() {
        let refusal = |values: Vec<u8>| Registers::from_values(precision(10), values.into()).unwrap_err().message;
        assert_eq!("5 registers: precision 10 has 1024", refusal(vec![0; 5]));
        let mut values = vec![55; 1024];
        assert!(Registers::from_values(precision(10), values.clone().into()).is_ok());
        values[7] = 56;
        assert_eq!("register 7 is 56: with precision 10 none exceeds 55", refusal(values));
    }

    /// Hashes of which many have few bits set, so that long runs of zeros are not left to chance.
    fn hashes() -> impl Strategy<Value = Vec<u64>> {
        let sparse = (any::<u64>(), 0u32..64).prop_map(|(bits, shift)| bits >> shift);
        let lowered = (any::<u64>(), 0u32..64).prop_map(|(bits, shift)| bits << shift);
        proptest::collection::vec(prop_oneof![any::<u64>(), sparse, lowered], 0..500)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn folding_and_union_give_the_registers_of_one_pass(
            first in hashes(), second in hashes(), first_bits in 10u8..=18, second_bits in 10u8..=18,
        ) {
            let mut united = of(first_bits, &first);
            united.union(&of(second_bits, &second));
            let whole: Vec<u64> = first.into_iter().chain(second).collect();
            let passed = of(first_bits.min(second_bits), &whole);
            prop_assert_eq!(passed.values(), united.values());
            prop_assert_eq!((passed.least, passed.count_of_least), (united.least, united.count_of_least));
        }
    }
}
