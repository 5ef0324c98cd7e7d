//! From the accounts of a file to JSON (docs/architecture.md, "Traces").

use std::collections::BTreeMap;

use serde::Serialize;

use super::ledger::Ledger;
use super::notes::Noticed;
use super::reader::State;
use super::scope::Scope;
use super::scope_outcome::ScopeOutcome;
use super::sql_text;
use super::statements::{Statement, StatementKind};

/// One file.
#[derive(Debug, Serialize)]
pub(super) struct FileOutcome {
    pub file: String,
    /// As they lie on disk, and as text.
    pub bytes: u64,
    pub text_bytes: u64,
    pub compression: &'static str,
    /// Why it ended before its end.
    pub broken: Option<String>,
    lines: u64,
    version: Option<String>,
    time_unit: &'static str,
    /// Before 12c the clock of c has steps of a millisecond and more.
    cpu_clock_is_coarse: Option<bool>,
    header: Vec<HeaderLine>,
    records: BTreeMap<&'static str, u64>,
    notes: Vec<NoteOutcome>,
    unknown_lines: UnknownOutcome,
    statements: Vec<StatementOutcome>,
    scopes: Vec<ScopeOutcome>,
}

#[derive(Debug, Serialize)]
struct HeaderLine {
    line: u64,
    text: String,
}

#[derive(Debug, Serialize)]
struct NoteOutcome {
    code: &'static str,
    count: u64,
    line: u64,
}

#[derive(Debug, Serialize)]
struct UnknownOutcome {
    count: u64,
    shapes: Vec<ShapeOutcome>,
    others: u64,
}

#[derive(Debug, Serialize)]
struct ShapeOutcome {
    shape: String,
    count: u64,
    line: u64,
}

#[derive(Debug, Serialize)]
struct StatementOutcome {
    statement: u32,
    kind: &'static str,
    cursor: Option<u64>,
    sql_id: Option<String>,
    /// We have computed it from the text.
    sql_id_is_computed: bool,
    hash_value: Option<i64>,
    structure: String,
    text: String,
    text_bytes: u64,
    command: i64,
    user: i64,
    line: u64,
}

impl FileOutcome {
    /// Of a file that has been read to its end.
    pub(super) fn of(file: String, state: &State, lines: u64) -> Self {
        let ledger = &state.ledger;
        let records = BTreeMap::from([
            ("calls", ledger.calls),
            ("waits", ledger.waits),
            ("text_lines", state.text_lines),
            ("bind_lines", state.bind_lines),
        ]);
        let version = state.header.version.clone();
        let major = version.as_deref().and_then(|version| version.split('.').next()?.parse::<u32>().ok());
        Self {
            file,
            bytes: 0,
            text_bytes: 0,
            compression: "none",
            broken: None,
            lines,
            version,
            time_unit: state.unit.name(),
            cpu_clock_is_coarse: major.map(|major| major < 12),
            header: state
                .header
                .lines
                .iter()
                .map(|(line, text)| HeaderLine { line: *line, text: text.clone() })
                .collect(),
            records,
            notes: ledger
                .notes
                .all
                .iter()
                .map(|(note, Noticed { count, line })| NoteOutcome { code: note.code(), count: *count, line: *line })
                .collect(),
            unknown_lines: UnknownOutcome {
                count: state.unknown.count(),
                shapes: state
                    .unknown
                    .shapes
                    .iter()
                    .map(|(shape, noticed)| ShapeOutcome {
                        shape: lossy(shape),
                        count: noticed.count,
                        line: noticed.line,
                    })
                    .collect(),
                others: state.unknown.others,
            },
            statements: (0_u32..)
                .zip(&ledger.statements.all)
                .map(|(id, statement)| StatementOutcome::of(id, statement))
                .collect(),
            scopes: scopes(ledger),
        }
    }
}

/// The file; and each session, where there are several.
fn scopes(ledger: &Ledger) -> Vec<ScopeOutcome> {
    let used: Vec<usize> =
        (0..ledger.sessions.all.len()).filter(|id| !ledger.sessions.all[*id].is_untouched()).collect();
    let only = match used[..] {
        [only] => Some(&ledger.sessions.all[only]),
        _ => None,
    };
    let mut scopes = vec![ScopeOutcome::of("file", &Scope::of(ledger, |_| true), only, &ledger.events)];
    if used.len() > 1 {
        let of_session = |id: &usize| {
            let session = Some(&ledger.sessions.all[*id]);
            ScopeOutcome::of("session", &Scope::of(ledger, |other| other == *id), session, &ledger.events)
        };
        scopes.extend(used.iter().map(of_session));
    }
    scopes
}

impl StatementOutcome {
    fn of(id: u32, statement: &Statement) -> Self {
        let (kind, cursor) = match statement.kind {
            StatementKind::Text => ("statement", None),
            StatementKind::Variants => ("variants", None),
            StatementKind::NotInTrace(cursor) => ("not_in_trace", Some(cursor)),
            StatementKind::NoCursor => ("no_cursor", None),
            StatementKind::Others => ("others", None),
        };
        let is_whole = !statement.text.is_empty()
            && statement.text.len() as u64 == statement.text_bytes
            && statement.text_bytes as i64 == statement.stated_bytes;
        let computed = (statement.sql_id.is_none() && is_whole).then(|| sql_text::sql_id(&statement.text));
        Self {
            statement: id,
            kind,
            cursor,
            sql_id_is_computed: computed.is_some(),
            sql_id: statement.sql_id.clone().or(computed),
            hash_value: statement.hash_value,
            structure: format!("{:016x}", statement.structure),
            text: lossy(&statement.text),
            text_bytes: statement.text_bytes,
            command: statement.command,
            user: statement.user,
            line: statement.first_line,
        }
    }
}

/// Traces are in the database's character set; what is not UTF-8 is shown as such.
pub(super) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
