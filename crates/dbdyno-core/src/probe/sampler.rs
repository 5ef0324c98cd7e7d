//! One sweep over the clients' backends: the event of each of them, the state of a few.
//!
//! A look is a pair (state, event) of one backend at one instant; the two cannot be read at once.
//! *State first, then the event, at once.* A task that was seen asleep has a way to go before it can
//! change its event: wake-up, line for a CPU, return from its system call: microseconds, against the
//! fraction of one between the two reads. Event first would be wrong on the way *into* a wait: a
//! backend without an event sets one and sleeps, and the pair reads "asleep without a wait event".
//!
//! Looks go round in turn over the backends for which one would tell anything, so which snapshot gets
//! one depends on whose turn it is and not on what it shows; `counts` says what that is good for.

use std::hint::black_box;
use std::io;
use std::sync::Arc;

use super::background::Watched;
use super::budget::Costs;
use super::clocks::ClockFiles;
use super::events::EventSource;
use super::ledger::{Closed, Ledger, Look, Timeline};
use super::names::CLIENT_READ;
use super::pace::{Pace, now_ns};
use super::process::TaskState;
use crate::load::{Phase, PhaseCell};

/// How costs are measured at attach.
const ATTEMPTS: u64 = 32;
const ATTEMPT_PERIOD_NS: u64 = 200_000;

/// One look in so many is at a background process.
const LOOKS_PER_BACKGROUND_LOOK: usize = 8;

/// What is swept over.
pub trait Backends {
    /// Makes the events of all clients current, where reading one is not free.
    fn refresh(&mut self) -> io::Result<()>;
    /// Of one client, as of the last refresh or now.
    fn event(&self, client: usize) -> u32;
    /// State and event of one client now; None when its backend is gone. The clocks too, if they are wanted.
    fn look(&mut self, client: usize, with_clocks: bool) -> io::Result<Option<(Look, u32)>>;
}

/// What all sweeps have seen.
pub struct Swept {
    /// Counts.
    pub closed: Closed,
    /// Sweeps in which a client was in its span.
    pub sweeps: u64,
    /// First and last of them.
    pub swept_ns: Option<(u64, u64)>,
}

impl Swept {
    /// Mean time between two sweeps; None where there were fewer than two.
    pub fn period_ns(&self) -> Option<u64> {
        let (first_ns, last_ns) = self.swept_ns?;
        (last_ns - first_ns).checked_div(self.sweeps.saturating_sub(1))
    }
}

/// Goes over the clients and writes down what it sees.
pub struct Sweeper {
    cells: Arc<[PhaseCell]>,
    /// Result.
    pub ledger: Ledger,
    /// Sweeps in which a client was in its span.
    pub sweeps: u64,
    /// First and last of them.
    pub swept_ns: Option<(u64, u64)>,
    /// Whose turn it is.
    next: usize,
    /// Backends that have ended: their place in the server's memory may be another's.
    gone: Vec<bool>,
}

impl Sweeper {
    /// Nothing seen.
    pub fn new(cells: Arc<[PhaseCell]>) -> Self {
        let ledger = Ledger::new(cells.len(), CLIENT_READ, Timeline::default());
        let gone = vec![false; cells.len()];
        Sweeper { cells, ledger, sweeps: 0, swept_ns: None, next: 0, gone }
    }

    /// Before the first sweep.
    pub fn begin(&mut self, timeline: Timeline) {
        self.ledger = Ledger::new(self.cells.len(), CLIENT_READ, timeline);
    }

    /// Behind the last one.
    pub fn close(self) -> Swept {
        Swept {
            closed: self.ledger.close(&self.cells, self.swept_ns.map_or(0, |(_, last)| last)),
            sweeps: self.sweeps,
            swept_ns: self.swept_ns,
        }
    }

    /// One snapshot of every client, with the states of so many at most; how many it were.
    pub fn sweep(&mut self, backends: &mut impl Backends, looks: usize, now_ns: u64) -> io::Result<usize> {
        if self.cells.iter().all(|cell| cell.get() == Phase::OutsideSpan) {
            return Ok(0);
        }
        let mut looked = 0;
        self.sweeps += 1;
        self.swept_ns = Some((self.swept_ns.map_or(now_ns, |(first, _)| first), now_ns));
        backends.refresh()?;
        let first = self.next;
        for client in (first..self.cells.len()).chain(0..first) {
            if self.gone[client] {
                continue;
            }
            let cell = &self.cells[client];
            let place = cell.place();
            let event = backends.event(client);
            if looked == looks || !self.ledger.wants_look(place, event) {
                self.ledger.see(client, cell, place, event, now_ns);
                continue;
            }
            looked += 1;
            self.next = client + 1;
            match backends.look(client, place.phase() == Phase::InUnit)? {
                Some((look, event)) => self.ledger.see_looked(client, cell, event, &look, now_ns),
                None => self.gone[client] = true,
            }
        }
        self.next %= self.cells.len();
        Ok(looked)
    }
}

/// The clients' backends as the server's memory and the kernel show them.
pub struct ServerBackends {
    /// Clients first, then background processes.
    pub source: EventSource,
    /// Of each client's backend.
    pub files: Arc<[ClockFiles]>,
    events: Vec<u32>,
}

impl ServerBackends {
    /// Words and files in the order of the clients.
    pub fn new(source: EventSource, files: Arc<[ClockFiles]>) -> Self {
        let events = vec![0; files.len()];
        ServerBackends { source, files, events }
    }
}

impl Backends for ServerBackends {
    fn refresh(&mut self) -> io::Result<()> {
        self.source.read_clients(0..self.files.len(), &mut self.events)
    }

    fn event(&self, client: usize) -> u32 {
        self.events[client]
    }

