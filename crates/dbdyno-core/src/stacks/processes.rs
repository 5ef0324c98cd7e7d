//! Which processes are watched, and what the kernel tells of one without stopping it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

use crate::probe::children;

/// The processes to watch: named ones, or all that a postmaster has, followed as they come and go.
#[derive(Clone, Debug)]
pub enum Watched {
    /// These and no others.
    Named(Vec<i32>),
    /// The children of this one.
    ChildrenOf(i32),
}

impl Watched {
    /// Those that there are now.
    pub fn now(&self) -> io::Result<Vec<i32>> {
        match self {
            Watched::Named(pids) => Ok(pids.clone()),
            Watched::ChildrenOf(postmaster_pid) => children(*postmaster_pid),
        }
    }

    /// Whether others can come.
    pub fn changes(&self) -> bool {
        matches!(self, Watched::ChildrenOf(_))
    }
}

/// The files of `/proc/PID` that say what a process is doing.
pub struct ProcessFiles {
    /// Of the process.
    pub pid: i32,
    switches: File,
    call: File,
    stat: File,
}

/// What `/proc/PID/syscall` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// On a CPU or in line for one.
    Running,
    /// Asleep, with the user registers at which it went to sleep.
    Asleep {
        /// Stack pointer.
        stack: u64,
        /// Next instruction.
        instruction: u64,
    },
}

impl ProcessFiles {
    /// Opens them; an error where the process is gone or may not be looked at.
    pub fn open(pid: i32) -> io::Result<Self> {
        let file = |name: &str| File::open(format!("/proc/{pid}/{name}"));
        Ok(ProcessFiles { pid, switches: file("schedstat")?, call: file("syscall")?, stat: file("stat")? })
    }

    /// How often the process was given a CPU: it has not run between two equal readings.
    pub fn times_run(&self) -> Option<u64> {
        let mut buffer = [0; 96];
        let length = self.switches.read_at(&mut buffer, 0).ok()?;
        std::str::from_utf8(&buffer[..length]).ok()?.split_ascii_whitespace().nth(2)?.parse().ok()
    }

    /// What it is doing.
    pub fn call(&self) -> io::Result<Option<Call>> {
        let mut buffer = [0; 256];
        let length = self.call.read_at(&mut buffer, 0)?;
        Ok(std::str::from_utf8(&buffer[..length]).ok().and_then(parse_call))
    }

    /// Time in user mode and in the kernel since it began, in the kernel's ticks.
    pub fn ticks(&self) -> Option<(u64, u64)> {
        let mut buffer = [0; 512];
        let length = self.stat.read_at(&mut buffer, 0).ok()?;
        ticks_of_stat(&buffer[..length])
    }

    /// Whether it is on a CPU or in line for one.
    pub fn is_runnable(&self) -> Option<bool> {
        let mut buffer = [0; 512];
        let length = self.stat.read_at(&mut buffer, 0).ok()?;
        let bracket = buffer[..length].iter().rposition(|&byte| byte == b')')?;
        Some(buffer.get(bracket + 2) == Some(&b'R'))
    }
}

/// `running`, or `NUMBER six arguments SP PC`, or `-1 SP PC` of a task that sleeps without a call (a page fault).
fn parse_call(text: &str) -> Option<Call> {
    let text = text.trim_end();
    if text == "running" {
        return Some(Call::Running);
    }
    let mut from_the_end = text.rsplit(' ');
    let mut hexadecimal = || u64::from_str_radix(from_the_end.next()?.strip_prefix("0x")?, 16).ok();
    let (instruction, stack) = (hexadecimal()?, hexadecimal()?);
    Some(Call::Asleep { stack, instruction })
}

/// Fields 14 and 15, counted behind the name, which may hold brackets and blanks.
fn ticks_of_stat(text: &[u8]) -> Option<(u64, u64)> {
    let bracket = text.iter().rposition(|&byte| byte == b')')?;
    let mut fields = std::str::from_utf8(text.get(bracket + 2..)?).ok()?.split(' ').skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// The value of a switch of the kernel, if it can be read.
pub fn kernel_switch(name: &str) -> Option<i64> {
    fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_a_call() {
        let cases = [
            ("running\n", Some(Call::Running)),
            (
                "232 0x4 0x1f 0x1 0xffffffff 0x0 0x8 0x7fff4 0x7f1e\n",
                Some(Call::Asleep { stack: 0x7fff4, instruction: 0x7f1e }),
            ),
            ("-1 0x7fff4 0x7f1e\n", Some(Call::Asleep { stack: 0x7fff4, instruction: 0x7f1e })),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_call(text), expected, "{text}");
        }
    }

    #[test]
    fn ticks_are_counted_behind_the_name() {
        let stat = b"7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 111 222 0 0";
        assert_eq!(ticks_of_stat(stat), Some((111, 222)));
    }
}
