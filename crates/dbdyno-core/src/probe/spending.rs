//! Keeping to the budget while sweeps go on: what they have cost says how to go on.

use std::ops::RangeInclusive;

use super::budget::{Budget, Plan};

/// So many sweeps lie between two readings of the thread's clock, which costs 0.25 us: few at first, because what
/// was measured at attach, without load, may be a fifth of what a sweep costs under it, and then ever more.
const SWEEPS_PER_READING: RangeInclusive<u64> = 8..=128;

/// Of one sampler thread.
pub struct Spending {
    budget: Budget,
    plan: Plan,
    /// Sweeps until the next reading of the clock.
    reading_due: u64,
    sweeps: u64,
    looks: u64,
    cpu_ns: u64,
}

impl Spending {
    /// From now on, with the CPU time so far.
    pub fn new(budget: Budget, cpu_ns: u64) -> Self {
        let reading_due = *SWEEPS_PER_READING.start();
        Spending { budget, plan: budget.plan(), reading_due, sweeps: 0, looks: 0, cpu_ns }
    }

    /// How to go on.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// One more sweep, with so many looks; now and then the clock is read, and the plan is a new one.
    pub fn swept(&mut self, looks: u64, cpu_now_ns: impl FnOnce() -> u64) -> Option<Plan> {
        (self.sweeps, self.looks) = (self.sweeps + 1, self.looks + looks);
        if self.sweeps < self.reading_due {
            return None;
        }
        self.reading_due = (self.reading_due * 2).min(*SWEEPS_PER_READING.end());
        let cpu_ns = cpu_now_ns();
        self.budget.spent(cpu_ns - self.cpu_ns, self.sweeps, self.looks);
        self.plan = self.budget.plan();
        (self.sweeps, self.looks, self.cpu_ns) = (0, 0, cpu_ns);
        Some(self.plan)
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget::Costs;
    use super::*;

    #[test]
    fn the_clock_is_read_often_at_first_and_the_plan_follows_what_was_spent() {
        let costs = Costs { sweep_ns: 5_000.0, look_ns: 1_000.0 };
        let mut spending = Spending::new(Budget::new(0.01, 2, None, costs), 0);
        let cheap = spending.plan();
        let mut readings = Vec::new();
        let mut cpu_ns = 0;
        for sweep in 1..=8 + 16 + 32 + 64 + 128 + 128 {
            cpu_ns += 40_000;
            if spending.swept(0, || cpu_ns).is_some() {
                readings.push(sweep);
            }
        }
        assert_eq!(vec![8, 24, 56, 120, 248, 376], readings);
        assert!(spending.plan().period_ns > 2 * cheap.period_ns, "{cheap:?} {:?}", spending.plan());
    }
}
