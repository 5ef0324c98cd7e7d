//! Names of wait events that a server's extensions have made: not in any table, but in its shared memory.
//!
//! ```text
//! NamedLWLockTrancheArray -> | int id | char *name | ...   locks asked for by preloaded libraries
//! two hash tables (17 and later), somewhere behind the PGPROCs, of custom Extension and InjectionPoint events:
//!     by event:  | uint32 event | char name[64] |
//!     by name:   | char name[64] | uint32 event |
//! ```
//!
//! The hash tables have no exported name, so their entries are looked for, and believed when both hold the pair.
//! Names made after that stay unknown, and such events are shown by number.

use std::collections::BTreeMap;

use super::copied::Copier;
use super::process_array::ProcessArray;
use super::program::Program;

const LWLOCK_CLASS: u32 = 0x0100_0000;
/// Extension and InjectionPoint; ids count from 1 and are few (at most 128).
const CUSTOM_CLASSES: [u8; 2] = [0x07, 0x0B];
const CUSTOM_IDS_MAX: u32 = 128;
const CUSTOM_SINCE: u32 = 17;
/// NAMEDATALEN, unless the server was built otherwise.
const NAME_BYTES: usize = 64;
/// More named tranches than any server has: a larger number is not their count.
const TRANCHES_MAX: u32 = 1000;
/// The tables lie within a few megabytes of the PGPROCs; what is searched of a very large server ends here.
const SEARCHED_BYTES_MAX: u64 = 64 << 20;

/// The names made so far, by event. What cannot be read has none.
pub fn made_names(program: &Program, version: u32, processes: &ProcessArray) -> BTreeMap<u32, String> {
    let Ok(postmaster) = program.memory_of(program.postmaster_pid) else { return BTreeMap::new() };
    let mut names = lock_names(program, &postmaster).unwrap_or_default();
    if version >= CUSTOM_SINCE
        && let Some(mapping) = program.mapping_of(processes.start, 1)
    {
        let length = (mapping.end - processes.start).min(SEARCHED_BYTES_MAX);
        let mut memory = vec![0; length as usize];
        if postmaster.read(processes.start, &mut memory).is_ok() {
            names.extend(custom_names(&memory));
        }
    }
    names
}

fn lock_names(program: &Program, postmaster: &Copier) -> Option<BTreeMap<u32, String>> {
    let count = postmaster.u32(program.variable_if_any("NamedLWLockTrancheRequests")?).ok()?;
    let array = postmaster.u64(program.variable_if_any("NamedLWLockTrancheArray")?).ok()?;
    if count > TRANCHES_MAX || !program.is_shared(array, u64::from(count) * 16) {
        return None;
    }
    let tranche = |index: u64| {
        let id = postmaster.u32(array + index * 16).ok()?;
        let name = postmaster.u64(array + index * 16 + 8).ok()?;
        let mut text = [0; NAME_BYTES];
        postmaster.read(name, &mut text).ok()?;
        Some((LWLOCK_CLASS | id, name_of(&text)?.to_owned()))
    };
    Some((0..u64::from(count)).filter_map(tranche).collect())
}

/// Both tables keep an event at a multiple of eight, and the name behind or before it.
fn custom_names(memory: &[u8]) -> BTreeMap<u32, String> {
    let (mut by_event, mut by_name) = (BTreeMap::new(), BTreeMap::new());
    for (index, word) in memory.chunks_exact(8).enumerate() {
        if !CUSTOM_CLASSES.contains(&word[3]) {
            continue;
        }
        let event = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        if !(1..=CUSTOM_IDS_MAX).contains(&(event & 0x00ff_ffff)) {
            continue;
        }
        let name_at = |place: usize| name_of(memory.get(place..place + NAME_BYTES)?).map(str::to_owned);
        let place = index * 8;
        name_at(place + 4).and_then(|name| by_event.insert(event, name));
        place.checked_sub(NAME_BYTES).and_then(name_at).and_then(|name| by_name.insert(event, name));
    }
    by_event.retain(|event, name| by_name.get(event) == Some(name));
    by_event
}

/// Printable text that begins with a letter and ends with a zero.
fn name_of(bytes: &[u8]) -> Option<&str> {
    let name = &bytes[..bytes.iter().position(|byte| *byte == 0)?];
    let is_name = name.first()?.is_ascii_alphabetic() && name.iter().all(|byte| matches!(byte, b' '..=b'~'));
    is_name.then(|| std::str::from_utf8(name).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(parts: &[&[u8]]) -> Vec<u8> {
        let mut bytes = parts.concat();
        bytes.resize(bytes.len().next_multiple_of(8) + 16, 0);
        bytes
    }

    fn name(text: &str) -> [u8; NAME_BYTES] {
        let mut bytes = [0; NAME_BYTES];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        bytes
    }

    #[test]
    fn a_custom_event_is_named_when_both_tables_have_it() {
        let event = |event: u32| event.to_le_bytes();
        let memory = [
            entry(&[&[7; 24]]),
            entry(&[&event(0x0700_0002), &name("DblinkConnect")]),
            entry(&[&event(0x0700_0003), &name("InOneTableOnly")]),
            entry(&[&event(0x0500_0001), &name("NoCustomClass")]),
            entry(&[&name("DblinkConnect"), &event(0x0700_0002)]),
            entry(&[&name("NoCustomClass"), &event(0x0500_0001)]),
            vec![0; 100],
        ]
        .concat();
        assert_eq!(custom_names(&memory), BTreeMap::from([(0x0700_0002, "DblinkConnect".to_owned())]));
        assert_eq!(custom_names(&[]), BTreeMap::new());
    }
}
