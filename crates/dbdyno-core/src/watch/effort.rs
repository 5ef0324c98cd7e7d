//! How often to sweep and how many processes to look at: what the budget allows, from what it has cost so far.
//!
//! ```text
//! allowed a second = budget x CPUs of the host
//! cost of a sweep  = wake-up and memory (measured) + looks x cost of a look (measured at attach)
//! ```
//!
//! A millisecond's period comes first, then looks up to four a sweep, then a shorter period, and only if a
//! quarter of a look a sweep is too much at a millisecond, a longer one.

/// Where nothing is asked for and enough is allowed.
const PERIOD_NS_USUAL: u64 = 1_000_000;
/// Ten thousand sweeps a second; beyond that wake-ups are all there is.
const PERIOD_NS_MIN: u64 = 100_000;
/// A hundred sweeps a second are still more than any poll over SQL.
const PERIOD_NS_MAX: u64 = 10_000_000;
const LOOKS_PER_SWEEP_MAX: f64 = 4.0;
/// Less would leave the share of snapshots asleep unknown: 250 looks a second tell it to 3 points of 100.
const LOOKS_PER_SWEEP_MIN: f64 = 0.25;

/// What to do from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Mean time between two sweeps.
    pub period_ns: u64,
    /// Mean number of processes looked at.
    pub looks_per_sweep: f64,
}

/// What is allowed, and what a look costs.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// CPU time a second.
    pub cpu_ns_per_s: f64,
    /// Of one read of a process's state.
    pub look_ns: f64,
    /// Fixed by the caller.
    pub period_ns: Option<u64>,
}

impl Allowance {
    /// Before anything is measured: the usual period, and one look a sweep.
    pub fn first_effort(&self) -> Effort {
        Effort { period_ns: self.period_ns.unwrap_or(PERIOD_NS_USUAL), looks_per_sweep: 1.0 }
    }

    /// After so many sweeps and looks that took so much CPU time of all our threads.
    pub fn effort(&self, cpu_ns: u64, sweeps: u64, looks: u64) -> Effort {
        if sweeps == 0 {
            return self.first_effort();
        }
        let sweep_ns = ((cpu_ns as f64 - looks as f64 * self.look_ns) / sweeps as f64).max(1.0);
        let period_for = |looks: f64| (sweep_ns + looks * self.look_ns) / self.cpu_ns_per_s * 1e9;
        let period_ns = match self.period_ns {
            Some(period_ns) => period_ns,
            None => {
                let usual = PERIOD_NS_USUAL as f64;
                let most = period_for(LOOKS_PER_SWEEP_MAX).min(usual);
                most.max(period_for(LOOKS_PER_SWEEP_MIN)).clamp(PERIOD_NS_MIN as f64, PERIOD_NS_MAX as f64) as u64
            }
        };
        let spare_ns = period_ns as f64 / 1e9 * self.cpu_ns_per_s - sweep_ns;
        let looks_per_sweep = (spare_ns / self.look_ns).clamp(LOOKS_PER_SWEEP_MIN, LOOKS_PER_SWEEP_MAX);
        Effort { period_ns, looks_per_sweep }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_CPUS_AT_ONE_PERCENT: f64 = 2e9 * 0.01;

    fn effort(sweep_ns: u64, cpu_ns_per_s: f64, period_ns: Option<u64>) -> Effort {
        let allowance = Allowance { cpu_ns_per_s, look_ns: 2_500.0, period_ns };
        allowance.effort(1000 * sweep_ns + 500 * 2_500, 1000, 500)
    }

    #[test]
    fn a_millisecond_then_looks_then_a_shorter_period() {
        let cases = [
            (15_000, TWO_CPUS_AT_ONE_PERCENT, 1_000_000, 2.0),
            (10_000, TWO_CPUS_AT_ONE_PERCENT, 1_000_000, 4.0),
            (5_000, TWO_CPUS_AT_ONE_PERCENT, 750_000, 4.0),
            (5_000, 100.0 * TWO_CPUS_AT_ONE_PERCENT, 100_000, 4.0),
            (39_375, TWO_CPUS_AT_ONE_PERCENT, 2_000_000, 0.25),
            (1_000_000, TWO_CPUS_AT_ONE_PERCENT, 10_000_000, 0.25),
        ];
        for (sweep_ns, cpu_ns_per_s, period_ns, looks_per_sweep) in cases {
            let expected = Effort { period_ns, looks_per_sweep };
            assert_eq!(expected, effort(sweep_ns, cpu_ns_per_s, None), "{sweep_ns}");
        }
    }

    #[test]
    fn a_period_that_is_asked_for_is_kept_and_the_looks_have_what_is_left() {
        let expected = Effort { period_ns: 500_000, looks_per_sweep: 2.0 };
        assert_eq!(expected, effort(5_000, TWO_CPUS_AT_ONE_PERCENT, Some(500_000)));
    }

    #[test]
    fn nothing_measured_yet() {
        let allowance = Allowance { cpu_ns_per_s: 1.0, look_ns: 1.0, period_ns: None };
        assert_eq!(Effort { period_ns: 1_000_000, looks_per_sweep: 1.0 }, allowance.effort(5, 0, 0));
    }
}
