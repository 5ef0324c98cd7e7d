//! The accounts of a scope: of all sessions of a file, or of one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::ledger::{Edge, Ledger, NOBODY};
use super::notes::Noticed;
use super::objects::{Target, TargetSums};
use super::record::CallKind;
use super::rows::Row;
use super::session::{Session, Transactions};
use super::statements::StatementId;
use super::sums::{CallSums, Extent, Spent, WaitSums};

/// Rows, waits and all, of the sessions of a scope together.
#[derive(Debug, Default)]
pub(super) struct Scope<'a> {
    pub extent: Extent,
    /// The ledger's own, unless several sessions share a statement.
    pub rows: BTreeMap<StatementId, Cow<'a, Row>>,
    /// By event, over all statements.
    pub waits: BTreeMap<u32, WaitSums>,
    /// By (caller, called); None: nobody called.
    pub edges: BTreeMap<(Option<StatementId>, StatementId), Edge>,
    pub targets: BTreeMap<(u32, Target), TargetSums>,
    pub errors: BTreeMap<(StatementId, i64), Noticed>,
    pub transactions: Transactions,
    pub lob_calls: BTreeMap<Box<[u8]>, (CallSums, i64)>,
}

/// What the lines of a profile add up from; their sum is the duration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Split {
    pub duration_ns: i64,
    pub cpu_ns: i64,
    /// The signed remainder.
    pub unaccounted_ns: i64,
    /// As far as it is within calls: their elapsed time less CPU and waits within them.
    pub unaccounted_within_calls_ns: i64,
}

impl<'a> Scope<'a> {
    /// Of the sessions that `is_in` it.
    pub(super) fn of(ledger: &'a Ledger, is_in: impl Fn(usize) -> bool) -> Self {
        let mut scope = Self::default();
        for (_, session) in ledger.sessions.all.iter().enumerate().filter(|(id, _)| is_in(*id)) {
            scope.add_session(session);
        }
        let in_scope = |row: &&Row| is_in(row.session as usize);
        ledger.rows.all.iter().filter(in_scope).for_each(|row| scope.add_row(row));
        let statement_of = |row: u32| ledger.rows.all[row as usize].statement;
        for ((caller, called), edge) in &ledger.edges {
            if is_in(ledger.rows.all[*called as usize].session as usize) {
                let caller = (*caller != NOBODY).then(|| statement_of(*caller));
                scope.add_edge((caller, statement_of(*called)), edge);
            }
        }
        for ((session, event, target), sums) in &ledger.targets.sums {
            if is_in(*session as usize) {
                scope.targets.entry((*event, *target)).or_default().merge(sums);
            }
        }
        for ((row, code), noticed) in &ledger.errors.all {
            if is_in(ledger.rows.all[*row as usize].session as usize) {
                let error = scope.errors.entry((statement_of(*row), *code)).or_insert(Noticed { count: 0, ..*noticed });
                (error.count, error.line) = (error.count + noticed.count, error.line.min(noticed.line));
            }
        }
        scope
    }

    fn add_session(&mut self, session: &Session) {
        self.extent.merge(&session.extent);
        self.transactions.merge(&session.transactions);
        for (operation, (sums, bytes)) in &session.lob_calls {
            let mine = self.lob_calls.entry(operation.clone()).or_default();
            mine.0.merge(sums);
            mine.1 = mine.1.saturating_add(*bytes);
        }
    }

    fn add_row(&mut self, row: &'a Row) {
        for wait in &row.waits {
            match self.waits.get_mut(&wait.event) {
                Some(mine) => mine.merge(wait),
                None => {
                    self.waits.insert(wait.event, wait.clone());
                }
            }
        }
        match self.rows.get_mut(&row.statement) {
            Some(mine) => mine.to_mut().merge(row),
            None => {
                self.rows.insert(row.statement, Cow::Borrowed(row));
            }
        }
    }

    fn add_edge(&mut self, key: (Option<StatementId>, StatementId), edge: &Edge) {
        let mine = self.edges.entry(key).or_insert(Edge { count: 0, spent: Spent::default(), ..*edge });
        mine.count += edge.count;
        mine.spent.add(&edge.spent);
        mine.first_line = mine.first_line.min(edge.first_line);
    }

    /// The profile: CPU and waits as they are, and what is left.
    pub(super) fn split(&self) -> Split {
        let own = self.own();
        let waits_ns = self.waits.values().map(|wait| wait.elapsed_ns).sum::<i64>();
        let between_ns = self.waits.values().map(|wait| wait.between_ns).sum::<i64>();
        let duration_ns = self.extent.duration_ns();
        Split {
            duration_ns,
            cpu_ns: own.cpu_ns,
            unaccounted_ns: duration_ns - own.cpu_ns - waits_ns,
            unaccounted_within_calls_ns: own.elapsed_ns - own.cpu_ns - (waits_ns - between_ns),
        }
    }

    /// What all calls have spent themselves.
    fn own(&self) -> Spent {
        let mut own = Spent::default();
        for row in self.rows.values() {
            row.calls.iter().for_each(|sums| own.add(&sums.own));
        }
        own
    }

    /// How many calls of each kind.
    pub(super) fn calls(&self) -> BTreeMap<&'static str, u64> {
        let count = |kind: CallKind| self.rows.values().map(|row| row.calls[kind as usize].count).sum::<u64>();
        CallKind::ALL.into_iter().map(|kind| (kind.name(), count(kind))).filter(|(_, count)| *count > 0).collect()
    }
}
