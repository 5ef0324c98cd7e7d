//! When the next I/O is due.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::spec::Load;
use crate::script::Random;

/// What the loop should do about the next I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Start it: this was its time.
    Now { intended_ns: u64 },
    /// Not before this time.
    At(u64),
    /// There will be no more.
    Never,
}

/// The intended starts. Threads that share a load share them: whoever is free takes the next.
#[derive(Clone, Debug)]
pub(super) enum Arrivals {
    /// As soon as there is room, as long as any are left.
    Closed { left: Arc<AtomicU64>, until_ns: u64 },
    /// A Poisson process.
    Open { shared: Arc<Mutex<Poisson>>, until_ns: u64 },
}

/// The next arrival, and what the one after it is drawn from.
#[derive(Debug)]
pub(super) struct Poisson {
    next_ns: f64,
    mean_gap_ns: f64,
    random: Random,
}

impl Arrivals {
    /// From `from_ns` to `until_ns`.
    pub(super) fn new(load: Load, from_ns: u64, until_ns: u64, mut random: Random) -> Self {
        match load {
            Load::Closed { most_ios, .. } => {
                Self::Closed { left: Arc::new(AtomicU64::new(most_ios.unwrap_or(u64::MAX))), until_ns }
            }
            Load::Open { per_s, .. } => {
                let mean_gap_ns = 1e9 / per_s;
                let next_ns = from_ns as f64 + random.exponential_gap() * mean_gap_ns;
                Self::Open { shared: Arc::new(Mutex::new(Poisson { next_ns, mean_gap_ns, random })), until_ns }
            }
        }
    }

    /// What is due now; a start that is told is taken.
    pub(super) fn next(&mut self, now_ns: u64) -> Due {
        match self {
            Self::Closed { left, until_ns } => {
                // Beyond zero it stays zero: with threads several may find the last one gone.
                let taken = |count: u64| count.checked_sub(1);
                match now_ns < *until_ns && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok() {
                    true => Due::Now { intended_ns: now_ns },
                    false => Due::Never,
                }
            }
            Self::Open { shared, until_ns } => {
                let mut poisson = shared.lock().expect("no holder of the lock panics");
                let next_ns = poisson.next_ns as u64;
                if next_ns >= *until_ns {
                    Due::Never
                } else if next_ns <= now_ns {
                    let gap_ns = poisson.random.exponential_gap() * poisson.mean_gap_ns;
                    poisson.next_ns += gap_ns;
                    Due::Now { intended_ns: next_ns }
                } else {
                    Due::At(next_ns)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_loop_is_due_at_once_until_its_end() {
        let mut arrivals = Arrivals::new(Load::Closed { depth: 3, most_ios: None }, 100, 200, Random::from_seed(1));
        assert_eq!([Due::Now { intended_ns: 150 }, Due::Never], [150, 200].map(|now| arrivals.next(now)));
    }

    #[test]
    fn a_closed_loop_ends_with_its_last_io() {
        let mut arrivals = Arrivals::new(Load::Closed { depth: 3, most_ios: Some(2) }, 0, 200, Random::from_seed(1));
        let found = [1, 2, 3].map(|now_ns| arrivals.next(now_ns));
        assert_eq!([Due::Now { intended_ns: 1 }, Due::Now { intended_ns: 2 }, Due::Never], found);
    }

    #[test]
    fn an_open_loop_keeps_its_times_however_late_it_is_asked() {
        let load = Load::Open { per_s: 1e6, depth: 1 };
        let mut punctual = Arrivals::new(load, 0, 10_000_000, Random::from_seed(7));
        let mut late = Arrivals::new(load, 0, 10_000_000, Random::from_seed(7));
        let (mut now_ns, mut times) = (0, Vec::new());
        loop {
            match punctual.next(now_ns) {
                Due::Now { intended_ns } => times.push(intended_ns),
                Due::At(next_ns) => now_ns = next_ns,
                Due::Never => break,
            }
        }
        let found: Vec<_> = std::iter::from_fn(|| match late.next(20_000_000) {
            Due::Now { intended_ns } => Some(intended_ns),
            _ => None,
        })
        .collect();
        assert_eq!(times, found);
        assert!(times.is_sorted() && (9_600..10_400).contains(&times.len()), "{} in 10 ms", times.len());
    }
}
