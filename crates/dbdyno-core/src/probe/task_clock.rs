//! The kernel's CPU clock of one process, exact while it runs: `perf_event_open` on the software event task-clock.
//!
//! `/proc/PID/schedstat` is brought up to date at ticks and when the task leaves its CPU; this clock is brought up to
//! date by the reading itself. It may be opened on a process of the same user where `perf_event_paranoid` is at most
//! 2, on any by root; it counts kernel time too although it must be asked for without (perf_event_open(2): software
//! clocks do not tell the two apart).

use std::fs::File;
use std::io::{self, Read};

use crate::perf::{self, Attributes, FLAG_EXCLUDE_HYPERVISOR, FLAG_EXCLUDE_KERNEL};

/// A running clock of one process.
pub struct TaskClock(File);

const CONFIG_TASK_CLOCK: u64 = 1;

impl TaskClock {
    /// Starts a clock at zero; the processes that this one starts are not in it.
    pub fn open(pid: i32) -> io::Result<Self> {
        let flags = FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HYPERVISOR;
        let attributes = Attributes { config: CONFIG_TASK_CLOCK, flags, ..Attributes::software() };
        Ok(TaskClock(perf::open(&attributes, pid)?.into()))
    }

    /// CPU time of the process since the clock was opened. It stands still once the process is gone.
    pub fn read_ns(&self) -> io::Result<u64> {
        let mut value = [0; 8];
        (&self.0).read_exact(&mut value)?;
        Ok(u64::from_le_bytes(value))
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_spinning_process_uses_time_and_a_sleeping_one_none() {
        let start = |program: &str, argument: &[&str]| {
            Command::new(program).args(argument).stdout(Stdio::null()).spawn().expect("it is there")
        };
        let (mut spinning, mut sleeping) = (start("sh", &["-c", "while :; do :; done"]), start("sleep", &["100"]));
        thread::sleep(Duration::from_millis(50));
        let opened =
            TaskClock::open(spinning.id() as i32).and_then(|spin| Ok((spin, TaskClock::open(sleeping.id() as i32)?)));
        // Where it is not allowed (perf_event_paranoid 3, a container) there is nothing to prove.
        if let Ok((spin, sleep)) = opened {
            thread::sleep(Duration::from_millis(100));
            let used_ns = spin.read_ns().expect("readable");
            assert!((1_000_000..5_000_000_000).contains(&used_ns), "{used_ns}");
            assert!(spin.read_ns().expect("readable") >= used_ns);
            assert!(sleep.read_ns().expect("readable") < 1_000_000);
        }
        for child in [&mut spinning, &mut sleeping] {
            child.kill().expect("it runs");
            child.wait().expect("it ends");
        }
    }
}
