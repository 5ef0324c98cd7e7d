//! From single snapshots to counts: by client, by unit of work, by length of wait.
//!
//! ```text
//! snapshot (client, place, event, perhaps a state)
//!    |- the same as the last one of this client? one more in its run, and that is all
//!    `- else the run is closed --> the client's counts      (these divide its exact time asleep)
//!                              |-> the unit it was seen in  (which goes into a cell when its letter has come)
//!                              `-> an episode, if it was a wait
//! ```
//!
//! Most snapshots of a backend are like the one before, so the usual one touches the client's word, the event and
//! one line of our own memory.

use super::counts::{ClientCounts, EventIndex, EventSnapshots, Snapshots};
use super::episodes::Episodes;
use super::process::TaskState;
use super::units::{OpenUnit, UnitCells};
use crate::load::{Phase, PhaseCell, Place};

/// Distinct events that a client is expected to be seen in.
const EVENTS_EXPECTED: usize = 64;

/// When the window begins, and how time is cut from there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timeline {
    /// On CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// What is resampled for error bars.
    pub chunk_ns: u64,
    /// Of the heat map of waits.
    pub step_ns: u64,
}

/// The state of a backend, and its clocks where it was worth reading them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Asleep or not.
    pub state: TaskState,
    /// (CPU, run queue) since the backend was born.
    pub clocks_ns: Option<(u64, u64)>,
}

/// Equal snapshots of one client in a row. A cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Run {
    place: Place,
    event: u32,
    /// Whether the unit has been asked for its letter, so that its snapshots can go to its cell.
    is_of_unit: bool,
    since_ns: u64,
    snapshots: Snapshots,
}

/// All counts of a trial.
pub struct Ledger {
    runs: Vec<Run>,
    open: Vec<OpenUnit>,
    clients: Vec<ClientCounts>,
    events: EventIndex,
    /// What a backend between units shows when it has come to rest: it reads from its client.
    rest_event: u32,
    units: UnitCells,
    episodes: Episodes,
    /// Snapshots with a state.
    looked: u64,
}

/// What a ledger holds when nothing more is written into it.
pub struct Closed {
    /// By client.
    pub clients: Vec<ClientCounts>,
    /// By index.
    pub events: Vec<u32>,
    /// Of the units that were seen.
    pub units: UnitCells,
    /// Of the waits that were seen.
    pub episodes: Episodes,
    /// Snapshots with a state.
    pub looked: u64,
}

impl Ledger {
    /// Nothing seen.
    pub fn new(clients: usize, rest_event: u32, timeline: Timeline) -> Self {
        let counts =
            || ClientCounts { in_unit: EventSnapshots::with_room_for(EVENTS_EXPECTED), ..ClientCounts::default() };
        Ledger {
            runs: vec![Run::default(); clients],
            open: (0..clients).map(|_| OpenUnit::new()).collect(),
            clients: (0..clients).map(|_| counts()).collect(),
            events: EventIndex::new(),
            rest_event,
            units: UnitCells::new(timeline.start_ns, timeline.chunk_ns),
            episodes: Episodes::new(timeline.start_ns, timeline.step_ns),
            looked: 0,
        }
    }

    /// Whether a look at the state would tell anything: outside the span nothing counts, and between units a
    /// backend that reads its client's next request has nothing else to do.
    pub fn wants_look(&self, place: Place, event: u32) -> bool {
        match place.phase() {
            Phase::InUnit => true,
            Phase::BetweenUnits => event != self.rest_event,
            Phase::OutsideSpan => false,
        }
    }

    /// One snapshot of a client, without a state.
    pub fn see(&mut self, client: usize, cell: &PhaseCell, place: Place, event: u32, now_ns: u64) {
        let run = &mut self.runs[client];
        if run.place == place && run.event == event {
            run.snapshots.seen += 1;
        } else {
            self.turn_to(client, cell, place, event, now_ns);
            self.runs[client].snapshots.seen += 1;
        }
    }