    fn look(&mut self, client: usize, with_clocks: bool) -> io::Result<Option<(Look, u32)>> {
        let files = &self.files[client];
        let Some(state) = files.state.read() else { return Ok(None) };
        let event = self.source.read_one(client)?;
        let clocks_ns = if with_clocks { files.schedstat.read() } else { None };
        Ok(Some((Look { state, clocks_ns }, event)))
    }
}

/// What the sampler thread owns where it reads the server's memory.
pub struct MemorySampler {
    /// The clients' backends.
    pub backends: ServerBackends,
    /// The clients.
    pub sweeper: Sweeper,
    /// Looked at in turn.
    pub background: Vec<Watched>,
    looks_done: usize,
}

impl MemorySampler {
    /// Nothing sampled yet.
    pub fn new(backends: ServerBackends, sweeper: Sweeper, background: Vec<Watched>) -> Self {
        MemorySampler { backends, sweeper, background, looks_done: 0 }
    }

    /// One snapshot of all clients; one of its looks may be at a background process. How many it were.
    pub fn sweep(&mut self, looks: usize, now_ns: u64) -> io::Result<usize> {
        let turn = self.looks_done / LOOKS_PER_BACKGROUND_LOOK;
        self.looks_done += looks;
        let is_background_turn = self.looks_done / LOOKS_PER_BACKGROUND_LOOK > turn && !self.background.is_empty();
        if is_background_turn {
            self.look_at_background(turn);
        }
        let of_background = usize::from(is_background_turn);
        let looked = self.sweeper.sweep(&mut self.backends, looks - of_background, now_ns)?;
        Ok(looked + of_background)
    }

    /// What waking up and sweeping costs this thread, which must be as punctual as that of the sampler: two
    /// readings, some milliseconds, nothing counted.
    pub fn costs(&mut self) -> io::Result<Costs> {
        let clients = self.backends.files.len();
        let mut pace = Pace::new(ATTEMPT_PERIOD_NS);
        let started_ns = now_ns(libc::CLOCK_THREAD_CPUTIME_ID);
        for _ in 0..ATTEMPTS {
            pace.sleep();
            self.backends.refresh()?;
            (0..clients).for_each(|client| _ = black_box(self.backends.event(client)));
        }
        let swept_ns = now_ns(libc::CLOCK_THREAD_CPUTIME_ID);
        for attempt in 0..ATTEMPTS {
            black_box(self.backends.look(attempt as usize % clients, true)?);
        }
        let looked_ns = now_ns(libc::CLOCK_THREAD_CPUTIME_ID);
        let each = |from_ns: u64, to_ns: u64| (to_ns - from_ns) as f64 / ATTEMPTS as f64;
        Ok(Costs { sweep_ns: each(started_ns, swept_ns), look_ns: each(swept_ns, looked_ns) })
    }

    fn look_at_background(&mut self, turn: usize) {
        let index = turn % self.background.len();
        let watched = &mut self.background[index];
        let Some(word) = watched.word else { return };
        if watched.state.read() == Some(TaskState::Asleep)
            && let Ok(event) = self.backends.source.read_one(word)
        {
            watched.asleep.add(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Backends whose events and states are what a test says; counts the looks at each.
    struct Fake {
        events: Vec<u32>,
        looks: Vec<usize>,
        gone: Option<usize>,
    }

    impl Backends for Fake {
        fn refresh(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn event(&self, client: usize) -> u32 {
            self.events[client]
        }

        fn look(&mut self, client: usize, _: bool) -> io::Result<Option<(Look, u32)>> {
            self.looks[client] += 1;
            let look = Look { state: TaskState::Asleep, clocks_ns: None };
            Ok((self.gone != Some(client)).then_some((look, self.events[client])))
        }
    }

    fn swept(fake: &mut Fake, at_rest: Option<usize>, looks: usize, sweeps: u64) -> Swept {
        let cells: Arc<[PhaseCell]> = fake.events.iter().map(|_| PhaseCell::default()).collect();
        for (client, cell) in cells.iter().enumerate() {
            match at_rest {
                Some(resting) if resting == client => cell.set(Phase::BetweenUnits),
                _ => cell.begin_unit(),
            }
        }
        let mut sweeper = Sweeper::new(cells);
        (1..=sweeps).for_each(|sweep| _ = sweeper.sweep(fake, looks, 1000 * sweep).expect("no route to fail"));
        sweeper.close()
    }

    #[test]
    fn every_backend_is_seen_each_time_and_looked_at_in_turn() {
        let mut fake = Fake { events: vec![CLIENT_READ; 10], looks: vec![0; 10], gone: None };
        let swept = swept(&mut fake, Some(4), 3, 12);
        let expected: Vec<usize> = (0..10).map(|client| if client == 4 { 0 } else { 4 }).collect();
        assert_eq!(expected, fake.looks, "one at rest between units needs no look");
        assert_eq!((12, Some(1000), 36), (swept.sweeps, swept.period_ns(), swept.closed.looked));
        for (client, counts) in swept.closed.clients.iter().enumerate() {
            let total = counts.in_unit.total();
            assert_eq!(if client == 4 { (0, 12) } else { (12, 0) }, (total.seen, counts.at_rest));
        }
    }

    #[test]
    fn a_backend_that_has_ended_is_not_seen_in_what_took_its_place() {
        let mut fake = Fake { events: vec![0; 2], looks: vec![0; 2], gone: Some(1) };
        let swept = swept(&mut fake, None, 2, 5);
        assert_eq!([5, 1], [fake.looks[0], fake.looks[1]]);
        assert_eq!([5, 0], [0, 1].map(|client: usize| swept.closed.clients[client].in_unit.total().seen));
    }
}
