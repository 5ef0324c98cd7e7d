//! A server that exists in a test only: what its processes do is set by hand, and time passes as told.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use super::collector::{Collected, Collector};
use super::host::{Host, Kind, Meter};
use super::roster::Roster;
use super::source::{Activity, SessionState, SlotSource};
use super::stretch::Message;
use super::sweep::{StateReader, Sweeper};
use crate::probe::TaskState;
use crate::probe::clocks::Switches;

/// One process.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeProcess {
    pub pid: i32,
    pub activity: Activity,
    pub runnable: bool,
    pub cpu_ns: u64,
    pub run_queue_ns: u64,
    pub switches: u64,
}

/// By slot.
pub type FakeServer = Arc<Mutex<Vec<FakeProcess>>>;

pub struct FakeSource(pub FakeServer);

impl SlotSource for FakeSource {
    fn slots(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn refresh(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn pid(&mut self, slot: usize) -> i32 {
        self.0.lock().unwrap()[slot].pid
    }

    fn activity(&self, slot: usize) -> Activity {
        self.0.lock().unwrap()[slot].activity
    }

    fn activity_now(&self, slot: usize) -> io::Result<Activity> {
        Ok(self.activity(slot))
    }

    fn knows_states(&self) -> bool {
        true
    }

    fn answers_late(&self) -> bool {
        false
    }
}

/// Of one process, while it lives.
pub struct FakeReader(FakeServer, i32);

impl FakeReader {
    fn process(&self) -> Option<FakeProcess> {
        self.0.lock().unwrap().iter().find(|process| process.pid == self.1).copied()
    }
}

impl StateReader for FakeReader {
    fn read(&self) -> Option<TaskState> {
        let runnable = self.process()?.runnable;
        Some(if runnable { TaskState::Runnable } else { TaskState::Asleep })
    }
}

impl Meter for FakeReader {
    fn clock(&self) -> &'static str {
        "schedstat"
    }

    fn cpu_ns(&self) -> Option<u64> {
        self.process().map(|process| process.cpu_ns)
    }

    fn run_queue_ns(&self) -> Option<u64> {
        self.process().map(|process| process.run_queue_ns)
    }

    fn switches(&self) -> Option<Switches> {
        self.process().map(|process| Switches { voluntary: process.switches, involuntary: 0 })
    }

    fn block_io_delay_ns(&self) -> Option<u64> {
        None
    }
}

pub struct FakeHost(pub FakeServer);

impl Host for FakeHost {
    type Reader = FakeReader;

    fn kind(&self, pid: i32) -> Option<Kind> {
        let kinds = BTreeMap::from([(10, ("client backend", None)), (30, ("parallel worker", Some(10)))]);
        let (backend_type, leader_pid) = kinds.get(&pid).filter(|_| self.is_alive(pid))?;
        Some(Kind { backend_type: (*backend_type).to_owned(), leader_pid: *leader_pid })
    }

    fn is_alive(&self, pid: i32) -> bool {
        FakeReader(Arc::clone(&self.0), pid).process().is_some()
    }

    fn reads_clocks(&self) -> bool {
        true
    }

    fn open(&self, pid: i32) -> Option<(FakeReader, Box<dyn Meter>)> {
        let open = || FakeReader(Arc::clone(&self.0), pid);
        self.is_alive(pid).then(|| (open(), Box::new(open()) as Box<dyn Meter>))
    }
}

/// Both threads' work in one, one sweep a call.
pub struct Bench {
    pub server: FakeServer,
    pub sweeper: Sweeper<FakeSource, FakeReader>,
    pub collector: Collector<FakeHost>,
    messages: Receiver<Message>,
    now_ns: u64,
}

/// From one sweep to the next.
pub const PERIOD_NS: u64 = 1_000_000;

impl Bench {
    /// A server of so many slots, a ring of so many messages.
    pub fn new(slots: usize, ring: usize, ignored_pids: Vec<i32>) -> Self {
        let server: FakeServer = Arc::new(Mutex::new(vec![FakeProcess::default(); slots]));
        let (sender, messages): (SyncSender<Message>, _) = sync_channel(ring);
        let roster = Roster::new(FakeHost(Arc::clone(&server)), slots, ignored_pids);
        Bench {
            sweeper: Sweeper::new(FakeSource(Arc::clone(&server)), slots, sender, 0),
            collector: Collector::new(roster, slots, Arc::new(|event| format!("E:{event}")), None),
            server,
            messages,
            now_ns: 0,
        }
    }

    /// A process changes.
    pub fn set(&self, slot: usize, process: FakeProcess) {
        self.server.lock().unwrap()[slot] = process;
    }

    /// Sweeps, each a period after the last, and what the collector makes of each at once.
    pub fn sweep(&mut self, times: usize) {
        for _ in 0..times {
            self.sweep_alone();
            self.drain();
        }
    }

    /// A sweep while the collector does not get to run.
    pub fn sweep_alone(&mut self) {
        self.now_ns += PERIOD_NS;
        self.sweeper.sweep(self.now_ns).unwrap();
    }

    /// The collector catches up.
    pub fn drain(&mut self) {
        while let Ok(message) = self.messages.try_recv() {
            if let Some((slot, pid, finding)) = self.collector.take(message) {
                self.sweeper.take_finding(slot as usize, pid, finding);
            }
        }
    }

    /// The step ends at the last sweep.
    pub fn end_step(&mut self) -> bool {
        let ended = self.sweeper.end_step(self.now_ns);
        self.drain();
        ended
    }

    /// The watch ends.
    pub fn finish(mut self) -> Collected {
        self.end_step();
        self.collector.finish(self.now_ns)
    }
}

/// A session that executes query 7.
pub fn active(event: u32) -> Activity {
    Activity { event, state: SessionState::Active, query_id: 7 }
}

/// A session between two queries.
pub fn idle(event: u32) -> Activity {
    Activity { event, state: SessionState::Idle, query_id: 7 }
}
