//! Every process that was seen, and its clocks from first to last sight.

use std::collections::HashMap;

use super::host::{Host, Kind, Meter};
use super::outcome::ProcessSeen;
use super::sweep::Finding;
use crate::probe::clocks::Switches;

/// A process that has not said what it is after so many steps stays `unknown`.
const NAMING_STEPS: u32 = 3;

/// The processes in the order in which they were seen.
pub struct Roster<H: Host> {
    host: H,
    ignored_pids: Vec<i32>,
    /// Opened before the first sweep, so that no time of theirs passes without a clock.
    mustered: HashMap<i32, (H::Reader, Process)>,
    processes: Vec<Process>,
    /// Whose the slots are now.
    present: Vec<Option<usize>>,
    /// They change their titles when they have started.
    unnamed: Vec<(usize, u32)>,
}

struct Process {
    pid: i32,
    kind: Option<Kind>,
    first_ns: u64,
    last_ns: Option<u64>,
    meter: Option<Box<dyn Meter>>,
    clock: Option<&'static str>,
    cpu_ns: Counter,
    run_queue_ns: Counter,
    voluntary_switches: Counter,
    involuntary_switches: Counter,
    block_io_delay_ns: Counter,
}

/// A counter of the kernel: its last reading stands when there are no more.
#[derive(Clone, Copy, Default)]
struct Counter {
    readings: Option<Readings>,
}

#[derive(Clone, Copy)]
struct Readings {
    first: u64,
    at_step: u64,
    last: u64,
}

impl Counter {
    fn read(&mut self, value: Option<u64>) {
        match (&mut self.readings, value) {
            (_, None) => {}
            (None, Some(value)) => self.readings = Some(Readings { first: value, at_step: value, last: value }),
            (Some(readings), Some(value)) => readings.last = value.max(readings.last),
        }
    }

    fn since_first(&self) -> Option<u64> {
        self.readings.map(|readings| readings.last - readings.first)
    }

    /// From zero on, and not from the first reading on.
    fn count_from_birth(&mut self) {
        if let Some(readings) = &mut self.readings {
            (readings.first, readings.at_step) = (0, 0);
        }
    }

    /// Since the last call.
    fn take_step(&mut self) -> Option<u64> {
        let readings = self.readings.as_mut()?;
        Some(readings.last - std::mem::replace(&mut readings.at_step, readings.last))
    }
}

impl<H: Host> Roster<H> {
    /// Nobody seen yet.
    pub fn new(host: H, slots: usize, ignored_pids: Vec<i32>) -> Self {
        Roster {
            host,
            ignored_pids,
            mustered: HashMap::new(),
            processes: Vec::new(),
            present: vec![None; slots],
            unnamed: Vec::new(),
        }
    }

    /// Opens those that are there before the watch begins: a hundred take some milliseconds.
    pub fn muster(&mut self, pids: impl Iterator<Item = i32>) {
        for pid in pids.filter(|pid| !self.ignored_pids.contains(pid)) {
            if let (Some(reader), process) = self.open(pid) {
                self.mustered.insert(pid, (reader, process));
            }
        }
    }

    /// The watch begins: the clocks of those that are there count from now on.
    pub fn begin(&mut self) {
        self.mustered.values_mut().for_each(|(_, process)| process.read_all());
    }

    /// Whose a slot is; none for those that are not watched.
    pub fn at(&self, slot: u32) -> Option<usize> {
        self.present[slot as usize]
    }

    /// How many were seen.
    pub fn len(&self) -> usize {
        self.processes.len()
    }

    /// The pid of one of them.
    pub fn pid(&self, process: usize) -> i32 {
        self.processes[process].pid
    }

    /// What one of them is, as far as it is known now.
    pub fn backend_type(&self, process: usize) -> &str {
        self.processes[process].kind.as_ref().map_or("unknown", |kind| &kind.backend_type)
    }

    /// A slot has a new process.
    pub fn arrive(&mut self, slot: u32, pid: i32, at_ns: u64) -> Finding<H::Reader> {
        self.leave(slot, at_ns);
        if self.ignored_pids.contains(&pid) {
            return Finding::NotWatched;
        }
        let (reader, mut process) = match self.mustered.remove(&pid) {
            Some((reader, process)) => (Some(reader), process),
            None => self.newcomer(pid),
        };
        process.first_ns = at_ns;
        self.present[slot as usize] = Some(self.processes.len());
        if process.kind.is_none() {
            self.unnamed.push((self.processes.len(), 0));
        }
        self.processes.push(process);
        reader.map_or(Finding::Unreadable, Finding::Readable)
    }

    /// A process with its meter; no reader and no meter where it was gone sooner.
    fn open(&self, pid: i32) -> (Option<H::Reader>, Process) {
        let (reader, meter) = self.host.open(pid).unzip();
        (reader, Process::new(pid, self.host.kind(pid), meter))
    }

