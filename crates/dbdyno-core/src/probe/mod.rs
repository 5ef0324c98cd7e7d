//! What the server did while the load ran: its waits and its clocks, seen from outside.
//!
//! ```text
//!  load threads -- a word per client --> sampler thread: sweeper -- event, few states --> ledger
//!       |    `---- a letter per unit seen -------^  | reads the server's memory and /proc/PID/stat    |- by client
//!       `-- clocks, counters at span edges          | (or asks pg_stat_activity where it cannot)     |- by unit: cells
//!              /proc/PID/schedstat, status          |- pace, budget: when, and for how much CPU      `- episodes
//!                                                   `- background processes, now and then
//! ```
//!
//! In: the postmaster's and the backends' process ids. Out: for each client and for each unit that was seen, how
//! many snapshots there are by wait event, how many of them have a state, and how many of those found the backend
//! asleep. The counts divide the time asleep that the exact clocks give (docs/architecture.md, "The profile's
//! identity"); they are no times themselves.
//!
//! Nothing is installed in the server, nothing is written to it, and no signal is sent to it.

mod activity;
mod attach;
mod background;
pub(crate) mod budget;
pub mod clocks;
mod copied;
mod counts;
mod elf;
mod episodes;
mod events;
mod layout;
mod ledger;
mod live;
mod made_names;
mod mapped;
mod maps;
mod names;
mod open;
pub(crate) mod pace;
mod process;
mod process_array;
mod program;
mod program_names;
mod rates;
mod route;
mod sampler;
mod self_test;
mod shared_memory;
mod sql;
mod status_array;
mod stolen;
mod switches;
mod task_clock;
mod units;
mod wait_events_14;
mod wait_events_15;
mod wait_events_16;
mod wait_events_17;
mod wait_events_18;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

pub use activity::{ACTIVITY_SQL, Activity, SqlWaits};
pub use attach::attach;
pub use background::BackgroundProcess;
pub use counts::{ClientCounts, EventSnapshots, Snapshots};
pub use episodes::{BINS_PER_DECADE as EPISODE_BINS_PER_DECADE, Episodes};
pub use layout::Layout;
pub use ledger::{Closed, Timeline};
pub use live::LiveWaits;
pub use names::WaitNames;
pub use open::{open_server, open_server_by_names};
pub(crate) use process::{StateFile, TaskState, parent, process_kind};
pub use process::{children, session_pids};
pub use process_array::ProcessArray;
pub use rates::AsleepRates;
pub use route::{Route, RouteRequest};
pub use sampler::Swept;
pub use shared_memory::SharedMemory;
pub use status_array::StatusArray;
pub use units::{BINS_PER_DECADE, CHUNKS_MAX, Cell, ChunkCells, UnitCells};

pub(crate) use pace::{Pace, be_punctual, now_ns};

use budget::{Budget, Plan, SWEEPS_PER_READING};
use clocks::{ClockFiles, block_io_is_accounted};
use sampler::MemorySampler;
use sql::SqlSampler;
use stolen::HostTicks;

use crate::load::{BackendClocks, BackendCounters, Observer};

/// What a probe has seen.
pub struct ProbeOutcome {
    /// How.
    pub route: Route,
    /// Why not by a better route, or why sampling ended early.
    pub note: Option<String>,
    /// Names of the events that counts go by; the first one is that of no event, and empty.
    pub events: Vec<String>,
    /// By client and by unit; None where nothing was sampled.
    pub swept: Option<Swept>,
    /// Server processes that serve no client and lived from start to finish.
    pub background: Vec<BackgroundProcess>,
    /// CPU time of the sampler thread.
    pub sampler_cpu_ns: u64,
    /// Of one sweep in the mean, without waking up for it.
    pub sweeping_cpu_ns: Option<u64>,
    /// Why block-I/O delays are not known.
    pub block_io_note: Option<String>,
    /// Time taken from this host's CPUs for each unit of CPU time; None where the backends' clocks cannot be read.
    pub stolen_per_cpu_time: Option<f64>,
}

enum Sampler {
    Memory(MemorySampler, WaitNames),
    Sql(SqlSampler),
}

/// A server being watched: attached, then started, then finished.
pub struct Probe {
    route: Route,
    note: Option<String>,
    files: Option<Arc<[ClockFiles]>>,
    block_io: Result<(), String>,
    /// Waits here for its thread; the mutexes, never contended, are what lets load threads share the probe.
    sampler: Mutex<Option<Sampler>>,
    budget: Budget,
    /// Of the host, at the start.
    ticks: Mutex<Option<HostTicks>>,
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<Sampled>>>,
}

/// What the thread hands back.
struct Sampled {
    sampler: Sampler,
    failure: Option<String>,
    cpu_ns: u64,
    sweeping_cpu_ns: Option<u64>,
}

impl Probe {
    fn new(
        route: Route,
        note: Option<String>,
        files: Option<Arc<[ClockFiles]>>,
        sampler: Option<Sampler>,
        budget: Budget,
    ) -> Self {
        Probe {
            route,
            note,
            files,
            block_io: block_io_is_accounted(),
            sampler: Mutex::new(sampler),
            budget,
            ticks: Mutex::default(),
            stop: Arc::default(),
            thread: Mutex::default(),
        }
    }

    /// The route in use.
    pub fn route(&self) -> Route {
        self.route
    }

