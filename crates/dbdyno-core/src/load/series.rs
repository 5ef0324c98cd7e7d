//! The time series: what completed in each step of the window, or of the time that fixed work took.

use super::outcome::Series;

/// Fixed work gets room for so many steps: then the series doubles whenever it is full.
const STEPS_EXPECTED: usize = 1024;

impl Series {
    /// All steps of a window; or none yet, where its length is not known.
    pub(super) fn new(step_ns: u64, window_ns: Option<u64>) -> Self {
        let steps = window_ns.map_or(0, |window_ns| window_ns.div_ceil(step_ns) as usize);
        let empty = || {
            let mut counts = Vec::with_capacity(if window_ns.is_some() { steps } else { STEPS_EXPECTED });
            counts.resize(steps, 0);
            counts
        };
        Self { step_ns, units: empty(), response_time_sum_ns: empty(), failed: empty() }
    }

    /// A unit ended so long after the start; None instead of its response time: it failed.
    pub(super) fn add(&mut self, after_start_ns: u64, response_ns: Option<u64>) {
        let step = (after_start_ns / self.step_ns) as usize;
        self.reach(step + 1);
        match response_ns {
            Some(response_ns) => {
                self.units[step] += 1;
                self.response_time_sum_ns[step] += response_ns;
            }
            None => self.failed[step] += 1,
        }
    }

    /// Another thread's series as well.
    pub(super) fn merge(&mut self, other: &Self) {
        self.reach(other.units.len());
        add_each(&mut self.units, &other.units);
        add_each(&mut self.response_time_sum_ns, &other.response_time_sum_ns);
        add_each(&mut self.failed, &other.failed);
    }

    fn reach(&mut self, steps: usize) {
        if steps > self.units.len() {
            for counts in [&mut self.units, &mut self.response_time_sum_ns, &mut self.failed] {
                counts.resize(steps, 0);
            }
        }
    }
}

fn add_each(mine: &mut [u64], theirs: &[u64]) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_without_a_window_grows_with_the_work() {
        let mut series = Series::new(100, None);
        series.add(250, Some(30));
        let mut other = Series::new(100, None);
        other.add(410, None);
        series.merge(&other);
        assert_eq!(vec![0, 0, 1, 0, 0], series.units);
        assert_eq!(vec![0, 0, 30, 0, 0], series.response_time_sum_ns);
        assert_eq!(vec![0, 0, 0, 0, 1], series.failed);
    }

    #[test]
    fn a_window_has_all_its_steps_from_the_start() {
        assert_eq!(vec![0, 0, 0], Series::new(100, Some(250)).units);
    }
}
