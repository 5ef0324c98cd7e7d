//! How often to sweep, and how many states to look at in a sweep, for a share of the host's CPU.
//!
//! ```text
//! share x CPUs = CPU that may be spent in a second = (sweep_ns + looks x look_ns) / period_ns
//! ```
//!
//! With CPU to spare the period gets shorter; when it is scarce, looks get fewer first, down to one in four sweeps,
//! and only then the period longer than a millisecond: how often an event is seen is what the shares of waits rest
//! on, while the states only tell how much of an event is sleep, which differs little from one snapshot to the next.
//!
//! Costs are measured at attach, on an idle server with warm caches, and again all the time by the thread's own
//! clock: under load a wake-up costs twice as much (`pace`), and the share is a promise.

/// What a sweep costs the sampler thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Waking up and the events of all backends.
    pub sweep_ns: f64,
    /// One state, the event with it, and the clocks.
    pub look_ns: f64,
}

/// How to go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Mean time between two sweeps.
    pub period_ns: u64,
    /// May be a fraction.
    pub looks_per_sweep: f64,
}

/// No longer by choice: a window of one second has a thousand snapshots.
const PERIOD_NS_WANTED: u64 = 1_000_000;
/// Beyond 20 kHz two snapshots are one wait in two.
const PERIOD_NS_MIN: u64 = 50_000;
/// A trial of a second has fifty snapshots at least.
const PERIOD_NS_MAX: u64 = 20_000_000;
const LOOKS_MIN: f64 = 0.25;
/// Enough to know two thousand states a second; more CPU than that is better spent on more sweeps.
const LOOKS_WANTED: f64 = 2.0;
const LOOKS_MAX: f64 = 8.0;

/// What may be spent, and what it has been found to buy.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// CPU time per time, as planned.
    rate: f64,
    period_asked_ns: Option<u64>,
    costs: Costs,
}

impl Budget {
    /// A share of so many CPUs, for a period that was asked for or, without, chosen.
    pub fn new(share: f64, cpus: usize, period_asked_ns: Option<u64>, costs: Costs) -> Self {
        Budget { rate: share * cpus as f64, period_asked_ns, costs }
    }

    /// What the budget pays for by the costs known so far.
    pub fn plan(&self) -> Plan {
        let period_ns = self.period_asked_ns.unwrap_or_else(|| self.period_ns());
        let left_ns = self.rate * period_ns as f64 - self.costs.sweep_ns;
        Plan { period_ns, looks_per_sweep: (left_ns / self.costs.look_ns).clamp(LOOKS_MIN, LOOKS_MAX) }
    }

    fn period_ns(&self) -> u64 {
        let with_looks = |looks: f64| ((self.costs.sweep_ns + looks * self.costs.look_ns) / self.rate) as u64;
        match with_looks(LOOKS_WANTED) {
            enough if enough <= PERIOD_NS_WANTED => enough.max(PERIOD_NS_MIN),
            _ => with_looks(LOOKS_MIN).clamp(PERIOD_NS_WANTED, PERIOD_NS_MAX),
        }
    }

    /// The thread has spent this on so many sweeps and looks.
    pub fn spent(&mut self, cpu_ns: u64, sweeps: u64, looks: u64) {
        let sweeping_ns = cpu_ns as f64 - looks as f64 * self.costs.look_ns;
        let sweep_ns = (sweeping_ns / sweeps.max(1) as f64).max(0.0);
        // Half of the way: one reading may have met a slow moment.
        self.costs.sweep_ns = (self.costs.sweep_ns + sweep_ns) / 2.0;
    }
}

/// CPUs of the host that are on: what a share of the host's CPU is a share of, also for a process that may use a few.
pub fn host_cpus() -> usize {
    // SAFETY: no pointers.
    (unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).max(1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(share: f64, cpus: usize, sweep_ns: f64) -> Plan {
        Budget::new(share, cpus, None, Costs { sweep_ns, look_ns: 3000.0 }).plan()
    }

    #[test]
    fn scarce_cpu_takes_looks_first_and_then_sweeps() {
        assert_eq!(Plan { period_ns: 900_000, looks_per_sweep: 2.0 }, plan(0.01, 2, 12_000.0));
        let fewer = plan(0.01, 2, 17_000.0);
        assert_eq!((1_000_000, 1.0), (fewer.period_ns, fewer.looks_per_sweep));
        let slower = plan(0.01, 1, 17_000.0);
        assert_eq!((1_775_000, LOOKS_MIN), (slower.period_ns, slower.looks_per_sweep));
        assert_eq!(PERIOD_NS_MAX, plan(0.0001, 1, 17_000.0).period_ns);
    }

    #[test]
    fn cpu_to_spare_buys_sweeps_and_then_looks() {
        assert_eq!(Plan { period_ns: 112_500, looks_per_sweep: 2.0 }, plan(0.01, 16, 12_000.0));
        let most = plan(0.5, 16, 12_000.0);
        assert_eq!((PERIOD_NS_MIN, LOOKS_MAX), (most.period_ns, most.looks_per_sweep));
    }

    #[test]
    fn a_period_that_was_asked_for_is_kept() {
        let costs = Costs { sweep_ns: 12_000.0, look_ns: 3000.0 };
        let budget = Budget::new(0.01, 2, Some(100_000), costs);
        assert_eq!(Plan { period_ns: 100_000, looks_per_sweep: LOOKS_MIN }, budget.plan());
    }

    #[test]
    fn what_is_spent_comes_to_what_may_be() {
        let (really, mut budget) = (
            Costs { sweep_ns: 14_000.0, look_ns: 4500.0 },
            Budget::new(0.01, 2, None, Costs { sweep_ns: 6000.0, look_ns: 2500.0 }),
        );
        let mut rate = 0.0;
        let sweeps = 100;
        for _ in 0..12 {
            let plan = budget.plan();
            let looks = plan.looks_per_sweep * sweeps as f64;
            let cpu_ns = sweeps as f64 * really.sweep_ns + looks * really.look_ns;
            budget.spent(cpu_ns as u64, sweeps, looks as u64);
            rate = cpu_ns / (plan.period_ns * sweeps) as f64;
        }
        assert!((0.0195..=0.0205).contains(&rate), "{rate}");
    }
}
