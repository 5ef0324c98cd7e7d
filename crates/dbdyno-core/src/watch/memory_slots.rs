//! The server's processes as its shared memory has them.
//!
//! ```text
//! PGPROC[slot]:            pid (0: free), wait event
//! PgBackendStatus[entry]:  pid, state, query id      in an order of its own before 17, by slot since
//! ```
//!
//! An entry of the second array is found by its pid and kept as long as the slot has that process.
//!
//! All words are gathered first, in loops in which no load waits for another: between two sweeps the server
//! has pushed most of them out of our caches, and a miss is 100 ns, of which ten are under way at once.

use std::io;

use super::source::{Activity, SessionState, SlotSource};
use crate::probe::{Layout, SharedMemory};

/// A process may be a while without an entry: until it has logged in, before 18. It is looked for after
/// 1, 2, 4, ... sweeps, at most so many.
const SEARCH_PAUSE_MAX: u32 = 1024;

/// More states than any version has.
const STATES_MAX: usize = 16;

/// Words of the server's memory.
pub trait Words {
    /// From the last copy.
    fn u32(&self, address: u64) -> u32;
    /// From the last copy.
    fn u64(&self, address: u64) -> u64;
    /// Now.
    fn fresh_u32(&self, address: u64) -> io::Result<u32>;
    /// Renews the copy.
    fn refresh(&mut self) -> io::Result<()>;
}

impl Words for SharedMemory {
    fn u32(&self, address: u64) -> u32 {
        SharedMemory::u32(self, address)
    }

    fn u64(&self, address: u64) -> u64 {
        SharedMemory::u64(self, address)
    }

    fn fresh_u32(&self, address: u64) -> io::Result<u32> {
        SharedMemory::fresh_u32(self, address)
    }

    fn refresh(&mut self) -> io::Result<()> {
        SharedMemory::refresh(self)
    }
}

/// Both arrays.
pub struct MemorySlots<W> {
    words: W,
    layout: Layout,
    /// By the number that the server has for them.
    states: [SessionState; STATES_MAX],
    entries: Vec<Entry>,
}

/// What is known of the process in a slot.
#[derive(Clone, Copy, Default)]
struct Entry {
    pid: i32,
    event: u32,
    state: u32,
    query_id: i64,
    /// Its number in the second array.
    found: Option<u32>,
    pause: u32,
    wait: u32,
}

impl<W: Words> MemorySlots<W> {
    /// The caller has the words that the layout names watched.
    pub fn new(words: W, layout: Layout) -> Self {
        let entries = vec![Entry::default(); layout.processes.slots];
        let state = |number| layout.state_name(number as u32).map_or(SessionState::Unknown, SessionState::of_name);
        let states = std::array::from_fn(state);
        MemorySlots { words, layout, states, entries }
    }

    fn status_pid(&self, entry: usize) -> Option<i32> {
        let status = self.layout.status.as_ref().filter(|status| entry < status.slots)?;
        Some(self.words.u32(status.entry(entry) + status.pid_offset) as i32)
    }

    /// The entry of a process: at its slot's number, most likely.
    fn search(&self, slot: usize, pid: i32) -> Option<u32> {
        let slots = self.layout.status.as_ref()?.slots;
        let is_its = |&entry: &usize| self.status_pid(entry) == Some(pid);
        std::iter::once(slot).chain(0..slots).find(is_its).map(|entry| entry as u32)
    }

    fn gather_processes(&mut self) {
        let (words, processes) = (&self.words, &self.layout.processes);
        for (slot, entry) in self.entries.iter_mut().enumerate() {
            let pid = words.u32(processes.pid_address(slot)) as i32;
            if pid != entry.pid {
                *entry = Entry { pid, ..Entry::default() };
            }
            entry.event = words.u32(processes.wait_address(slot));
        }
    }

    fn find_entries(&mut self) {
        for slot in 0..self.entries.len() {
            let entry = self.entries[slot];
            if entry.pid == 0 || entry.found.is_some() {
                continue;
            }
            if entry.wait > 0 {
                self.entries[slot].wait -= 1;
                continue;
            }
            self.entries[slot].found = self.search(slot, entry.pid);
            let pause = (entry.pause * 2).clamp(1, SEARCH_PAUSE_MAX);
            (self.entries[slot].pause, self.entries[slot].wait) = (pause, pause);
        }
    }

    fn gather_states(&mut self) {
        let (words, Some(status)) = (&self.words, &self.layout.status) else { return };
        for entry in &mut self.entries {
            if let Some(found) = entry.found {
                let start = status.entry(found as usize);
                entry.state = words.u32(start + status.state_offset);
                entry.query_id = status.query_id_offset.map_or(0, |offset| words.u64(start + offset) as i64);
            }
        }
    }
}

