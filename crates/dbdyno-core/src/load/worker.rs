//! One load thread: a fixed slice of the clients and one readiness loop.
//!
//! ```text
//!         .-> timers due: think time, \sleep, settling -----.
//!  loop --+-> arrivals due, a client idle: the unit starts --+--> execute: write, or set a timer
//!         `-> wait for readiness: read, absorb, answered ----'
//! ```
//!
//! One read and one write per round trip, one wait for as many clients as are ready, one clock reading
//! per answer: the end of a statement is the start of the next.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::arrivals::Arrivals;
use super::client::{Client, State};
use super::live::{Board, LiveTally};
use super::observer::Observer;
use super::phase_cell::PhaseCell;
use super::plan::Plan;
use super::readiness::{Readiness, make_timers_punctual};
use super::record::Record;
use super::span::{Span, Stage};
use super::spec::TrialSpec;
use super::stop;
use super::tickets::Tickets;
use super::window::Window;
use crate::clock;
use crate::error::{CoreError, Result};

/// What all load threads of a trial share.
pub(super) struct Shared<'a> {
    pub spec: &'a TrialSpec,
    pub plan: &'a Plan,
    pub window: Window,
    pub observer: &'a dyn Observer,
    pub phases: &'a [PhaseCell],
    /// Units of fixed work that are still to be started.
    pub tickets: Tickets,
    /// Clients whose span is not closed yet: while there are any, the load is kept up.
    pub unclosed: AtomicUsize,
    /// Set by a thread that failed: the others need not go on.
    pub abandoned: AtomicBool,
    /// Where a watcher looks, if there is one.
    pub live: Option<&'a Board>,
}

impl Shared<'_> {
    /// Whether nothing more will be counted. A client that thinks beyond the end of the window closes its span
    /// before that end: only fixed work is over as soon as all spans are closed.
    fn is_over(&self, now_ns: u64) -> bool {
        self.work_is_done() || now_ns >= self.window.end_ns && self.all_spans_are_closed()
    }

    /// Whether this is fixed work, and all of it has ended.
    pub(super) fn work_is_done(&self) -> bool {
        self.tickets.limit_work() && self.all_spans_are_closed()
    }

    fn all_spans_are_closed(&self) -> bool {
        self.unclosed.load(Ordering::Relaxed) == 0
    }

    /// Whether a thread may be waiting for the last counted units of others.
    fn is_ending(&self, now_ns: u64) -> bool {
        let some_closed = || self.unclosed.load(Ordering::Relaxed) < self.spec.clients;
        now_ns >= self.window.end_ns || self.tickets.limit_work() && some_closed()
    }
}

/// What a load thread hands back.
pub(super) struct WorkerReport {
    pub record: Record,
    /// By client, in order.
    pub spans: Vec<Span>,
    /// Over the window.
    pub cpu_ns: u64,
    /// The row that its first client captured last.
    pub captured: BTreeMap<String, Option<String>>,
}

/// The thread's state.
pub(super) struct Worker<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) clients: Vec<Client>,
    pub(super) record: Record,
    /// None without a watcher.
    pub(super) live: Option<LiveTally>,
    /// None in a closed loop.
    pub(super) arrivals: Option<Arrivals>,
    /// Open loop: clients without a unit, the longest idle first.
    pub(super) idle: VecDeque<usize>,
    pub(super) winding_down: bool,
    pub(super) readiness: Readiness,
    /// Due time and client; a client has at most one timer.
    timers: BinaryHeap<Reverse<(u64, usize)>>,
    pub(super) buffer: Vec<u8>,
    /// When the last answer came; 0 if none came since the last wait.
    pub(super) answered_ns: u64,
    cpu_at_window_ns: [Option<u64>; 2],
}

/// The buffer of a thread: several answers of several clients fit, and it stays in the L2 cache.
const BUFFER_BYTES: usize = 64 * 1024;
/// A thread without anything to do looks this often whether the trial was given up.
const LONGEST_WAIT_NS: u64 = 100_000_000;
/// And this often whether the last counted unit, on any thread, has ended.
const LONGEST_WAIT_AT_END_NS: u64 = 2_000_000;
/// Units of the cool-down get this long to end before they are cancelled.
const WIND_DOWN_NS: u64 = 100_000_000;

impl<'a> Worker<'a> {
    /// A thread with these clients.
    pub(super) fn new(
        shared: &'a Shared<'a>,
        clients: Vec<Client>,
        record: Record,
        arrivals: Option<Arrivals>,
    ) -> Result<Self> {
        let readiness = Readiness::new().map_err(io_error)?;
        for (index, client) in clients.iter().enumerate() {
            readiness.add(client.connection.as_raw_fd(), index).map_err(io_error)?;
        }
        Ok(Self {
            shared,
            clients,
            record,
            live: shared.live.map(|_| LiveTally::new(shared.plan.scripts.len())),
            arrivals,
            idle: VecDeque::new(),
            winding_down: false,
            readiness,
            timers: BinaryHeap::new(),
            buffer: vec![0; BUFFER_BYTES],
            answered_ns: 0,
            cpu_at_window_ns: [None; 2],
        })
    }

    /// Runs the trial. However it ends, the sessions end too.
    pub(super) fn run(mut self) -> Result<WorkerReport> {
        make_timers_punctual();
        let result = self.run_load();
        if result.is_err() {
            self.shared.abandoned.store(true, Ordering::Relaxed);
        }
        let spans = self.clients.iter().map(|client| client.span).collect();
        let [before, after] = self.cpu_at_window_ns;
        let cpu_ns = before.zip(after).map_or(0, |(before, after)| after - before);
        let captured = self.clients.first().map(|client| client.captured.last()).unwrap_or_default();
        self.end_sessions();
        result.map(|()| WorkerReport { record: self.record, spans, cpu_ns, captured })
    }

