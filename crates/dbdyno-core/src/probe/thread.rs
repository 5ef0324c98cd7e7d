//! The sampler thread of a trial: sweeps at a jittered pace, within the budget, by one route.

use std::sync::atomic::{AtomicBool, Ordering};

use super::budget::{Budget, Plan};
use super::ledger::Timeline;
use super::live::{self, LiveWaits};
use super::names::WaitNames;
use super::pace::{Pace, be_punctual, now_ns};
use super::sampler::MemorySampler;
use super::spending::Spending;
use super::sql::SqlSampler;
use super::{ProbeOutcome, background};

/// What it sweeps with.
pub enum Sampler {
    /// Over the server's memory.
    Memory(MemorySampler, WaitNames),
    /// By asking the server.
    Sql(SqlSampler),
}

/// What the thread hands back.
pub struct Sampled {
    /// With what it saw.
    pub sampler: Sampler,
    /// Why it ended early.
    pub failure: Option<String>,
    /// Of the thread.
    pub cost: SamplerCost,
}

/// What sampling took. The thread begins before the first client's span and ends behind the last one's, so it wakes
/// up more often than the sweeps that count.
#[derive(Clone, Copy, Debug, Default)]
pub struct SamplerCost {
    /// CPU time of the thread.
    pub cpu_ns: u64,
    /// How long it lived.
    pub elapsed_ns: u64,
    /// How often it woke up to sweep.
    pub wake_ups: u64,
    /// CPU time of one sweep in the mean, without waking up for it.
    pub sweeping_cpu_ns: Option<u64>,
}

/// Sweep until told to stop, or until the server cannot be read any more.
pub fn sample(mut sampler: Sampler, stop: &AtomicBool, budget: Budget, live: Option<&LiveWaits>) -> Sampled {
    be_punctual();
    let mut spending = Spending::new(budget, thread_cpu_ns());
    let mut looks = LooksDue::default();
    let mut pace = Pace::new(spending.plan().period_ns);
    let mut failure = None;
    let begun_ns = now_ns(libc::CLOCK_MONOTONIC);
    let mut cost = SamplerCost::default();
    let mut sweeping = Mean::default();
    while failure.is_none() && !stop.load(Ordering::Relaxed) {
        let now_ns = pace.sleep();
        let timed_from_ns = cost.wake_ups.is_multiple_of(SWEEPS_PER_TIMED_ONE).then(thread_cpu_ns);
        match sampler.sweep(looks.of_next_sweep(spending.plan()), now_ns) {
            Ok(looked) => {
                if let Some(plan) = spending.swept(looked as u64, thread_cpu_ns) {
                    pace.change_to(plan.period_ns);
                }
            }
            Err(error) => failure = Some(format!("sampling ended early: {error}")),
        }
        if let Some(from_ns) = timed_from_ns {
            sweeping.add(thread_cpu_ns() - from_ns);
        }
        cost.wake_ups += 1;
        if let Some(live) = live
            && cost.wake_ups.is_multiple_of(sampler.sweeps_per_publication())
        {
            sampler.publish(live);
        }
    }
    cost.cpu_ns = thread_cpu_ns();
    cost.elapsed_ns = now_ns(libc::CLOCK_MONOTONIC) - begun_ns;
    cost.sweeping_cpu_ns = sweeping.get();
    Sampled { sampler, failure, cost }
}

/// One sweep in so many is timed by itself, without waking up, for half a microsecond.
const SWEEPS_PER_TIMED_ONE: u64 = 64;

#[derive(Default)]
struct Mean {
    sum: u64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: u64) {
        (self.sum, self.count) = (self.sum + value, self.count + 1);
    }

    fn get(&self) -> Option<u64> {
        self.sum.checked_div(self.count)
    }
}

fn thread_cpu_ns() -> u64 {
    now_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Looks that may be done, with the fraction left over from the sweeps before.
#[derive(Default)]
struct LooksDue {
    credit: f64,
}

impl LooksDue {
    fn of_next_sweep(&mut self, plan: Plan) -> usize {
        self.credit = self.credit.fract() + plan.looks_per_sweep;
        self.credit as usize
    }
}

impl Sampler {
    /// Before the first sweep.
    pub fn begin(&mut self, timeline: Timeline) {
        let background = match self {
            Sampler::Memory(memory, _) => {
                memory.sweeper.begin(timeline);
                &mut memory.background
            }
            Sampler::Sql(sql) => {
                sql.begin(timeline);
                &mut sql.background
            }
        };
        background.iter_mut().for_each(background::Watched::restart);
    }

    /// How many states were looked at.
    fn sweep(&mut self, looks: usize, now_ns: u64) -> Result<usize, String> {
        match self {
            Sampler::Memory(memory, _) => memory.sweep(looks, now_ns).map_err(|error| error.to_string()),
            Sampler::Sql(sql) => sql.sweep(now_ns).map(|()| 0),
        }
    }

    /// The SQL route has 50 sweeps a second where the others have a thousand.
    fn sweeps_per_publication(&self) -> u64 {
        match self {
            Sampler::Memory(..) => live::SWEEPS_PER_PUBLICATION,
            Sampler::Sql(_) => live::SWEEPS_PER_PUBLICATION / 20,
        }
    }

    fn publish(&mut self, live: &LiveWaits) {
        match self {
            Sampler::Memory(memory, names) => live.publish(&mut memory.sweeper.ledger, |event| names.name(event)),
            Sampler::Sql(sql) => live.publish(&mut sql.ledger, |event| sql.names[event as usize - 1].clone()),
        }
    }

    /// Behind the last one.
    pub fn sum_up(self, outcome: &mut ProbeOutcome) {
        match self {
            Sampler::Memory(memory, names) => {
                outcome.fill(memory.sweeper.close(), memory.background, |event| names.name(event));
            }
            Sampler::Sql(sql) => {
                let (swept, background, names) = sql.close();
                outcome.fill(swept, background, |event| names[event as usize - 1].clone());
            }
        }
    }
}