impl<W: Words> SlotSource for MemorySlots<W> {
    fn slots(&self) -> usize {
        self.entries.len()
    }

    fn refresh(&mut self) -> io::Result<bool> {
        self.words.refresh()?;
        self.gather_processes();
        if self.layout.status.is_some() {
            self.find_entries();
            self.gather_states();
        }
        Ok(true)
    }

    fn pid(&mut self, slot: usize) -> i32 {
        self.entries[slot].pid
    }

    fn activity(&self, slot: usize) -> Activity {
        let entry = &self.entries[slot];
        let state = self.states.get(entry.state as usize).copied().unwrap_or_default();
        Activity { event: entry.event, state, query_id: entry.query_id }
    }

    fn activity_now(&self, slot: usize) -> io::Result<Activity> {
        let event = self.words.fresh_u32(self.layout.processes.wait_address(slot))?;
        Ok(Activity { event, ..self.activity(slot) })
    }

    fn knows_states(&self) -> bool {
        self.layout.status.is_some()
    }

    fn answers_late(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{ProcessArray, StatusArray, WaitNames};

    /// Processes of 16 bytes (pid at 4, wait at 8), from 0; entries of 32 (pid at 0, state at 8, query at 16), from 1000.
    #[derive(Default)]
    struct FakeWords(std::collections::BTreeMap<u64, u64>);

    impl Words for FakeWords {
        fn u32(&self, address: u64) -> u32 {
            self.u64(address) as u32
        }

        fn u64(&self, address: u64) -> u64 {
            self.0.get(&address).copied().unwrap_or(0)
        }

        fn fresh_u32(&self, address: u64) -> io::Result<u32> {
            Ok(self.u32(address))
        }

        fn refresh(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn slots(status: bool) -> MemorySlots<FakeWords> {
        let processes = ProcessArray { start: 0, stride: 16, slots: 4, pid_offset: 4, wait_offset: 8 };
        let entries = StatusArray {
            start: 1000,
            stride: 32,
            slots: 4,
            pid_offset: 0,
            state_offset: 8,
            query_id_offset: Some(16),
        };
        let names = WaitNames::of_version(18).unwrap();
        let layout = Layout { version: 18, names, processes, status: status.then_some(entries) };
        MemorySlots::new(FakeWords::default(), layout)
    }

    fn set(slots: &mut MemorySlots<FakeWords>, words: &[(u64, u64)]) {
        slots.words.0.extend(words.iter().copied());
    }

    fn pids(slots: &mut MemorySlots<FakeWords>) -> [i32; 4] {
        slots.refresh().unwrap();
        [0, 1, 2, 3].map(|slot| slots.pid(slot))
    }

    #[test]
    fn a_process_and_its_entry_belong_together_wherever_it_is() {
        let mut slots = slots(true);
        set(&mut slots, &[(16 + 4, 77), (16 + 8, 0x0A00_004E), (1000 + 96, 77), (1000 + 96 + 8, 3)]);
        set(&mut slots, &[(1000 + 96 + 16, u64::MAX)]);
        assert_eq!([0, 77, 0, 0], pids(&mut slots));
        let expected = Activity { event: 0x0A00_004E, state: SessionState::Active, query_id: -1 };
        assert_eq!(expected, slots.activity(1));
        set(&mut slots, &[(16 + 8, 5)]);
        assert_eq!((expected, 5), (slots.activity(1), slots.activity_now(1).unwrap().event));
    }

    #[test]
    fn an_entry_that_comes_late_is_found_and_the_next_process_has_its_own() {
        let mut slots = slots(true);
        set(&mut slots, &[(16 + 4, 77)]);
        assert_eq!(([0, 77, 0, 0], SessionState::Unknown), (pids(&mut slots), slots.activity(1).state));
        set(&mut slots, &[(1000 + 32, 77), (1000 + 32 + 8, 2)]);
        let sweeps = (1..100).find(|_| pids(&mut slots)[1] == 77 && slots.activity(1).state == SessionState::Idle);
        assert!(sweeps.is_some_and(|sweeps| sweeps <= 3), "{sweeps:?}");
        set(&mut slots, &[(16 + 4, 78)]);
        assert_eq!(([0, 78, 0, 0], SessionState::Unknown), (pids(&mut slots), slots.activity(1).state));
        set(&mut slots, &[(16 + 4, 0)]);
        assert_eq!([0; 4], pids(&mut slots));
    }

    #[test]
    fn without_the_second_array_there_are_events_alone() {
        let mut slots = slots(false);
        set(&mut slots, &[(4, 77), (8, 5)]);
        assert!(!slots.knows_states());
        assert_eq!([77, 0, 0, 0], pids(&mut slots));
        assert_eq!(Activity { event: 5, ..Activity::default() }, slots.activity(0));
    }
}
