//! Recording stacks for a while: two threads look, a third one unwinds.
//!
//! ```text
//!  CPU thread:  drains the rings (or stops runners) --.
//!  wait thread: looks at sleepers, with wait events --+--> bounded queue --> fold thread: unwind, name, count
//! ```
//!
//! Unwinding is off the path that drains, so a ring is emptied in time however deep the stacks are. What finds the
//! queue full is counted as lost, like what the kernel found no room for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::copy::StackCopy;
use super::cpu::{CpuStacks, PerfStacks, STACK_BYTES, StopStacks, perf_advice, stop_advice};
use super::fold::{Fold, Kind, StackCount};
use super::perf_event::Record;
use super::processes::{ProcessFiles, Watched};
use super::server_waits::ServerWaits;
use super::spec::{KernelTime, PauseSummary, StacksOutcome, StacksSpec};
use super::waits::{Seen, Sleepers, WaitEvents};
use crate::error::{CoreError, Result};
use crate::probe::{Pace, be_punctual, now_ns};

/// Stacks that wait to be unwound: 64 MiB at most.
const QUEUE: usize = 4096;
/// How soon a new process is watched.
const FOLLOW_PERIOD_NS: u64 = 250_000_000;

/// A recording that is under way; ends when finished or dropped.
pub struct Recorder {
    shared: Arc<Shared>,
    began_ns: u64,
    frequency_hz: u64,
    note: Option<String>,
    ticks: HashMap<i32, (ProcessFiles, (u64, u64))>,
    cpu: Option<JoinHandle<Looked>>,
    waits: Option<JoinHandle<Option<Box<dyn WaitEvents>>>>,
    fold: Option<JoinHandle<Fold>>,
}

struct Shared {
    watched: Watched,
    pids: Mutex<Vec<i32>>,
    stop: AtomicBool,
    lost: AtomicU64,
    cpu_ns: AtomicU64,
}

/// What the CPU thread says when it ends.
#[derive(Default)]
struct Looked {
    route: Option<&'static str>,
    notes: Vec<String>,
    sees_kernel: bool,
    pauses: Option<PauseSummary>,
}

enum Message {
    Stack(i32, Kind, StackCopy),
    /// The process sleeps on where it was last seen asleep.
    SameWait(i32),
}

/// All that takes time before a recording: files read, the server's memory found.
pub struct Prepared {
    spec: StacksSpec,
    watched: Watched,
    pids: Vec<i32>,
    events: Option<Box<dyn WaitEvents>>,
    note: Option<String>,
    fold: Fold,
}

impl Prepared {
    /// Reads what the processes are made of, so that nothing of it is done while something is measured.
    pub fn new(spec: StacksSpec) -> Result<Self> {
        spec.check()?;
        let watched = match (&spec.pids, spec.postmaster_pid) {
            (Some(pids), _) => Watched::Named(pids.clone()),
            (None, postmaster_pid) => Watched::ChildrenOf(postmaster_pid.expect("checked")),
        };
        let pids = watched.now().map_err(|error| {
            CoreError::new("not_watchable", format!("stacks: the server's processes cannot be listed: {error}"))
        })?;
        let mut fold = Fold::default();
        pids.iter().for_each(|&pid| fold.meet(pid));
        let (events, note) = match spec.postmaster_pid.map(ServerWaits::open) {
            Some(Ok(waits)) => (Some(Box::new(waits) as Box<dyn WaitEvents>), None),
            Some(Err(reason)) => (None, Some(format!("wait stacks without wait events: {reason}"))),
            None => (None, None),
        };
        Ok(Prepared { spec, watched, pids, events, note, fold })
    }

    /// Begins to record.
    pub fn start(self) -> Recorder {
        let Prepared { spec, watched, pids, events, note, fold } = self;
        let ticks = pids.iter().filter_map(|&pid| {
            let files = ProcessFiles::open(pid).ok()?;
            let now = files.ticks()?;
            Some((pid, (files, now)))
        });
        let ticks = ticks.collect();
        let shared = Arc::new(Shared {
            watched,
            pids: Mutex::new(pids),
            stop: AtomicBool::new(false),
            lost: AtomicU64::new(0),
            cpu_ns: AtomicU64::new(0),
        });
        let (sender, receiver) = sync_channel(QUEUE);
        let (route, frequency_hz) = (spec.route, spec.frequency_hz);
        let cpu = {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            spawn("dbdyno-cpu", move || shared.metered(|shared| shared.watch_cpu(&route, frequency_hz, &sender)))
        };
        let waits = {
            let shared = Arc::clone(&shared);
            spawn("dbdyno-waits", move || shared.metered(|shared| shared.watch_waits(frequency_hz, events, &sender)))
        };
        let fold = {
            let shared = Arc::clone(&shared);
            spawn("dbdyno-fold", move || shared.metered(|_| fold_all(&receiver, fold)))
        };
        Recorder {
            shared,
            began_ns: now_ns(libc::CLOCK_MONOTONIC),
            frequency_hz,
            note,
            ticks,
            cpu: Some(cpu),
            waits: Some(waits),
            fold: Some(fold),
        }
    }
}

