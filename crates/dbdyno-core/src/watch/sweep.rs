//! One look at every process of the server, and what goes on as before costs no more than a counter.
//!
//! ```text
//! for each slot:  pid, activity --- same as last time?  snapshots += 1
//!                                `- else the stretch ends: into the ring, a new one begins
//! of a few slots: state of the process (a read of /proc), then its activity once more, at once
//! ```
//!
//! A looked-at snapshot reads the state first and the event directly after it, because a task that was
//! seen asleep has microseconds to go before it can change its event (`probe::sampler` has the argument).
//!
//! Nothing here allocates, locks or waits; what the ring cannot take is counted as lost.

use std::io;
use std::sync::mpsc::{SyncSender, TrySendError};

use super::looks::Looks;
use super::source::{Activity, SlotSource};
use super::stretch::{Message, Stretch};
use crate::probe::TaskState;

/// The state of one process, readable again and again.
pub trait StateReader: Send {
    /// The state now; none when the process is gone.
    fn read(&self) -> Option<TaskState>;
}

/// A sweep that looks at more than so many times the processes it should looks at fewer from then on.
const LOOKS_SURGE: f64 = 4.0;

/// What the collector has found out about the process in a slot, off the hot path.
pub enum Finding<R> {
    /// Its state can be read.
    Readable(R),
    /// It cannot: another host, or it is gone.
    Unreadable,
    /// It is not to be watched: one of our own, or dead and its entry not cleared (before 17).
    NotWatched,
}

struct Slot<R> {
    pid: i32,
    activity: Activity,
    from_ns: u64,
    snapshots: u32,
    looked: u32,
    asleep: u32,
    is_announced: bool,
    is_watched: bool,
    reader: Option<R>,
}

/// What the sampler thread owns.
pub struct Sweeper<S, R> {
    source: S,
    slots: Vec<Slot<R>>,
    ring: SyncSender<Message>,
    looks: Looks,
    looks_per_sweep: f64,
    chosen: Vec<usize>,
    before: Vec<Option<TaskState>>,
    step_from_ns: u64,
    step_sweeps: u64,
    looked: u64,
    lost_snapshots: u64,
}

impl<S: SlotSource, R: StateReader> Sweeper<S, R> {
    /// Nothing seen yet; the first step begins now.
    pub fn new(source: S, slots_max: usize, ring: SyncSender<Message>, now_ns: u64) -> Self {
        Sweeper {
            source,
            slots: (0..slots_max).map(|_| Slot::new()).collect(),
            ring,
            looks: Looks::new(),
            looks_per_sweep: f64::INFINITY,
            chosen: Vec::with_capacity(slots_max),
            before: vec![None; slots_max],
            step_from_ns: now_ns,
            step_sweeps: 0,
            looked: 0,
            lost_snapshots: 0,
        }
    }

    /// Snapshots that the ring had no room for: they are in no cell.
    pub fn lost_snapshots(&self) -> u64 {
        self.lost_snapshots
    }

    /// Looks so far.
    pub fn looks(&self) -> u64 {
        self.looked
    }

    /// So many looks a sweep from now on.
    pub fn set_looks_per_sweep(&mut self, looks_per_sweep: f64) {
        self.looks_per_sweep = looks_per_sweep;
        self.looks.retune(looks_per_sweep);
    }

    /// What the collector found; it is too late if another process has the slot by now.
    pub fn take_finding(&mut self, slot: usize, pid: i32, finding: Finding<R>) {
        let slot = &mut self.slots[slot];
        if slot.pid == pid {
            match finding {
                Finding::Readable(reader) => slot.reader = Some(reader),
                Finding::Unreadable => {}
                Finding::NotWatched => slot.is_watched = false,
            }
        }
    }

    /// One snapshot of every process.
    pub fn sweep(&mut self, now_ns: u64) -> io::Result<()> {
        if self.source.answers_late() {
            self.read_states_before();
        }
        if !self.source.refresh()? {
            return Ok(());
        }
        self.step_sweeps += 1;
        self.looks.begin_sweep();
        self.chosen.clear();
        let all_busy = !self.source.knows_states();
        for index in 0..self.source.slots() {
            let pid = self.source.pid(index);
            if pid != self.slots[index].pid {
                self.change_process(index, pid, now_ns);
            }
            if pid == 0 || !self.slots[index].is_watched {
                continue;
            }
            let activity = self.source.activity(index);
            let due = self.looks.is_due(all_busy || activity.state.is_busy());
            if due && self.slots[index].reader.is_some() {
                self.chosen.push(index);
            } else {
                self.count(index, activity, None, now_ns);
            }
        }
        self.look_at_chosen(now_ns)?;
        Ok(())
    }

