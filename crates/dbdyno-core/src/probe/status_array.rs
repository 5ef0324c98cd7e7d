//! PgBackendStatus, what each server process tells about itself: its state and the query that it runs.
//!
//! ```text
//! MyBEEntry of a process --> its entry; the array begins index x stride before it
//!     index: MyProcNumber (17 and later), MyBackendId - 1 (14 to 16, where it has one)
//! behind the array: the strings of entry 0, 1, ...; the first is application_name's, so the array ends there
//!
//! an entry, in declared order since 14:  ... | state | *application_name | *activity | progress | query id | ...
//!                                                ^-8    ^ found by where it points            ^ +184
//! progress: int command, Oid target, 20 x int64 (PGSTAT_NUM_PROGRESS_PARAM)
//! ```
//!
//! Step, start, end and the place of the process id are learned. State and query id are taken from their neighbours,
//! and compared with pg_stat_activity where there is a connection (see `self_test`).

use std::io;

use super::copied::Copier;
use super::process_array::{common_pid_offset, greatest_common_divisor};
use super::program::Program;

const STATE_BEFORE_STRINGS: u64 = 8;
const QUERY_ID_BEHIND_STRINGS: u64 = 8 + 8 + 4 + 4 + 20 * 8;
/// Entries beyond MaxBackends, for auxiliary processes.
const AUXILIARY_MAX: u64 = 64;
/// Between these any version's entry is (400 to 424 bytes).
const STRIDE_MIN: u64 = 256;
const STRIDE_MAX: u64 = 768;

/// BackendState as pg_stat_activity spells it; the first is shown as NULL. 18 has put `starting` before the others.
const STATES: [&str; 8] = [
    "",
    "starting",
    "idle",
    "active",
    "idle in transaction",
    "fastpath function call",
    "idle in transaction (aborted)",
    "disabled",
];

/// A state as pg_stat_activity shows it.
pub(super) fn state_name(version: u32, state: u32) -> Option<&'static str> {
    let index = if version < 18 && state > 0 { state.checked_add(1)? } else { state };
    STATES.get(index as usize).copied().filter(|name| !name.is_empty())
}

/// Where the PgBackendStatus entries are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusArray {
    /// Address of the first.
    pub start: u64,
    /// From one to the next.
    pub stride: u64,
    /// How many there are, in use or not.
    pub slots: usize,
    /// Where in an entry the process id is, four bytes; 0 in an unused one.
    pub pid_offset: u64,
    /// Where the state is, four bytes: see `Layout::state_name`.
    pub state_offset: u64,
    /// Where the query id is, eight bytes; 0 is none.
    pub query_id_offset: Option<u64>,
}

impl StatusArray {
    /// Learn the layout from the processes that run.
    pub fn learn(program: &Program, version: u32) -> Result<Self, String> {
        let entries = Known::all(program)?;
        let first = entries.first().ok_or("no process has an entry")?.address;
        let steps = entries.iter().map(|known| known.address.abs_diff(first));
        let stride = steps.reduce(greatest_common_divisor).unwrap_or(0);
        if !(STRIDE_MIN..=STRIDE_MAX).contains(&stride) {
            return Err(format!("entries of {} processes seem to be {stride} bytes apart", entries.len()));
        }
        let start = common_start(&entries, stride)?;
        let postmaster = program.memory_of(program.postmaster_pid)?;
        let pid_offset =
            common_pid_offset(&postmaster, entries.iter().map(|known| (known.pid, known.address)), stride)?;
        let strings = Strings::find(program, &postmaster, start, stride)?;
        let state_offset = strings.offset.checked_sub(STATE_BEFORE_STRINGS).ok_or("there is no room for a state")?;
        let query_id_offset = Some(strings.offset + QUERY_ID_BEHIND_STRINGS).filter(|offset| offset + 8 <= stride);
        let slots = ((strings.address - start) / stride) as usize;
        for known in &entries {
            let state = postmaster.u32(known.address + state_offset).map_err(|error| error.to_string())?;
            if state != 0 && state_name(version, state).is_none() {
                return Err(format!("process {} has state {state}, of which PostgreSQL {version} has none", known.pid));
            }
        }
        Ok(StatusArray { start, stride, slots, pid_offset, state_offset, query_id_offset })
    }

    /// Address of an entry.
    pub fn entry(&self, slot: usize) -> u64 {
        self.start + slot as u64 * self.stride
    }

