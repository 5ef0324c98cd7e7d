//! pgbench's random numbers: one generator per client and the four distributions of its functions.
//!
//! The generator is Blackman and Vigna's xoroshiro128** 1.0 (<https://prng.di.unimi.it/>), seeded by
//! splitmix64 and drawn from in the same order as PostgreSQL's `pg_prng`, so that a seed gives the
//! values that `pgbench --random-seed` gives.

use super::error::EvaluationError;

/// Below it a Gaussian draw is rejected too often to be worth its name.
const GAUSSIAN_PARAMETER_MIN: f64 = 2.0;
/// Devroye's rejection method slows down without bound towards 1.
const ZIPFIAN_PARAMETER_MIN: f64 = 1.001;
/// Beyond it nearly every draw is the first value.
const ZIPFIAN_PARAMETER_MAX: f64 = 1000.0;

/// A stream of random numbers. A clone continues as the original would: a unit of work that is
/// retried restores the clone taken at its start and meets the same values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: [u64; 2],
}

impl Random {
    /// The stream of `seed`.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        let mut counter = seed;
        let state = [splitmix64(&mut counter), splitmix64(&mut counter)];
        // All zeroes is the generator's fixed point; PostgreSQL leaves it by way of Knuth's LCG constants.
        let state = if state == [0, 0] { [0x5851_F42D_4C95_7F2D, 0x1405_7B7E_F767_814F] } else { state };
        Self { state }
    }

    /// A new stream, seeded by the next number of this one: one for each client.
    #[must_use]
    pub fn derive(&mut self) -> Self {
        Self::from_seed(self.next_u64())
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        let [first, second] = self.state;
        let mixed = first ^ second;
        self.state = [first.rotate_left(24) ^ mixed ^ (mixed << 16), mixed.rotate_left(37)];
        first.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    }

    /// Uniform in [0, 1), 52 bits of it.
    pub fn next_f64(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 52) as f64;
        (self.next_u64() >> 12) as f64 * STEP
    }

    /// The gap to the next arrival of a Poisson process, in units of the mean gap.
    pub fn exponential_gap(&mut self) -> f64 {
        -(1.0 - self.next_f64()).ln()
    }

    /// `random(low, high)`: every value is equally likely.
    pub fn uniform(&mut self, low: i64, high: i64) -> Result<i64, EvaluationError> {
        let count = count_of_values(low, high)?;
        Ok(low.wrapping_add(self.up_to(count - 1) as i64))
    }

    /// `random_exponential(low, high, parameter)`: the density falls by exp(-parameter) from low to high.
    pub fn exponential(&mut self, low: i64, high: i64, parameter: f64) -> Result<i64, EvaluationError> {
        let count = count_of_values(low, high)?;
        if parameter.is_nan() || parameter <= 0.0 {
            return Err(EvaluationError::ExponentialParameter(parameter));
        }
        let cut = (-parameter).exp();
        let uniform = 1.0 - self.next_f64();
        let share = -(cut + (1.0 - cut) * uniform).ln() / parameter;
        Ok(at_share(low, count, share))
    }

    /// `random_gaussian(low, high, parameter)`: the range is cut at `parameter` standard deviations.
    pub fn gaussian(&mut self, low: i64, high: i64, parameter: f64) -> Result<i64, EvaluationError> {
        let count = count_of_values(low, high)?;
        if parameter.is_nan() || parameter < GAUSSIAN_PARAMETER_MIN {
            return Err(EvaluationError::GaussianParameter(parameter));
        }
        let deviations = loop {
            let normal = self.normal();
            if normal >= -parameter && normal < parameter {
                break normal;
            }
        };
        Ok(at_share(low, count, (deviations + parameter) / (parameter * 2.0)))
    }

    /// `random_zipfian(low, high, parameter)`: value k is drawn with a probability proportional to
    /// 1 / k^parameter, counting from `low` as 1.
    pub fn zipfian(&mut self, low: i64, high: i64, parameter: f64) -> Result<i64, EvaluationError> {
        let count = count_of_values(low, high)?;
        if !(ZIPFIAN_PARAMETER_MIN..=ZIPFIAN_PARAMETER_MAX).contains(&parameter) {
            return Err(EvaluationError::ZipfianParameter(parameter));
        }
        Ok(low.wrapping_add(self.zipfian_rank(count, parameter) - 1))
    }

    /// Uniform in 0..=limit: draws of as many bits as `limit` has, until one fits (two on average at worst).
    pub(super) fn up_to(&mut self, limit: u64) -> u64 {
        if limit == 0 {
            return 0;
        }
        let shift = limit.leading_zeros();
        loop {
            let candidate = self.next_u64() >> shift;
            if candidate <= limit {
                return candidate;
            }
        }
    }

    /// Standard normal, by the Box-Muller transform; both uniforms lie in (0, 1] to keep the logarithm finite.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.next_f64()).ln()).sqrt();
        let turn = 1.0 - self.next_f64();
        radius * (2.0 * std::f64::consts::PI * turn).sin()
    }

    /// A rank in 1..=count by rejection: L. Devroye, Non-Uniform Random Variate Generation (1986), p. 551.
    fn zipfian_rank(&mut self, count: u64, parameter: f64) -> i64 {
        if count <= 1 {
            return 1;
        }
        let exponent = parameter - 1.0;
        let bound = 2.0_f64.powf(exponent);
        loop {
            let (uniform, acceptance) = (self.next_f64(), self.next_f64());
            let rank = uniform.powf(-1.0 / exponent).floor();
            let ratio = (1.0 + 1.0 / rank).powf(exponent);
            if acceptance * rank * (ratio - 1.0) / (bound - 1.0) <= ratio / bound && rank <= count as f64 {
                return rank as i64;
            }
        }
    }
}

