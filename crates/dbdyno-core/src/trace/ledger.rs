//! The accounts of a file: every record goes into the sums of its session and statement, once.

use super::containment::OpenWait;
use super::errors::Errors;
use super::events::Events;
use super::hashing::FastMap;
use super::limits::EDGES_MAX;
use super::notes::{Note, Notes};
use super::objects::{Target, Targets};
use super::plans::PlanLines;
use super::record::{Call, CallKind, LobCall, Wait};
use super::recursion::Children;
use super::rows::{RowId, Rows};
use super::session::{Cursor, Session};
use super::sessions::Sessions;
use super::statements::{ParsedHead, Statements};
use super::sums::Spent;
use super::wait_line;

/// Clocks of calls and waits are read at slightly different moments.
const CLOCK_SLACK_NS: i64 = 1_000_000;

/// Calls of a statement by another one, in the call tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub count: u64,
    pub spent: Spent,
    pub first_line: u64,
}

/// No statement: a call that none has called.
pub(super) const NOBODY: RowId = RowId::MAX;

/// All that is kept of a file.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub sessions: Sessions,
    pub statements: Statements,
    pub rows: Rows,
    pub events: Events,
    pub targets: Targets,
    /// (caller, called).
    pub edges: FastMap<(RowId, RowId), Edge>,
    pub errors: Errors,
    pub notes: Notes,
    pub calls: u64,
    pub waits: u64,
    pub(super) plan_lines: PlanLines,
    pub(super) cursors: usize,
    pub(super) bind_bytes: usize,
    /// (session, cursor) of the BINDS that are being read.
    pub(super) binds_of: Option<(usize, u32)>,
    edges_merged: u64,
    pub(super) binds_missing: u64,
}

impl Ledger {
    /// A database call has ended.
    #[inline]
    pub(super) fn call(&mut self, call: &Call, line: u64) {
        self.calls += 1;
        let place = self.cursor(call.cursor, line);
        self.note_execution(place, call, line);
        let session = self.sessions.current();
        let row_id = session.cursor_states[place as usize].row;
        let row = &mut self.rows.all[row_id as usize];
        let spent = Spent::of(call);
        let mut own = spent;
        let (edges, edges_merged) = (&mut self.edges, &mut self.edges_merged);
        let below = session.recursion.take_below(call.depth, |each| add_edge(edges, edges_merged, row_id, each));
        own.subtract(&below);
        if below.elapsed_ns > call.elapsed_ns.saturating_add(CLOCK_SLACK_NS) {
            self.notes.add(Note::RecursionLongerThanCall, line);
        }
        session.recursion.keep(call.depth, row_id, &mut row.slot, &spent, line);
        (row.depth_min, row.depth_max) = (row.depth_min.min(call.depth), row.depth_max.max(call.depth));
        match call.tim_ns {
            Some(tim_ns) => {
                let begin_ns = tim_ns - call.elapsed_ns;
                own.subtract(&session.open.take_since(begin_ns));
                told(session, &mut self.notes, begin_ns, tim_ns, line);
            }
            None if call.kind != CallKind::Rpc => self.notes.add(Note::NoTimes, line),
            None => {}
        }
        row.calls[call.kind as usize].record(call, &own, line);
        if call.depth == 0 {
            let rows = &mut self.rows.all;
            session.open.settle(|wait| between(rows, wait));
        }
        if call.is_questionable {
            self.notes.add(Note::QuestionableDuration, line);
        }
    }

    /// A call on a large object has ended; the trace says neither cursor nor depth.
    pub(super) fn lob_call(&mut self, lob: &LobCall<'_>, line: u64) {
        self.calls += 1;
        let place = self.cursor(0, line);
        let session = self.sessions.current();
        let row_id = session.cursor_states[place as usize].row;
        let spent = Spent::of(&lob.call);
        match lob.call.tim_ns {
            Some(tim_ns) => {
                let begin_ns = tim_ns - lob.call.elapsed_ns;
                session.open.take_since(begin_ns);
                session.open.add_lob(begin_ns, tim_ns, spent);
                told(session, &mut self.notes, begin_ns, tim_ns, line);
            }
            None => self.notes.add(Note::NoTimes, line),
        }
        session.add_lob_call(lob, &spent, line);
        self.rows.all[row_id as usize].calls[CallKind::Lob as usize].record(&lob.call, &spent, line);
        if lob.call.is_questionable {
            self.notes.add(Note::QuestionableDuration, line);
        }
    }

    /// A wait has ended.
    #[inline]
    pub(super) fn wait(&mut self, wait: &Wait<'_>, line: u64) {
        self.waits += 1;
        let event = self.events.of(wait.event);
        let place = self.cursor(wait.cursor, line);
        let session_id = self.sessions.current_id();
        let session = self.sessions.current();
        let row = session.cursor_states[place as usize].row;
        let place = self.rows.record_wait(row, event, wait.elapsed_ns, line);
        let is_between_by_name = self.events.all[event as usize].class.is_between_calls();
        let rows = &mut self.rows.all;
        match wait.tim_ns {
            Some(tim_ns) => {
                let begin_ns = tim_ns - wait.elapsed_ns;
                let (elapsed_ns, middle_ns) = (wait.elapsed_ns, begin_ns.midpoint(tim_ns));
                let open = OpenWait { middle_ns, elapsed_ns, row, place, is_between_by_name };
                session.open.add_wait(open, |wait| between(rows, wait));
                told(session, &mut self.notes, begin_ns, tim_ns, line);
            }
            None => {
                if is_between_by_name {
                    rows[row as usize].waits[place as usize].between(wait.elapsed_ns);
                }
                session.untold(wait.elapsed_ns, is_between_by_name, line);
            }
        }
        self.note_target(session_id, event, wait, line);
        if wait.is_questionable {
            self.notes.add(Note::QuestionableDuration, line);
        }
    }