    /// (address, bytes) of these neighbouring entries, up to what is read of the last.
    pub fn span(&self, first_slot: usize, last_slot: usize) -> (u64, usize) {
        let end = (self.pid_offset + 4).max(self.state_offset + 4).max(self.query_id_offset.map_or(0, |at| at + 8));
        (self.entry(first_slot), ((last_slot - first_slot) as u64 * self.stride + end) as usize)
    }
}

struct Known {
    pid: i32,
    address: u64,
    index: Option<u64>,
}

impl Known {
    fn all(program: &Program) -> Result<Vec<Self>, String> {
        let pointer = program.variable("MyBEEntry")?;
        let (number, counts_from) = match program.variable_if_any("MyProcNumber") {
            Some(number) => (number, 0),
            None => (program.variable("MyBackendId")?, 1),
        };
        let known = |pid: i32| -> Option<Known> {
            let memory = program.memory_of(pid).ok()?;
            let address = memory.u64(pointer).ok().filter(|&address| program.is_shared(address, STRIDE_MIN))?;
            let index = memory.u32(number).ok()? as i32 - counts_from;
            Some(Known { pid, address, index: u64::try_from(index).ok() })
        };
        Ok(program.children()?.into_iter().filter_map(known).collect())
    }
}

fn common_start(entries: &[Known], stride: u64) -> Result<u64, String> {
    let start_of = |known: &Known| known.address.checked_sub(known.index? * stride);
    let start = entries.iter().find_map(start_of).ok_or("no process knows the number of its entry")?;
    let elsewhere = |known: &&Known| {
        known.address < start
            || !(known.address - start).is_multiple_of(stride)
            || (known.index.is_some() && start_of(known) != Some(start))
    };
    match entries.iter().find(elsewhere) {
        Some(known) => Err(format!("the entry of process {} is not where its number says", known.pid)),
        None => Ok(start),
    }
}

/// Where the first entry's application_name is: of its pointers behind the array that to the lowest address.
struct Strings {
    offset: u64,
    address: u64,
}

impl Strings {
    fn find(program: &Program, postmaster: &Copier, start: u64, stride: u64) -> Result<Self, String> {
        let describe = |error: io::Error| error.to_string();
        let backends = u64::from(postmaster.u32(program.variable("MaxBackends")?).map_err(describe)?);
        let mut entry = vec![0; stride as usize];
        postmaster.read(start, &mut entry).map_err(describe)?;
        let words = entry.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
        let places = (0..).step_by(8).zip(words);
        // A cache line of room: the strings are aligned.
        let ends = start + backends * stride..=start + (backends + AUXILIARY_MAX) * stride + 128;
        let lowest = places.filter(|(_, word)| ends.contains(word)).min_by_key(|(_, word)| *word);
        let (offset, address) = lowest.ok_or("the strings of entry 0 are not behind the array")?;
        Ok(Strings { offset, address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_moved_by_one_in_18() {
        assert_eq!(
            [0, 1, 2, 6, 7].map(|state| state_name(17, state)),
            [None, Some("idle"), Some("active"), Some("disabled"), None]
        );
        assert_eq!(
            [0, 1, 2, 3, 7, 8].map(|state| state_name(18, state)),
            [None, Some("starting"), Some("idle"), Some("active"), Some("disabled"), None]
        );
        assert_eq!(state_name(14, u32::MAX), None);
    }

    #[test]
    fn entries_must_lie_where_their_numbers_say() {
        let known = |pid, address, index| Known { pid, address, index };
        let auxiliary = known(3, 1000 + 400 * 130, None);
        let entries = |second| [known(1, 1400, Some(1)), known(2, second, Some(9)), known(3, auxiliary.address, None)];
        assert_eq!(common_start(&entries(1000 + 3600), 400).unwrap(), 1000);
        assert!(common_start(&entries(1000 + 4000), 400).unwrap_err().contains("process 2"));
        assert!(common_start(&[auxiliary], 400).is_err());
    }

    #[test]
    fn a_span_ends_behind_what_is_read() {
        let array = StatusArray {
            start: 1000,
            stride: 400,
            slots: 10,
            pid_offset: 4,
            state_offset: 200,
            query_id_offset: Some(392),
        };
        assert_eq!(array.span(0, 9), (1000, 4000));
        assert_eq!(StatusArray { query_id_offset: None, ..array }.span(2, 3), (1800, 400 + 204));
    }
}