    fn look_at_chosen(&mut self, now_ns: u64) -> io::Result<()> {
        for position in 0..self.chosen.len() {
            let index = self.chosen[position];
            let state = self.slots[index].reader.as_ref().and_then(StateReader::read);
            let activity = self.source.activity_now(index)?;
            let state = match self.source.answers_late() {
                true => state_around(activity.event, self.before[index], state),
                false => state,
            };
            self.count(index, activity, state, now_ns);
        }
        self.looked += self.chosen.len() as u64;
        if self.chosen.len() as f64 > LOOKS_SURGE * self.looks_per_sweep.max(1.0) {
            self.looks.halve();
        }
        Ok(())
    }

    fn read_states_before(&mut self) {
        for (slot, before) in self.slots.iter().zip(&mut self.before) {
            *before = slot.reader.as_ref().filter(|_| slot.pid != 0).and_then(StateReader::read);
        }
    }

    fn change_process(&mut self, index: usize, pid: i32, now_ns: u64) {
        if self.slots[index].pid != 0 {
            self.end_stretch(index, now_ns);
            if self.slots[index].is_announced {
                let left = Message::Left { slot: index as u32, at_ns: now_ns };
                // With a full ring the process counts as there until its slot has another one.
                let _ = self.ring.try_send(left);
            }
        }
        // The reader of who is gone is closed here: a microsecond, as rare as that.
        self.slots[index] = Slot { pid, ..Slot::new() };
    }

    fn count(&mut self, index: usize, activity: Activity, state: Option<TaskState>, now_ns: u64) {
        if !self.slots[index].is_announced && !self.announce(index, now_ns) {
            self.lost_snapshots += 1;
            return;
        }
        if self.slots[index].snapshots > 0 && self.slots[index].activity != activity {
            self.end_stretch(index, now_ns);
        }
        let slot = &mut self.slots[index];
        if slot.snapshots == 0 {
            // After a cut the stretch begins where the last step ended, otherwise here.
            if slot.activity != activity || slot.from_ns == 0 {
                (slot.activity, slot.from_ns) = (activity, now_ns);
            }
        }
        slot.snapshots += 1;
        slot.looked += u32::from(state.is_some());
        slot.asleep += u32::from(state == Some(TaskState::Asleep));
    }

    fn announce(&mut self, index: usize, now_ns: u64) -> bool {
        let slot = &mut self.slots[index];
        let arrived = Message::Arrived { slot: index as u32, pid: slot.pid, at_ns: now_ns };
        slot.is_announced = self.ring.try_send(arrived).is_ok();
        slot.is_announced
    }

    fn end_stretch(&mut self, index: usize, now_ns: u64) {
        if let Some(stretch) = self.slots[index].stretch(index, now_ns, false)
            && let Err(TrySendError::Full(_)) = self.ring.try_send(Message::Ended(stretch))
        {
            self.lost_snapshots += u64::from(stretch.snapshots);
        }
        self.slots[index].begin(now_ns);
    }

    /// Ends the step: all stretches are told as far as they have come. False, and the step goes on, if
    /// the ring has no room for that.
    pub fn end_step(&mut self, now_ns: u64) -> bool {
        for index in 0..self.slots.len() {
            if let Some(stretch) = self.slots[index].stretch(index, now_ns, true) {
                if self.ring.try_send(Message::Ended(stretch)).is_err() {
                    return false;
                }
                self.slots[index].begin(now_ns);
            }
        }
        let ended = Message::StepEnded { from_ns: self.step_from_ns, to_ns: now_ns, sweeps: self.step_sweeps };
        if self.ring.try_send(ended).is_err() {
            return false;
        }
        (self.step_from_ns, self.step_sweeps) = (now_ns, 0);
        true
    }
}

impl<R> Slot<R> {
    fn new() -> Self {
        Slot {
            pid: 0,
            activity: Activity::default(),
            from_ns: 0,
            snapshots: 0,
            looked: 0,
            asleep: 0,
            is_announced: false,
            is_watched: true,
            reader: None,
        }
    }

    fn stretch(&self, index: usize, now_ns: u64, goes_on: bool) -> Option<Stretch> {
        (self.snapshots > 0).then_some(Stretch {
            slot: index as u32,
            from_ns: self.from_ns,
            to_ns: now_ns,
            activity: self.activity,
            snapshots: self.snapshots,
            looked: self.looked,
            asleep: self.asleep,
            goes_on,
        })
    }

    fn begin(&mut self, now_ns: u64) {
        (self.from_ns, self.snapshots, self.looked, self.asleep) = (now_ns, 0, 0, 0);
    }
}

/// The server answered between the two states: a wait slept unless the process was runnable on both
/// sides, and no wait event slept only if it was asleep on both.
fn state_around(event: u32, before: Option<TaskState>, after: Option<TaskState>) -> Option<TaskState> {
    let (before, after) = (before?, after?);
    let both = |state| before == state && after == state;
    let asleep = if event == 0 { both(TaskState::Asleep) } else { !both(TaskState::Runnable) };
    Some(if asleep { TaskState::Asleep } else { TaskState::Runnable })
}
