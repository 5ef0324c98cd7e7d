//! Decimals of any width as PostgreSQL's numeric: digits to the base 10,000, without outer zeros.
//!
//! ```text
//! 12345.6 = 123456 with the scale 1:  0001 2345 . 6000     weight 1, digits 1, 2345, 6000
//! ```

use arrow_buffer::i256;

const BASE: u128 = 10_000;
const BASE_DIGITS: i32 = 4;
const NEGATIVE: u16 = 0x4000;
/// 76 decimal digits, in groups that the point divides.
const GROUPS_MAX: usize = 20;

/// A whole number without its sign.
pub(super) trait Magnitude: Copy {
    /// The number without its last digits, and these: the divisor is at most 10,000.
    fn divided(self, divisor: u128) -> (Self, u16);
    fn is_zero(self) -> bool;
}

impl Magnitude for u128 {
    #[inline]
    fn divided(self, divisor: u128) -> (Self, u16) {
        // A division of 128 bits takes ten times as long.
        match u64::try_from(self) {
            Ok(small) => {
                let divisor = divisor as u64;
                (Self::from(small / divisor), (small % divisor) as u16)
            }
            Err(_) => (self / divisor, (self % divisor) as u16),
        }
    }

    fn is_zero(self) -> bool {
        self == 0
    }
}

impl Magnitude for i256 {
    fn divided(self, divisor: u128) -> (Self, u16) {
        let divisor = Self::from_i128(divisor as i128);
        (self.wrapping_div(divisor), self.wrapping_rem(divisor).as_i128() as u16)
    }

    fn is_zero(self) -> bool {
        self == Self::ZERO
    }
}

/// Writes weight, sign and digits, all big-endian 16 bits, as `numeric` of `ndv::canonical` does.
pub(super) fn write(magnitude: impl Magnitude, is_negative: bool, scale: i8, canonical: &mut Vec<u8>) {
    let scale = i32::from(scale);
    let groups_behind_point = scale.div_euclid(BASE_DIGITS) + i32::from(scale.rem_euclid(BASE_DIGITS) != 0);
    let padding = 10_u128.pow((groups_behind_point * BASE_DIGITS - scale) as u32);
    let (mut rest, last) = magnitude.divided(BASE / padding);
    let mut digits = [0_u16; GROUPS_MAX];
    digits[0] = last * padding as u16;
    let mut count = 1;
    while !rest.is_zero() {
        (rest, digits[count]) = rest.divided(BASE);
        count += 1;
    }
    let digits = &digits[..count];
    let Some(lowest) = digits.iter().position(|digit| *digit != 0) else {
        return canonical.extend_from_slice(&[0; 4]);
    };
    let highest = digits.iter().rposition(|digit| *digit != 0).unwrap_or(lowest);
    let weight = (highest as i32 - groups_behind_point) as i16;
    canonical.extend_from_slice(&weight.to_be_bytes());
    canonical.extend_from_slice(&(if is_negative { NEGATIVE } else { 0 }).to_be_bytes());
    digits[lowest..=highest].iter().rev().for_each(|digit| canonical.extend_from_slice(&digit.to_be_bytes()));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(value: i128, scale: i8) -> Vec<u8> {
        let mut canonical = Vec::new();
        write(value.unsigned_abs(), value < 0, scale, &mut canonical);
        canonical
    }

    fn words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn digits_are_those_of_numeric() {
        assert_eq!(words(&[1, 0, 1, 2345, 6000]), written(123_456, 1));
        assert_eq!(words(&[0, NEGATIVE, 1, 5000]), written(-15, 1));
        assert_eq!(words(&[-1_i16 as u16, 0, 1]), written(1, 4));
        assert_eq!(words(&[-2_i16 as u16, 0, 1000]), written(1, 5));
        assert_eq!(words(&[1, 0, 5]), written(5, -4));
        assert_eq!(words(&[1, 0, 50]), written(5, -5));
        assert_eq!(words(&[0, 0]), written(0, 3));
    }

    proptest! {
        #[test]
        fn equal_numbers_are_equal_in_any_scale_and_width(value: i64, scale in -10i8..20, more in 0i8..18) {
            let scaled = i128::from(value) * 10_i128.pow(more as u32);
            prop_assert_eq!(written(i128::from(value), scale), written(scaled, scale + more));
            let mut wide = Vec::new();
            write(i256::from_i128(scaled).wrapping_abs(), scaled < 0, scale + more, &mut wide);
            prop_assert_eq!(written(scaled, scale + more), wide);
        }

        #[test]
        fn different_numbers_differ(first: i32, second: i32, scale in -5i8..10) {
            let equal = written(i128::from(first), scale) == written(i128::from(second), scale);
            prop_assert_eq!(first == second, equal);
        }
    }
}
