//! From a wait event's number to the engine's own name for it.
//!
//! ```text
//! wait_event_info: class (8 bits) | 0 (8) | event (16); 0 as a whole: not waiting
//! ```
//!
//! Ids move between major versions (124 of the 153 events that 16 and 18 share), so each has a
//! table of its own and a version without one has no names: better none than a wrong one.

use std::collections::BTreeMap;

use super::{wait_events_14, wait_events_15, wait_events_16, wait_events_17, wait_events_18};

type Table = &'static [(u8, &'static [&'static str])];

const CLASSES: [(u8, &str); 10] = [
    (0x01, "LWLock"),
    (0x03, "Lock"),
    (0x04, "BufferPin"),
    (0x05, "Activity"),
    (0x06, "Client"),
    (0x07, "Extension"),
    (0x08, "IPC"),
    (0x09, "Timeout"),
    (0x0A, "IO"),
    (0x0B, "InjectionPoint"),
];

/// `Client:ClientRead`: the only event a backend waits in with no request outstanding. Id 0 of its
/// class in every version.
pub const CLIENT_READ: u32 = 0x0600_0000;

/// The names of one major version, and those that one server has made at run time.
#[derive(Clone, Debug)]
pub struct WaitNames {
    table: Table,
    made: BTreeMap<u32, String>,
}

impl WaitNames {
    /// The names of a major version, if there is a table for it.
    pub fn of_version(major: u32) -> Option<Self> {
        let table = match major {
            14 => wait_events_14::TABLE,
            15 => wait_events_15::TABLE,
            16 => wait_events_16::TABLE,
            17 => wait_events_17::TABLE,
            18 => wait_events_18::TABLE,
            _ => return None,
        };
        Some(WaitNames { table, made: BTreeMap::new() })
    }

    /// The same, and names that extensions of a server have made.
    pub fn with_made(self, made: BTreeMap<u32, String>) -> Self {
        WaitNames { made, ..self }
    }

    /// `Class:Name` as pg_stat_activity shows it; an id without a known name (an extension's, a user-defined lock's,
    /// an injection point's) is shown by number, never guessed.
    pub fn name(&self, event: u32) -> String {
        let class = (event >> 24) as u8;
        let class_name = CLASSES.iter().find(|(byte, _)| *byte == class).map_or("Unknown", |(_, name)| name);
        let named = self.made.get(&event).map(String::as_str).or_else(|| self.in_table(class, event & 0x00ff_ffff));
        match named {
            Some(name) => format!("{class_name}:{name}"),
            None => format!("{class_name}:#{event:08x}"),
        }
    }

    fn in_table(&self, class: u8, id: u32) -> Option<&'static str> {
        let (_, names) = self.table.iter().find(|(byte, _)| *byte == class)?;
        names.get(id as usize).copied().filter(|name| !name.is_empty())
    }

    /// All events with a name of their own version.
    pub fn all(&self) -> impl Iterator<Item = (u32, String)> {
        self.table.iter().flat_map(move |(class, names)| {
            let named = names.iter().enumerate().filter(|(_, name)| !name.is_empty());
            named.map(move |(id, _)| {
                let event = u32::from(*class) << 24 | id as u32;
                (event, self.name(event))
            })
        })
    }

    /// The names of each class in the order of their ids, empty where an id is not in use.
    pub(super) fn by_class(&self) -> Table {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_ids_of_18() {
        let names = WaitNames::of_version(18).unwrap();
        let cases = [
            (0x0100_0008, "LWLock:WALWrite"),
            (0x0300_0005, "Lock:transactionid"),
            (0x0300_0004, "Lock:tuple"),
            (0x0500_0011, "Activity:WalWriterMain"),
            (CLIENT_READ, "Client:ClientRead"),
            (0x0900_0002, "Timeout:PgSleep"),
            (0x0A00_004E, "IO:WalSync"),
            (0x0A00_0015, "IO:DataFileRead"),
            (0x0100_000A, "LWLock:#0100000a"),
            (0x0B00_0001, "InjectionPoint:#0b000001"),
            (0x7700_0001, "Unknown:#77000001"),
        ];
        for (event, name) in cases {
            assert_eq!(names.name(event), name);
        }
    }

    #[test]
    fn ids_move_between_versions() {
        let cases = [
            (14, 0x0A00_0043, "IO:WALSync"),
            (15, 0x0A00_0046, "IO:WALSync"),
            (16, 0x0A00_0047, "IO:WALSync"),
            (17, 0x0A00_004A, "IO:WalSync"),
            (18, 0x0A00_004E, "IO:WalSync"),
        ];
        for (version, event, name) in cases {
            assert_eq!(WaitNames::of_version(version).unwrap().name(event), name, "{version}");
        }
    }

    #[test]
    fn names_made_at_run_time_are_beside_those_of_the_version() {
        let made = BTreeMap::from([(0x0700_0001, "PgPrewarmDumpDelay".to_owned())]);
        let names = WaitNames::of_version(18).unwrap().with_made(made);
        assert_eq!(names.name(0x0700_0001), "Extension:PgPrewarmDumpDelay");
        assert_eq!(names.name(0x0700_0000), "Extension:Extension");
        assert_eq!(names.name(0x0700_0002), "Extension:#07000002");
    }

    #[test]
    fn a_version_without_a_table_has_no_names() {
        assert!(WaitNames::of_version(13).is_none() && WaitNames::of_version(19).is_none());
    }
}
