//! Snapshots over SQL: for servers whose memory cannot be read, on other hosts above all.
//!
//! The server answers some time between question and answer, so the state of a backend cannot be
//! read at the same instant. On this host it is read on both sides of the query: an event counts as
//! asleep unless the backend was runnable on both sides, no event counts as asleep only if it slept
//! on both. For another host only the event is known: an event is asleep, none is running.

use std::sync::Arc;

use super::activity::{Activity, SqlWaits};
use super::background::Watched;
use super::clocks::ClockFiles;
use super::counts::ClientCounts;
use super::process::TaskState;
use crate::load::{Phase, PhaseCell};

/// The shortest mean time between two queries: one costs the server 0.2 to 1 ms of CPU.
pub const PERIOD_NS_MIN: u64 = 20_000_000;

/// What the sampler thread owns on this route.
pub struct SqlSampler {
    query: SqlWaits,
    client_pids: Vec<i32>,
    /// None for another host.
    files: Option<Arc<[ClockFiles]>>,
    phases: Arc<[PhaseCell]>,
    /// Looked at whenever the server shows them.
    pub background: Vec<Watched>,
    /// Result, by client.
    pub clients: Vec<ClientCounts>,
    /// Sweeps in which a client was in its span.
    pub sweeps: u64,
    /// Names seen; event n is at n - 1.
    names: Vec<String>,
}

impl SqlSampler {
    /// Nothing sampled yet.
    pub fn new(
        query: SqlWaits,
        client_pids: &[i32],
        files: Option<Arc<[ClockFiles]>>,
        phases: Arc<[PhaseCell]>,
        background: Vec<Watched>,
    ) -> Self {
        SqlSampler {
            query,
            client_pids: client_pids.to_vec(),
            files,
            phases,
            background,
            clients: client_pids.iter().map(|_| ClientCounts::new()).collect(),
            sweeps: 0,
            names: Vec::new(),
        }
    }

    /// One snapshot of everything that the server shows.
    pub fn sweep(&mut self) -> Result<(), String> {
        if self.phases.iter().all(|cell| cell.get() == Phase::OutsideSpan) {
            return Ok(());
        }
        self.sweeps += 1;
        let before = self.states();
        let rows = (self.query)()?;
        let after = self.states();
        for Activity { pid, wait, .. } in rows {
            let event = wait.map_or(0, |name| self.number(name));
            if let Some(client) = self.client_pids.iter().position(|&known| known == pid) {
                self.count(client, event, before[client], after[client]);
            } else if let Some(watched) = self.background.iter_mut().find(|watched| watched.pid == pid) {
                watched.asleep.add(event);
            }
        }
        Ok(())
    }

    /// The server's name of an event.
    pub fn name(&self, event: u32) -> &str {
        &self.names[event as usize - 1]
    }

    /// Results: clients, background, names, sweeps.
    pub fn into_parts(self) -> (Vec<ClientCounts>, Vec<Watched>, Vec<String>, u64) {
        (self.clients, self.background, self.names, self.sweeps)
    }

    fn states(&self) -> Vec<Option<TaskState>> {
        match &self.files {
            Some(files) => files.iter().map(|file| file.state.read()).collect(),
            None => vec![None; self.client_pids.len()],
        }
    }

    fn number(&mut self, name: String) -> u32 {
        let index = self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        index as u32 + 1
    }

    fn count(&mut self, client: usize, event: u32, before: Option<TaskState>, after: Option<TaskState>) {
        let counts = &mut self.clients[client];
        match (self.phases[client].get(), is_asleep(event, before, after)) {
            (Phase::OutsideSpan, _) => {}
            (Phase::InUnit, false) => counts.add_running_in_unit(event),
            (Phase::BetweenUnits, false) => counts.running_between_units += 1,
            (Phase::BetweenUnits, true) => counts.asleep_between_units += 1,
            (Phase::InUnit, true) => counts.asleep_in_unit.add(event),
        }
    }
}

fn is_asleep(event: u32, before: Option<TaskState>, after: Option<TaskState>) -> bool {
    let both = |state| before == Some(state) && after == Some(state);
    if event == 0 { both(TaskState::Asleep) } else { !both(TaskState::Runnable) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TaskState::{Asleep, Runnable};

    #[test]
    fn states_around_the_query_decide() {
        let cases = [
            (1, Some(Asleep), Some(Asleep), true),
            (1, Some(Asleep), Some(Runnable), true),
            (1, Some(Runnable), Some(Runnable), false),
            (1, None, None, true),
            (0, Some(Asleep), Some(Asleep), true),
            (0, Some(Asleep), Some(Runnable), false),
            (0, None, None, false),
        ];
        for (event, before, after, expected) in cases {
            assert_eq!(is_asleep(event, before, after), expected, "{event} {before:?} {after:?}");
        }
    }

    #[test]
    fn only_clients_in_their_span_count() {
        let phases: Arc<[PhaseCell]> = (0..3).map(|_| PhaseCell::default()).collect();
        phases[0].set(Phase::InUnit);
        phases[1].set(Phase::BetweenUnits);
        let row = |pid| Activity { pid, wait: Some("IO:WalSync".to_owned()), ..Activity::default() };
        let silent = Activity { pid: 11, ..Activity::default() };
        let query: SqlWaits = Box::new(move || Ok(vec![row(11), row(12), row(13), row(99), silent.clone()]));
        let mut sampler = SqlSampler::new(query, &[11, 12, 13], None, phases, Vec::new());
        sampler.sweep().unwrap();
        sampler.sweep().unwrap();
        let (clients, _, names, sweeps) = sampler.into_parts();
        assert_eq!((sweeps, names.as_slice()), (2, &["IO:WalSync".to_owned()][..]));
        assert_eq!(clients[0].asleep_in_unit.iter().collect::<Vec<_>>(), [(1, 2)]);
        assert_eq!((clients[0].running_in_unit, clients[0].asleep_between_units), (2, 0));
        assert_eq!((clients[1].running_between_units, clients[1].asleep_between_units), (0, 2));
        assert_eq!((clients[2].running_in_unit, clients[2].asleep_between_units), (0, 0));
    }
}