/// How many values lie in low..=high, if that fits into a signed 64-bit integer (pgbench's limit).
fn count_of_values(low: i64, high: i64) -> Result<u64, EvaluationError> {
    if low > high {
        return Err(EvaluationError::EmptyRange);
    }
    let count = high.checked_sub(low).and_then(|difference| difference.checked_add(1));
    count.map(|count| count as u64).ok_or(EvaluationError::RangeTooLarge)
}

/// The value that lies `share` (in [0, 1)) of the way through `count` values from `low`.
fn at_share(low: i64, count: u64, share: f64) -> i64 {
    low.wrapping_add((count as f64 * share) as i64)
}

fn splitmix64(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *counter;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_numbers_that_it_gives_postgresql() {
        // What pgbench 18.6 --random-seed=42 draws for its first client: see tests/server/test_against_pgbench.py.
        let mut client = Random::from_seed(42).derive();
        assert_eq!(client.uniform(1, 300_000), Ok(30_726));
        assert_eq!(client.gaussian(1, 100, 2.0), Ok(68));
        assert_eq!(client.exponential(1, 100, 10.0), Ok(4));
        assert_eq!(client.zipfian(1, 100, 1.1), Ok(1));
    }

    #[test]
    fn a_range_of_one_value_needs_no_draw() {
        let mut random = Random::from_seed(7);
        let before = random.clone();
        assert_eq!(random.uniform(5, 5), Ok(5));
        assert_eq!(random, before);
    }

    #[test]
    fn ranges_and_parameters_are_checked() {
        use EvaluationError::*;
        let mut random = Random::from_seed(1);
        assert_eq!(random.uniform(2, 1), Err(EmptyRange));
        assert_eq!(random.uniform(i64::MIN, i64::MAX), Err(RangeTooLarge));
        assert_eq!(random.uniform(0, i64::MAX), Err(RangeTooLarge));
        assert_eq!(random.gaussian(1, 2, 1.99), Err(GaussianParameter(1.99)));
        assert_eq!(random.exponential(1, 2, 0.0), Err(ExponentialParameter(0.0)));
        assert_eq!(random.zipfian(1, 2, 1.0), Err(ZipfianParameter(1.0)));
        assert_eq!(random.zipfian(1, 2, 1000.1), Err(ZipfianParameter(1000.1)));
        assert!(random.zipfian(1, 2, f64::NAN).is_err());
        assert!(random.gaussian(1, 2, f64::NAN).is_err());
    }

    /// The shares of each value in many draws.
    fn shares(values: usize, mut draw: impl FnMut(&mut Random) -> Result<i64, EvaluationError>) -> Vec<f64> {
        const DRAWS: usize = 200_000;
        let mut random = Random::from_seed(20);
        let mut counts = vec![0; values];
        for _ in 0..DRAWS {
            counts[draw(&mut random).unwrap() as usize - 1] += 1;
        }
        counts.into_iter().map(|count| f64::from(count) / DRAWS as f64).collect()
    }

    fn assert_near(shares: &[f64], expected: &[f64]) {
        for (share, expected) in shares.iter().zip(expected) {
            // 200,000 draws: five standard errors of a share are at most 0.0056.
            assert!((share - expected).abs() < 0.0056, "{shares:?}");
        }
    }

    #[test]
    fn each_distribution_has_the_shares_that_its_definition_gives() {
        assert_near(&shares(4, |random| random.uniform(1, 4)), &[0.25; 4]);

        let cut = |share: f64| (1.0 - (-3.0 * share).exp()) / (1.0 - (-3.0_f64).exp());
        let exponential: Vec<f64> = (0..4).map(|i| cut(f64::from(i + 1) / 4.0) - cut(f64::from(i) / 4.0)).collect();
        assert_near(&shares(4, |random| random.exponential(1, 4, 3.0)), &exponential);

        // Phi(2) = 0.977250, Phi(1) = 0.841345: the range is cut at two standard deviations.
        let (outer, inner) = ((0.977250 - 0.841345) / 0.954500, (0.841345 - 0.5) / 0.954500);
        assert_near(&shares(4, |random| random.gaussian(1, 4, 2.0)), &[outer, inner, inner, outer]);

        let weights: Vec<f64> = (1..=4).map(|rank| f64::from(rank).powf(-1.5)).collect();
        let zipfian: Vec<f64> = weights.iter().map(|weight| weight / weights.iter().sum::<f64>()).collect();
        assert_near(&shares(4, |random| random.zipfian(1, 4, 1.5)), &zipfian);
    }

    #[test]
    fn gaps_between_arrivals_have_the_mean_and_spread_of_a_poisson_process() {
        let mut random = Random::from_seed(3);
        let gaps: Vec<f64> = (0..200_000).map(|_| random.exponential_gap()).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let beyond_two = gaps.iter().filter(|gap| **gap > 2.0).count() as f64 / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.012, "mean gap {mean}");
        assert!((beyond_two - (-2.0_f64).exp()).abs() < 0.004, "share above two means {beyond_two}");
    }
}