    /// Born since the last sweep, seen at once, and opened up to a pause of ours later: its clocks count from its
    /// birth on, or parallel workers, which live for milliseconds, would seem to sleep through the first ones.
    fn newcomer(&self, pid: i32) -> (Option<H::Reader>, Process) {
        let (reader, mut process) = self.open(pid);
        process.read_all();
        process.cpu_ns.count_from_birth();
        process.run_queue_ns.count_from_birth();
        (reader, process)
    }

    /// The process of a slot is gone.
    pub fn leave(&mut self, slot: u32, at_ns: u64) {
        if let Some(index) = self.present[slot as usize].take() {
            let process = &mut self.processes[index];
            process.last_ns = Some(at_ns);
            process.read_all();
            process.close();
        }
    }

    /// Asks those that have not said what they are.
    pub fn name_newcomers(&mut self) {
        let (host, processes) = (&self.host, &mut self.processes);
        self.unnamed.retain(|&(index, steps)| {
            processes[index].kind = host.kind(processes[index].pid);
            processes[index].kind.is_none() && processes[index].last_ns.is_none() && steps < NAMING_STEPS
        });
    }

    /// Reads all clocks: at the end of a step.
    pub fn read_clocks(&mut self) {
        for &index in self.present.iter().flatten() {
            self.processes[index].read_all();
        }
    }

    /// (process, CPU, run queue) since the last call, of those that used any.
    pub fn take_step(&mut self) -> Vec<(usize, Option<u64>, Option<u64>)> {
        self.unnamed.iter_mut().for_each(|(_, steps)| *steps += 1);
        let clocks = self.processes.iter_mut().enumerate().map(|(index, process)| {
            let (cpu_ns, run_queue_ns) = (process.cpu_ns.take_step(), process.run_queue_ns.take_step());
            (index, cpu_ns, run_queue_ns)
        });
        clocks.filter(|&(_, cpu_ns, run_queue_ns)| cpu_ns.unwrap_or(0) + run_queue_ns.unwrap_or(0) > 0).collect()
    }

    /// Whether no process that should be there is: then the server has thrown away what we look at.
    pub fn all_are_gone(&self) -> bool {
        let mut present = self.present.iter().flatten().peekable();
        present.peek().is_some() && present.all(|&index| !self.host.is_alive(self.processes[index].pid))
    }

    /// How many were gone before their clocks could be read: of this host's only.
    pub fn without_clock(&self) -> usize {
        match self.host.reads_clocks() {
            true => self.processes.iter().filter(|process| process.clock.is_none()).count(),
            false => 0,
        }
    }

    /// Those behind the first so many.
    pub fn seen_since(&self, first: usize, now_ns: u64) -> Vec<ProcessSeen> {
        self.processes[first..].iter().map(|process| process.seen(now_ns)).collect()
    }
}

impl Process {
    fn new(pid: i32, kind: Option<Kind>, meter: Option<Box<dyn Meter>>) -> Self {
        let clock = meter.as_ref().map(|meter| meter.clock());
        let none = Counter::default();
        Process {
            pid,
            kind,
            first_ns: 0,
            last_ns: None,
            meter,
            clock,
            cpu_ns: none,
            run_queue_ns: none,
            voluntary_switches: none,
            involuntary_switches: none,
            block_io_delay_ns: none,
        }
    }

    fn read_all(&mut self) {
        let Some(meter) = &self.meter else { return };
        self.cpu_ns.read(meter.cpu_ns());
        self.run_queue_ns.read(meter.run_queue_ns());
        let Switches { voluntary, involuntary } = match meter.switches() {
            Some(switches) => switches,
            None => return,
        };
        self.voluntary_switches.read(Some(voluntary));
        self.involuntary_switches.read(Some(involuntary));
        self.block_io_delay_ns.read(meter.block_io_delay_ns());
    }

    /// Its files are of no use any more.
    fn close(&mut self) {
        self.meter = None;
    }

    fn seen(&self, now_ns: u64) -> ProcessSeen {
        let kind = self.kind.clone().unwrap_or(Kind { backend_type: "unknown".to_owned(), leader_pid: None });
        ProcessSeen {
            pid: self.pid,
            backend_type: kind.backend_type,
            leader_pid: kind.leader_pid,
            first_ns: self.first_ns,
            last_ns: self.last_ns.unwrap_or(now_ns),
            clock: self.clock,
            cpu_ns: self.cpu_ns.since_first(),
            run_queue_ns: self.run_queue_ns.since_first(),
            voluntary_switches: self.voluntary_switches.since_first(),
            involuntary_switches: self.involuntary_switches.since_first(),
            block_io_delay_ns: self.block_io_delay_ns.since_first(),
        }
    }
}
