//! How much memory this process took: the driver is part of what it measures.

/// The kernel's high-water mark of resident memory. Not `ru_maxrss`: that one is handed on through exec, so a
/// small program would report what its parent had.
pub(super) fn bytes_max() -> Option<u64> {
    high_water_mark_bytes(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn high_water_mark_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_water_mark_is_in_bytes() {
        assert_eq!(Some(2_048_000), high_water_mark_bytes("VmPeak:\t  9 kB\nVmHWM:\t    2000 kB\nVmRSS:\t 1 kB\n"));
        assert_eq!(None, high_water_mark_bytes("Name:\tx\n"));
        assert!(bytes_max().is_some_and(|bytes| bytes > 100_000));
    }
}
