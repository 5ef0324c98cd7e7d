//! From a wait event's number to the engine's own name for it.
//!
//! ```text
//! wait_event_info: class (8 bits) | 0 (8) | event (16); 0 as a whole: not waiting
//! ```
//!
//! Ids move between major versions (124 of the 153 events that 16 and 18 share), so each has a
//! table of its own and a version without one has no names: better none than a wrong one.

use super::wait_events_18;

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

/// The names of one major version.
#[derive(Clone, Copy)]
pub struct WaitNames(Table);

impl WaitNames {
    /// The names of a major version, if there is a table for it.
    pub fn of_version(major: u32) -> Option<Self> {
        match major {
            18 => Some(WaitNames(wait_events_18::TABLE)),
            _ => None,
        }
    }

    /// `Class:Name` as pg_stat_activity shows it; an id without a fixed name (extensions, user-defined
    /// locks, injection points) is shown by number.
    pub fn name(self, event: u32) -> String {
        let class = (event >> 24) as u8;
        let id = (event & 0xffff) as usize;
        let class_name = CLASSES.iter().find(|(byte, _)| *byte == class).map_or("Unknown", |(_, name)| name);
        let names = self.0.iter().find(|(byte, _)| *byte == class).map_or(&[][..], |(_, names)| names);
        match names.get(id) {
            Some(name) if !name.is_empty() => format!("{class_name}:{name}"),
            _ => format!("{class_name}:#{event:08x}"),
        }
    }

    /// All named events.
    pub fn all(self) -> impl Iterator<Item = (u32, String)> {
        self.0.iter().flat_map(move |(class, names)| {
            let named = names.iter().enumerate().filter(|(_, name)| !name.is_empty());
            named.map(move |(id, _)| {
                let event = u32::from(*class) << 24 | id as u32;
                (event, self.name(event))
            })
        })
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
    fn a_version_without_a_table_has_no_names() {
        assert!(WaitNames::of_version(17).is_none());
    }
}
