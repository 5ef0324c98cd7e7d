//! A running trial seen from outside, about once a second, without disturbing it.
//!
//! ```text
//! load threads: LiveTally each --publish, a few times a second--> Board --text, once a second--> who watches
//! sampler thread: snapshots by wait event ------------------------^
//! ```
//!
//! A load thread counts into a tally of its own and hands it over while it would sleep anyway; the locks of the
//! board are never taken within a unit of work. Without a watcher there is no board and nothing is counted.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use hdrhistogram::Histogram;
use serde::Serialize;

use super::phase_cell::{Phase, PhaseCell};
use super::window::Window;
use crate::clock;
use crate::probe::LiveWaits;

/// How often a load thread hands over what it counted.
pub(super) const PUBLISH_PERIOD_NS: u64 = 200_000_000;

/// What one script's units did since the last publication.
#[derive(Debug)]
struct ScriptTally {
    units: u64,
    failed: u64,
    /// Two digits: a 35 KB histogram, merged in microseconds; 1 % is more than an eye can see.
    response: Histogram<u64>,
}

impl ScriptTally {
    fn new() -> Self {
        const HIGHEST_NS: u64 = 3_600_000_000_000;
        let response = Histogram::new_with_bounds(1, HIGHEST_NS, 2).expect("the bounds are valid");
        Self { units: 0, failed: 0, response }
    }

    fn take(&mut self, from: &mut Self) {
        self.units += std::mem::take(&mut from.units);
        self.failed += std::mem::take(&mut from.failed);
        self.response.add(&from.response).expect("all tallies have the same bounds");
        from.response.reset();
    }
}

/// One load thread's own, by script.
#[derive(Debug)]
pub(super) struct LiveTally {
    scripts: Vec<ScriptTally>,
    publish_due_ns: u64,
}

impl LiveTally {
    /// Nothing counted.
    pub(super) fn new(scripts: usize) -> Self {
        Self { scripts: (0..scripts).map(|_| ScriptTally::new()).collect(), publish_due_ns: 0 }
    }

    /// A unit ended, counted or not.
    pub(super) fn unit_ended(&mut self, script: usize, response_ns: u64, successful: bool) {
        let tally = &mut self.scripts[script];
        if successful {
            tally.units += 1;
            tally.response.saturating_record(response_ns);
        } else {
            tally.failed += 1;
        }
    }

    /// Hands everything to the board if it is time to.
    pub(super) fn publish_if_due(&mut self, board: &Board, now_ns: u64) {
        if now_ns >= self.publish_due_ns {
            self.publish_due_ns = now_ns + PUBLISH_PERIOD_NS;
            board.take(self);
        }
    }
}

/// What is known of a running trial as a whole.
#[derive(Debug)]
struct Course {
    script_names: Vec<String>,
    window: Window,
    fixed_work: bool,
    phases: std::sync::Arc<[PhaseCell]>,
}

/// Totals by script, and the response times since the last text.
#[derive(Debug, Default)]
struct Totals {
    scripts: Vec<ScriptTally>,
    waits_before: BTreeMap<String, u64>,
}

/// Where a trial's threads put what they count, and a watcher finds it.
#[derive(Debug, Default)]
pub struct Board {
    course: OnceLock<Course>,
    totals: Mutex<Totals>,
    waits: LiveWaits,
}

/// The text that a watcher reads (docs/architecture.md, "A trial in progress").
#[derive(Debug, Serialize)]
struct View<'a> {
    elapsed_ns: u64,
    phase: &'static str,
    clients: usize,
    in_unit: usize,
    scripts: Vec<ScriptView<'a>>,
    waits: BTreeMap<String, f64>,
}

#[derive(Debug, Serialize)]
struct ScriptView<'a> {
    name: &'a str,
    units: u64,
    failed: u64,
    response_time_ns: Option<Percentiles>,
}

#[derive(Debug, Serialize)]
struct Percentiles {
    p50: u64,
    p95: u64,
    p99: u64,
}

impl Board {
    /// The load is about to start.
    pub(super) fn begin(
        &self,
        script_names: Vec<String>,
        window: Window,
        fixed_work: bool,
        phases: std::sync::Arc<[PhaseCell]>,
    ) {
        let scripts = script_names.iter().map(|_| ScriptTally::new()).collect();
        self.lock().scripts = scripts;
        self.course.set(Course { script_names, window, fixed_work, phases }).expect("a board serves one trial");
    }

    /// Where the sampler thread puts its snapshots.
    pub(super) fn waits(&self) -> &LiveWaits {
        &self.waits
    }

    fn take(&self, tally: &mut LiveTally) {
        let mut totals = self.lock();
        for (total, part) in totals.scripts.iter_mut().zip(&mut tally.scripts) {
            total.take(part);
        }
    }

