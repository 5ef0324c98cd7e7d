//! What one client is doing, told to the sampler without a lock: one word, and a letterbox of one slot.
//!
//! ```text
//! load thread                 word: | unit's number 32 | statement 28 | - | seen 1 | phase 2 |
//!   a unit begins ----------> store: next number, in unit                    ^
//!   a statement is sent ----> xor: its number                               | compare-and-set, at the first visit
//!   the unit ends ----------> swap: between units -- was seen? --+          |
//!                                                                v     sampler, at each visit of this client:
//!                             slot: number, times, script <-- posted     first takes the letter of the unit that
//!                                                          `---------->  it saw before, then marks the next one
//! ```
//!
//! A unit can be seen only by a visit, and each visit takes the letter of the unit seen before, so one slot is
//! enough, and a unit that nobody saw costs its load thread one swap. The sampler marks with a compare-and-set on
//! the whole word: a unit that ended meanwhile is not marked, so no letter is missed.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::record::UnitTimes;

/// Where a client is, as the sampler thread needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Not measured now: warm-up, settling, cool-down.
    OutsideSpan = 0,
    /// Measured and idle: think time, or an open-loop client without work.
    BetweenUnits = 1,
    /// A counted unit of work is in progress.
    InUnit = 2,
}

const PHASE_MASK: u64 = 3;
const SEEN: u64 = 1 << 2;
const STATEMENT_SHIFT: u32 = 4;
const STATEMENT_BITS: u32 = 28;
const STATEMENT_MASK: u64 = ((1 << STATEMENT_BITS) - 1) << STATEMENT_SHIFT;
const NUMBER_SHIFT: u32 = 32;

/// One reading of the word, without the mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place(u64);

impl Place {
    /// What the client was doing.
    #[must_use]
    pub fn phase(self) -> Phase {
        match self.0 & PHASE_MASK {
            2 => Phase::InUnit,
            1 => Phase::BetweenUnits,
            _ => Phase::OutsideSpan,
        }
    }

    /// Of the unit in progress; counts from 1 and starts again behind 2^32.
    #[must_use]
    pub fn unit(self) -> u32 {
        (self.0 >> NUMBER_SHIFT) as u32
    }

    /// The statement that the server works on; None before the first one, between two, and in a pipeline.
    #[must_use]
    pub fn statement(self) -> Option<usize> {
        (((self.0 & STATEMENT_MASK) >> STATEMENT_SHIFT) as usize).checked_sub(1)
    }
}

/// A unit that the sampler saw and that has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndedUnit {
    /// Intended start, start and end.
    pub times: UnitTimes,
    /// Of the workload.
    pub script: usize,
}

/// One client's word and slot, each on a cache line of its own: load threads write them, the sampler reads them.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct PhaseCell {
    word: AtomicU64,
    letter: Letter,
}

/// The slot. Its number is written last, so whoever finds it there finds the rest, too.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Letter {
    number: AtomicU32,
    script: AtomicU32,
    intended_ns: AtomicU64,
    start_ns: AtomicU64,
    end_ns: AtomicU64,
}

impl PhaseCell {
    /// Load thread: a counted unit begins.
    pub fn begin_unit(&self) {
        let number = Place(self.word.load(Ordering::Relaxed)).unit().wrapping_add(1).max(1);
        self.word.store(u64::from(number) << NUMBER_SHIFT | Phase::InUnit as u64, Ordering::Relaxed);
    }

    /// Load thread: a statement of the unit in progress is sent, or None for a pause between two.
    pub fn enter_statement(&self, statement: Option<usize>) {
        let word = self.word.load(Ordering::Relaxed);
        let number = statement.map_or(0, |statement| statement as u64 + 1);
        let flipped = (word ^ number << STATEMENT_SHIFT) & STATEMENT_MASK;
        if flipped != 0 && Place(word).phase() == Phase::InUnit {
            // Not a store: the sampler may mark the unit at the same time.
            self.word.fetch_xor(flipped, Ordering::Relaxed);
        }
    }

    /// Load thread: the unit in progress has ended; if it was seen, the sampler is told how it was.
    pub fn end_unit(&self, unit: impl FnOnce() -> EndedUnit) {
        if let Some(number) = self.leave_unit(Phase::BetweenUnits) {
            self.letter.post(number, &unit());
        }
    }

    /// Load thread: between units, the client's span begins or ends.
    pub fn set(&self, phase: Phase) {
        self.leave_unit(phase);
    }

    /// The number of the unit that was left, if it had been seen.
    fn leave_unit(&self, phase: Phase) -> Option<u32> {
        let before = self.word.load(Ordering::Relaxed);
        let after = before & !(PHASE_MASK | SEEN | STATEMENT_MASK) | phase as u64;
        let before = self.word.swap(after, Ordering::Relaxed);
        (before & SEEN != 0).then(|| Place(before).unit())
    }

