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
use std::sync::Arc;

use super::background::Watched;
use super::clocks::ClockFiles;
use super::counts::ClientCounts;
use super::events::EventSource;
use super::names::CLIENT_READ;
use super::pace::Pace;
use super::process::TaskState;
use crate::load::{Phase, PhaseCell};

/// At most this many clients are looked at in one sweep, in turn, so that hundreds of clients do not
/// cost more than a few percent of a CPU (a state costs 1.8 us).
const CLIENTS_PER_SWEEP: usize = 32;

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
    next_background: usize,
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
            before: vec![0; clients],
            after: vec![0; clients],
            chosen: Vec::with_capacity(CLIENTS_PER_SWEEP),
            next_background: 0,
        }
    }

    /// One snapshot of the clients in their spans and of one background process.
    pub fn sweep(&mut self, pace: &mut Pace) -> io::Result<()> {
        self.look_at_background();
        let clients = self.files.len();
        let in_span = |client: usize| self.phases[client].get() != Phase::OutsideSpan;
        if !(0..clients).any(in_span) {
            return Ok(());
        }
        self.sweeps += 1;
        let first = if clients > CLIENTS_PER_SWEEP { pace.below(clients) } else { 0 };
        match self.source.reads_one_for_free() {
            true => self.sweep_one_by_one(first),
            false => self.sweep_at_once(first),
        }
    }

    fn sweep_one_by_one(&mut self, first: usize) -> io::Result<()> {
        for client in clients_of_sweep(first, self.files.len()) {
            let idle_event = self.source.read_one(client)?;
            if self.count_idle(client, idle_event) {
                continue;
            }
            let Some(state) = self.files[client].state.read() else { continue };
            let event = self.source.read_one(client)?;
            self.count(client, state, event);
        }
        Ok(())
    }

    fn sweep_at_once(&mut self, first: usize) -> io::Result<()> {
        self.source.read_clients(&mut self.before)?;
        self.chosen.clear();
        for client in clients_of_sweep(first, self.files.len()) {
            if !self.count_idle(client, self.before[client])
                && let Some(state) = self.files[client].state.read()
            {
                self.chosen.push((client, state));
            }
        }
        if self.chosen.is_empty() {
            return Ok(());
        }
        self.source.read_clients(&mut self.after)?;
        for index in 0..self.chosen.len() {
            let (client, state) = self.chosen[index];
            let (before, after) = (self.before[client], self.after[client]);
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
            (_, TaskState::Runnable) => counts.running += 1,
            (Phase::BetweenUnits, TaskState::Asleep) => counts.asleep_between_units += 1,
            (Phase::InUnit, TaskState::Asleep) => counts.asleep_in_unit.add(event),
        }
    }

    fn look_at_background(&mut self) {
        self.next_background = (self.next_background + 1) % self.background.len().max(1);
        let Some(watched) = self.background.get_mut(self.next_background) else { return };
        let Some(word) = watched.word else { return };
        if watched.state.read() == Some(TaskState::Asleep)
            && let Ok(event) = self.source.read_one(word)
        {
            watched.asleep.add(event);
        }
    }
}

/// The clients to look at, beginning with `first`.
fn clients_of_sweep(first: usize, clients: usize) -> impl Iterator<Item = usize> {
    (0..clients.min(CLIENTS_PER_SWEEP)).map(move |step| (first + step) % clients)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_looks_at_each_of_few_clients_once_and_at_a_window_of_many() {
        assert_eq!(clients_of_sweep(0, 3).collect::<Vec<_>>(), [0, 1, 2]);
        let window: Vec<_> = clients_of_sweep(90, 100).collect();
        assert_eq!(window.len(), CLIENTS_PER_SWEEP);
        assert_eq!((window[0], window[9], window[10]), (90, 99, 0));
    }
}