    /// The trial as it is now, percentiles and waits since the last call; None before the load starts.
    pub fn text(&self) -> Option<String> {
        let course = self.course.get()?;
        let now_ns = clock::now_ns();
        let elapsed_ns = now_ns.checked_sub(course.window.load_start_ns)?;
        let mut totals = self.lock();
        let waits = shares(&mut totals.waits_before, self.waits.counts());
        let named = course.script_names.iter().zip(&mut totals.scripts);
        let view = View {
            elapsed_ns,
            phase: course.phase(now_ns),
            clients: course.phases.len(),
            in_unit: course.phases.iter().filter(|cell| cell.get() == Phase::InUnit).count(),
            scripts: named.map(|(name, tally)| ScriptView::new(name, tally)).collect(),
            waits,
        };
        Some(serde_json::to_string(&view).expect("a view has no unusual values"))
    }

    /// A thread that panicked ends the trial; what it had counted may still be shown.
    fn lock(&self) -> std::sync::MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Course {
    fn phase(&self, now_ns: u64) -> &'static str {
        match () {
            () if now_ns < self.window.start_ns => "warm-up",
            () if self.fixed_work || now_ns < self.window.end_ns => "window",
            () => "cool-down",
        }
    }
}

impl<'a> ScriptView<'a> {
    fn new(name: &'a str, tally: &mut ScriptTally) -> Self {
        let at = |quantile: f64| tally.response.value_at_quantile(quantile);
        let percentiles = Percentiles { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
        let response_time_ns = (!tally.response.is_empty()).then_some(percentiles);
        tally.response.reset();
        Self { name, units: tally.units, failed: tally.failed, response_time_ns }
    }
}

/// The share of each event among the snapshots that came since `before`, which becomes `now`.
fn shares(before: &mut BTreeMap<String, u64>, now: BTreeMap<String, u64>) -> BTreeMap<String, f64> {
    let fresh = |(name, count): (&String, &u64)| {
        // Counts are estimates, and one may have been corrected downwards.
        let count = count.saturating_sub(before.get(name).copied().unwrap_or(0));
        (count > 0).then(|| (name.clone(), count as f64))
    };
    let mut found: BTreeMap<String, f64> = now.iter().filter_map(fresh).collect();
    let total: f64 = found.values().sum();
    found.values_mut().for_each(|count| *count /= total);
    *before = now;
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn board(load_start_ns: u64) -> Board {
        let board = Board::default();
        let window = Window::new(load_start_ns, 0, u64::MAX / 4, 0);
        let phases: Arc<[PhaseCell]> = (0..3).map(|_| PhaseCell::default()).collect();
        phases[1].begin_unit();
        board.begin(vec!["a.sql".to_owned(), "b.sql".to_owned()], window, false, phases);
        board
    }

    fn seen(board: &Board) -> serde_json::Value {
        serde_json::from_str(&board.text().expect("the load has started")).expect("JSON")
    }

    #[test]
    fn units_add_up_and_percentiles_are_of_the_time_since_the_last_look() {
        let board = board(1);
        let mut tally = LiveTally::new(2);
        (1..=100).for_each(|_| tally.unit_ended(0, 1_000, true));
        tally.unit_ended(1, 0, false);
        tally.publish_if_due(&board, 1);
        tally.unit_ended(0, 5_000_000, true);
        tally.publish_if_due(&board, 2);
        let first = seen(&board);
        assert_eq!(100, first["scripts"][0]["units"], "the second publication was not due");
        assert_eq!(1, first["scripts"][1]["failed"]);
        assert!(first["scripts"][1]["response_time_ns"].is_null());
        assert_eq!(("window", 3, 1), (first["phase"].as_str().unwrap(), 3, first["in_unit"].as_u64().unwrap()));
        tally.publish_if_due(&board, 1 + PUBLISH_PERIOD_NS);
        let second = seen(&board);
        assert_eq!(101, second["scripts"][0]["units"]);
        let p50 = second["scripts"][0]["response_time_ns"]["p50"].as_u64().expect("a unit ended");
        assert!(p50.abs_diff(5_000_000) <= 50_000, "{p50}");
    }

    #[test]
    fn waits_are_shares_of_what_is_new() {
        let of = |counts: &[(&str, u64)]| counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let mut before = of(&[("IO:WalSync", 10)]);
        let found = shares(&mut before, of(&[("IO:WalSync", 13), ("cpu", 1)]));
        assert_eq!(BTreeMap::from([("IO:WalSync".to_owned(), 0.75), ("cpu".to_owned(), 0.25)]), found);
        assert_eq!(Some(&13), before.get("IO:WalSync"));
    }

    #[test]
    fn nothing_is_shown_before_the_load_starts() {
        assert_eq!(None, Board::default().text());
        assert_eq!(None, board(u64::MAX / 8).text());
    }
}