    /// Sampler: where the client is.
    #[must_use]
    pub fn place(&self) -> Place {
        Place(self.word.load(Ordering::Relaxed) & !SEEN)
    }

    /// Sampler: asks for a letter when the unit in progress ends; false: the client has gone on already.
    #[must_use]
    pub fn ask_for_letter(&self, place: Place) -> bool {
        let marked = place.0 | SEEN;
        self.word.compare_exchange(place.0, marked, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Sampler: the letter about a unit that it asked for, once it is there.
    #[must_use]
    pub fn letter(&self, unit: u32) -> Option<EndedUnit> {
        self.letter.take(unit)
    }

    /// What the client is doing.
    #[must_use]
    pub fn get(&self) -> Phase {
        self.place().phase()
    }
}

impl Letter {
    fn post(&self, number: u32, unit: &EndedUnit) {
        self.script.store(unit.script as u32, Ordering::Relaxed);
        self.intended_ns.store(unit.times.intended_ns, Ordering::Relaxed);
        self.start_ns.store(unit.times.start_ns, Ordering::Relaxed);
        self.end_ns.store(unit.times.end_ns, Ordering::Relaxed);
        self.number.store(number, Ordering::Release);
    }

    fn take(&self, number: u32) -> Option<EndedUnit> {
        (self.number.load(Ordering::Acquire) == number).then(|| EndedUnit {
            times: UnitTimes {
                intended_ns: self.intended_ns.load(Ordering::Relaxed),
                start_ns: self.start_ns.load(Ordering::Relaxed),
                end_ns: self.end_ns.load(Ordering::Relaxed),
            },
            script: self.script.load(Ordering::Relaxed) as usize,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    fn unit(number: u64) -> EndedUnit {
        let times = UnitTimes { intended_ns: number, start_ns: number + 1, end_ns: number + 2 };
        EndedUnit { times, script: number as usize % 7 }
    }

    #[test]
    fn a_unit_that_nobody_saw_leaves_no_letter() {
        let cell = PhaseCell::default();
        cell.begin_unit();
        let place = cell.place();
        assert_eq!((Phase::InUnit, 1, None), (place.phase(), place.unit(), place.statement()));
        cell.end_unit(|| unreachable!("nobody asked"));
        assert_eq!((Phase::BetweenUnits, None), (cell.get(), cell.letter(1)));
    }

    #[test]
    fn a_unit_that_was_seen_is_told_of_whatever_statements_it_sent() {
        let cell = PhaseCell::default();
        cell.enter_statement(Some(3));
        assert_eq!(Phase::OutsideSpan, cell.get(), "a unit that is not counted has no statements");
        cell.begin_unit();
        cell.enter_statement(Some(0));
        assert!(cell.ask_for_letter(cell.place()));
        cell.enter_statement(Some(5));
        assert_eq!(Some(5), cell.place().statement());
        cell.enter_statement(None);
        assert_eq!(None, cell.place().statement());
        cell.end_unit(|| unit(10));
        assert_eq!(Some(unit(10)), cell.letter(1));
        cell.set(Phase::OutsideSpan);
        assert_eq!((Phase::OutsideSpan, 1), (cell.get(), cell.place().unit()));
    }

    #[test]
    fn a_unit_that_has_ended_cannot_be_marked() {
        let cell = PhaseCell::default();
        cell.begin_unit();
        let place = cell.place();
        cell.end_unit(|| unreachable!("nobody asked"));
        assert!(!cell.ask_for_letter(place));
    }

    /// Every unit that was marked is told of exactly once, with its own times, while the other thread goes on.
    #[test]
    fn no_letter_is_lost_or_mixed_between_two_threads() {
        const UNITS: u64 = 200_000;
        let (cell, done) = (PhaseCell::default(), AtomicBool::new(false));
        let (mut asked, mut taken) = (0, 0);
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=UNITS {
                    cell.begin_unit();
                    cell.enter_statement(Some(1));
                    cell.end_unit(|| unit(number));
                    if number % 64 == 0 {
                        thread::yield_now();
                    }
                }
                done.store(true, Ordering::Release);
            });
            let mut waiting = None;
            loop {
                let over = done.load(Ordering::Acquire);
                if let Some(number) = waiting
                    && let Some(ended) = cell.letter(number)
                {
                    assert_eq!(unit(u64::from(number)), ended);
                    (waiting, taken) = (None, taken + 1);
                }
                let place = cell.place();
                if waiting.is_none() && place.phase() == Phase::InUnit && cell.ask_for_letter(place) {
                    (waiting, asked) = (Some(place.unit()), asked + 1);
                }
                if over && waiting.is_none() {
                    break;
                }
            }
        });
        assert_eq!(asked, taken);
    }
}