    fn run_load(&mut self) -> Result<()> {
        self.start_load()?;
        let mut wind_down_end_ns = u64::MAX;
        loop {
            let now_ns = self.loop_time_ns();
            self.read_cpu_at_edges(now_ns);
            if let (Some(live), Some(board)) = (&mut self.live, self.shared.live) {
                live.publish_if_due(board, now_ns);
            }
            if self.shared.abandoned.load(Ordering::Relaxed) || stop::is_requested() {
                return Ok(());
            }
            if now_ns >= self.shared.window.drain_end_ns {
                self.give_up_unfinished(now_ns);
            }
            if !self.winding_down && self.shared.is_over(now_ns) {
                self.winding_down = true;
                self.cpu_at_window_ns[1].get_or_insert_with(clock::thread_cpu_ns);
                wind_down_end_ns = now_ns + WIND_DOWN_NS;
            }
            if self.winding_down
                && (now_ns >= wind_down_end_ns || !self.clients.iter().any(|client| client.state.is_in_unit()))
            {
                return Ok(());
            }
            self.fire_timers(now_ns)?;
            self.dispatch_arrivals()?;
            self.wait_and_receive(now_ns)?;
        }
    }

    /// Without timers and arrivals the time of the last answer is good enough to see the edges of the
    /// window, and saves a clock reading per wait.
    fn loop_time_ns(&mut self) -> u64 {
        if self.answered_ns == 0 || self.has_deadlines() {
            return clock::now_ns();
        }
        std::mem::take(&mut self.answered_ns)
    }

    fn has_deadlines(&self) -> bool {
        self.arrivals.is_some() || !self.timers.is_empty()
    }

    fn read_cpu_at_edges(&mut self, now_ns: u64) {
        let window = &self.shared.window;
        for (reading, edge_ns) in self.cpu_at_window_ns.iter_mut().zip([window.start_ns, window.end_ns]) {
            if reading.is_none() && now_ns >= edge_ns {
                *reading = Some(clock::thread_cpu_ns());
            }
        }
    }

    /// Wakes a client at this time.
    pub(super) fn set_timer(&mut self, due_ns: u64, index: usize) {
        self.timers.push(Reverse((due_ns, index)));
    }

    /// Timers set meanwhile wait for the next turn, even if they are due: a script without SQL would keep
    /// the thread here for ever.
    fn fire_timers(&mut self, now_ns: u64) -> Result<()> {
        let (turn_ns, mut now_ns) = (now_ns, now_ns);
        while let Some(Reverse((due_ns, index))) = self.timers.peek().copied() {
            if due_ns > turn_ns {
                break;
            }
            self.timers.pop();
            self.wake(index, now_ns)?;
            now_ns = clock::now_ns();
        }
        Ok(())
    }

    fn wake(&mut self, index: usize, now_ns: u64) -> Result<()> {
        match self.clients[index].state {
            State::Thinking { .. } if self.winding_down => Ok(()),
            State::Thinking { intended_ns } => {
                // Without think time this timer only gave others their turn: the unit is not late.
                let intended_ns = if self.shared.spec.arrival.starts_at_once() { now_ns } else { intended_ns };
                match self.begin_next_unit(index, intended_ns, now_ns)? {
                    true => self.drive(index, now_ns),
                    false => Ok(()),
                }
            }
            State::Settling { .. } => self.settle(index),
            State::Sleeping => self.drive(index, now_ns),
            state => unreachable!("a client in state {state:?} has no timer"),
        }
    }

    fn wait_and_receive(&mut self, now_ns: u64) -> Result<()> {
        let now_ns = if self.has_deadlines() { clock::now_ns() } else { now_ns };
        let limit_ns = self.next_deadline_ns(now_ns).saturating_sub(now_ns);
        let found = self.readiness.wait(limit_ns).map_err(io_error)?;
        for event in 0..found {
            let ready = self.readiness.ready(event);
            if ready.writable {
                self.flush(ready.client)?;
            }
            if ready.readable {
                self.receive(ready.client)?;
            }
        }
        Ok(())
    }

    fn next_deadline_ns(&self, now_ns: u64) -> u64 {
        let longest_ns = if self.shared.is_ending(now_ns) { LONGEST_WAIT_AT_END_NS } else { LONGEST_WAIT_NS };
        let timer_ns = self.timers.peek().map_or(u64::MAX, |Reverse((due_ns, _))| *due_ns);
        let arrival_ns = match &self.arrivals {
            Some(arrivals) if !self.idle.is_empty() && !self.winding_down => arrivals.head_ns(),
            _ => u64::MAX,
        };
        timer_ns.min(arrival_ns).min(now_ns + longest_ns)
    }

    /// The drain limit is reached: counted units in progress have failed, the others were never started.
    fn give_up_unfinished(&mut self, now_ns: u64) {
        for index in 0..self.clients.len() {
            if self.clients[index].span.stage != Stage::Closed {
                self.give_up_client(index, now_ns);
            }
        }
        self.skip_remaining_arrivals();
    }
}

/// The readiness loop cannot go on.
pub(super) fn io_error(error: std::io::Error) -> CoreError {
    CoreError::new("io", format!("the readiness loop failed: {error}; check the limits on open files"))
}
