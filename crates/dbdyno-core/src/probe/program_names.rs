//! Whether a server's program has the names of a table: a wrong version's or a changed build's has others.
//!
//! A minor release may append events to a class (WalReceiverUpstreamCatchup came between 18.4 and 18.6) and never
//! moves one, so an older program may lack the last names of a class, and none before one that it has.

use std::collections::HashSet;

use super::elf;
use super::names::WaitNames;
use super::program::Program;

/// An error names the first event that the program should have and has not.
pub fn check_names(program: &Program, names: &WaitNames) -> Result<(), String> {
    let (path, image) = program.file();
    let wanted = names.by_class().iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let constants = elf::constants(image).map_err(|error| format!("{path}: {error}"))?;
    let found: HashSet<&str> = constants.into_iter().flat_map(|part| names_in(part, &wanted)).collect();
    for (class, names) in names.by_class() {
        let last_found = names.iter().rposition(|name| found.contains(name)).unwrap_or(0);
        if let Some(missing) = names[..last_found].iter().find(|name| !name.is_empty() && !found.contains(*name)) {
            return Err(format!("{path} has no wait event {missing} (class {class}), as its version should have"));
        }
    }
    Ok(())
}

/// Those of the names that are in the image: ended by a zero, and whole. Of names that end alike a linker keeps one,
/// so the later words of a string count, too.
fn names_in<'a>(image: &[u8], wanted: &HashSet<&'a str>) -> HashSet<&'a str> {
    let mut found = HashSet::new();
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut start = 0;
    for (place, byte) in image.iter().enumerate() {
        if is_letter(byte) {
            continue;
        }
        let word = &image[start..place];
        start = place + 1;
        if *byte != 0 || word.len() < 4 {
            continue;
        }
        let begins_name = |at: &usize| *at == 0 || word[*at].is_ascii_uppercase();
        for at in (0..word.len() - 3).filter(begins_name) {
            let name = std::str::from_utf8(&word[at..]).expect("ASCII only");
            found.extend(wanted.get(name));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whole_and_where_a_linker_has_joined_them() {
        let image = b"\x01\x02WalSync\0SharedWalWrite\0DataFileReadahead\0%sTimeout\0tuple\0notuples WalRead";
        let wanted = HashSet::from(["WalSync", "WalWrite", "DataFileRead", "Timeout", "tuple", "WalRead", "tuples"]);
        assert_eq!(names_in(image, &wanted), HashSet::from(["WalSync", "WalWrite", "Timeout", "tuple"]));
    }
}
