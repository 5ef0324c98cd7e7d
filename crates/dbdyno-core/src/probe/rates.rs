//! How much of an event is sleep, from the snapshots that were looked at.

use super::counts::{ClientCounts, EventSnapshots, Snapshots};

/// A client's own looks count as much as so many of all clients' together: with a handful of looks its own rate is
/// chance, with hundreds it is what it is.
const POOLED_LOOKS: f64 = 4.0;

/// The rates of all clients together, towards which those of one client with few looks are drawn.
pub struct AsleepRates {
    in_unit: EventSnapshots,
    between_units: Snapshots,
}

impl AsleepRates {
    /// Of these clients.
    pub fn of<'a>(clients: impl IntoIterator<Item = &'a ClientCounts>) -> Self {
        let mut rates = AsleepRates { in_unit: EventSnapshots::default(), between_units: Snapshots::default() };
        for client in clients {
            rates.in_unit.add_all(&client.in_unit);
            rates.between_units += client.between_units;
        }
        rates
    }

    /// The share of one client's snapshots in an event (0 is none) that are sleep.
    pub fn of_event(&self, event: usize, own: Snapshots) -> f64 {
        // Where nobody ever looked: a backend in a wait sleeps, one without runs.
        drawn_together(own, self.in_unit.get(event), if event == 0 { 0.0 } else { 1.0 })
    }

    /// The same between units, for those that had not come to rest.
    pub fn between_units(&self, own: Snapshots) -> f64 {
        drawn_together(own, self.between_units, 0.0)
    }
}

fn drawn_together(own: Snapshots, all: Snapshots, unknown: f64) -> f64 {
    if all.looked == 0 {
        return unknown;
    }
    let pooled = all.asleep as f64 / all.looked as f64;
    (own.asleep as f64 + POOLED_LOOKS * pooled) / (own.looked as f64 + POOLED_LOOKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(snapshots: Snapshots) -> ClientCounts {
        let mut counts = ClientCounts::default();
        counts.in_unit.add(1, snapshots);
        counts
    }

    #[test]
    fn few_looks_are_drawn_to_all_and_many_stand_for_themselves() {
        let many = Snapshots { seen: 4000, looked: 4000, asleep: 4000 };
        let none = Snapshots { seen: 10, looked: 0, asleep: 0 };
        let few = Snapshots { seen: 90, looked: 4, asleep: 0 };
        let clients = [many, none, few].map(client);
        let rates = AsleepRates::of(&clients);
        let pooled = 4000.0 / 4004.0;
        assert_eq!(pooled, rates.of_event(1, none));
        assert_eq!(pooled / 2.0, rates.of_event(1, few));
        assert!(rates.of_event(1, many) > 0.999_99);
        assert_eq!((1.0, 0.0, 0.0), (rates.of_event(7, none), rates.of_event(0, none), rates.between_units(none)));
    }
}
