//! What the kernel counts about a process beside its clocks: how often it gave up its CPU, how often it was made to,
//! and how long it waited for block devices.
//!
//! Read where spans begin and end, not in sweeps: `status` costs 6 to 7 us.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

/// How often a process left its CPU since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// To wait for something.
    pub voluntary: u64,
    /// Because others were to run.
    pub involuntary: u64,
}

/// The counters of one process, readable again and again.
pub struct KernelCounters {
    status: File,
    stat: File,
}

impl KernelCounters {
    /// Open them.
    pub fn open(pid: i32) -> io::Result<Self> {
        Ok(Self { status: File::open(format!("/proc/{pid}/status"))?, stat: File::open(format!("/proc/{pid}/stat"))? })
    }

    /// Context switches so far; `None` when the process is gone.
    pub fn switches(&self) -> Option<Switches> {
        let mut buffer = [0; 4096];
        let length = self.status.read_at(&mut buffer, 0).ok()?;
        switches_of_status(std::str::from_utf8(&buffer[..length]).ok()?)
    }

    /// Time spent waiting for block I/O so far, in steps of a clock tick (10 ms): a sum over many waits, not a
    /// clock for one. It stands still where `block_io_is_accounted` says no.
    pub fn block_io_delay_ns(&self) -> Option<u64> {
        let mut buffer = [0; 1024];
        let length = self.stat.read_at(&mut buffer, 0).ok()?;
        let ticks = block_io_ticks_of_stat(&buffer[..length])?;
        // SAFETY: no pointers; the name is one that every Linux knows.
        let ticks_per_s = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        Some(ticks * 1_000_000_000 / u64::try_from(ticks_per_s).ok()?)
    }
}

/// Whether the kernel measures the waits for block devices; else the reason why it does not.
pub fn block_io_is_accounted() -> Result<(), String> {
    const SWITCH: &str = "/proc/sys/kernel/task_delayacct";
    match fs::read_to_string(SWITCH) {
        Ok(text) if text.trim() == "1" => Ok(()),
        Ok(text) => Err(format!("{SWITCH} is {}; the kernel measures block-I/O delay where it is 1", text.trim())),
        Err(error) => Err(format!("{SWITCH}: {error}; the kernel does not measure block-I/O delay")),
    }
}

fn switches_of_status(text: &str) -> Option<Switches> {
    let number = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line?.trim().parse().ok()
    };
    Some(Switches { voluntary: number("voluntary_ctxt_switches")?, involuntary: number("nonvoluntary_ctxt_switches")? })
}

/// Field 42 (proc_pid_stat(5)); the name, field 2, may hold blanks and brackets itself.
fn block_io_ticks_of_stat(text: &[u8]) -> Option<u64> {
    let bracket = text.iter().rposition(|&byte| byte == b')')?;
    let behind_the_name = std::str::from_utf8(text.get(bracket + 2..)?).ok()?;
    behind_the_name.split_ascii_whitespace().nth(42 - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_found_by_name_and_by_place() {
        let status = "Name:\tpostgres\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";
        assert_eq!(Some(Switches { voluntary: 150, involuntary: 545 }), switches_of_status(status));
        assert_eq!(None, switches_of_status("Name:\tpostgres\n"));
        let fields: Vec<String> = (3..=52).map(|number| number.to_string()).collect();
        let stat = format!("4711 (a) b) {}", fields.join(" "));
        assert_eq!(Some(42), block_io_ticks_of_stat(stat.as_bytes()));
    }

    #[test]
    fn this_very_process_has_left_its_cpu_before() {
        let counters = KernelCounters::open(std::process::id() as i32).expect("our own");
        let before = counters.switches().expect("alive");
        std::thread::sleep(std::time::Duration::from_millis(1));
        let after = counters.switches().expect("alive");
        assert!(after.voluntary >= before.voluntary && after.involuntary >= before.involuntary);
        assert!(counters.block_io_delay_ns().is_some());
    }
}
