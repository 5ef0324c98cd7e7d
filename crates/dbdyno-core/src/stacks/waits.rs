//! Where sleeping processes sleep, without stopping them.
//!
//! ```text
//! times run (schedstat) -> registers (syscall) -> copy of the stack -> wait event -> times run again
//!           `------------------------- equal: it slept all the while ---------------------'
//! ```
//!
//! `/proc/PID/syscall` shows the stack pointer and the instruction at which a sleeping task left user mode; `rbp` is
//! not shown, so a frame that needs it is reached only where a function below it has saved it on the stack.
//! A process that was given no CPU since its last snapshot sleeps on the same stack in the same wait event: it costs
//! one short read.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;

use super::address_space::CodeMap;
use super::copy::{Registers, StackCopy};
use super::processes::{Call, ProcessFiles};

/// Who knows in which wait event a server process is now.
pub trait WaitEvents: Send {
    /// The number of its wait event, 0 for none; None where it is not known.
    fn event(&mut self, pid: i32) -> Option<u32>;
    /// The engine's own name, `Class:Name`.
    fn name(&self, event: u32) -> String;
}

/// What a look at one process found.
#[derive(Debug)]
pub enum Seen {
    /// It sleeps here, in this wait event.
    Asleep(StackCopy, Option<u32>),
    /// It has slept on since the last look.
    StillAsleep,
    /// It runs, waits for a CPU, or ran while we looked.
    Runnable,
}

/// The processes that are looked at.
#[derive(Default)]
pub struct Sleepers(HashMap<i32, Sleeper>);

struct Sleeper {
    files: ProcessFiles,
    stack_end: u64,
    /// The reading of `times_run` at which a stack was taken.
    asleep_since: Option<u64>,
}

impl Sleepers {
    /// Looks at a process; an error where it is gone or may not be looked at.
    pub fn look(&mut self, pid: i32, stack_bytes: usize, events: Option<&mut dyn WaitEvents>) -> io::Result<Seen> {
        let sleeper = match self.0.entry(pid) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => vacant.insert(Sleeper::open(pid)?),
        };
        let seen = sleeper.look(stack_bytes, events);
        if seen.is_err() {
            self.0.remove(&pid);
        }
        seen
    }

    /// The next look at this process begins anew.
    pub fn forget(&mut self, pid: i32) {
        self.0.remove(&pid);
    }

    /// Forgets the processes that are not among these.
    pub fn keep_only(&mut self, pids: &[i32]) {
        self.0.retain(|pid, _| pids.contains(pid));
    }
}

impl Sleeper {
    fn open(pid: i32) -> io::Result<Self> {
        let stack_end = CodeMap::of_process(pid)?.stack_end;
        Ok(Sleeper { files: ProcessFiles::open(pid)?, stack_end, asleep_since: None })
    }

    fn look(&mut self, stack_bytes: usize, events: Option<&mut dyn WaitEvents>) -> io::Result<Seen> {
        let gone = || io::Error::from_raw_os_error(libc::ESRCH);
        let before = self.files.times_run().ok_or_else(gone)?;
        if self.asleep_since == Some(before) {
            return Ok(Seen::StillAsleep);
        }
        self.asleep_since = None;
        let Some(Call::Asleep { stack, instruction }) = self.files.call()? else {
            return Ok(Seen::Runnable);
        };
        let registers = Registers { instruction, stack, base: None };
        let copy = StackCopy::take(self.files.pid, registers, self.stack_end, stack_bytes)?;
        let event = events.and_then(|events| events.event(self.files.pid));
        if self.files.times_run() != Some(before) {
            return Ok(Seen::Runnable);
        }
        self.asleep_since = Some(before);
        Ok(Seen::Asleep(copy, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    #[test]
    fn a_sleeping_process_is_copied_once_and_then_known_to_sleep_on() {
        let mut child = Command::new("sleep").arg("100").stdout(Stdio::null()).spawn().unwrap();
        let pid = child.id() as i32;
        std::thread::sleep(Duration::from_millis(50));
        let mut sleepers = Sleepers::default();

        let Seen::Asleep(copy, event) = sleepers.look(pid, 4096, None).unwrap() else { panic!("it sleeps") };
        assert!(copy.word(copy.registers.stack).is_some() && copy.registers.base.is_none());
        assert_eq!(event, None);
        assert!(matches!(sleepers.look(pid, 4096, None), Ok(Seen::StillAsleep)));

        child.kill().unwrap();
        child.wait().unwrap();
        assert!(sleepers.look(pid, 4096, None).is_err());
    }
}