    /// Start taking snapshots; `live` sees them, too, if somebody watches.
    pub fn start(&self, timeline: Timeline, live: Option<LiveWaits>) {
        *self.ticks.lock().expect("no thread holds it") = HostTicks::now();
        let Some(mut sampler) = self.sampler.lock().expect("no thread holds it").take() else { return };
        sampler.begin(timeline);
        let (stop, budget) = (self.stop.clone(), self.budget);
        let thread = thread::Builder::new().name("dbdyno-probe".to_owned());
        let thread =
            thread.spawn(move || sample(sampler, &stop, budget, live.as_ref())).expect("a thread can be started");
        *self.thread.lock().expect("no thread holds it") = Some(thread);
    }

    /// Stop and sum up.
    pub fn finish(mut self) -> ProbeOutcome {
        self.stop.store(true, Ordering::Relaxed);
        let mut outcome = ProbeOutcome {
            route: self.route,
            note: self.note.take(),
            events: vec![String::new()],
            swept: None,
            background: Vec::new(),
            sampler_cpu_ns: 0,
            sweeping_cpu_ns: None,
            block_io_note: std::mem::replace(&mut self.block_io, Ok(())).err(),
            stolen_per_cpu_time: self.stolen_per_cpu_time(),
        };
        if let Some(thread) = self.thread.get_mut().expect("no thread holds it").take() {
            let sampled = thread.join().expect("the sampler does not panic");
            outcome.sampler_cpu_ns = sampled.cpu_ns;
            outcome.sweeping_cpu_ns = sampled.sweeping_cpu_ns;
            outcome.note = [outcome.note, sampled.failure].into_iter().flatten().reduce(|a, b| format!("{a}; {b}"));
            sampled.sampler.sum_up(&mut outcome);
        }
        outcome
    }
}

impl Probe {
    fn stolen_per_cpu_time(&self) -> Option<f64> {
        self.files.as_ref()?;
        let before = (*self.ticks.lock().expect("no thread holds it"))?;
        Some(HostTicks::now()?.stolen_per_cpu_time(&before))
    }
}

impl Observer for Probe {
    fn read_clocks(&self, client: usize) -> Option<BackendClocks> {
        self.files.as_ref()?[client].read()
    }

    fn read_counters(&self, client: usize) -> Option<BackendCounters> {
        self.files.as_ref()?[client].read_counters(self.block_io.is_ok())
    }
}

impl Drop for Probe {
    /// The server's memory is let go of before anybody can restart the server: a trial that failed, too.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.get_mut().ok().and_then(Option::take) {
            _ = thread.join();
        }
    }
}

fn sample(mut sampler: Sampler, stop: &AtomicBool, budget: Budget, live: Option<&LiveWaits>) -> Sampled {
    be_punctual();
    let mut spending = Spending::new(budget);
    let mut pace = Pace::new(spending.plan.period_ns);
    let mut failure = None;
    let mut sweeps = 0_u64;
    let mut sweeping = Mean::default();
    while failure.is_none() && !stop.load(Ordering::Relaxed) {
        let now_ns = pace.sleep();
        let timed_from_ns = sweeps.is_multiple_of(SWEEPS_PER_TIMED_ONE).then(thread_cpu_ns);
        match sampler.sweep(spending.looks(), now_ns) {
            Ok(looked) => spending.swept(looked, &mut pace),
            Err(error) => failure = Some(format!("sampling ended early: {error}")),
        }
        if let Some(from_ns) = timed_from_ns {
            sweeping.add(thread_cpu_ns() - from_ns);
        }
        sweeps += 1;
        if let Some(live) = live
            && sweeps.is_multiple_of(sampler.sweeps_per_publication())
        {
            sampler.publish(live);
        }
    }
    Sampled { sampler, failure, cpu_ns: thread_cpu_ns(), sweeping_cpu_ns: sweeping.get() }
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

/// Keeps to the budget while sweeps go on.
struct Spending {
    budget: Budget,
    plan: Plan,
    /// Looks that may be done, with the fraction left over from the sweeps before.
    credit: f64,
    /// Sweeps until the next reading of the clock.
    reading_due: u64,
    sweeps: u64,
    looks: u64,
    cpu_ns: u64,
}

impl Spending {
    fn new(budget: Budget) -> Self {
        Spending {
            budget,
            plan: budget.plan(),
            credit: 0.0,
            reading_due: *SWEEPS_PER_READING.start(),
            sweeps: 0,
            looks: 0,
            cpu_ns: thread_cpu_ns(),
        }
    }

    /// How many states the next sweep may look at.
    fn looks(&mut self) -> usize {
        self.credit = self.credit.fract() + self.plan.looks_per_sweep;
        self.credit as usize
    }

    fn swept(&mut self, looks: usize, pace: &mut Pace) {
        (self.sweeps, self.looks) = (self.sweeps + 1, self.looks + looks as u64);
        if self.sweeps < self.reading_due {
            return;
        }
        self.reading_due = (self.reading_due * 2).min(*SWEEPS_PER_READING.end());
        let now_ns = thread_cpu_ns();
        self.budget.spent(now_ns - self.cpu_ns, self.sweeps, self.looks);
        self.plan = self.budget.plan();
        pace.change_to(self.plan.period_ns);
        (self.sweeps, self.looks, self.cpu_ns) = (0, 0, now_ns);
    }
}

impl Sampler {
    fn begin(&mut self, timeline: Timeline) {
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

    fn sum_up(self, outcome: &mut ProbeOutcome) {
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

impl ProbeOutcome {
    fn fill(&mut self, swept: Swept, background: Vec<background::Watched>, name: impl Fn(u32) -> String) {
        let names = swept.closed.events.iter();
        self.events = names.map(|&event| if event == 0 { String::new() } else { name(event) }).collect();
        self.background = background.into_iter().filter_map(|watched| watched.finish(&name)).collect();
        self.swept = Some(swept);
    }
}
