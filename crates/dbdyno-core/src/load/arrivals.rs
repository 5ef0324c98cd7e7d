//! When units of an open loop arrive, whatever the server does: the intended starts, in order.
//!
//! The rate is `start` before the window, changes linearly over it, and stays at `end` behind it.
//! Arrivals come from the cumulative rate, turned around: the n-th one where it reaches n (constant),
//! or where it reaches the n-th point of a unit-rate Poisson process (time rescaling, e.g. Daley and
//! Vere-Jones, An Introduction to the Theory of Point Processes, 7.4). So a ramp needs no steps.

use super::spec::ArrivalProcess;
use super::window::Window;
use crate::script::Random;

/// The schedule of one load thread.
#[derive(Debug)]
pub(super) struct Arrivals {
    process: ArrivalProcess,
    rate: Rate,
    random: Random,
    /// Cumulative units at the next arrival.
    cumulative: f64,
    head_ns: u64,
}

impl Arrivals {
    /// The schedule of a thread with this share of the whole rate. `phase` (0 to 1) shifts constant
    /// gaps, so that threads do not start their units together.
    pub(super) fn new(
        process: ArrivalProcess,
        rates_per_s: (f64, f64),
        phase: f64,
        window: &Window,
        random: Random,
    ) -> Self {
        let rate = Rate::new(rates_per_s, window);
        let mut arrivals = Self { process, rate, random, cumulative: phase, head_ns: 0 };
        if process == ArrivalProcess::Poisson {
            arrivals.cumulative = arrivals.random.exponential_gap();
        }
        arrivals.head_ns = arrivals.rate.time_of(arrivals.cumulative);
        arrivals
    }

    /// Intended start of the next unit that nobody has taken; `u64::MAX` if none will ever come.
    pub(super) fn head_ns(&self) -> u64 {
        self.head_ns
    }

    /// The head was taken: the next one moves up.
    pub(super) fn advance(&mut self) {
        self.cumulative += match self.process {
            ArrivalProcess::Poisson => self.random.exponential_gap(),
            ArrivalProcess::Constant => 1.0,
        };
        self.head_ns = self.rate.time_of(self.cumulative);
    }
}

/// The rate over time, in units per nanosecond.
#[derive(Debug)]
struct Rate {
    start: f64,
    end: f64,
    load_start_ns: u64,
    warm_up_ns: f64,
    window_ns: f64,
}

impl Rate {
    fn new((start_per_s, end_per_s): (f64, f64), window: &Window) -> Self {
        Self {
            start: start_per_s / 1e9,
            end: end_per_s / 1e9,
            load_start_ns: window.load_start_ns,
            warm_up_ns: (window.start_ns - window.load_start_ns) as f64,
            window_ns: window.length_ns() as f64,
        }
    }

    /// When the cumulative rate reaches `units`.
    fn time_of(&self, units: f64) -> u64 {
        let before = self.start * self.warm_up_ns;
        let within = (self.start + self.end) / 2.0 * self.window_ns;
        let after_load_start_ns = if units < before {
            units / self.start
        } else if units < before + within {
            self.warm_up_ns + self.time_within(units - before)
        } else {
            self.warm_up_ns + self.window_ns + (units - before - within) / self.end
        };
        // A rate of 0 gives infinity or NaN (0 / 0): no such arrival.
        match after_load_start_ns.is_finite() {
            true => self.load_start_ns.saturating_add(after_load_start_ns as u64),
            false => u64::MAX,
        }
    }

    /// Solves start t + slope t^2 / 2 = units, in the form that also holds for a slope of 0.
    fn time_within(&self, units: f64) -> f64 {
        if units <= 0.0 {
            return 0.0;
        }
        let slope = (self.end - self.start) / self.window_ns;
        let root = (self.start * self.start + 2.0 * slope * units).max(0.0).sqrt();
        2.0 * units / (self.start + root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: (u64, u64) = (1_000_000_000, 10_000_000_000);

    fn schedule(process: ArrivalProcess, rates: (f64, f64), seed: u64) -> (Window, Arrivals) {
        let window = Window::new(5_000_000_000, WINDOW.0, WINDOW.1, 0);
        (window, Arrivals::new(process, rates, 0.0, &window, Random::from_seed(seed)))
    }

    fn in_window(window: &Window, arrivals: &mut Arrivals) -> Vec<u64> {
        std::iter::from_fn(|| {
            let head = arrivals.head_ns();
            arrivals.advance();
            Some(head)
        })
        .skip_while(|head| *head < window.start_ns)
        .take_while(|head| *head < window.end_ns)
        .collect()
    }

    #[test]
    fn constant_gaps_are_equal() {
        let (window, mut arrivals) = schedule(ArrivalProcess::Constant, (1000.0, 1000.0), 1);
        let starts = in_window(&window, &mut arrivals);
        assert_eq!(10_000, starts.len());
        let worst = starts.windows(2).map(|pair| (pair[1] - pair[0]).abs_diff(1_000_000)).max();
        assert!(worst <= Some(2), "gaps differ by {worst:?} ns");
    }

    #[test]
    fn poisson_counts_and_gaps_are_as_theory_says() {
        let (window, mut arrivals) = schedule(ArrivalProcess::Poisson, (1000.0, 1000.0), 7);
        let starts = in_window(&window, &mut arrivals);
        // 10,000 +- 4 standard deviations of 100; exponential gaps have as much spread as mean.
        assert!(starts.len().abs_diff(10_000) < 400, "{} arrivals", starts.len());
        let gaps: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((deviation / mean - 1.0).abs() < 0.05, "spread {deviation} of mean {mean}");
    }

    #[test]
    fn a_ramp_grows_linearly() {
        let (window, mut arrivals) = schedule(ArrivalProcess::Constant, (0.0, 2000.0), 1);
        let starts = in_window(&window, &mut arrivals);
        assert!(starts.len().abs_diff(10_000) <= 1, "{} arrivals", starts.len());
        let first_half = starts.iter().filter(|start| **start < window.start_ns + WINDOW.1 / 2).count();
        assert!(first_half.abs_diff(2_500) <= 1, "{first_half} in the first half");
    }

    #[test]
    fn a_rate_that_falls_to_zero_ends() {
        let (window, mut arrivals) = schedule(ArrivalProcess::Constant, (100.0, 0.0), 1);
        assert!(in_window(&window, &mut arrivals).len().abs_diff(500) <= 1);
        assert_eq!(u64::MAX, arrivals.head_ns());
    }

    #[test]
    fn the_same_seed_gives_the_same_schedule() {
        let starts = |seed| {
            let (window, mut arrivals) = schedule(ArrivalProcess::Poisson, (500.0, 1500.0), seed);
            in_window(&window, &mut arrivals)
        };
        assert_eq!(starts(3), starts(3));
        assert_ne!(starts(3), starts(4));
    }
}
