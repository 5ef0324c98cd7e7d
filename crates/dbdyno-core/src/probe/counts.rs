//! What snapshots add up to: by wait event, how many saw it, how many of them looked at the state, and how many of
//! those found the backend asleep.
//!
//! Double sampling (two-phase sampling, Neyman 1938): an event costs nanoseconds to read and a state microseconds,
//! so all snapshots have the first and only some the second. The estimated number asleep in event e is
//! `seen_e x asleep_e / looked_e`; which snapshots are looked at is a matter of turns, not of what they show.

use std::ops::AddAssign;

/// Snapshots of one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshots {
    /// All of them.
    pub seen: u64,
    /// Those with a state.
    pub looked: u64,
    /// Those that found the backend asleep.
    pub asleep: u64,
}

impl Snapshots {
    /// One snapshot, with whether the backend slept if that was looked at.
    #[must_use]
    pub fn one(asleep: Option<bool>) -> Self {
        Snapshots { seen: 1, looked: u64::from(asleep.is_some()), asleep: u64::from(asleep == Some(true)) }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seen == 0
    }
}

impl AddAssign for Snapshots {
    fn add_assign(&mut self, other: Self) {
        self.seen += other.seen;
        self.looked += other.looked;
        self.asleep += other.asleep;
    }
}

/// Snapshots by event, numbered as `EventIndex` does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventSnapshots(Vec<Snapshots>);

impl EventSnapshots {
    /// None yet; `events` get room, further ones make room for themselves.
    #[must_use]
    pub fn with_room_for(events: usize) -> Self {
        EventSnapshots(Vec::with_capacity(events))
    }

    /// Adds snapshots of one event.
    pub fn add(&mut self, event: usize, snapshots: Snapshots) {
        if event >= self.0.len() {
            self.0.resize(event + 1, Snapshots::default());
        }
        self.0[event] += snapshots;
    }

    /// Adds all of the others'.
    pub fn add_all(&mut self, other: &Self) {
        other.iter().for_each(|(event, snapshots)| self.add(event, snapshots));
    }

    /// Of one event.
    #[must_use]
    pub fn get(&self, event: usize) -> Snapshots {
        self.0.get(event).copied().unwrap_or_default()
    }

    /// Events that were seen.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Snapshots)> {
        self.0.iter().copied().enumerate().filter(|(_, snapshots)| !snapshots.is_empty())
    }

    /// Of all events together.
    #[must_use]
    pub fn total(&self) -> Snapshots {
        let mut total = Snapshots::default();
        self.0.iter().for_each(|&snapshots| total += snapshots);
        total
    }

    /// Forgets everything, and keeps the room.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Snapshots of one client's backend within its span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientCounts {
    /// With a unit in progress, by event; event 0 is none.
    pub in_unit: EventSnapshots,
    /// Between units and reading from the client: it has nothing else to do, so the state is not looked at.
    pub at_rest: u64,
    /// Between units and anything else: it has replied and not come to rest yet.
    pub between_units: Snapshots,
}

/// The wait events that were met, numbered from 0 in the order of their first appearance; 0 is no wait event.
#[derive(Clone, Debug)]
pub struct EventIndex {
    /// By class and number, one more than the index; 0 is unknown.
    near: Vec<u16>,
    events: Vec<u32>,
}

/// Classes are the top byte (at most 0x0B), numbers below this are told apart by a table, others by a search.
const NEAR_CLASSES: usize = 16;
const NEAR_NUMBERS: usize = 256;

impl EventIndex {
    /// Only the absence of one.
    #[must_use]
    pub fn new() -> Self {
        let mut index = EventIndex { near: vec![0; NEAR_CLASSES * NEAR_NUMBERS], events: Vec::with_capacity(256) };
        index.of(0);
        index
    }

    /// The index of an event.
    pub fn of(&mut self, event: u32) -> usize {
        let (class, number) = ((event >> 24) as usize, (event & 0x00ff_ffff) as usize);
        if class >= NEAR_CLASSES || number >= NEAR_NUMBERS {
            return self.events.iter().position(|known| *known == event).unwrap_or_else(|| self.append(event));
        }
        let slot = class * NEAR_NUMBERS + number;
        match self.near[slot] {
            0 => {
                let index = self.append(event);
                self.near[slot] = index as u16 + 1;
                index
            }
            known => usize::from(known) - 1,
        }
    }

    fn append(&mut self, event: u32) -> usize {
        self.events.push(event);
        self.events.len() - 1
    }

    /// By index.
    #[must_use]
    pub fn events(&self) -> &[u32] {
        &self.events
    }
}

impl Default for EventIndex {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_keep_their_index_near_and_far() {
        let mut index = EventIndex::new();
        let events = [0x0A00_004E, 0x0100_0102, 0x0A00_004E, 0, 0xFF00_0001, 0x0100_0102];
        assert_eq!([1, 2, 1, 0, 3, 2], events.map(|event| index.of(event)));
        assert_eq!([0, 0x0A00_004E, 0x0100_0102, 0xFF00_0001], index.events());
    }

    #[test]
    fn snapshots_add_up_by_event() {
        let mut counts = EventSnapshots::default();
        counts.add(2, Snapshots::one(None));
        counts.add(2, Snapshots::one(Some(true)));
        counts.add(0, Snapshots::one(Some(false)));
        assert_eq!(Snapshots { seen: 2, looked: 1, asleep: 1 }, counts.get(2));
        assert_eq!(vec![0, 2], counts.iter().map(|(event, _)| event).collect::<Vec<_>>());
        assert_eq!(Snapshots { seen: 3, looked: 2, asleep: 1 }, counts.total());
    }
}
