//! From registers to a number of different hashes: the improved estimator of Ertl, "New cardinality estimation
//! algorithms for HyperLogLog sketches" (arXiv 1702.01284), section 4. It needs no tables and no correction of bias,
//! from none to 2^64.
//!
//! ```text
//! n = m^2 / (2 ln 2) / ( m sigma(C[0] / m) + sum of C[k] 2^-k for k = 1 to q + m tau(1 - C[q + 1] / m) 2^-q )
//! ```
//!
//! C[k] registers of the m = 2^p hold k; q = 64 - p. sigma stands for the registers that would hold 0, -1, -2, ...
//! if the scale went on below 1, tau for those that would exceed q + 1.

use super::Precision;
use super::registers::Registers;

/// As many as there are hashes.
const MOST: f64 = 18_446_744_073_709_551_616.0;

/// How many registers hold each value, 0 to q + 1.
fn counts(registers: &Registers) -> [u32; 64] {
    // Two halves side by side: neighbours often hold the same, and a count waits for the one before it.
    let mut counts = [[0_u32; 64]; 2];
    for two in registers.values().chunks_exact(2) {
        counts[0][usize::from(two[0] & 63)] += 1;
        counts[1][usize::from(two[1] & 63)] += 1;
    }
    let [first, second] = counts;
    std::array::from_fn(|value| first[value] + second[value])
}

/// The estimated number of different hashes.
pub(super) fn estimate(registers: &Registers) -> f64 {
    let precision = registers.precision();
    let counts = counts(registers).map(f64::from);
    let m = precision.registers() as f64;
    m / (2.0 * std::f64::consts::LN_2) / scaled_sum(precision, |value| counts[value as usize] / m)
}

/// The denominator over m, from the share of the registers that holds each value.
pub(super) fn scaled_sum(precision: Precision, share: impl Fn(u32) -> f64) -> f64 {
    let q = precision.counted_bits();
    // By Horner's rule from the small terms up.
    let above = tau(1.0 - share(q + 1));
    let below = (1..=q).rev().fold(above, |sum, value| (sum + share(value)) / 2.0);
    // Where every register is full the sum is 0, and the number beyond all hashes.
    let least = precision.registers() as f64 / (2.0 * std::f64::consts::LN_2) / MOST;
    (below + sigma(share(0))).max(least)
}

/// x + sum over k >= 1 of x^(2^k) 2^(k-1).
pub(super) fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut weight, mut sum) = (1.0, x);
    loop {
        x *= x;
        let before = sum;
        sum += x * weight;
        weight *= 2.0;
        if sum == before {
            return sum;
        }
    }
}

/// (1 - x - sum over k >= 1 of (1 - x^(2^-k))^2 2^-k) / 3.
pub(super) fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut weight, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = sum;
        weight /= 2.0;
        sum -= (1.0 - x).powi(2) * weight;
        if sum == before {
            return sum / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_values(value_of: impl Fn(usize) -> u8) -> Registers {
        let values = (0..16_384).map(value_of).collect();
        Registers::from_values(Precision::default(), values).expect("possible")
    }

    #[test]
    fn no_register_is_none_and_all_full_is_every_hash() {
        assert_eq!(0.0, estimate(&with_values(|_| 0)));
        assert_eq!(MOST, estimate(&with_values(|_| 51)));
    }

    #[test]
    fn one_register_is_one_value_and_the_others_follow() {
        let few = |count| estimate(&with_values(|register| u8::from(register < count)));
        assert!((few(1) - 1.0).abs() < 0.01, "{}", few(1));
        assert!((few(1000) / 1031.0 - 1.0).abs() < 0.01, "{}", few(1000));
    }
}
