//! The sampler thread: sweeps at a jittered pace, steps, and effort within the budget.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use super::collector::News;
use super::source::SlotSource;
use super::sweep::{StateReader, Sweeper};
use crate::probe::budget::{Budget, Plan, SWEEPS_PER_READING};
use crate::probe::pace::{Pace, be_punctual, now_ns};

/// How often to sweep.
#[derive(Clone, Copy, Debug)]
pub enum Tuning {
    /// As the budget allows.
    Budget(Budget),
    /// Always so.
    Fixed(Plan),
}

impl Tuning {
    fn plan(&self) -> Plan {
        match self {
            Tuning::Budget(budget) => budget.plan(),
            Tuning::Fixed(plan) => *plan,
        }
    }
}

/// What both threads share.
#[derive(Default)]
pub struct Common {
    /// Set by the collector: come to an end.
    pub stop: AtomicBool,
    /// CPU time of the collector: it counts against the budget.
    pub collector_cpu_ns: AtomicU64,
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
        if let Err(error) = sweeper.sweep(now_ns) {
            sampled.failure = Some(error.to_string());
            break;
        }
        if now_ns >= schedule.length_ns {
            break;
        }
        if effort.review(sweeper.looks()) {
            pace.change_to(effort.plan().period_ns);
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

/// What both threads cost, and what that leaves.
struct Effort<'a> {
    tuning: Tuning,
    common: &'a Common,
    reading_due: u64,
    cpu_ns: u64,
    sweeps: u64,
    looks: u64,
}

impl<'a> Effort<'a> {
    fn new(tuning: Tuning, common: &'a Common) -> Self {
        let reading_due = *SWEEPS_PER_READING.start();
        let mut effort = Effort { tuning, common, reading_due, cpu_ns: 0, sweeps: 0, looks: 0 };
        effort.cpu_ns = effort.cpu_now_ns();
        effort
    }

    fn plan(&self) -> Plan {
        self.tuning.plan()
    }

    fn cpu_now_ns(&self) -> u64 {
        now_ns(libc::CLOCK_THREAD_CPUTIME_ID) + self.common.collector_cpu_ns.load(Ordering::Relaxed)
    }

    /// One more sweep, and so many looks in all; whether the plan is a new one.
    fn review(&mut self, looks: u64) -> bool {
        self.sweeps += 1;
        if self.sweeps < self.reading_due {
            return false;
        }
        self.reading_due = (self.reading_due * 2).min(*SWEEPS_PER_READING.end());
        let cpu_ns = self.cpu_now_ns();
        let Tuning::Budget(budget) = &mut self.tuning else { return false };
        budget.spent(cpu_ns - self.cpu_ns, self.sweeps, looks - self.looks);
        (self.cpu_ns, self.sweeps, self.looks) = (cpu_ns, 0, looks);
        true
    }
}