    fn note_target(&mut self, session: u32, event: u32, wait: &Wait<'_>, line: u64) {
        let known = &self.events.all[event as usize];
        if known.class.is_between_calls() {
            return;
        }
        let mut record = |target, blocks| self.targets.record((session, event, target), blocks, wait.elapsed_ns, line);
        let blocks = wait_line::blocks(wait.event, wait.parameters);
        if let Some(blocks) = blocks {
            record(Target::File(blocks.file), blocks.count);
            record(Target::RequestBlocks(blocks.count), blocks.count);
        } else if known.is_grouped_by_first
            && let Some((_, value)) = wait_line::first_parameter(wait.parameters)
        {
            record(Target::FirstParameter(value), 0);
        }
        if let Some(object) = wait.object.filter(|object| *object >= 0) {
            record(Target::Object(object), blocks.map_or(0, |blocks| blocks.count));
        }
    }

    /// A moment that neither a call nor a wait tells.
    pub(super) fn moment(&mut self, tim_ns: Option<i64>, line: u64) {
        if let Some(tim_ns) = tim_ns {
            self.sessions.current().extent.add(tim_ns, tim_ns, line);
        }
    }

    /// A statement's text has been read: its cursor is that statement from here on.
    pub(super) fn parsed(&mut self, head: &ParsedHead, text: &[u8]) {
        let statement = self.statements.of_text(head, text, head.line);
        let row = self.row_of(statement, head.line);
        if let Some(error) = head.error {
            // What the call has spent is not said; what it has called counts for its caller.
            let (edges, edges_merged) = (&mut self.edges, &mut self.edges_merged);
            let session = self.sessions.current();
            session.recursion.lift(head.depth, |each| add_edge(edges, edges_merged, row, each));
            self.errors.add(row, error, head.line);
            return;
        }
        match self.sessions.current().cursor(head.cursor) {
            Some(place) => {
                self.end_execution(place);
                let cursor = &mut self.sessions.current().cursor_states[place as usize];
                self.bind_bytes -= cursor.binds.len();
                *cursor = Cursor { row, ..Cursor::default() };
            }
            None => {
                self.add_cursor(head.cursor, row, head.line);
            }
        }
    }

    pub(super) fn error(&mut self, cursor: u64, code: i64, line: u64) {
        let place = self.cursor(cursor, line);
        let row = self.sessions.current().cursor_states[place as usize].row;
        self.errors.add(row, code, line);
    }

    pub(super) fn transaction_end(&mut self, is_rollback: bool, is_read_only: bool, line: u64) {
        self.sessions.current().transactions.add(is_rollback, is_read_only, line);
    }

    /// The file is over.
    pub(super) fn finish(&mut self) {
        self.end_plan();
        for id in 0..self.sessions.all.len() {
            self.sessions.switch_to(id);
            for place in 0..self.sessions.current().cursor_states.len() {
                self.end_execution(place as u32);
            }
            let session = self.sessions.current();
            let rows = &mut self.rows.all;
            session.open.settle(|wait| between(rows, wait));
            let (edges, edges_merged) = (&mut self.edges, &mut self.edges_merged);
            session.recursion.take_all(|each| add_edge(edges, edges_merged, NOBODY, each));
            self.notes.add_many(Note::WaitsToldByName, session.open.told_by_name, session.first_line);
            if session.leading_ns > 0 || session.untold_ns > 0 {
                self.notes.add(Note::EstimatedWaitTimes, session.first_line);
            }
        }
        if let Some(line) = self.sessions.overlap() {
            self.notes.add(Note::SessionsOverlap, line);
        }
        let counted = [
            (Note::SessionsMerged, self.sessions.merged),
            (Note::StatementsMerged, self.statements.merged),
            (Note::TextsCut, self.statements.cut),
            (Note::EventsMerged, self.events.merged),
            (Note::TargetsMerged, self.targets.merged),
            (Note::CallTreeMerged, self.edges_merged),
            (Note::HistogramsMissing, self.rows.histograms_missing),
            (Note::PlansMissing, self.rows.plans_missing),
            (Note::BindsMissing, self.binds_missing),
            (Note::ErrorsMerged, self.errors.merged),
        ];
        counted.into_iter().for_each(|(note, count)| self.notes.add_many(note, count, 0));
    }
}

/// A call or a wait has told when it was.
#[inline(always)]
fn told(session: &mut Session, notes: &mut Notes, begin_ns: i64, tim_ns: i64, line: u64) {
    match session.last_tim_ns {
        Some(last_ns) if tim_ns < last_ns - CLOCK_SLACK_NS => notes.add(Note::ClockWentBack, line),
        Some(_) => {}
        None => session.extent.add(begin_ns - session.leading_ns, tim_ns, line),
    }
    session.extent.add(begin_ns, tim_ns, line);
    (session.last_tim_ns, session.untold_ns) = (Some(tim_ns), 0);
}

#[inline(always)]
fn between(rows: &mut [super::rows::Row], wait: &OpenWait) {
    rows[wait.row as usize].waits[wait.place as usize].between(wait.elapsed_ns);
}

fn add_edge(edges: &mut FastMap<(RowId, RowId), Edge>, merged: &mut u64, caller: RowId, called: &Children) {
    let key = (caller, called.row);
    if edges.len() >= EDGES_MAX && !edges.contains_key(&key) {
        *merged += called.count;
        return;
    }
    let edge = edges.entry(key).or_insert(Edge { count: 0, spent: Spent::default(), first_line: called.line });
    edge.count += called.count;
    edge.spent.add(&called.spent);
    edge.first_line = edge.first_line.min(called.line);
}
