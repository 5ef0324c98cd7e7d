//! What the server did while the load ran: its waits and its clocks, seen from outside.
//!
//! ```text
//!  load threads --- Phase per client ---> sampler thread --- state, event ---> counts by client
//!       |                                      | reads /proc/PID/stat and the server's shared memory
//!       `-- read_clocks at span edges          | (or asks pg_stat_activity where it cannot)
//!              /proc/PID/schedstat             `-> background processes, one a sweep
//! ```
//!
//! In: the postmaster's and the backends' process ids. Out: for each client, how many snapshots found
//! its backend asleep, by wait event, and how many running. The counts divide the time asleep that the
//! exact clocks give (docs/architecture.md, "The profile's identity"); they are no times themselves.
//!
//! Nothing is installed in the server, nothing is written to it, and no signal is sent to it.

mod activity;
mod attach;
mod background;
mod clocks;
mod copied;
mod counts;
mod elf;
mod events;
mod layout;
mod live;
mod mapped;
mod maps;
mod names;
mod open;
mod pace;
mod process;
mod process_array;
mod program;
mod route;
mod sampler;
mod self_test;
mod shared_memory;
mod sql;
mod status_array;
mod wait_events_18;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

pub use activity::{ACTIVITY_SQL, Activity, SqlWaits};
pub use attach::attach;
pub use background::BackgroundProcess;
pub use layout::Layout;
pub use live::LiveWaits;
pub use names::WaitNames;
pub use open::open_server;
pub use process::{children, session_pids};
pub use process_array::ProcessArray;
pub use route::{Route, RouteRequest};
pub use shared_memory::SharedMemory;
pub use status_array::StatusArray;

pub(crate) use pace::{Pace, be_punctual, now_ns};

use clocks::ClockFiles;
use counts::{ClientCounts, EventCounts};
use sampler::MemorySampler;
use sql::SqlSampler;

use crate::load::{BackendClocks, Observer};

/// Snapshots of one client's backend within its span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientSnapshots {
    /// Asleep with a unit in progress, by the engine's name of the wait event.
    pub asleep_in_unit: BTreeMap<String, u64>,
    /// Asleep with a unit in progress and without a wait event.
    pub asleep_in_unit_no_wait_event: u64,
    /// Asleep between units.
    pub asleep_between_units: u64,
    /// On a CPU or in line for one with a unit in progress.
    pub running_in_unit: u64,
    /// Those of them that still had a wait event, by its name: woken, or on the way to sleep.
    pub woken_in_unit: BTreeMap<String, u64>,
    /// On a CPU or in line for one between units.
    pub running_between_units: u64,
}

/// What a probe has seen.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeOutcome {
    /// How.
    pub route: Route,
    /// Why not by a better route, or why sampling ended early.
    pub note: Option<String>,
    /// In the order of the clients.
    pub clients: Vec<ClientSnapshots>,
    /// Server processes that serve no client and lived from start to finish.
    pub background: Vec<BackgroundProcess>,
    /// Sweeps over the clients while at least one was in its span.
    pub sweeps: u64,
    /// CPU time of the sampler thread.
    pub sampler_cpu_ns: u64,
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
    /// Waits here for its thread; the mutexes, never contended, are what lets load threads share the probe.
    sampler: Mutex<Option<Sampler>>,
    period_ns: u64,
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<Sampled>>>,
}

/// What the thread hands back.
struct Sampled {
    sampler: Sampler,
    failure: Option<String>,
    cpu_ns: u64,
}

impl Probe {
    fn new(
        route: Route,
        note: Option<String>,
        files: Option<Arc<[ClockFiles]>>,
        sampler: Option<Sampler>,
        period_ns: u64,
    ) -> Self {
        let period_ns = if route == Route::Sql { period_ns.max(sql::PERIOD_NS_MIN) } else { period_ns };
        Probe {
            route,
            note,
            files,
            sampler: Mutex::new(sampler),
            period_ns,
            stop: Arc::default(),
            thread: Mutex::default(),
        }
    }

    /// The route in use.
    pub fn route(&self) -> Route {
        self.route
    }

    /// Start taking snapshots; `live` sees them, too, if somebody watches.
    pub fn start(&self, live: Option<LiveWaits>) {
        let Some(mut sampler) = self.sampler.lock().expect("no thread holds it").take() else { return };
        sampler.background_mut().iter_mut().for_each(background::Watched::restart);
        let (stop, period_ns) = (self.stop.clone(), self.period_ns);
        let thread = thread::Builder::new().name("dbdyno-probe".to_owned());
        let thread =
            thread.spawn(move || sample(sampler, &stop, period_ns, live.as_ref())).expect("a thread can be started");
        *self.thread.lock().expect("no thread holds it") = Some(thread);
    }

