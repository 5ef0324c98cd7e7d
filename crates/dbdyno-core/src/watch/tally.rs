//! The cells and episodes of one step.

use std::collections::BTreeMap;

use super::outcome::Cell;
use super::source::{Activity, SessionState};

/// Bins of an episode's length for each decade of nanoseconds.
const BINS_PER_DECADE: f64 = 10.0;

/// What a process was seen doing, by the numbers of the outcome's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    process: usize,
    query_id: i64,
    state: SessionState,
    event: usize,
}

/// Counts of one step.
#[derive(Default)]
pub struct Tally {
    cells: BTreeMap<Key, (u64, u64, u64)>,
    episodes: BTreeMap<(usize, u32), u64>,
}

impl Tally {
    /// Snapshots of one process.
    pub fn add(&mut self, process: usize, activity: Activity, event: usize, counts: (u32, u32, u32)) {
        let key = Key { process, query_id: activity.query_id, state: activity.state, event };
        let (seen, looked, asleep) = self.cells.entry(key).or_default();
        *seen += u64::from(counts.0);
        *looked += u64::from(counts.1);
        *asleep += u64::from(counts.2);
    }

    /// A wait that ended. What an idle session does, and being without a wait, are no waits.
    pub fn add_episode(&mut self, activity: Activity, event: usize, length_ns: u64) {
        if activity.event != 0 && activity.state != SessionState::Idle {
            *self.episodes.entry((event, bin(length_ns))).or_default() += 1;
        }
    }

    /// (cells, episodes), in order; nothing is left.
    pub fn take(&mut self) -> (Vec<Cell>, Vec<(usize, u32, u64)>) {
        let cells = std::mem::take(&mut self.cells).into_iter().map(|(key, (seen, looked, asleep))| {
            let query_id = (key.query_id != 0).then(|| key.query_id.to_string());
            (key.process, query_id, key.state.name(), key.event, seen, looked, asleep)
        });
        let episodes = std::mem::take(&mut self.episodes).into_iter().map(|((event, bin), count)| (event, bin, count));
        (cells.collect(), episodes.collect())
    }
}

/// Bin b holds 10^(b/10) <= length < 10^((b+1)/10).
fn bin(length_ns: u64) -> u32 {
    (length_ns.max(1) as f64).log10().mul_add(BINS_PER_DECADE, 1e-9) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_tenths_of_decades() {
        let cases = [(0, 0), (1, 0), (2, 3), (9, 9), (10, 10), (1_000, 30), (999_999, 59), (1_000_000, 60)];
        for (length_ns, expected) in cases {
            assert_eq!(expected, bin(length_ns), "{length_ns}");
        }
    }

    #[test]
    fn equal_activities_of_a_process_are_one_cell() {
        let mut tally = Tally::default();
        let active = Activity { event: 7, state: SessionState::Active, query_id: -5 };
        let idle = Activity { event: 7, state: SessionState::Idle, query_id: 0 };
        tally.add(1, active, 2, (3, 2, 1));
        tally.add(1, active, 2, (4, 0, 0));
        tally.add(0, idle, 2, (9, 1, 1));
        tally.add_episode(active, 2, 1_000_000);
        tally.add_episode(active, 2, 1_100_000);
        tally.add_episode(idle, 2, 1_000_000);
        tally.add_episode(Activity { event: 0, ..active }, 0, 1_000_000);
        let cells = vec![(0, None, Some("idle"), 2, 9, 1, 1), (1, Some("-5".to_owned()), Some("active"), 2, 7, 2, 1)];
        assert_eq!((cells, vec![(2, 60, 2)]), tally.take());
        assert_eq!((vec![], vec![]), tally.take());
    }
}
