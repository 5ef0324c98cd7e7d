//! Errors of statements: ERROR and PARSE ERROR lines.

use std::collections::BTreeMap;

use super::limits::ERRORS_MAX;
use super::notes::Noticed;
use super::rows::RowId;

/// All of a file, by statement and code.
#[derive(Debug, Default)]
pub(super) struct Errors {
    pub all: BTreeMap<(RowId, i64), Noticed>,
    /// Beyond the limit.
    pub merged: u64,
}

impl Errors {
    pub(super) fn add(&mut self, row: RowId, code: i64, line: u64) {
        if self.all.len() >= ERRORS_MAX && !self.all.contains_key(&(row, code)) {
            self.merged += 1;
            return;
        }
        self.all.entry((row, code)).or_insert(Noticed { count: 0, line }).count += 1;
    }
}
