//! The pause at both edges of a client's span.
//!
//! The kernel accounts a running backend's CPU and run-queue time up to a tick late; they are exact when
//! it sleeps. So the client waits until its backend does, and the clocks are read there. The load of the
//! other clients goes on meanwhile.

use std::sync::atomic::Ordering;

use super::client::State;
use super::phase_cell::Phase;
use super::span::{Edge, Stage};
use super::spec::ArrivalSpec;
use super::worker::Worker;
use crate::clock;
use crate::error::Result;

/// A backend that does not sleep yet needs some 20 us to get there, if it has a CPU. The pause between two looks
/// doubles: where a hundred backends stand in line for one, looks at all of them would take all of this thread's time.
const NEXT_LOOK_NS_MIN: u64 = 100_000;
/// A backend that does not come to rest for so long is read as it is.
const GIVE_UP_AFTER_NS: u64 = 50_000_000;

impl Worker<'_> {
    /// Stops a client at an edge; it goes on with the unit intended for `intended_ns`.
    pub(super) fn begin_settling(&mut self, index: usize, edge: Edge, intended_ns: u64, now_ns: u64) -> Result<()> {
        if edge == Edge::Closing {
            self.leave_span(index, now_ns);
        }
        if edge == Edge::Missed {
            self.mark_closed(index);
            return self.resume(index, intended_ns, now_ns);
        }
        self.clients[index].state = State::Settling { edge, since_ns: now_ns, intended_ns };
        self.settle(index)
    }

    /// Looks whether the backend sleeps; then the client crosses the edge.
    pub(super) fn settle(&mut self, index: usize) -> Result<()> {
        let client = &mut self.clients[index];
        let State::Settling { edge, since_ns, intended_ns } = client.state else {
            unreachable!("only a settling client is looked at")
        };
        let clocks = self.shared.observer.read_clocks(client.number);
        let now_ns = clock::now_ns();
        if clocks.is_some_and(|clocks| !clocks.asleep) && now_ns < since_ns + GIVE_UP_AFTER_NS {
            self.set_timer(now_ns + NEXT_LOOK_NS_MIN.max(now_ns - since_ns), index);
            return Ok(());
        }
        match (edge, client.span.stage) {
            (Edge::Opening, Stage::Unopened) => {
                client.span.opening = clocks;
                client.span.opening_counters = self.shared.observer.read_counters(client.number);
                client.span.stage = Stage::Open;
            }
            (Edge::Closing, Stage::Open) => {
                client.span.closing = clocks;
                client.span.closing_counters = self.shared.observer.read_counters(client.number);
                self.mark_closed(index);
            }
            // The drain limit came first and closed the span.
            _ => {}
        }
        self.resume(index, intended_ns, now_ns)
    }

    /// The client is observed no longer.
    pub(super) fn leave_span(&mut self, index: usize, now_ns: u64) {
        let client = &mut self.clients[index];
        client.span.end_ns = now_ns;
        self.shared.phases[client.number].set(Phase::OutsideSpan);
    }

    /// The client has nothing more to be counted.
    pub(super) fn mark_closed(&mut self, index: usize) {
        self.clients[index].span.stage = Stage::Closed;
        self.shared.unclosed.fetch_sub(1, Ordering::Relaxed);
    }

    /// The client is free again. In a closed loop the pause moves its next start: the pause is the
    /// instrument's doing, no unit is late because of it.
    fn resume(&mut self, index: usize, intended_ns: u64, now_ns: u64) -> Result<()> {
        let client = &mut self.clients[index];
        client.state = State::Idle;
        client.available_since_ns = now_ns;
        // Fixed work is what it says: no unit is run beside those that were asked for.
        let has_done_its_work = self.shared.tickets.limit_work() && client.span.stage == Stage::Closed;
        if self.winding_down || has_done_its_work {
            return Ok(());
        }
        match self.shared.spec.arrival {
            ArrivalSpec::Closed(_) if intended_ns <= now_ns => match self.begin_next_unit(index, now_ns, now_ns)? {
                true => self.drive(index, now_ns),
                false => Ok(()),
            },
            ArrivalSpec::Closed(_) => {
                self.think_until(index, intended_ns);
                Ok(())
            }
            // The schedule may have come to the next edge meanwhile.
            ArrivalSpec::Open { .. } => self.next_open_unit(index, now_ns, true).map(|_| ()),
        }
    }
}
