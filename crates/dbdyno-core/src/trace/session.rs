//! A session while its lines are read: which cursor is which statement, which calls and waits are still open.

use std::collections::BTreeMap;

use super::containment::Open;
use super::hashing::FastMap;
use super::limits::ATTRIBUTES_MAX;
use super::record::{Attribute, LobCall};
use super::recursion::Recursion;
use super::rows::RowId;
use super::sums::{CallSums, Extent, Spent};

/// How a session is told from others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct SessionKey {
    /// `sid.serial`, where a line says it; then the process does not matter: a session of a shared server has many.
    pub session: Option<Box<[u8]>>,
    pub process: Option<u64>,
}

/// One session.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub key: SessionKey,
    /// The process that wrote its first line.
    pub process: Option<u64>,
    pub extent: Extent,
    pub recursion: Recursion,
    pub open: Open,
    pub transactions: Transactions,
    pub first_line: u64,
    pub first_mark: Option<(Box<[u8]>, u64)>,
    pub last_mark: Option<(Box<[u8]>, u64)>,
    /// Distinct, with the first line of each.
    pub attributes: BTreeMap<(Attribute, Box<[u8]>), u64>,
    pub lob_calls: BTreeMap<Box<[u8]>, (CallSums, i64)>,
    /// The latest moment that a line told, and waits since that told none.
    pub last_tim_ns: Option<i64>,
    pub untold_ns: i64,
    /// What was between calls before the first moment.
    pub leading_ns: i64,
    is_used: bool,
    cursors: FastMap<u64, u32>,
    pub cursor_states: Vec<Cursor>,
    last_cursor: (u64, u32),
}

/// One cursor, as long as its number means the same statement.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    pub row: RowId,
    pub plan_hash: u64,
    /// EXEC and FETCHes since.
    pub execution: Option<Execution>,
    /// The lines that tell number, type and value.
    pub binds: Vec<u8>,
    pub binds_line: u64,
    /// No EXEC has used them.
    pub binds_are_fresh: bool,
}

/// The execution under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Execution {
    pub elapsed_ns: i64,
    pub rows: i64,
    pub line: u64,
}

/// Ends of transactions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Transactions {
    /// Of transactions that have written.
    pub commits: u64,
    pub rollbacks: u64,
    /// Commits and rollbacks with nothing to do.
    pub read_only: u64,
    pub first_line: u64,
    pub last_line: u64,
}

impl Transactions {
    pub(super) fn add(&mut self, is_rollback: bool, is_read_only: bool, line: u64) {
        match (is_read_only, is_rollback) {
            (true, _) => self.read_only += 1,
            (false, true) => self.rollbacks += 1,
            (false, false) => self.commits += 1,
        }
        if self.first_line == 0 {
            self.first_line = line;
        }
        self.last_line = line;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.commits += other.commits;
        self.rollbacks += other.rollbacks;
        self.read_only += other.read_only;
        self.first_line = match (self.first_line, other.first_line) {
            (0, line) | (line, 0) => line,
            (mine, theirs) => mine.min(theirs),
        };
        self.last_line = self.last_line.max(other.last_line);
    }
}

impl Session {
    pub(super) fn new(key: SessionKey, process: Option<u64>, line: u64) -> Self {
        Self { key, process, first_line: line, last_cursor: (0, u32::MAX), ..Self::default() }
    }

    /// Nothing has been counted yet, so it may still get its name.
    pub(super) fn is_untouched(&self) -> bool {
        !self.is_used
    }

    /// The cursor of this number, where there is one.
    #[inline(always)]
    pub(super) fn cursor(&mut self, number: u64) -> Option<u32> {
        if self.last_cursor.0 == number && self.last_cursor.1 != u32::MAX {
            return Some(self.last_cursor.1);
        }
        let place = *self.cursors.get(&number)?;
        self.last_cursor = (number, place);
        Some(place)
    }

    pub(super) fn add_cursor(&mut self, number: u64, row: RowId) -> u32 {
        let place = self.cursor_states.len() as u32;
        self.is_used = true;
        self.cursor_states.push(Cursor { row, ..Cursor::default() });
        self.cursors.insert(number, place);
        place
    }

    /// For want of room; what they were is not known afterwards.
    pub(super) fn forget_cursors(&mut self) {
        self.cursors.clear();
        self.cursor_states.clear();
        self.last_cursor = (0, u32::MAX);
    }

    /// A wait that does not say when it was: after the last moment told, or before the first.
    pub(super) fn untold(&mut self, elapsed_ns: i64, is_between_calls: bool, line: u64) {
        match self.last_tim_ns {
            Some(tim_ns) => {
                self.untold_ns = self.untold_ns.saturating_add(elapsed_ns);
                self.extent.add(tim_ns, tim_ns.saturating_add(self.untold_ns), line);
            }
            None if is_between_calls => self.leading_ns = self.leading_ns.saturating_add(elapsed_ns),
            None => {}
        }
    }

    pub(super) fn add_lob_call(&mut self, lob: &LobCall<'_>, spent: &Spent, line: u64) {
        // There are a dozen; damage may make more.
        let operation = if self.lob_calls.len() < 50 { lob.operation } else { b"LOB" };
        let (sums, bytes) = self.lob_calls.entry(operation.into()).or_default();
        sums.record(&lob.call, spent, line);
        *bytes = bytes.saturating_add(lob.bytes);
    }

    pub(super) fn add_attribute(&mut self, attribute: Attribute, name: &[u8], line: u64) {
        if !name.is_empty() && self.attributes.len() < ATTRIBUTES_MAX {
            let name = &name[..name.len().min(200)];
            self.attributes.entry((attribute, name.into())).or_insert(line);
        }
    }

    pub(super) fn add_mark(&mut self, text: &[u8], line: u64) {
        let text = &text[..text.len().min(100)];
        self.last_mark = Some((text.into(), line));
        if self.first_mark.is_none() {
            self.first_mark.clone_from(&self.last_mark);
        }
    }
}
