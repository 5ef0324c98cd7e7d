//! Fixed work: a ticket for each unit, shared by all load threads. A counted unit takes one; when they are
//! gone, a client has nothing more to be counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// The tickets of a trial; on a cache line of their own, because every thread writes it once a unit.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Tickets(Option<AtomicU64>);

impl Tickets {
    /// One for each unit of fixed work; None: the window alone limits what is counted.
    pub(super) fn new(fixed_units: Option<u64>) -> Self {
        Self(fixed_units.map(AtomicU64::new))
    }

    /// Whether the trial is one of fixed work.
    pub(super) fn limit_work(&self) -> bool {
        self.0.is_some()
    }

    /// Takes a ticket; false when none is left.
    pub(super) fn take(&self) -> bool {
        let Some(left) = &self.0 else { return true };
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Whether the last one was taken.
    pub(super) fn are_gone(&self) -> bool {
        self.0.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) == 0)
    }

    /// Units that nobody has started.
    pub(super) fn left(&self) -> u64 {
        self.0.as_ref().map_or(0, |left| left.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ticket_is_taken_once() {
        let tickets = Tickets::new(Some(1000));
        let taken = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| (0..400).filter(|_| tickets.take()).count())).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum::<usize>()
        });
        assert_eq!((1000, 0, true), (taken, tickets.left(), tickets.are_gone()));
    }

    #[test]
    fn without_fixed_work_there_is_always_one() {
        let tickets = Tickets::new(None);
        assert!((0..10).all(|_| tickets.take()));
        assert_eq!((0, false, false), (tickets.left(), tickets.are_gone(), tickets.limit_work()));
    }
}
