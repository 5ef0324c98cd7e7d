//! A process's memory map, from `/proc/PID/maps`.

use std::{fs, io};

/// One line of a memory map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryMapping {
    /// First address.
    pub start: u64,
    /// Address behind the last.
    pub end: u64,
    /// Mapped with MAP_SHARED.
    pub shared: bool,
    /// Where in the file the mapping begins.
    pub offset: u64,
    /// Of the file; of a System V segment its id (ipc/shm.c keeps it so for the tools that read this file).
    pub inode: u64,
    /// As the kernel prints it: a path, perhaps followed by ` (deleted)`, a name in brackets, or nothing.
    pub path: String,
}

impl MemoryMapping {
    /// Whether `length` bytes at `address` lie inside.
    pub fn contains(&self, address: u64, length: u64) -> bool {
        self.start <= address && address.checked_add(length).is_some_and(|end| end <= self.end)
    }

    /// The id of the System V segment that is mapped here, if one is: `/SYSV` and its key in hexadecimal digits.
    pub fn system_v_id(&self) -> Option<i32> {
        let key = self.path.strip_prefix("/SYSV")?.trim_end_matches(" (deleted)");
        let is_key = key.len() == 8 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_key && self.shared && self.offset == 0).then(|| i32::try_from(self.inode).ok())?
    }

    /// The mapping's name in `/proc/PID/map_files`.
    pub fn file_name(&self) -> String {
        format!("{:x}-{:x}", self.start, self.end)
    }
}

/// The memory map of a process.
pub fn of_process(pid: i32) -> io::Result<Vec<MemoryMapping>> {
    let text = fs::read(format!("/proc/{pid}/maps"))?;
    Ok(String::from_utf8_lossy(&text).lines().filter_map(parse_line).collect())
}

/// `7f00-7f10 rw-s 00000000 00:01 33     /dev/zero (deleted)`: five fields, blanks, the rest is the path.
fn parse_line(line: &str) -> Option<MemoryMapping> {
    let (range, rest) = line.split_once(' ')?;
    let (permissions, rest) = rest.split_once(' ')?;
    let (offset, rest) = rest.split_once(' ')?;
    let (_device, rest) = rest.split_once(' ')?;
    let (inode, path) = rest.split_once(' ').unwrap_or((rest, ""));
    let (start, end) = range.split_once('-')?;
    Some(MemoryMapping {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        shared: permissions.ends_with('s'),
        offset: u64::from_str_radix(offset, 16).ok()?,
        inode: inode.parse().ok()?,
        path: path.trim_start_matches(' ').to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(start: u64, end: u64, shared: bool, offset: u64, inode: u64, path: &str) -> MemoryMapping {
        MemoryMapping { start, end, shared, offset, inode, path: path.to_owned() }
    }

    #[test]
    fn each_kind_of_line() {
        let cases = [
            (
                "00400000-00494000 r--p 00000000 fe:00 10010800                           /opt/pg sql/bin/postgres (deleted)",
                mapping(0x400000, 0x494000, false, 0, 10010800, "/opt/pg sql/bin/postgres (deleted)"),
            ),
            (
                "7f2166bd0000-7f2170182000 rw-s 00001000 00:01 33                         /dev/zero (deleted)",
                mapping(0x7f2166bd0000, 0x7f2170182000, true, 0x1000, 33, "/dev/zero (deleted)"),
            ),
            ("7ffd1000-7ffd2000 rw-p 00000000 00:00 0 ", mapping(0x7ffd1000, 0x7ffd2000, false, 0, 0, "")),
            ("7ffd1000-7ffd2000 rw-p 00000000 00:00 0", mapping(0x7ffd1000, 0x7ffd2000, false, 0, 0, "")),
        ];
        for (line, expected) in cases {
            assert_eq!(parse_line(line), Some(expected), "{line}");
        }
        assert_eq!(parse_line("nonsense"), None);
    }

    #[test]
    fn containment_is_exact_at_both_edges() {
        let mapping = mapping(0x1000, 0x2000, true, 0, 0, "");
        assert!(mapping.contains(0x1000, 4) && mapping.contains(0x1ffc, 4));
        assert!(!mapping.contains(0xfff, 4) && !mapping.contains(0x1ffd, 4) && !mapping.contains(u64::MAX, 4));
        assert_eq!(mapping.file_name(), "1000-2000");
    }

    #[test]
    fn a_system_v_segment_is_known_by_its_name() {
        let id = |shared, path: &str| mapping(0x1000, 0x2000, shared, 0, 65538, path).system_v_id();
        assert_eq!(id(true, "/SYSV0052e2c1 (deleted)"), Some(65538));
        assert_eq!(id(true, "/SYSV00000000"), Some(65538));
        assert_eq!(id(false, "/SYSV0052e2c1 (deleted)"), None);
        assert_eq!(id(true, "/SYSVirgin.dat"), None);
        assert_eq!(id(true, "/dev/zero (deleted)"), None);
    }

    #[test]
    fn own_map_holds_this_function() {
        let address = own_map_holds_this_function as *const () as u64;
        assert!(of_process(std::process::id() as i32).unwrap().iter().any(|mapping| mapping.contains(address, 1)));
    }
}