    /// One snapshot of a client, with a state.
    pub fn see_looked(&mut self, client: usize, cell: &PhaseCell, event: u32, look: &Look, now_ns: u64) {
        let place = cell.place();
        let run = &self.runs[client];
        if run.place != place || run.event != event {
            self.turn_to(client, cell, place, event, now_ns);
        }
        if place.phase() == Phase::OutsideSpan {
            return;
        }
        let run = &mut self.runs[client];
        run.snapshots += Snapshots::one(Some(look.state == TaskState::Asleep));
        self.looked += 1;
        if let (true, Some(clocks_ns)) = (run.is_of_unit, look.clocks_ns) {
            self.open[client].clocks(clocks_ns);
        }
    }

    /// The client is somewhere else than in its last snapshots, or its backend in another event.
    fn turn_to(&mut self, client: usize, cell: &PhaseCell, place: Place, event: u32, now_ns: u64) {
        self.close_run(client, now_ns);
        let unit = if place.phase() == Phase::InUnit { place.unit() } else { 0 };
        let is_of_unit = self.follow_unit(client, cell, place, unit);
        self.runs[client] = Run { place, event, is_of_unit, since_ns: now_ns, snapshots: Snapshots::default() };
    }

    /// Takes the letter about the unit seen before, if there was one, and asks for that of the unit in progress;
    /// false where there is none, or where it ended this very moment.
    fn follow_unit(&mut self, client: usize, cell: &PhaseCell, place: Place, unit: u32) -> bool {
        let open = &mut self.open[client];
        if open.number != unit && open.number != 0 {
            // It may still be on its way: then the new unit has to wait until the slot is free.
            let Some(ended) = cell.letter(open.number) else { return false };
            self.units.add(&ended, open);
            open.number = 0;
        }
        if open.number != unit && cell.ask_for_letter(place) {
            open.restart(unit);
        }
        unit != 0 && open.number == unit
    }

    fn close_run(&mut self, client: usize, now_ns: u64) {
        let run = self.runs[client];
        if run.snapshots.is_empty() {
            return;
        }
        match run.place.phase() {
            Phase::OutsideSpan => {}
            Phase::BetweenUnits if run.event == self.rest_event => self.clients[client].at_rest += run.snapshots.seen,
            Phase::BetweenUnits => self.clients[client].between_units += run.snapshots,
            Phase::InUnit => {
                let event = self.events.of(run.event);
                self.clients[client].in_unit.add(event, run.snapshots);
                if run.is_of_unit {
                    self.open[client].add(event, run.place.statement(), run.snapshots);
                }
                if run.event != 0 {
                    self.episodes.add(event, run.since_ns, now_ns);
                }
            }
        }
    }

    /// What is known so far of all clients in units together, the runs under way included, for a watcher.
    pub fn in_units_so_far(&mut self) -> EventSnapshots {
        let mut all = EventSnapshots::default();
        self.clients.iter().for_each(|client| all.add_all(&client.in_unit));
        for run in self.runs.iter().filter(|run| run.place.phase() == Phase::InUnit) {
            all.add(self.events.of(run.event), run.snapshots);
        }
        all
    }

    /// By index, in the order of their first appearance.
    pub fn events(&self) -> &[u32] {
        self.events.events()
    }