    /// Stop and sum up.
    pub fn finish(mut self) -> ProbeOutcome {
        self.stop.store(true, Ordering::Relaxed);
        let mut outcome = ProbeOutcome {
            route: self.route,
            note: self.note.take(),
            clients: Vec::new(),
            background: Vec::new(),
            sweeps: 0,
            sampler_cpu_ns: 0,
        };
        if let Some(thread) = self.thread.get_mut().expect("no thread holds it").take() {
            let sampled = thread.join().expect("the sampler does not panic");
            outcome.sampler_cpu_ns = sampled.cpu_ns;
            outcome.note = [outcome.note, sampled.failure].into_iter().flatten().reduce(|a, b| format!("{a}; {b}"));
            sampled.sampler.sum_up(&mut outcome);
        }
        outcome
    }
}

impl Observer for Probe {
    fn read_clocks(&self, client: usize) -> Option<BackendClocks> {
        self.files.as_ref()?[client].read()
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn sample(mut sampler: Sampler, stop: &AtomicBool, period_ns: u64, live: Option<&LiveWaits>) -> Sampled {
    be_punctual();
    let mut pace = Pace::new(period_ns);
    let mut failure = None;
    let mut sweeps = 0_u64;
    while failure.is_none() && !stop.load(Ordering::Relaxed) {
        pace.sleep();
        let swept = match &mut sampler {
            Sampler::Memory(memory, _) => memory.sweep().map_err(|error| error.to_string()),
            Sampler::Sql(sql) => sql.sweep(),
        };
        failure = swept.err().map(|error| format!("sampling ended early: {error}"));
        sweeps += 1;
        if let Some(live) = live
            && sweeps.is_multiple_of(sampler.sweeps_per_publication())
        {
            sampler.publish(live);
        }
    }
    Sampled { sampler, failure, cpu_ns: now_ns(libc::CLOCK_THREAD_CPUTIME_ID) }
}

impl Sampler {
    fn background_mut(&mut self) -> &mut [background::Watched] {
        match self {
            Sampler::Memory(memory, _) => &mut memory.background,
            Sampler::Sql(sql) => &mut sql.background,
        }
    }

    /// The SQL route has 50 sweeps a second where the others have a thousand.
    fn sweeps_per_publication(&self) -> u64 {
        match self {
            Sampler::Memory(..) => live::SWEEPS_PER_PUBLICATION,
            Sampler::Sql(_) => live::SWEEPS_PER_PUBLICATION / 20,
        }
    }

    fn publish(&self, live: &LiveWaits) {
        match self {
            Sampler::Memory(memory, names) => live.publish(&memory.clients, |event| names.name(event)),
            Sampler::Sql(sql) => live.publish(&sql.clients, |event| sql.name(event).to_owned()),
        }
    }

    fn sum_up(self, outcome: &mut ProbeOutcome) {
        match self {
            Sampler::Memory(memory, names) => {
                outcome.fill(memory.clients, memory.background, memory.sweeps, |event| names.name(event));
            }
            Sampler::Sql(sql) => {
                let (clients, background, names, sweeps) = sql.into_parts();
                outcome.fill(clients, background, sweeps, |event| names[event as usize - 1].clone());
            }
        }
    }
}

impl ProbeOutcome {
    fn fill(
        &mut self,
        clients: Vec<ClientCounts>,
        background: Vec<background::Watched>,
        sweeps: u64,
        name: impl Fn(u32) -> String,
    ) {
        self.sweeps = sweeps;
        self.clients = clients.iter().map(|counts| ClientSnapshots::new(counts, &name)).collect();
        self.background = background.into_iter().filter_map(|watched| watched.finish(&name)).collect();
    }
}

impl ClientSnapshots {
    fn new(counts: &ClientCounts, name: impl Fn(u32) -> String) -> Self {
        let named = |counts: &EventCounts| {
            let events = counts.iter().filter(|(event, _)| *event != 0);
            events.map(|(event, count)| (name(event), count)).collect()
        };
        ClientSnapshots {
            asleep_in_unit: named(&counts.asleep_in_unit),
            asleep_in_unit_no_wait_event: counts.asleep_in_unit.get(0),
            asleep_between_units: counts.asleep_between_units,
            running_in_unit: counts.running_in_unit,
            woken_in_unit: named(&counts.woken_in_unit),
            running_between_units: counts.running_between_units,
        }
    }
}