impl Recorder {
    /// Ends the recording and says what was seen.
    pub fn finish(mut self) -> StacksOutcome {
        let elapsed_ns = now_ns(libc::CLOCK_MONOTONIC) - self.began_ns;
        let share = self.kernel_share();
        self.shared.stop.store(true, Ordering::Relaxed);
        let looked = self.cpu.take().map(join).unwrap_or_default();
        let events = self.waits.take().and_then(join);
        let fold = self.fold.take().map(join).unwrap_or_default();
        let (frames, counts) = fold.into_counts();
        let name = |event: u32| match (event, &events) {
            (0, _) => Some(String::new()),
            (event, Some(events)) => Some(events.name(event)),
            (_, None) => None,
        };
        let stack = |((pid, kind, frames), count): StackCount| match kind {
            Kind::Cpu(_) => (pid, "cpu", None, frames.to_vec(), count),
            Kind::Wait(event) => (pid, "wait", event.and_then(name), frames.to_vec(), count),
        };
        let notes: Vec<String> = looked.notes.into_iter().chain(self.note.take()).collect();
        StacksOutcome {
            format: 1,
            route: looked.route,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            frequency_hz: self.frequency_hz,
            elapsed_ns,
            pause_ns: looked.pauses,
            kernel: KernelTime { seen: looked.sees_kernel, share },
            recorder_cpu_ns: self.shared.cpu_ns.load(Ordering::Relaxed),
            frames,
            stacks: counts.into_iter().map(stack).collect(),
            lost: self.shared.lost.load(Ordering::Relaxed),
        }
    }

    /// Ticks in the kernel over all ticks, of the processes that were there from beginning to end.
    fn kernel_share(&self) -> Option<f64> {
        /// Fewer than this (a tick is 10 ms) say nothing of a share.
        const LEAST_TICKS: u64 = 20;
        let spent = self.ticks.values().filter_map(|(files, (user, system))| {
            let now = files.ticks()?;
            Some((now.0.saturating_sub(*user), now.1.saturating_sub(*system)))
        });
        let (user, system) = spent.fold((0, 0), |sum, spent| (sum.0 + spent.0, sum.1 + spent.1));
        (user + system >= LEAST_TICKS).then(|| system as f64 / (user + system) as f64)
    }
}

