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
use super::ledger::{Ledger, Look, Timeline};
use super::process::TaskState;
use super::sampler::Swept;
use crate::load::{Phase, PhaseCell};

/// The shortest mean time between two queries: one costs the server 0.2 to 1 ms of CPU.
pub const PERIOD_NS_MIN: u64 = 20_000_000;

/// Events are numbered as they come, and all are looked at: none stands for a backend at rest.
const NO_EVENT_IS_REST: u32 = u32::MAX;

/// What the sampler thread owns on this route.
pub struct SqlSampler {
    query: SqlWaits,
    client_pids: Vec<i32>,
    /// None for another host.
    files: Option<Arc<[ClockFiles]>>,
    phases: Arc<[PhaseCell]>,
    /// Looked at whenever the server shows them.
    pub background: Vec<Watched>,
    /// Result.
    pub ledger: Ledger,
    sweeps: u64,
    swept_ns: Option<(u64, u64)>,
    /// Names seen; event n is at n - 1.
    pub names: Vec<String>,
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
            ledger: Ledger::new(phases.len(), NO_EVENT_IS_REST, Timeline::default()),
            phases,
            background,
            sweeps: 0,
            swept_ns: None,
            names: Vec::new(),
        }
    }

    /// Before the first sweep.
    pub fn begin(&mut self, timeline: Timeline) {
        self.ledger = Ledger::new(self.phases.len(), NO_EVENT_IS_REST, timeline);
    }

    /// One snapshot of everything that the server shows.
    pub fn sweep(&mut self, now_ns: u64) -> Result<(), String> {
        if self.phases.iter().all(|cell| cell.get() == Phase::OutsideSpan) {
            return Ok(());
        }
        self.sweeps += 1;
        self.swept_ns = Some((self.swept_ns.map_or(now_ns, |(first, _)| first), now_ns));
        let before = self.states();
        let rows = (self.query)()?;
        let after = self.states();
        for Activity { pid, wait, .. } in rows {
            let event = wait.map_or(0, |name| self.number(name));
            if let Some(client) = self.client_pids.iter().position(|&known| known == pid) {
                self.count(client, event, before[client], after[client], now_ns);
            } else if let Some(watched) = self.background.iter_mut().find(|watched| watched.pid == pid) {
                watched.asleep.add(event);
            }
        }
        Ok(())
    }

    /// Behind the last sweep: counts, background, names.
    pub fn close(self) -> (Swept, Vec<Watched>, Vec<String>) {
        let closed = self.ledger.close(&self.phases, self.swept_ns.map_or(0, |(_, last)| last));
        (Swept { closed, sweeps: self.sweeps, swept_ns: self.swept_ns }, self.background, self.names)
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

    fn count(&mut self, client: usize, event: u32, before: Option<TaskState>, after: Option<TaskState>, now_ns: u64) {
        let state = if is_asleep(event, before, after) { TaskState::Asleep } else { TaskState::Runnable };
        let look = Look { state, clocks_ns: None };
        self.ledger.see_looked(client, &self.phases[client], event, &look, now_ns);
    }
}

fn is_asleep(event: u32, before: Option<TaskState>, after: Option<TaskState>) -> bool {
    let both = |state| before == Some(state) && after == Some(state);
    if event == 0 { both(TaskState::Asleep) } else { !both(TaskState::Runnable) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::counts::{ClientCounts, Snapshots};
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
        phases[0].begin_unit();
        phases[1].set(Phase::BetweenUnits);
        let row = |pid| Activity { pid, wait: Some("IO:WalSync".to_owned()), ..Activity::default() };
        let silent = Activity { pid: 11, ..Activity::default() };
        let query: SqlWaits = Box::new(move || Ok(vec![row(11), row(12), row(13), row(99), silent.clone()]));
        let mut sampler = SqlSampler::new(query, &[11, 12, 13], None, phases, Vec::new());
        sampler.sweep(10).unwrap();
        sampler.sweep(20).unwrap();
        let (swept, _, names) = sampler.close();
        assert_eq!(
            (swept.sweeps, swept.swept_ns, names.as_slice()),
            (2, Some((10, 20)), &["IO:WalSync".to_owned()][..])
        );
        let [first, second, third] = &swept.closed.clients[..] else { panic!("three clients") };
        let sync = swept.closed.events.iter().position(|event| *event == 1).expect("seen");
        assert_eq!(first.in_unit.get(sync), Snapshots { seen: 2, looked: 2, asleep: 2 });
        assert_eq!(first.in_unit.get(0), Snapshots { seen: 2, looked: 2, asleep: 0 });
        assert_eq!(second.between_units, Snapshots { seen: 2, looked: 2, asleep: 2 });
        assert_eq!(*third, ClientCounts::default());
    }
}