    /// Nothing more is seen.
    pub fn close(mut self, cells: &[PhaseCell], now_ns: u64) -> Closed {
        for (client, cell) in cells.iter().enumerate() {
            self.turn_to(client, cell, Place::default(), 0, now_ns);
        }
        Closed {
            clients: self.clients,
            events: self.events.events().to_vec(),
            units: self.units,
            episodes: self.episodes,
            looked: self.looked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{EndedUnit, UnitTimes};
    use crate::probe::units::{ChunkCells, Steps};

    const REST: u32 = 0x0600_0000;
    const LOCK: u32 = 0x0300_0001;
    const TIMELINE: Timeline = Timeline { start_ns: 0, chunk_ns: 1000, step_ns: 1000 };

    fn ended(start_ns: u64, end_ns: u64) -> EndedUnit {
        EndedUnit { times: UnitTimes { intended_ns: start_ns, start_ns, end_ns }, script: 0 }
    }

    fn see(ledger: &mut Ledger, cell: &PhaseCell, event: u32, now_ns: u64) {
        ledger.see(0, cell, cell.place(), event, now_ns);
    }

    #[test]
    fn snapshots_go_to_the_unit_that_they_saw() {
        let cells = [PhaseCell::default()];
        let cell = &cells[0];
        let mut ledger = Ledger::new(1, REST, TIMELINE);
        see(&mut ledger, cell, 0, 10);
        cell.begin_unit();
        cell.enter_statement(Some(0));
        [20, 30, 40].into_iter().for_each(|now_ns| see(&mut ledger, cell, LOCK, now_ns));
        see(&mut ledger, cell, 0, 50);
        cell.end_unit(|| ended(15, 55));
        [60, 70].into_iter().for_each(|now_ns| see(&mut ledger, cell, REST, now_ns));
        cell.begin_unit();
        let look = |state, clocks| Look { state, clocks_ns: Some(clocks) };
        ledger.see_looked(0, cell, 0, &look(TaskState::Runnable, (100, 5)), 80);
        ledger.see_looked(0, cell, 0, &look(TaskState::Asleep, (108, 7)), 90);
        assert_eq!(Snapshots { seen: 3, looked: 2, asleep: 1 }, ledger.in_units_so_far().get(0));
        cell.end_unit(|| ended(75, 975));
        let closed = ledger.close(&cells, 1000);

        let counts = &closed.clients[0];
        assert_eq!((2, 2, Snapshots::default()), (closed.looked, counts.at_rest, counts.between_units));
        let lock = closed.events.iter().position(|event| *event == LOCK).expect("seen");
        assert_eq!(Snapshots { seen: 3, looked: 0, asleep: 0 }, counts.in_unit.get(lock));
        assert_eq!(Snapshots { seen: 3, looked: 2, asleep: 1 }, counts.in_unit.get(0));
        let found: Vec<_> = closed.units.chunks.iter().flat_map(ChunkCells::iter).collect();
        assert_eq!(2, found.len());
        assert_eq!((3, 1), (found[0].1.events.get(lock).seen, found[0].1.events.get(0).seen));
        assert_eq!((2, Steps { cpu_ns: 8, run_queue_ns: 2 }), (found[1].1.events.get(0).seen, found[1].1.steps));
        assert_eq!(3, closed.units.statements[0].get(lock).seen);
        // From the first snapshot of the lock at 20 to the first one without it at 50.
        assert_eq!(vec![(0, lock, 14, 1)], closed.episodes.counts());
    }

    #[test]
    fn a_unit_whose_letter_is_under_way_does_not_lose_it_to_the_next() {
        let cells = [PhaseCell::default()];
        let cell = &cells[0];
        let mut ledger = Ledger::new(1, REST, TIMELINE);
        cell.begin_unit();
        see(&mut ledger, cell, LOCK, 10);
        let late = std::cell::Cell::new(None);
        cell.end_unit(|| {
            // The load thread was interrupted between its swap and the letter; the sampler comes by.
            see(&mut ledger, cell, 0, 20);
            late.set(Some(()));
            ended(5, 15)
        });
        cell.begin_unit();
        see(&mut ledger, cell, LOCK, 30);
        cell.end_unit(|| ended(25, 35));
        let closed = ledger.close(&cells, 40);
        let seen: u64 =
            closed.units.chunks.iter().flat_map(ChunkCells::iter).map(|(_, cell)| cell.events.total().seen).sum();
        assert_eq!((2, 2), (seen, closed.clients[0].in_unit.total().seen));
    }
}
