//! Snapshots by unit of work: what one unit was seen in, and, once it has ended, in which cell it counts.
//!
//! A cell is a chunk of the trial (by the unit's end) and a bin of response times: chunks are what is resampled for
//! error bars, bins are what bands of response time, the slowest 1 % among them, are cut from.

use super::counts::{EventSnapshots, Snapshots};
use crate::chunks::{Chunks, Merge};
use crate::load::EndedUnit;
use crate::log_bins::LogBins;

/// Response-time bins of the cells: 4.7 % apart.
pub const BINS_PER_DECADE: u32 = 50;
/// A trial has at most so many chunks: those of fixed work grow with it.
pub const CHUNKS_MAX: usize = 20;
/// Statements and events that one unit is seen in, before room must be made.
const ENTRIES_EXPECTED: usize = 16;

/// The unit that a client's backend is being seen in.
#[derive(Clone, Debug)]
pub struct OpenUnit {
    /// 0: none.
    pub number: u32,
    entries: Vec<Entry>,
    clocks_ns: Option<(u64, u64)>,
    steps: Steps,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    event: usize,
    statement: Option<usize>,
    snapshots: Snapshots,
}

/// How far the exact clocks moved between two looks at a backend within one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// On a CPU.
    pub cpu_ns: u64,
    /// In line for one.
    pub run_queue_ns: u64,
}

impl OpenUnit {
    /// None.
    pub fn new() -> Self {
        let entries = Vec::with_capacity(ENTRIES_EXPECTED);
        OpenUnit { number: 0, entries, clocks_ns: None, steps: Steps::default() }
    }

    /// Another unit; what was known of the one before is forgotten.
    pub fn restart(&mut self, number: u32) {
        self.number = number;
        self.entries.clear();
        self.clocks_ns = None;
        self.steps = Steps::default();
    }

    /// Some snapshots of the unit.
    pub fn add(&mut self, event: usize, statement: Option<usize>, snapshots: Snapshots) {
        let same = |entry: &&mut Entry| entry.event == event && entry.statement == statement;
        match self.entries.iter_mut().find(same) {
            Some(entry) => entry.snapshots += snapshots,
            None => self.entries.push(Entry { event, statement, snapshots }),
        }
    }

    /// The exact clocks at one look: (CPU, run queue) since the backend was born.
    pub fn clocks(&mut self, now_ns: (u64, u64)) {
        if let Some(before) = self.clocks_ns.replace(now_ns) {
            self.steps.cpu_ns += now_ns.0.saturating_sub(before.0);
            self.steps.run_queue_ns += now_ns.1.saturating_sub(before.1);
        }
    }
}

/// Snapshots of the units that ended in one chunk with response times of one bin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// By event.
    pub events: EventSnapshots,
    /// Of the exact clocks.
    pub steps: Steps,
}

/// The cells of one chunk, by bin; those in use only.
#[derive(Clone, Debug, Default)]
pub struct ChunkCells {
    /// By bin, one more than the place in `cells`; 0 is not in use.
    places: Vec<u16>,
    cells: Vec<(usize, Cell)>,
}

impl ChunkCells {
    /// In the order of their first use: (bin, cell).
    pub fn iter(&self) -> impl Iterator<Item = &(usize, Cell)> {
        self.cells.iter()
    }

    fn at(&mut self, bin: usize) -> &mut Cell {
        if bin >= self.places.len() {
            self.places.resize(bin + 1, 0);
        }
        if self.places[bin] == 0 {
            self.cells.push((bin, Cell::default()));
            self.places[bin] = self.cells.len() as u16;
        }
        &mut self.cells[usize::from(self.places[bin]) - 1].1
    }
}

impl Merge for ChunkCells {
    fn take(&mut self, other: &mut Self) {
        other.places.clear();
        for (bin, cell) in other.cells.drain(..) {
            let mine = self.at(bin);
            mine.events.add_all(&cell.events);
            mine.steps.cpu_ns += cell.steps.cpu_ns;
            mine.steps.run_queue_ns += cell.steps.run_queue_ns;
        }
    }
}

/// All units that were seen and have ended.
#[derive(Clone, Debug)]
pub struct UnitCells {
    start_ns: u64,
    bins: LogBins,
    /// By chunk.
    pub chunks: Chunks<ChunkCells>,
    /// By script, by event.
    pub scripts: Vec<EventSnapshots>,
    /// By statement of the workload, by event.
    pub statements: Vec<EventSnapshots>,
}

impl UnitCells {
    /// Chunks begin at `start_ns`.
    pub fn new(start_ns: u64, chunk_ns: u64) -> Self {
        UnitCells {
            start_ns,
            bins: LogBins::new(BINS_PER_DECADE),
            chunks: Chunks::new(chunk_ns, CHUNKS_MAX, ChunkCells::default()),
            scripts: Vec::new(),
            statements: Vec::new(),
        }
    }

    /// A unit has ended, and this is what it was seen in.
    pub fn add(&mut self, ended: &EndedUnit, unit: &OpenUnit) {
        let bin = self.bins.of(ended.times.end_ns - ended.times.intended_ns);
        let cell = self.chunks.at(ended.times.end_ns.saturating_sub(self.start_ns)).at(bin);
        cell.steps.cpu_ns += unit.steps.cpu_ns;
        cell.steps.run_queue_ns += unit.steps.run_queue_ns;
        let script = grown(&mut self.scripts, ended.script);
        for entry in &unit.entries {
            cell.events.add(entry.event, entry.snapshots);
            script.add(entry.event, entry.snapshots);
            if let Some(statement) = entry.statement {
                grown(&mut self.statements, statement).add(entry.event, entry.snapshots);
            }
        }
    }
}

fn grown(counts: &mut Vec<EventSnapshots>, index: usize) -> &mut EventSnapshots {
    if index >= counts.len() {
        counts.resize(index + 1, EventSnapshots::default());
    }
    &mut counts[index]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::UnitTimes;

    #[test]
    fn a_unit_counts_where_it_ended_and_how_long_it_took() {
        let mut cells = UnitCells::new(1000, 100);
        let mut unit = OpenUnit::new();
        unit.restart(1);
        unit.add(2, None, Snapshots::one(None));
        unit.add(2, Some(3), Snapshots::one(Some(true)));
        unit.add(2, Some(3), Snapshots::one(None));
        unit.clocks((50, 10));
        unit.clocks((70, 15));
        let times = UnitTimes { intended_ns: 1000, start_ns: 1010, end_ns: 1100 };
        cells.add(&EndedUnit { times, script: 1 }, &unit);
        let found: Vec<_> = cells.chunks.iter().flat_map(ChunkCells::iter).collect();
        let (bin, cell) = found[0];
        assert_eq!((1, 100, Steps { cpu_ns: 20, run_queue_ns: 5 }), (found.len(), *bin, cell.steps));
        assert_eq!(Snapshots { seen: 3, looked: 1, asleep: 1 }, cell.events.get(2));
        assert_eq!(Snapshots { seen: 3, looked: 1, asleep: 1 }, cells.scripts[1].get(2));
        assert_eq!(Snapshots { seen: 2, looked: 1, asleep: 1 }, cells.statements[3].get(2));
    }
}
