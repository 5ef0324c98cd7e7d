//! Think times: how long a client of a closed loop waits between two of its units.

use serde::Deserialize;

use super::spec::invalid;
use crate::error::Result;
use crate::script::Random;

/// A distribution of think times, as the spec gives it.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ThinkTime {
    /// The mean; of an exponential distribution before it is cut. `uniform` does not need it. 0: none.
    #[serde(rename = "think_time_ns", default)]
    pub nominal_ns: u64,
    /// How they vary.
    #[serde(rename = "think_time_distribution", default)]
    pub distribution: ThinkTimeDistribution,
    /// None is shorter; null: 0. `constant` does not look at it.
    #[serde(rename = "think_time_min_ns", default)]
    pub min_ns: Option<u64>,
    /// None is longer; null: no limit, which `uniform` needs. `constant` does not look at it.
    #[serde(rename = "think_time_max_ns", default)]
    pub max_ns: Option<u64>,
}

/// How think times vary.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ThinkTimeDistribution {
    /// Not at all.
    #[default]
    Constant,
    /// Every time between the limits is equally likely.
    Uniform,
    /// Many short ones and a few long ones; what lies beyond a limit is moved to it.
    Exponential,
}

impl ThinkTime {
    /// Whether units follow one another at once.
    pub(super) fn is_none(&self) -> bool {
        match self.distribution {
            ThinkTimeDistribution::Constant => self.nominal_ns == 0,
            _ => self.limits_ns().1 == 0,
        }
    }

    /// The next one.
    pub(super) fn draw_ns(&self, random: &mut Random) -> u64 {
        let (min_ns, max_ns) = self.limits_ns();
        match self.distribution {
            ThinkTimeDistribution::Constant => self.nominal_ns,
            ThinkTimeDistribution::Uniform => {
                let drawn_ns = min_ns as f64 + random.next_f64() * (max_ns - min_ns) as f64;
                drawn_ns.round() as u64
            }
            ThinkTimeDistribution::Exponential => {
                let drawn_ns = random.exponential_gap() * self.nominal_ns as f64;
                (drawn_ns as u64).clamp(min_ns, max_ns)
            }
        }
    }

    /// What they are on average. For X exponential with mean m, cut at a and b, the integral of its survival
    /// function gives a + m (exp(-a/m) - exp(-b/m)).
    pub(super) fn mean_ns(&self) -> u64 {
        let (min_ns, max_ns) = self.limits_ns();
        match self.distribution {
            ThinkTimeDistribution::Constant => self.nominal_ns,
            ThinkTimeDistribution::Uniform => min_ns + (max_ns - min_ns) / 2,
            ThinkTimeDistribution::Exponential => {
                let scale_ns = self.nominal_ns as f64;
                let beyond = |limit_ns: u64| (-(limit_ns as f64) / scale_ns).exp();
                (min_ns as f64 + scale_ns * (beyond(min_ns) - beyond(max_ns))) as u64
            }
        }
    }

    fn limits_ns(&self) -> (u64, u64) {
        (self.min_ns.unwrap_or(0), self.max_ns.unwrap_or(u64::MAX))
    }

    pub(super) fn check(&self) -> Result<()> {
        let (min_ns, max_ns) = self.limits_ns();
        match self.distribution {
            ThinkTimeDistribution::Constant => return Ok(()),
            ThinkTimeDistribution::Uniform if self.max_ns.is_none() => {
                return Err(invalid("arrival.think_time_max_ns: null; a uniform think time needs an upper limit"));
            }
            ThinkTimeDistribution::Exponential if self.nominal_ns == 0 => {
                return Err(invalid("arrival.think_time_ns: 0; the mean of an exponential think time must be above 0"));
            }
            _ => {}
        }
        if min_ns > max_ns {
            return Err(invalid(format!(
                "arrival.think_time_min_ns: {min_ns}; must not be above think_time_max_ns, {max_ns}"
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn think_time(distribution: ThinkTimeDistribution, nominal_ns: u64, limits_ns: (u64, u64)) -> ThinkTime {
        ThinkTime { nominal_ns, distribution, min_ns: Some(limits_ns.0), max_ns: Some(limits_ns.1) }
    }

    /// Mean, smallest and largest of many.
    fn drawn(think_time: &ThinkTime) -> (f64, u64, u64) {
        let mut random = Random::from_seed(11);
        let drawn: Vec<u64> = (0..200_000).map(|_| think_time.draw_ns(&mut random)).collect();
        let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
        (mean, *drawn.iter().min().expect("some"), *drawn.iter().max().expect("some"))
    }

    #[test]
    fn a_constant_think_time_draws_nothing() {
        let think_time = ThinkTime { nominal_ns: 5 * MS, ..ThinkTime::default() };
        let mut random = Random::from_seed(1);
        assert_eq!((5 * MS, 5 * MS), (think_time.draw_ns(&mut random), think_time.mean_ns()));
        assert_eq!(Random::from_seed(1), random);
    }

    #[test]
    fn uniform_think_times_fill_their_limits() {
        let think_time = think_time(ThinkTimeDistribution::Uniform, 0, (10 * MS, 100 * MS));
        let (mean, min, max) = drawn(&think_time);
        assert_eq!(55 * MS, think_time.mean_ns());
        // The mean of 200,000 has a standard error of 0.06 ms.
        assert!((mean / MS as f64 - 55.0).abs() < 0.3, "{mean}");
        assert!((10 * MS..10 * MS + MS / 100).contains(&min) && (100 * MS - MS / 100..=100 * MS).contains(&max));
    }

    #[test]
    fn exponential_think_times_have_their_mean_and_their_limits() {
        for limits in [(0, u64::MAX), (20 * MS, 80 * MS)] {
            let think_time = think_time(ThinkTimeDistribution::Exponential, 50 * MS, limits);
            let (mean, min, max) = drawn(&think_time);
            assert!((mean / think_time.mean_ns() as f64 - 1.0).abs() < 0.01, "{mean} of {}", think_time.mean_ns());
            assert!(limits.0 <= min && max <= limits.1);
        }
        assert_eq!(50 * MS, think_time(ThinkTimeDistribution::Exponential, 50 * MS, (0, u64::MAX)).mean_ns());
    }

    #[test]
    fn mistakes_name_the_key() {
        let refusal = |think_time: ThinkTime| think_time.check().expect_err("refused").message;
        let uniform = ThinkTime { distribution: ThinkTimeDistribution::Uniform, ..ThinkTime::default() };
        assert!(refusal(uniform).starts_with("arrival.think_time_max_ns: null"));
        assert!(
            refusal(think_time(ThinkTimeDistribution::Uniform, 0, (2, 1))).starts_with("arrival.think_time_min_ns: 2")
        );
        assert!(
            refusal(think_time(ThinkTimeDistribution::Exponential, 0, (0, 1))).starts_with("arrival.think_time_ns: 0")
        );
    }
}
