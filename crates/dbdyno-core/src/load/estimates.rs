//! What one client's snapshots say of its time: how many of them are sleep in each event.
//!
//! A sampler cannot help to disturb what it looks at: on the CPU where it wakes up, something stops. With one
//! client that plays ping-pong with its backend within tens of microseconds, it can find the backend woken
//! again nearly every time, although by the clocks it slept half of the time (measured in one of ten trials
//! of 100 ms). The wait event of a backend that was woken and has not run since is still that of its sleep;
//! so where the clocks prove that sleep was missed, snapshots of woken backends divide it too.

use crate::probe::{AsleepRates, ClientCounts};

/// Sleep was missed if it was seen less than a quarter as often as the clocks say: chance does not do that in the
/// hundreds of snapshots of a trial.
const MISSED_SLEEP_FACTOR: f64 = 4.0;

/// Estimated numbers of snapshots.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Estimates {
    /// By event; 0 is none.
    pub asleep_in_unit: Vec<f64>,
    asleep_between_units: f64,
    running_in_unit: f64,
    running_between_units: f64,
}

impl Estimates {
    /// Of one client's snapshots, by the share of each event that is sleep.
    pub fn new(counts: &ClientCounts, rates: &AsleepRates) -> Self {
        let mut estimates = Self::default();
        for (event, snapshots) in counts.in_unit.iter() {
            let asleep = snapshots.seen as f64 * rates.of_event(event, snapshots);
            estimates.add_asleep(event, asleep);
            estimates.running_in_unit += snapshots.seen as f64 - asleep;
        }
        let between = counts.between_units;
        let asleep = between.seen as f64 * rates.between_units(between);
        estimates.asleep_between_units = counts.at_rest as f64 + asleep;
        estimates.running_between_units = between.seen as f64 - asleep;
        estimates
    }

    fn add_asleep(&mut self, event: usize, asleep: f64) {
        if event >= self.asleep_in_unit.len() {
            self.asleep_in_unit.resize(event + 1, 0.0);
        }
        self.asleep_in_unit[event] += asleep;
    }

    /// Asleep, in a unit or between two.
    pub fn asleep(&self) -> f64 {
        self.asleep_in_unit.iter().sum::<f64>() + self.asleep_between_units
    }

    /// Asleep or not.
    pub fn all(&self) -> f64 {
        self.asleep() + self.running_in_unit + self.running_between_units
    }

    /// What divides `asleep_ns`: woken backends too, by what they waited for, if the clocks prove that sleep was
    /// missed.
    pub fn with_missed_sleep(mut self, counts: &ClientCounts, asleep_ns: u64, span_ns: u64) -> Self {
        let expected = self.all() * asleep_ns as f64 / span_ns.max(1) as f64;
        if self.asleep() * MISSED_SLEEP_FACTOR < expected {
            for (event, snapshots) in counts.in_unit.iter().filter(|(event, _)| *event != 0) {
                self.asleep_in_unit[event] = snapshots.seen as f64;
            }
        }
        self
    }

    /// The run-queue time without what passed after the reply, by the share of snapshots that found it so.
    pub fn run_queue_in_unit_ns(&self, clocks_ns: Option<(u64, u64)>) -> u64 {
        let (cpu_ns, run_queue_ns) = clocks_ns.unwrap_or_default();
        let running = (self.running_in_unit + self.running_between_units).max(1.0);
        let between_ns = (cpu_ns + run_queue_ns) as f64 * self.running_between_units / running;
        run_queue_ns.saturating_sub(between_ns as u64)
    }
}

/// All clients' snapshots together: stands in for a client of whose sleep no snapshot knows.
pub(super) fn pool(estimates: &[Estimates]) -> Estimates {
    let mut pooled = Estimates::default();
    for own in estimates {
        own.asleep_in_unit.iter().enumerate().for_each(|(event, &asleep)| pooled.add_asleep(event, asleep));
        pooled.asleep_between_units += own.asleep_between_units;
        pooled.running_in_unit += own.running_in_unit;
        pooled.running_between_units += own.running_between_units;
    }
    pooled
}
