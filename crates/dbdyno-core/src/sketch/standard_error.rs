//! How far the estimate of n different values is from n: derived, not fitted.
//!
//! Let the number of values be Poisson with mean n. Then the registers are independent, each at most k with probability
//! exp(-x 2^-k), where x = n / m. The estimate is m / (2 ln 2) / s, where s is the mean over the registers of 2^-k but
//! for the ends of the scale, where it is a smooth function of the shares of 0 and q + 1. To first order s moves with
//! the mean of h(K), where h(k) = 2^-k, h(0) = sigma'(share of 0), h(q + 1) = -tau'(1 - share of q + 1) 2^-q. Part of
//! that is the number of values itself, which moves the estimate by its slope d(estimate)/dn = -(x / s) ds/dx and has
//! the variance n. It is known here, so that part goes:
//!
//! ```text
//! Var(estimate) / n^2 = Var(h(K)) / (m s^2) - slope^2 / n
//! ```
//!
//! The slope is 1 but for some 10^-4, by which it swings with every doubling of n; with 1 in its place, the error
//! for few values would be that swing. With very many values the result is sqrt(3 ln 2 - 1) / sqrt(m), with very few
//! 1 / sqrt(2 m): the chance that two of them share a register.

use super::Precision;
use super::estimator::scaled_sum;

/// Of the estimate, as a share of `distinct`.
pub(super) fn relative_standard_error(precision: Precision, distinct: f64) -> f64 {
    // One value is known to be one.
    if distinct <= 1.0 {
        return 0.0;
    }
    let m = precision.registers() as f64;
    let shares = Shares { counted_bits: precision.counted_bits(), x: distinct / m };
    let moments = shares.moments();
    let s = scaled_sum(precision, |value| shares.share(value));
    let slope = shares.x / s * moments.mean_slope;
    (moments.variance / m / s.powi(2) - slope.powi(2) / distinct).max(0.0).sqrt()
}

/// The law of one register when x values are expected in it.
struct Shares {
    counted_bits: u32,
    x: f64,
}

/// Of h(K); the slope is that of the mean, by x.
struct Moments {
    variance: f64,
    mean_slope: f64,
}

impl Shares {
    /// P(K <= k) is `exp(-x 2^-k)`, and 1 for q + 1.
    fn share(&self, value: u32) -> f64 {
        let at_most = (-self.rate(value)).exp();
        match value {
            0 => at_most,
            _ if value > self.counted_bits => -(-self.rate(self.counted_bits)).exp_m1(),
            _ => at_most * -(-self.rate(value)).exp_m1(),
        }
    }

    /// d share / dx.
    fn share_slope(&self, value: u32) -> f64 {
        let slope = |value: u32| if value > self.counted_bits { 0.0 } else { -step(value) * (-self.rate(value)).exp() };
        if value == 0 { slope(0) } else { slope(value) - slope(value - 1) }
    }

    /// h.
    fn weight(&self, value: u32) -> f64 {
        match value {
            0 => sigma_slope(self.share(0)),
            _ if value > self.counted_bits => -tau_slope(1.0 - self.share(value)) * step(self.counted_bits),
            _ => step(value),
        }
    }

    fn moments(&self) -> Moments {
        let values = || (0..=self.counted_bits + 1).map(|value| (value, self.weight(value)));
        let mean: f64 = values().map(|(value, weight)| self.share(value) * weight).sum();
        let variance = values().map(|(value, weight)| self.share(value) * (weight - mean).powi(2)).sum();
        let mean_slope = values().map(|(value, weight)| self.share_slope(value) * weight).sum();
        Moments { variance, mean_slope }
    }

    /// x 2^-k.
    fn rate(&self, value: u32) -> f64 {
        self.x * step(value)
    }
}

/// 2^-k.
fn step(value: u32) -> f64 {
    0.5_f64.powi(value as i32)
}

/// sigma': 1 + sum over k >= 1 of 2^(2k - 1) x^(2^k - 1).
fn sigma_slope(x: f64) -> f64 {
    let (mut power, mut weight, mut sum) = (x, 2.0, 1.0);
    loop {
        let before = sum;
        sum += weight * power;
        // x^(2^(k+1) - 1) = (x^(2^k - 1))^2 x
        power = power.powi(2) * x;
        weight *= 4.0;
        if sum == before {
            return sum;
        }
    }
}

/// tau': (-1 + sum over k >= 1 of 2 (1 - r) r / x 4^-k) / 3, where r = x^(2^-k).
fn tau_slope(x: f64) -> f64 {
    // So full that nothing moves; the series has no end there.
    if x <= f64::MIN_POSITIVE {
        return 0.0;
    }
    let (mut root, mut weight, mut sum) = (x, 2.0, -1.0);
    loop {
        let before = sum;
        root = root.sqrt();
        weight /= 4.0;
        sum += weight * (1.0 - root) * root / x;
        if sum == before {
            return sum / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_have_the_error_of_the_literature_and_few_that_of_shared_registers() {
        for bits in [10, 14, 18] {
            let precision = Precision::try_from(bits).expect("10 to 18");
            let m = precision.registers() as f64;
            let many = relative_standard_error(precision, 1e12);
            assert!((many * m.sqrt() / (3.0 * std::f64::consts::LN_2 - 1.0).sqrt() - 1.0).abs() < 2e-4, "{many}");
            let few = relative_standard_error(precision, 10.0);
            assert!((few * (2.0 * m).sqrt() - 1.0).abs() < 2e-3, "{few}");
        }
    }

    #[test]
    fn slopes_are_those_of_the_functions() {
        let slope = |function: fn(f64) -> f64, x: f64| (function(x + 1e-6) - function(x - 1e-6)) / 2e-6;
        for x in [0.1, 0.5, 0.9] {
            assert!((slope(super::super::estimator::sigma, x) / sigma_slope(x) - 1.0).abs() < 1e-6);
            assert!((slope(super::super::estimator::tau, x) / tau_slope(x) - 1.0).abs() < 1e-6);
        }
        let shares = Shares { counted_bits: 50, x: 3.0 };
        let further = Shares { counted_bits: 50, x: 3.0 + 1e-6 };
        for value in 0..=51 {
            let slope = (further.share(value) - shares.share(value)) / 1e-6;
            assert!((slope - shares.share_slope(value)).abs() < 1e-6, "{value}");
        }
    }

    #[test]
    fn registers_so_full_that_nothing_is_known_have_no_interval_but_numbers() {
        for distinct in [1e18, 1.8e19, 1e300] {
            assert!(relative_standard_error(Precision::default(), distinct).is_finite(), "{distinct}");
        }
    }
}
