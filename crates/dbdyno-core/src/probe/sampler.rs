//! The thread that takes snapshots of the server's memory.
//!
//! A snapshot is a pair (state, event) of one backend at one instant; the two cannot be read at once.
//! *State first, then the event, at once.* A task that was seen asleep has a way to go before it can
//! change its event: wake-up, line for a CPU, return from its system call: microseconds, against the
//! fraction of one between the two reads. Event first would be wrong on the way *into* a wait: a
//! backend without an event sets one and sleeps, and the pair reads "asleep without a wait event".
//!
//! Where one event costs a system call, all clients' events are copied before and after the states:
//! an event that is the same in both was there with the state; of the few others state and event are
//! read once more, one client at a time. Whether an event changed decides only which of two reads a
//! few microseconds apart counts, so short waits are not passed over.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::background::Watched;
use super::clocks::ClockFiles;
use super::counts::ClientCounts;
use super::events::EventSource;
use super::names::CLIENT_READ;
use super::process::TaskState;
use crate::load::{Phase, PhaseCell};

/// At most this many clients are looked at in one sweep, in turn, so that the cost does not grow with
/// their number. Measured under pgbench on the virtual machine of `process`: waking up takes 16 us of
/// CPU, a state 2 to 3, and a sweep of eight clients 35 to 40 us mapped, 40 to 50 us copied: 3.5 to 5 %
/// of a CPU at 1 kHz, near half of it for waking up. Eight thousand snapshots a second tell shares of a
/// one-second window apart to about 1 %, whichever clients they come from.
pub const CLIENTS_PER_SWEEP: usize = 8;

/// A background process is looked at in one sweep of so many.
const SWEEPS_PER_BACKGROUND_LOOK: usize = 4;

/// What the sampler thread owns.
pub struct MemorySampler {
    /// Clients first, then background processes.
    pub source: EventSource,
    /// Of each client's backend.
    pub files: Arc<[ClockFiles]>,
    /// What each client is doing.
    pub phases: Arc<[PhaseCell]>,
    /// Looked at in turn, one per sweep.
    pub background: Vec<Watched>,
    /// Result, by client.
    pub clients: Vec<ClientCounts>,
    /// Sweeps in which a client was in its span.
    pub sweeps: u64,
    before: Vec<u32>,
    after: Vec<u32>,
    chosen: Vec<(usize, TaskState)>,
    turns: usize,
}

impl MemorySampler {
    /// Nothing sampled yet.
    pub fn new(
        source: EventSource,
        files: Arc<[ClockFiles]>,
        phases: Arc<[PhaseCell]>,
        background: Vec<Watched>,
    ) -> Self {
        let clients = files.len();
        MemorySampler {
            source,
            files,
            phases,
            background,
            clients: (0..clients).map(|_| ClientCounts::new()).collect(),
            sweeps: 0,
            before: vec![0; CLIENTS_PER_SWEEP],
            after: vec![0; CLIENTS_PER_SWEEP],
            chosen: Vec::with_capacity(CLIENTS_PER_SWEEP),
            turns: 0,
        }
    }

    /// One snapshot of the clients in their spans and, now and then, of one background process.
    pub fn sweep(&mut self) -> io::Result<()> {
        self.turns = self.turns.wrapping_add(1);
        if self.turns.is_multiple_of(SWEEPS_PER_BACKGROUND_LOOK) {
            self.look_at_background(self.turns / SWEEPS_PER_BACKGROUND_LOOK);
        }
        if self.phases.iter().all(|cell| cell.get() == Phase::OutsideSpan) {
            return Ok(());
        }
        self.sweeps += 1;
        let clients = clients_of_turn(self.turns, self.files.len());
        match self.source.reads_one_for_free() {
            true => self.sweep_one_by_one(clients),
            false => self.sweep_at_once(clients),
        }
    }

    fn sweep_one_by_one(&mut self, clients: Range<usize>) -> io::Result<()> {
        for client in clients {
            let idle_event = self.source.read_one(client)?;
            if !self.count_idle(client, idle_event)
                && let Some(state) = self.files[client].state.read()
            {
                let event = self.source.read_one(client)?;
                self.count(client, state, event);
            }
        }
        Ok(())
    }

    fn sweep_at_once(&mut self, clients: Range<usize>) -> io::Result<()> {
        let (first, length) = (clients.start, clients.len());
        self.source.read_clients(clients.clone(), &mut self.before[..length])?;
        self.chosen.clear();
        for client in clients.clone() {
            if !self.count_idle(client, self.before[client - first])
                && let Some(state) = self.files[client].state.read()
            {
                self.chosen.push((client, state));
            }
        }
        if self.chosen.is_empty() {
            return Ok(());
        }
        self.source.read_clients(clients, &mut self.after[..length])?;
        for index in 0..self.chosen.len() {
            let (client, state) = self.chosen[index];
            let (before, after) = (self.before[client - first], self.after[client - first]);
            if before == after {
                self.count(client, state, after);
            } else if let Some(state) = self.files[client].state.read() {
                let event = self.source.read_one(client)?;
                self.count(client, state, event);
            }
        }
        Ok(())
    }

    /// Clients that need no look at the state: outside the span nothing counts, and between units a
    /// backend that has come to reading its client's next request has nothing else to do.
    fn count_idle(&mut self, client: usize, event: u32) -> bool {
        match self.phases[client].get() {
            Phase::OutsideSpan => true,
            Phase::BetweenUnits if event == CLIENT_READ => {
                self.clients[client].asleep_between_units += 1;
                true
            }
            _ => false,
        }
    }

    fn count(&mut self, client: usize, state: TaskState, event: u32) {
        let counts = &mut self.clients[client];
        match (self.phases[client].get(), state) {
            (Phase::OutsideSpan, _) => {}
            (Phase::InUnit, TaskState::Runnable) => counts.add_running_in_unit(event),
            (Phase::BetweenUnits, TaskState::Runnable) => counts.running_between_units += 1,
            (Phase::BetweenUnits, TaskState::Asleep) => counts.asleep_between_units += 1,
            (Phase::InUnit, TaskState::Asleep) => counts.asleep_in_unit.add(event),
        }
    }

    fn look_at_background(&mut self, turn: usize) {
        let index = turn % self.background.len().max(1);
        let Some(watched) = self.background.get_mut(index) else { return };
        let Some(word) = watched.word else { return };
        if watched.state.read() == Some(TaskState::Asleep)
            && let Ok(event) = self.source.read_one(word)
        {
            watched.asleep.add(event);
        }
    }
}

/// The clients to look at this time: one of the groups, in turn.
fn clients_of_turn(turn: usize, clients: usize) -> Range<usize> {
    let groups = clients.div_ceil(CLIENTS_PER_SWEEP).max(1);
    let first = turn % groups * CLIENTS_PER_SWEEP;
    first..clients.min(first + CLIENTS_PER_SWEEP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_clients_are_all_looked_at_and_many_in_turn() {
        assert_eq!([0, 1].map(|turn| clients_of_turn(turn, 3)), [0..3, 0..3]);
        assert_eq!([0, 1, 2].map(|turn| clients_of_turn(turn, 10)), [0..8, 8..10, 0..8]);
        assert_eq!(clients_of_turn(5, 0), 0..0);
    }
}
