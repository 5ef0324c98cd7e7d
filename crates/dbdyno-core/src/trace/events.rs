//! The names of events, each once.

use super::hashing::FastMap;
use super::limits::EVENTS_MAX;
use super::wait_class::WaitClass;

/// One event.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub name: Box<[u8]>,
    pub class: WaitClass,
    /// Of `p1`, `p2` or `name|mode`: what its first parameter is called; empty where it has none.
    pub is_grouped_by_first: bool,
}

/// All events of a file.
#[derive(Debug, Default)]
pub(super) struct Events {
    pub all: Vec<Event>,
    by_name: FastMap<Box<[u8]>, u32>,
    /// Of waits whose event had no place of its own.
    pub merged: u64,
}

/// What all events beyond the limit are called.
const OTHERS: &[u8] = b"(other events)";

impl Events {
    /// The event's place.
    #[inline]
    pub(super) fn of(&mut self, name: &[u8]) -> u32 {
        if let Some(event) = self.by_name.get(name) {
            return *event;
        }
        match self.all.len() {
            0..EVENTS_MAX => self.add(name),
            _ => {
                self.merged += 1;
                self.by_name.get(OTHERS).copied().unwrap_or_else(|| self.add(OTHERS))
            }
        }
    }

    fn add(&mut self, name: &[u8]) -> u32 {
        // A name is at most 64 bytes long; damage may have made it longer.
        let event = Event {
            name: name[..name.len().min(200)].into(),
            class: WaitClass::of(name),
            is_grouped_by_first: is_protected(name),
        };
        self.all.push(event);
        let place = self.all.len() as u32 - 1;
        self.by_name.insert(name.into(), place);
        place
    }
}

/// Locks, latches and mutexes: their first parameter tells what they protect.
fn is_protected(name: &[u8]) -> bool {
    let is_latch = name.starts_with(b"latch") || name.starts_with(b"enq") || name.starts_with(b"cursor: ");
    is_latch || name.starts_with(b"library cache: ") || name == b"row cache lock"
}
