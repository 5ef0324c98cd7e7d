//! What a cursor stands for at a time: its statement, the execution under way with its binds, and the plan whose row
//! sources are being told.

use super::ledger::Ledger;
use super::limits::{ALL_BINDS_BYTES_MAX, BINDS_BYTES_MAX, CURSORS_MAX};
use super::notes::Note;
use super::record::{Call, CallKind, Stat};
use super::rows::RowId;
use super::session::Execution;
use super::statements::StatementId;

impl Ledger {
    /// A row source of a plan.
    pub(super) fn stat(&mut self, stat: &Stat<'_>, line: u64) {
        if self.plan_lines.begins(stat) {
            self.end_plan();
        }
        self.plan_lines.add(stat, line);
    }

    /// No STAT line follows.
    #[inline(always)]
    pub(super) fn end_plan(&mut self) {
        if !self.plan_lines.is_empty() {
            self.keep_plan();
        }
    }

    fn keep_plan(&mut self) {
        let place = self.cursor(self.plan_lines.cursor, 0);
        let cursor = &self.sessions.current().cursor_states[place as usize];
        let (row, plan_hash) = (cursor.row, cursor.plan_hash);
        self.rows.record_plan(row, self.plan_lines.take(plan_hash));
    }

    /// The binds of the next execution follow.
    pub(super) fn begin_binds(&mut self, cursor: u64, line: u64) {
        let place = self.cursor(cursor, line);
        self.end_execution(place);
        let session_id = self.sessions.current_id() as usize;
        let cursor = &mut self.sessions.current().cursor_states[place as usize];
        self.bind_bytes -= cursor.binds.len();
        cursor.binds.clear();
        (cursor.binds_line, cursor.binds_are_fresh) = (line, true);
        self.binds_of = Some((session_id, place));
    }

    /// One line of them.
    #[inline(always)]
    pub(super) fn bind_line(&mut self, text: &[u8]) {
        let Some((session, place)) = self.binds_of else { return };
        let binds = &mut self.sessions.all[session].cursor_states[place as usize].binds;
        let has_room = binds.len() + text.len() < BINDS_BYTES_MAX && self.bind_bytes + text.len() < ALL_BINDS_BYTES_MAX;
        if has_room {
            binds.extend_from_slice(text);
            binds.push(b'\n');
            self.bind_bytes += text.len() + 1;
        } else {
            self.binds_missing += 1;
        }
    }

    /// Where the current session keeps this cursor.
    #[inline(always)]
    pub(super) fn cursor(&mut self, number: u64, line: u64) -> u32 {
        match self.sessions.current().cursor(number) {
            Some(place) => place,
            None => {
                let statement = self.statements.of_cursor(number, line);
                let row = self.row_of(statement, line);
                self.add_cursor(number, row, line)
            }
        }
    }

    pub(super) fn row_of(&mut self, statement: StatementId, line: u64) -> RowId {
        let session = self.sessions.current_id();
        if self.rows.has_no_room(session, statement) {
            self.statements.merged += 1;
            let others = self.statements.others(line);
            return self.rows.of(session, others);
        }
        self.rows.of(session, statement)
    }

    pub(super) fn add_cursor(&mut self, number: u64, row: RowId, line: u64) -> u32 {
        if self.cursors == CURSORS_MAX {
            self.notes.add(Note::CursorsForgotten, line);
            self.forget_cursors();
        }
        self.cursors += 1;
        self.sessions.current().add_cursor(number, row)
    }

    fn forget_cursors(&mut self) {
        let current = self.sessions.current_id() as usize;
        for id in 0..self.sessions.all.len() {
            self.sessions.switch_to(id);
            for place in 0..self.sessions.current().cursor_states.len() {
                self.end_execution(place as u32);
            }
            self.sessions.current().forget_cursors();
        }
        self.sessions.switch_to(current);
        (self.cursors, self.bind_bytes, self.binds_of) = (0, 0, None);
    }

    /// What a call means for the execution of its cursor.
    #[inline(always)]
    pub(super) fn note_execution(&mut self, place: u32, call: &Call, line: u64) {
        if !matches!(call.kind, CallKind::Fetch) {
            self.end_execution(place);
        }
        let cursor = &mut self.sessions.current().cursor_states[place as usize];
        if call.plan_hash != 0 {
            cursor.plan_hash = call.plan_hash;
        }
        match (call.kind, &mut cursor.execution) {
            (CallKind::Exec, execution) => {
                if !cursor.binds_are_fresh {
                    self.bind_bytes -= cursor.binds.len();
                    cursor.binds.clear();
                }
                cursor.binds_are_fresh = false;
                *execution = Some(Execution { elapsed_ns: call.elapsed_ns, rows: call.rows, line });
            }
            (CallKind::Fetch, Some(execution)) => {
                execution.elapsed_ns = execution.elapsed_ns.saturating_add(call.elapsed_ns);
                execution.rows = execution.rows.saturating_add(call.rows);
            }
            _ => {}
        }
    }

    #[inline(always)]
    pub(super) fn end_execution(&mut self, place: u32) {
        let cursor = &mut self.sessions.current().cursor_states[place as usize];
        if let Some(execution) = cursor.execution.take() {
            let Execution { elapsed_ns, rows, line } = execution;
            let binds = (&cursor.binds[..], if cursor.binds.is_empty() { 0 } else { cursor.binds_line });
            self.rows.record_execution(cursor.row, elapsed_ns, rows, line, binds);
        }
    }
}
