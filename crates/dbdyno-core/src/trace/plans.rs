//! Plans with the figures of their row sources, from STAT lines: one set of lines each time a cursor is closed, or,
//! from 11g on, each time it has been executed.

use twox_hash::XxHash3_64;

use super::limits::PLAN_LINES_MAX;
use super::record::Stat;

/// One plan of a statement.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Of its operations, objects and order.
    pub shape: u64,
    /// As EXEC and FETCH say it; 0 where they do not.
    pub plan_hash: u64,
    /// How many sets of lines are summed.
    pub count: u64,
    pub first_line: u64,
    pub lines: Vec<PlanLine>,
}

/// One row source; figures are sums, -1 where the version does not say them.
#[derive(Clone, Debug)]
pub(super) struct PlanLine {
    pub id: i64,
    pub parent: i64,
    pub position: i64,
    pub object: i64,
    pub operation: String,
    pub figures: Figures,
    pub cost: i64,
    pub bytes: i64,
    pub cardinality: i64,
}

/// What a row source has done, with those below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    pub rows: i64,
    pub consistent_reads: i64,
    pub physical_reads: i64,
    pub physical_writes: i64,
    pub starts: i64,
    pub time_ns: i64,
}

impl Plan {
    pub(super) fn is(&self, other: &Self) -> bool {
        self.shape == other.shape && self.plan_hash == other.plan_hash
    }

    /// The same plan, another time.
    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.first_line = self.first_line.min(other.first_line);
        self.lines.iter_mut().zip(&other.lines).for_each(|(mine, theirs)| mine.figures.add(&theirs.figures));
    }
}

impl Figures {
    fn add(&mut self, other: &Self) {
        let known = |mine: &mut i64, theirs: i64| match (*mine, theirs) {
            (..0, _) => *mine = theirs,
            (_, ..0) => {}
            _ => *mine = mine.saturating_add(theirs),
        };
        known(&mut self.rows, other.rows);
        known(&mut self.consistent_reads, other.consistent_reads);
        known(&mut self.physical_reads, other.physical_reads);
        known(&mut self.physical_writes, other.physical_writes);
        known(&mut self.starts, other.starts);
        known(&mut self.time_ns, other.time_ns);
    }
}

/// The set of lines that is being read.
#[derive(Clone, Debug, Default)]
pub(super) struct PlanLines {
    pub cursor: u64,
    first_line: u64,
    lines: Vec<PlanLine>,
}

impl PlanLines {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether this line begins another set.
    pub(super) fn begins(&self, stat: &Stat<'_>) -> bool {
        stat.cursor != self.cursor || self.lines.last().is_none_or(|last| stat.id <= last.id)
    }

    pub(super) fn add(&mut self, stat: &Stat<'_>, line: u64) {
        if self.lines.is_empty() {
            (self.cursor, self.first_line) = (stat.cursor, line);
        }
        if self.lines.len() < PLAN_LINES_MAX {
            self.lines.push(PlanLine::of(stat));
        }
    }

    /// The whole set.
    pub(super) fn take(&mut self, plan_hash: u64) -> Plan {
        let lines = std::mem::take(&mut self.lines);
        Plan { shape: shape(&lines), plan_hash, count: 1, first_line: self.first_line, lines }
    }
}

impl PlanLine {
    fn of(stat: &Stat<'_>) -> Self {
        Self {
            id: stat.id,
            parent: stat.parent,
            position: stat.position,
            object: stat.object,
            operation: String::from_utf8_lossy(stat.operation).into_owned(),
            figures: Figures {
                rows: stat.rows,
                consistent_reads: stat.consistent_reads,
                physical_reads: stat.physical_reads,
                physical_writes: stat.physical_writes,
                starts: stat.starts,
                time_ns: stat.time_ns,
            },
            cost: stat.cost,
            bytes: stat.bytes,
            cardinality: stat.cardinality,
        }
    }
}

fn shape(lines: &[PlanLine]) -> u64 {
    lines.iter().fold(lines.len() as u64, |shape, line| {
        let place = [line.id, line.parent, line.position, line.object].map(i64::to_le_bytes).concat();
        let operation = XxHash3_64::oneshot_with_seed(shape, line.operation.as_bytes());
        XxHash3_64::oneshot_with_seed(operation, &place)
    })
}
