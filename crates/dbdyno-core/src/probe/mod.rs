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
pub(crate) mod spending;
mod sql;
mod status_array;
mod stolen;
mod switches;
mod task_clock;
mod thread;
mod units;
mod wait_events_14;
mod wait_events_15;
mod wait_events_16;
mod wait_events_17;
mod wait_events_18;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

pub use activity::{ACTIVITY_SQL, Activity, SqlWaits, activity_over};
pub use attach::attach;
pub use background::BackgroundProcess;
pub use counts::{ClientCounts, EventSnapshots, Snapshots};
pub(crate) use elf::{Segment, load_bias};
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
pub use thread::SamplerCost;
pub use units::{BINS_PER_DECADE, CHUNKS_MAX, Cell, ChunkCells, UnitCells};

pub(crate) use pace::{Pace, be_punctual, now_ns};

use budget::Budget;
use clocks::{ClockFiles, block_io_is_accounted};
use stolen::HostTicks;
use thread::{Sampled, Sampler, sample};

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
    /// Of the sampler thread.
    pub sampler_cost: SamplerCost,
    /// Why block-I/O delays are not known.
    pub block_io_note: Option<String>,
    /// Time taken from this host's CPUs for each unit of CPU time; None where the backends' clocks cannot be read.
    pub stolen_per_cpu_time: Option<f64>,
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
        let thread = Builder::new().name("dbdyno-probe".to_owned());
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
            sampler_cost: SamplerCost::default(),
            block_io_note: std::mem::replace(&mut self.block_io, Ok(())).err(),
            stolen_per_cpu_time: self.stolen_per_cpu_time(),
        };
        if let Some(thread) = self.thread.get_mut().expect("no thread holds it").take() {
            let sampled = thread.join().expect("the sampler does not panic");
            outcome.sampler_cost = sampled.cost;
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

impl ProbeOutcome {
    fn fill(&mut self, swept: Swept, background: Vec<background::Watched>, name: impl Fn(u32) -> String) {
        let names = swept.closed.events.iter();
        self.events = names.map(|&event| if event == 0 { String::new() } else { name(event) }).collect();
        self.background = background.into_iter().filter_map(|watched| watched.finish(&name)).collect();
        self.swept = Some(swept);
    }
}
