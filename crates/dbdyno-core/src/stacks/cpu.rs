//! Where CPU time goes: stacks of running processes, by perf events or by stopping.

use std::collections::HashMap;
use std::io;

use super::address_space::CodeMap;
use super::copy::StackCopy;
use super::perf_event::{PerfEvent, Record, Sampling};
use super::processes::{ProcessFiles, kernel_switch};
use super::stop::{self, Pauses};

/// How much of a stack is copied: a query of the wheel's server with two joins and a sort uses 6 to 9 KiB.
pub const STACK_BYTES: usize = 16 * 1024;
/// All rings together, for those who may lock as much; others get what the kernel grants them, down to one record.
const ALL_RINGS_BYTES: usize = 32 << 20;
const LARGEST_RING_BYTES: usize = 1 << 20;
const SMALLEST_RING_BYTES: usize = 64 << 10;

/// How CPU stacks are taken.
pub enum CpuStacks {
    /// The kernel copies them.
    Perf(PerfStacks),
    /// Processes that run are stopped for it.
    Stop(StopStacks),
}

/// The rings of the watched processes.
pub struct PerfStacks {
    events: HashMap<i32, PerfEvent>,
    sampling: Sampling,
    ring_bytes: usize,
    /// Processes that got no ring.
    pub unwatched: usize,
}

/// The processes that are stopped in turn.
pub struct StopStacks {
    processes: HashMap<i32, (ProcessFiles, u64)>,
    /// Those that could not be interrupted in time and are released as soon as they stand.
    late: Vec<i32>,
    /// How long they stood still.
    pub pauses: Pauses,
    /// Stops that failed.
    pub failed: u64,
}

impl PerfStacks {
    /// Opens the events of these processes; an error where the kernel refuses the first that is there.
    pub fn open(pids: &[i32], frequency_hz: u64) -> io::Result<Self> {
        let most = kernel_switch("perf_event_max_sample_rate").map_or(u64::MAX, |rate| rate.max(1) as u64);
        let sampling =
            Sampling { frequency_hz: frequency_hz.min(most), stack_bytes: STACK_BYTES as u32, in_kernel: true };
        let share = ALL_RINGS_BYTES / pids.len().max(1);
        let ring_bytes = (share.next_power_of_two() / 2).clamp(SMALLEST_RING_BYTES, LARGEST_RING_BYTES);
        let mut stacks = PerfStacks { events: HashMap::new(), sampling, ring_bytes, unwatched: 0 };
        if let Err(error) = stacks.probe(pids) {
            if !is_refusal(&error) {
                return Err(error);
            }
            stacks.sampling.in_kernel = false;
            stacks.probe(pids)?;
        }
        stacks.follow(pids);
        Ok(stacks)
    }

    /// Whether stacks are also taken in the kernel.
    pub fn sees_kernel(&self) -> bool {
        self.sampling.in_kernel
    }

    /// The first process that is there decides whether events are allowed at all.
    fn probe(&mut self, pids: &[i32]) -> io::Result<()> {
        for &pid in pids {
            match PerfEvent::open(pid, self.sampling, self.ring_bytes) {
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                opened => return opened.map(|event| _ = self.events.insert(pid, event)),
            }
        }
        Ok(())
    }

    /// Watches these processes and no others.
    pub fn follow(&mut self, pids: &[i32]) {
        self.events.retain(|pid, _| pids.contains(pid));
        self.unwatched = 0;
        for &pid in pids {
            if self.events.contains_key(&pid) {
                continue;
            }
            match PerfEvent::open(pid, self.sampling, self.ring_bytes) {
                Ok(event) => _ = self.events.insert(pid, event),
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(_) => self.unwatched += 1,
            }
        }
    }

    /// How often the rings must be drained so that none is ever more than a third full.
    pub fn drain_period_ns(&self) -> u64 {
        const LONGEST_NS: u64 = 10_000_000;
        const SHORTEST_NS: u64 = 500_000;
        let smallest = self.events.values().map(|event| event.capacity(self.sampling)).min().unwrap_or(1) as u64;
        (smallest * 1_000_000_000 / (3 * self.sampling.frequency_hz)).clamp(SHORTEST_NS, LONGEST_NS)
    }

    /// Hands over what the rings hold.
    pub fn drain(&self, mut take: impl FnMut(i32, Record)) {
        for (&pid, event) in &self.events {
            event.drain(|record| take(pid, record));
        }
    }
}

impl StopStacks {
    /// Tries it on one of these processes; an error where the kernel does not allow it.
    pub fn open(pids: &[i32]) -> io::Result<Self> {
        let mut stacks =
            StopStacks { processes: HashMap::new(), late: Vec::new(), pauses: Pauses::default(), failed: 0 };
        stacks.follow(pids);
        for (&pid, (_, stack_end)) in &stacks.processes {
            match stop::snapshot(pid, *stack_end, 64, &mut stacks.pauses) {
                Err(error) if is_refusal(&error) => return Err(error),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => stacks.late.push(pid),
                Err(_) => {}
                Ok(_) => return Ok(stacks),
            }
        }
        match pids.is_empty() || !stacks.processes.is_empty() {
            true => Ok(stacks),
            false => Err(io::Error::from_raw_os_error(libc::EPERM)),
        }
    }

    /// Watches these processes and no others.
    pub fn follow(&mut self, pids: &[i32]) {
        self.processes.retain(|pid, _| pids.contains(pid));
        for &pid in pids {
            if !self.processes.contains_key(&pid)
                && let (Ok(files), Ok(map)) = (ProcessFiles::open(pid), CodeMap::of_process(pid))
            {
                self.processes.insert(pid, (files, map.stack_end));
            }
        }
    }

    /// Stops every process that runs, one after another.
    pub fn sweep(&mut self, mut take: impl FnMut(i32, StackCopy)) {
        self.late.retain(|&pid| !stop::release_late(pid));
        for (&pid, (files, stack_end)) in &self.processes {
            if files.is_runnable() == Some(true) && !self.late.contains(&pid) {
                match stop::snapshot(pid, *stack_end, STACK_BYTES, &mut self.pauses) {
                    Ok(copy) => take(pid, copy),
                    Err(error) => {
                        self.failed += 1;
                        if error.kind() == io::ErrorKind::TimedOut {
                            self.late.push(pid);
                        }
                    }
                }
            }
        }
    }
}

/// Whether the kernel does not let us, whatever the process does.
pub fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES | libc::ENOSYS | libc::ENOENT | libc::EOPNOTSUPP))
}

/// Why perf events are refused, and what to do.
pub fn perf_advice(error: &io::Error) -> String {
    match (error.raw_os_error(), kernel_switch("perf_event_paranoid")) {
        (Some(libc::EPERM | libc::EACCES), Some(level)) if level > 2 => {
            format!(
                "perf events are refused (kernel.perf_event_paranoid = {level}; 2 allows them to the server's own user)"
            )
        }
        (Some(libc::EPERM | libc::EACCES), _) => {
            "perf events are refused (run as the server's own user, as root, or with CAP_PERFMON)".to_owned()
        }
        _ => format!("perf events are refused ({error})"),
    }
}

/// Why stopping is refused, and what to do.
pub fn stop_advice(error: &io::Error) -> String {
    match kernel_switch("yama/ptrace_scope") {
        Some(scope) if scope > 0 => format!(
            "stopping the server's processes is refused (kernel.yama.ptrace_scope = {scope}; run as root or with CAP_SYS_PTRACE)"
        ),
        _ => format!(
            "stopping the server's processes is refused ({error}; run as the server's own user, as root, or with CAP_SYS_PTRACE)"
        ),
    }
}
