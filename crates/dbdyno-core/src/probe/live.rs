//! Snapshots by wait event so far, for somebody who watches a running trial.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::counts::ClientCounts;
use super::ledger::Ledger;
use super::rates::AsleepRates;

/// How many sweeps lie between two publications: a few hundred milliseconds at 1 kHz.
pub(super) const SWEEPS_PER_PUBLICATION: u64 = 200;

/// Shared by the sampler thread and the watcher; names are the engine's own, and `cpu` and `no wait event`.
#[derive(Clone, Debug, Default)]
pub struct LiveWaits(Arc<Mutex<BTreeMap<String, u64>>>);

impl LiveWaits {
    /// Snapshots of backends with a unit in progress, by what they were found in.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<String, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces what was known by what these clients have shown so far.
    pub(super) fn publish(&self, ledger: &mut Ledger, name: impl Fn(u32) -> String) {
        let mut counts = BTreeMap::new();
        let mut add = |name: String, count: u64| *counts.entry(name).or_insert(0) += count;
        let all = ClientCounts { in_unit: ledger.in_units_so_far(), ..ClientCounts::default() };
        let rates = AsleepRates::of([&all]);
        for (event, snapshots) in all.in_unit.iter() {
            let asleep = (rates.of_event(event, snapshots) * snapshots.seen as f64).round() as u64;
            let number = ledger.events()[event];
            add(if number == 0 { "no wait event".to_owned() } else { name(number) }, asleep);
            add("cpu".to_owned(), snapshots.seen - asleep);
        }
        counts.retain(|_, count| *count > 0);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }
}
