//! What a statement has done in a session.

use super::hashing::FastMap;
use super::limits::{ALL_PLAN_LINES_MAX, HISTOGRAMS_MAX, PLANS_MAX, ROWS_MAX};
use super::plans::Plan;
use super::record::CallKind;
use super::statements::StatementId;
use super::sums::{CallSums, Durations, WaitSums, durations};

/// A place among the rows of a file.
pub(super) type RowId = u32;

/// One statement in one session.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub session: u32,
    pub statement: StatementId,
    /// By kind.
    pub calls: [CallSums; CallKind::COUNT],
    /// How deep its calls were.
    pub depth_min: usize,
    pub depth_max: usize,
    pub waits: Vec<WaitSums>,
    pub plans: Vec<Plan>,
    pub executions: Executions,
    /// Where its calls are kept that wait for their caller.
    pub slot: u32,
}

/// From an EXEC to the last FETCH before the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct Executions {
    pub count: u64,
    pub elapsed_ns: i64,
    pub histogram: Option<Box<Durations>>,
    pub slowest: Option<Slowest>,
}

/// The slowest execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Slowest {
    pub elapsed_ns: i64,
    /// Of its EXEC.
    pub line: u64,
    pub rows: i64,
    /// Lines of the trace: number, type, value; empty where it has none.
    pub binds: Vec<u8>,
    pub binds_line: u64,
}

impl Row {
    pub(super) fn new(session: u32, statement: StatementId) -> Self {
        Self {
            session,
            statement,
            calls: [CallSums::default(); CallKind::COUNT],
            depth_min: usize::MAX,
            depth_max: 0,
            waits: Vec::new(),
            plans: Vec::new(),
            executions: Executions::default(),
            slot: 0,
        }
    }

    /// The same statement in another session.
    pub(super) fn merge(&mut self, other: &Self) {
        self.calls.iter_mut().zip(&other.calls).for_each(|(mine, theirs)| mine.merge(theirs));
        self.depth_min = self.depth_min.min(other.depth_min);
        self.depth_max = self.depth_max.max(other.depth_max);
        for wait in &other.waits {
            match self.waits.iter_mut().find(|mine| mine.event == wait.event) {
                Some(mine) => mine.merge(wait),
                None => self.waits.push(wait.clone()),
            }
        }
        for plan in &other.plans {
            match self.plans.iter().position(|mine| mine.is(plan)) {
                Some(place) => self.plans[place].merge(plan),
                None if self.plans.len() < PLANS_MAX => self.plans.push(plan.clone()),
                None => {}
            }
        }
        self.executions.merge(&other.executions);
    }
}

impl Executions {
    fn merge(&mut self, other: &Self) {
        let slower = |mine: &Slowest, theirs: &Slowest| theirs.elapsed_ns > mine.elapsed_ns;
        match (&self.slowest, &other.slowest) {
            (Some(mine), Some(theirs)) if !slower(mine, theirs) => {}
            (_, None) => {}
            _ => self.slowest.clone_from(&other.slowest),
        }
        self.histogram = match (self.histogram.take(), &other.histogram) {
            (Some(mut mine), Some(theirs)) => {
                mine.add(&**theirs).expect("it grows");
                Some(mine)
            }
            (mine, _) if other.count == 0 => mine,
            (None, theirs) if self.count == 0 => theirs.clone(),
            _ => None,
        };
        self.count += other.count;
        self.elapsed_ns = self.elapsed_ns.saturating_add(other.elapsed_ns);
    }
}

/// All rows of a file.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub all: Vec<Row>,
    by_key: FastMap<(u32, StatementId), RowId>,
    histograms: usize,
    plan_lines: usize,
    /// How many distributions and plans had no room.
    pub histograms_missing: u64,
    pub plans_missing: u64,
}

impl Rows {
    /// Whether a statement that a session has not had yet finds no room.
    pub(super) fn has_no_room(&self, session: u32, statement: StatementId) -> bool {
        self.all.len() >= ROWS_MAX && !self.by_key.contains_key(&(session, statement))
    }

    /// That of a statement in a session.
    pub(super) fn of(&mut self, session: u32, statement: StatementId) -> RowId {
        *self.by_key.entry((session, statement)).or_insert_with(|| {
            self.all.push(Row::new(session, statement));
            self.all.len() as RowId - 1
        })
    }

    /// One wait of a row; its place among those of the row.
    #[inline(always)]
    pub(super) fn record_wait(&mut self, row: RowId, event: u32, elapsed_ns: i64, line: u64) -> u32 {
        let waits = &self.all[row as usize].waits;
        let place = match waits.iter().position(|wait| wait.event == event) {
            Some(place) => place,
            None => {
                let histogram = self.histogram();
                let waits = &mut self.all[row as usize].waits;
                waits.push(WaitSums::new(event, line, histogram));
                waits.len() - 1
            }
        };
        self.all[row as usize].waits[place].record(elapsed_ns, line);
        place as u32
    }

    /// One execution has ended.
    pub(super) fn record_execution(&mut self, row: RowId, elapsed_ns: i64, rows: i64, line: u64, binds: (&[u8], u64)) {
        if self.all[row as usize].executions.count == 0 {
            self.all[row as usize].executions.histogram = self.histogram();
        }
        let executions = &mut self.all[row as usize].executions;
        executions.count += 1;
        executions.elapsed_ns = executions.elapsed_ns.saturating_add(elapsed_ns);
        if let Some(histogram) = &mut executions.histogram {
            histogram.record(elapsed_ns.max(0) as u64).expect("it grows");
        }
        if executions.slowest.as_ref().is_none_or(|slowest| elapsed_ns > slowest.elapsed_ns) {
            let slowest = executions.slowest.get_or_insert_default();
            (slowest.elapsed_ns, slowest.line, slowest.rows, slowest.binds_line) = (elapsed_ns, line, rows, binds.1);
            slowest.binds.clear();
            slowest.binds.extend_from_slice(binds.0);
        }
    }

    /// A plan's figures, once more.
    pub(super) fn record_plan(&mut self, row: RowId, plan: Plan) {
        let plans = &mut self.all[row as usize].plans;
        match plans.iter().position(|mine| mine.is(&plan)) {
            Some(place) => plans[place].merge(&plan),
            None if plans.len() < PLANS_MAX && self.plan_lines + plan.lines.len() <= ALL_PLAN_LINES_MAX => {
                self.plan_lines += plan.lines.len();
                plans.push(plan);
            }
            None => self.plans_missing += 1,
        }
    }

    fn histogram(&mut self) -> Option<Box<Durations>> {
        if self.histograms < HISTOGRAMS_MAX {
            self.histograms += 1;
            return Some(Box::new(durations()));
        }
        self.histograms_missing += 1;
        None
    }
}
