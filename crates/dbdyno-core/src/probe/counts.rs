//! What snapshots add up to while the sampler runs.

/// Snapshots by wait event: few events, so a short list searched from the front.
#[derive(Default)]
pub struct EventCounts(Vec<(u32, u64)>);

/// Room for more events than a trial has shown so far, so that counting does not allocate.
const EVENTS_EXPECTED: usize = 64;

impl EventCounts {
    /// Nothing counted.
    pub fn new() -> Self {
        EventCounts(Vec::with_capacity(EVENTS_EXPECTED))
    }

    /// Count one snapshot of this event.
    pub fn add(&mut self, event: u32) {
        match self.0.iter_mut().find(|(known, _)| *known == event) {
            Some((_, count)) => *count += 1,
            None => self.0.push((event, 1)),
        }
    }

    /// How often an event was counted.
    pub fn get(&self, event: u32) -> u64 {
        self.0.iter().find(|(known, _)| *known == event).map_or(0, |(_, count)| *count)
    }

    /// All events counted.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        self.0.iter().copied()
    }

    /// All snapshots counted.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }
}

impl ClientCounts {
    /// Count a snapshot that found the backend on a CPU or in line for one while a unit was in progress.
    pub fn add_running_in_unit(&mut self, event: u32) {
        self.running_in_unit += 1;
        if event != 0 {
            self.woken_in_unit.add(event);
        }
    }
}

/// Snapshots of one client's backend. Event 0 is asleep without a wait event.
pub struct ClientCounts {
    /// Asleep while a unit was in progress.
    pub asleep_in_unit: EventCounts,
    /// Asleep while none was.
    pub asleep_between_units: u64,
    /// On a CPU or in line for one while a unit was in progress.
    pub running_in_unit: u64,
    /// Those of them that still had a wait event: woken, or on the way to sleep.
    pub woken_in_unit: EventCounts,
    /// The same while none was: the backend has replied and not yet come to rest.
    pub running_between_units: u64,
}

impl ClientCounts {
    /// Nothing counted.
    pub fn new() -> Self {
        ClientCounts {
            asleep_in_unit: EventCounts::new(),
            asleep_between_units: 0,
            running_in_unit: 0,
            woken_in_unit: EventCounts::new(),
            running_between_units: 0,
        }
    }
}
