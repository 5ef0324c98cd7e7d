//! Which client gets which unit: all start together in a closed loop, the first idle one in an open loop.
//!
//! An open loop needs no queue: the schedule is one. Its head is the oldest unit that nobody has taken;
//! when it is due and no client is idle it stays there, and its queue time grows.

use super::spec::ArrivalSpec;
use super::worker::Worker;
use crate::clock;
use crate::error::Result;

impl Worker<'_> {
    /// Sets every client on its way.
    pub(super) fn start_load(&mut self) -> Result<()> {
        let ArrivalSpec::Closed(think_time) = self.shared.spec.arrival else {
            self.idle.extend(0..self.clients.len());
            return Ok(());
        };
        for index in 0..self.clients.len() {
            // Think times spread the first starts, or all clients would act in step for ever.
            let share = self.clients[index].number as f64 / self.shared.spec.clients as f64;
            let intended_ns = self.shared.window.load_start_ns + (think_time.mean_ns() as f64 * share) as u64;
            match self.clients[index].span.edge(intended_ns, &self.shared.window) {
                Some(edge) => self.begin_settling(index, edge, intended_ns, clock::now_ns())?,
                None => self.think_until(index, intended_ns),
            }
        }
        Ok(())
    }

    /// Gives units that are due to idle clients, one to each: a client whose unit has no SQL is idle again
    /// at once, and waits for the next turn.
    pub(super) fn dispatch_arrivals(&mut self) -> Result<()> {
        if self.arrivals.is_none() || self.winding_down {
            return Ok(());
        }
        self.settle_idle_clients()?;
        for _ in 0..self.idle.len() {
            if self.idle.is_empty() {
                break;
            }
            let now_ns = clock::now_ns();
            let Some(intended_ns) = self.take_arrival(now_ns) else { break };
            let index = self.idle.pop_front().expect("there is an idle client");
            let due_ns = intended_ns.max(self.clients[index].available_since_ns);
            self.begin_unit(index, intended_ns, due_ns, now_ns);
            self.drive(index, now_ns)?;
            self.settle_idle_clients()?;
        }
        Ok(())
    }

    /// When the head of the schedule crosses an edge of the window, idle clients have reached an edge of
    /// their span. All of them at once, because a client that becomes idle later looks for itself.
    fn settle_idle_clients(&mut self) -> Result<()> {
        let Some(arrivals) = &self.arrivals else { return Ok(()) };
        let (head_ns, window) = (arrivals.head_ns(), self.shared.window);
        let at_edge = |worker: &Self, index: usize| worker.clients[index].span.edge(head_ns, &window);
        if self.idle.front().is_none_or(|index| at_edge(self, *index).is_none()) {
            return Ok(());
        }
        for index in std::mem::take(&mut self.idle) {
            match at_edge(self, index) {
                Some(edge) => self.begin_settling(index, edge, 0, clock::now_ns())?,
                None => self.idle.push_back(index),
            }
        }
        Ok(())
    }

    /// A client of an open loop has become free; true: it has begun the unit at the head.
    pub(super) fn next_open_unit(&mut self, index: usize, now_ns: u64, later: bool) -> Result<bool> {
        let Some(arrivals) = &self.arrivals else { return Ok(false) };
        if let Some(edge) = self.clients[index].span.edge(arrivals.head_ns(), &self.shared.window) {
            self.begin_settling(index, edge, 0, now_ns)?;
            return Ok(false);
        }
        let taken = if later { None } else { self.take_arrival(now_ns) };
        match taken {
            Some(intended_ns) => self.begin_unit(index, intended_ns, now_ns, now_ns),
            None => self.idle.push_back(index),
        }
        Ok(taken.is_some())
    }

    /// Takes the head of the schedule if it is due, however late: a unit that is skipped because it is late
    /// would take the worst response times out of the record.
    fn take_arrival(&mut self, now_ns: u64) -> Option<u64> {
        let arrivals = self.arrivals.as_mut()?;
        let head_ns = arrivals.head_ns();
        if head_ns > now_ns {
            return None;
        }
        arrivals.advance();
        Some(head_ns)
    }

    /// Counted units that nobody has taken when the drain limit is reached were never started.
    pub(super) fn skip_remaining_arrivals(&mut self) {
        let Some(arrivals) = &mut self.arrivals else { return };
        while arrivals.head_ns() < self.shared.window.end_ns {
            if self.shared.window.contains(arrivals.head_ns()) {
                self.record.counted_unit_skipped();
            }
            arrivals.advance();
        }
    }
}