impl Drop for Recorder {
    /// No process is stopped, and none of the server's memory held, by a recording that nobody waits for.
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        _ = self.cpu.take().map(JoinHandle::join);
        _ = self.waits.take().map(JoinHandle::join);
        _ = self.fold.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn metered<T>(&self, work: impl FnOnce(&Self) -> T) -> T {
        let result = work(self);
        self.cpu_ns.fetch_add(now_ns(libc::CLOCK_THREAD_CPUTIME_ID), Ordering::Relaxed);
        result
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn pids(&self) -> Vec<i32> {
        self.pids.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks for new and gone processes from time to time; the list if it changed.
    fn follow(&self, followed_ns: &mut u64) -> Option<Vec<i32>> {
        let now = now_ns(libc::CLOCK_MONOTONIC);
        if !self.watched.changes() || now - *followed_ns < FOLLOW_PERIOD_NS {
            return None;
        }
        *followed_ns = now;
        let current = self.watched.now().ok()?;
        let mut known = self.pids.lock().unwrap_or_else(PoisonError::into_inner);
        (*known != current).then(|| {
            known.clone_from(&current);
            current
        })
    }

    /// Whether there was room.
    fn send(&self, sender: &SyncSender<Message>, message: Message) -> bool {
        let full = matches!(sender.try_send(message), Err(TrySendError::Full(_)));
        self.lost.fetch_add(u64::from(full), Ordering::Relaxed);
        !full
    }

    fn watch_cpu(&self, route: &str, frequency_hz: u64, sender: &SyncSender<Message>) -> Looked {
        let mut notes = Vec::new();
        let opened = open_cpu(route, &self.pids(), frequency_hz, &mut notes);
        be_punctual();
        match opened {
            Some(CpuStacks::Perf(stacks)) => self.watch_rings(stacks, sender, notes),
            Some(CpuStacks::Stop(stacks)) => self.watch_by_stopping(stacks, frequency_hz, sender, notes),
            None => {
                self.only_follow();
                Looked { notes, ..Looked::default() }
            }
        }
    }

    /// Wait stacks want to know of new processes, too.
    fn only_follow(&self) {
        let mut pace = Pace::new(FOLLOW_PERIOD_NS);
        let mut followed_ns = 0;
        while !self.stopped() {
            self.follow(&mut followed_ns);
            pace.sleep();
        }
    }

    fn watch_rings(&self, mut stacks: PerfStacks, sender: &SyncSender<Message>, mut notes: Vec<String>) -> Looked {
        let mut pace = Pace::new(stacks.drain_period_ns());
        let mut followed_ns = 0;
        loop {
            let stopped = self.stopped();
            stacks.drain(|pid, record| match record {
                Record::Stack(copy, in_kernel) => {
                    self.send(sender, Message::Stack(pid, Kind::Cpu(in_kernel), copy));
                }
                Record::Lost(count) => _ = self.lost.fetch_add(count, Ordering::Relaxed),
            });
            if stopped {
                break;
            }
            if let Some(pids) = self.follow(&mut followed_ns) {
                stacks.follow(&pids);
                pace = Pace::new(stacks.drain_period_ns());
            }
            pace.sleep();
        }
        if stacks.unwatched > 0 {
            notes.push(format!("{} processes were given no perf event", stacks.unwatched));
        }
        if !stacks.sees_kernel() {
            notes.push("no stacks of time in the kernel, which only root or CAP_PERFMON may see".to_owned());
        }
        Looked { route: Some("perf"), notes, sees_kernel: stacks.sees_kernel(), pauses: None }
    }

    fn watch_by_stopping(
        &self,
        mut stacks: StopStacks,
        frequency_hz: u64,
        sender: &SyncSender<Message>,
        mut notes: Vec<String>,
    ) -> Looked {
        let mut pace = Pace::new(1_000_000_000 / frequency_hz);
        let mut followed_ns = 0;
        while !self.stopped() {
            stacks.sweep(|pid, copy| _ = self.send(sender, Message::Stack(pid, Kind::Cpu(false), copy)));
            if let Some(pids) = self.follow(&mut followed_ns) {
                stacks.follow(&pids);
            }
            pace.sleep();
        }
        self.lost.fetch_add(stacks.failed, Ordering::Relaxed);
        let pauses = stacks.pauses;
        let mean = pauses.total_ns.checked_div(pauses.count).unwrap_or(0);
        let summary = PauseSummary { count: pauses.count, mean, max: pauses.max_ns };
        notes.push("each stack stopped its process for a moment".to_owned());
        // A process that was in a call is caught when it comes back from it: that time is in its caller.
        Looked { route: Some("stop"), notes, sees_kernel: true, pauses: Some(summary) }
    }

    fn watch_waits(
        &self,
        frequency_hz: u64,
        mut events: Option<Box<dyn WaitEvents>>,
        sender: &SyncSender<Message>,
    ) -> Option<Box<dyn WaitEvents>> {
        be_punctual();
        let mut pace = Pace::new(1_000_000_000 / frequency_hz);
        let mut sleepers = Sleepers::default();
        let mut pids = self.pids();
        while !self.stopped() {
            for &pid in &pids {
                match sleepers.look(pid, STACK_BYTES, events.as_deref_mut().map(|events| events as _)) {
                    Ok(Seen::Asleep(copy, event)) => {
                        if !self.send(sender, Message::Stack(pid, Kind::Wait(event), copy)) {
                            // What comes next must not count for the stack before.
                            sleepers.forget(pid);
                        }
                    }
                    Ok(Seen::StillAsleep) => _ = self.send(sender, Message::SameWait(pid)),
                    Ok(Seen::Runnable) | Err(_) => {}
                }
            }
            if self.watched.changes() {
                pids = self.pids();
                sleepers.keep_only(&pids);
            }
            pace.sleep();
        }
        events
    }
}

fn open_cpu(route: &str, pids: &[i32], frequency_hz: u64, notes: &mut Vec<String>) -> Option<CpuStacks> {
    if route != "stop" {
        match PerfStacks::open(pids, frequency_hz) {
            Ok(stacks) => return Some(CpuStacks::Perf(stacks)),
            Err(error) => notes.push(perf_advice(&error)),
        }
    }
    if route != "perf" {
        match StopStacks::open(pids) {
            Ok(stacks) => return Some(CpuStacks::Stop(stacks)),
            Err(error) => notes.push(stop_advice(&error)),
        }
    }
    None
}

fn fold_all(receiver: &Receiver<Message>, mut fold: Fold) -> Fold {
    let mut last_wait: HashMap<i32, (Kind, Arc<[u32]>)> = HashMap::new();
    while let Ok(message) = receiver.recv() {
        match message {
            Message::Stack(pid, kind, copy) => {
                let in_kernel = kind == Kind::Cpu(true);
                if let Some(frames) = fold.functions(pid, &copy, in_kernel) {
                    if matches!(kind, Kind::Wait(_)) {
                        last_wait.insert(pid, (kind, Arc::clone(&frames)));
                    }
                    fold.add(pid, kind, frames);
                }
            }
            Message::SameWait(pid) => {
                if let Some((kind, frames)) = last_wait.get(&pid) {
                    fold.add(pid, *kind, Arc::clone(frames));
                }
            }
        }
    }
    fold
}

fn spawn<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    thread::Builder::new().name(name.to_owned()).spawn(work).expect("the machine has room for another thread")
}

fn join<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
