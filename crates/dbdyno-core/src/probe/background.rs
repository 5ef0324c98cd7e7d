//! Server processes that serve no client: their clocks, and their time asleep divided by wait event.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use super::process::{self, SchedstatFile, StateFile};

/// One background process, from attach to finish.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BackgroundProcess {
    /// Process id.
    pub pid: i32,
    /// As pg_stat_activity spells it, e.g. `walwriter` or `background writer`.
    pub backend_type: String,
    /// On a CPU.
    pub cpu_ns: u64,
    /// In line for one.
    pub run_queue_ns: u64,
    /// Asleep by wait event.
    pub waits_ns: BTreeMap<String, u64>,
    /// Asleep without one, or with nothing known about it.
    pub asleep_no_wait_event_ns: u64,
}

/// Snapshots by wait event: few events, so a short list searched from the front.
#[derive(Default)]
pub struct EventCounts(Vec<(u32, u64)>);

impl EventCounts {
    /// Count one snapshot of this event.
    pub fn add(&mut self, event: u32) {
        match self.0.iter_mut().find(|(known, _)| *known == event) {
            Some((_, count)) => *count += 1,
            None => self.0.push((event, 1)),
        }
    }
}

/// A background process while it is watched.
pub struct Watched {
    /// Process id.
    pub pid: i32,
    backend_type: String,
    /// Asleep or not.
    pub state: StateFile,
    schedstat: SchedstatFile,
    clocks_at_start: (u64, u64),
    started: Instant,
    /// Its word among the event source's, if it keeps a wait event.
    pub word: Option<usize>,
    /// Snapshots in which it slept.
    pub asleep: EventCounts,
}

impl Watched {
    /// Begin to watch a child of the postmaster; `None` for sessions and for processes just ending.
    pub fn open(pid: i32) -> Option<Self> {
        let backend_type = process::background_type(pid)?;
        let state = StateFile::open(pid).ok()?;
        let schedstat = SchedstatFile::open(pid).ok()?;
        let clocks_at_start = schedstat.read()?;
        let asleep = EventCounts::default();
        Some(Watched {
            pid,
            backend_type,
            state,
            schedstat,
            clocks_at_start,
            started: Instant::now(),
            word: None,
            asleep,
        })
    }

    /// Begin to watch all background processes that the server has now.
    pub fn open_all(postmaster_pid: i32) -> Vec<Self> {
        let children = process::children(postmaster_pid).unwrap_or_default();
        children.into_iter().filter_map(Watched::open).collect()
    }

    /// Count from now on.
    pub fn restart(&mut self) {
        if let Some(clocks) = self.schedstat.read() {
            self.clocks_at_start = clocks;
            self.started = Instant::now();
            self.asleep = EventCounts::default();
        }
    }

    /// What it did; `None` if it is gone, and its clocks with it.
    pub fn finish(self, name: impl Fn(u32) -> String) -> Option<BackgroundProcess> {
        let (cpu, run_queue) = self.schedstat.read()?;
        let elapsed_ns = self.started.elapsed().as_nanos() as u64;
        let cpu_ns = cpu.saturating_sub(self.clocks_at_start.0);
        let run_queue_ns = run_queue.saturating_sub(self.clocks_at_start.1);
        let asleep_ns = elapsed_ns.saturating_sub(cpu_ns + run_queue_ns);
        let (waits_ns, asleep_no_wait_event_ns) = divide(asleep_ns, &self.asleep, name);
        Some(BackgroundProcess {
            pid: self.pid,
            backend_type: self.backend_type,
            cpu_ns,
            run_queue_ns,
            waits_ns,
            asleep_no_wait_event_ns,
        })
    }
}

/// Time asleep in proportion to the snapshots; what rounding leaves, or no snapshot saw, has no event.
fn divide(asleep_ns: u64, counts: &EventCounts, name: impl Fn(u32) -> String) -> (BTreeMap<String, u64>, u64) {
    let total: u64 = counts.0.iter().map(|(_, count)| count).sum();
    let share = |count: u64| (u128::from(asleep_ns) * u128::from(count) / u128::from(total)) as u64;
    let named = counts.0.iter().filter(|(event, _)| *event != 0);
    let waits: BTreeMap<_, _> = named.map(|&(event, count)| (name(event), share(count))).collect();
    let rest = asleep_ns - waits.values().sum::<u64>();
    (waits, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_sum_to_the_time_asleep() {
        let mut counts = EventCounts::default();
        [7, 7, 0, 9].into_iter().for_each(|event| counts.add(event));
        let (waits, rest) = divide(1001, &counts, |event| event.to_string());
        assert_eq!(waits, BTreeMap::from([("7".to_owned(), 500), ("9".to_owned(), 250)]));
        assert_eq!(rest, 251);
        assert_eq!(divide(5, &EventCounts::default(), |event| event.to_string()), (BTreeMap::new(), 5));
    }
}
