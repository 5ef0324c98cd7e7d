//! The sampler thread: sweeps at a jittered pace, steps, and effort within the budget.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use super::collector::News;
use super::source::SlotSource;
use super::sweep::{StateReader, Sweeper};
use crate::probe::budget::{Budget, Plan};
use crate::probe::pace::{Pace, be_punctual, now_ns};
use crate::probe::spending::Spending;

/// How often to sweep.
#[derive(Clone, Copy, Debug)]
pub enum Tuning {
    /// As the budget allows.
    Budget(Budget),
    /// Always so.
    Fixed(Plan),
}

/// What both threads share.
#[derive(Default)]
pub struct Common {
    /// Set by the collector: come to an end.
    pub stop: AtomicBool,
    /// CPU time of the collector: it counts against the budget.
    pub collector_cpu_ns: AtomicU64,
}

impl Common {
    /// Of the calling thread and the collector.
    fn cpu_ns(&self) -> u64 {
        now_ns(libc::CLOCK_THREAD_CPUTIME_ID) + self.collector_cpu_ns.load(Ordering::Relaxed)
    }
}

/// When to stop and when to cut, from CLOCK_MONOTONIC `start_ns` on.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// The zero of all times.
    pub start_ns: u64,
    /// End.
    pub length_ns: u64,
    /// Between two cuts.
    pub step_ns: u64,
}

impl Schedule {
    /// Time since the start.
    pub fn elapsed_ns(&self) -> u64 {
        now_ns(libc::CLOCK_MONOTONIC) - self.start_ns
    }

    /// The first cut behind a time.
    pub fn next_cut_ns(&self, after_ns: u64) -> u64 {
        (after_ns / self.step_ns + 1) * self.step_ns
    }
}

/// What the thread hands back.
#[derive(Clone, Debug, Default)]
pub struct Sampled {
    /// Why it ended before it should.
    pub failure: Option<String>,
    /// End of the last step.
    pub end_ns: u64,
    /// CPU time of the thread.
    pub cpu_ns: u64,
    /// That the ring had no room for.
    pub lost_snapshots: u64,
    /// That the collector could not take any more.
    pub last_step_is_lost: bool,
}

/// Sweep until the time is over, the collector says so, or the server cannot be read any more.
pub fn sample<S: SlotSource, R: StateReader>(
    mut sweeper: Sweeper<S, R>,
    news: &Receiver<News<R>>,
    schedule: Schedule,
    tuning: Tuning,
    common: &Common,
) -> Sampled {
    be_punctual();
    let mut effort = Effort::new(tuning, common);
    sweeper.set_looks_per_sweep(effort.plan().looks_per_sweep);
    let mut pace = Pace::new(effort.plan().period_ns);
    let mut cut_ns = schedule.next_cut_ns(0);
    let mut sampled = Sampled::default();
    while !common.stop.load(Ordering::Relaxed) {
        pace.sleep();
        let now_ns = schedule.elapsed_ns();
        while let Ok((slot, pid, finding)) = news.try_recv() {
            sweeper.take_finding(slot as usize, pid, finding);
        }
        let looks = sweeper.looks();
        if let Err(error) = sweeper.sweep(now_ns) {
            sampled.failure = Some(error.to_string());
            break;
        }
        if now_ns >= schedule.length_ns {
            break;
        }
        if let Some(plan) = effort.swept(sweeper.looks() - looks, common) {
            pace.change_to(plan.period_ns);
        }
        if now_ns >= cut_ns && sweeper.end_step(now_ns) {
            // Within a step all looks have one probability.
            sweeper.set_looks_per_sweep(effort.plan().looks_per_sweep);
            cut_ns = schedule.next_cut_ns(now_ns);
        }
    }
    sampled.end_ns = schedule.elapsed_ns();
    sampled.last_step_is_lost = !end_last_step(&mut sweeper, sampled.end_ns);
    sampled.lost_snapshots = sweeper.lost_snapshots();
    sampled.cpu_ns = now_ns(libc::CLOCK_THREAD_CPUTIME_ID);
    sampled
}

/// Nothing is measured any more, so waiting for room in the ring is no harm.
fn end_last_step<S: SlotSource, R: StateReader>(sweeper: &mut Sweeper<S, R>, now_ns: u64) -> bool {
    const ATTEMPTS: usize = 500;
    const PAUSE: Duration = Duration::from_millis(10);
    (0..ATTEMPTS).any(|attempt| {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        sweeper.end_step(now_ns)
    })
}

/// As the budget allows, or always the same.
enum Effort {
    Within(Spending),
    Fixed(Plan),
}

impl Effort {
    fn new(tuning: Tuning, common: &Common) -> Self {
        match tuning {
            Tuning::Budget(budget) => Effort::Within(Spending::new(budget, common.cpu_ns())),
            Tuning::Fixed(plan) => Effort::Fixed(plan),
        }
    }

    fn plan(&self) -> Plan {
        match self {
            Effort::Within(spending) => spending.plan(),
            Effort::Fixed(plan) => *plan,
        }
    }

    fn swept(&mut self, looks: u64, common: &Common) -> Option<Plan> {
        match self {
            Effort::Within(spending) => spending.swept(looks, || common.cpu_ns()),
            Effort::Fixed(_) => None,
        }
    }
}
