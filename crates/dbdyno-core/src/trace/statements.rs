//! The statements of a file, by text; what a cursor is at a time.

use super::hashing::FastMap;
use super::limits::{ALL_TEXTS_BYTES_MAX, TEXT_BYTES_MAX, TEXTS_MAX};
use super::record::Parsing;
use super::sql_text::{structure_hash, text_hash};

/// A statement's place among those of its file.
pub(super) type StatementId = u32;

/// What makes a statement the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// The same text.
    Text(u64),
    /// Beyond the limit: the same structure.
    Structure(u64),
    /// Its text is not in the trace; by the cursor's number.
    Cursor(u64),
    Others,
}

/// One statement.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// Cut; empty where the trace does not have it.
    pub text: Vec<u8>,
    /// As read, which may be less than `stated_bytes` says.
    pub text_bytes: u64,
    pub stated_bytes: i64,
    pub structure: u64,
    pub sql_id: Option<String>,
    pub hash_value: Option<i64>,
    pub command: i64,
    pub user: i64,
    pub first_line: u64,
    pub kind: StatementKind,
}

/// Whether it is one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatementKind {
    /// It is.
    Text,
    /// Several of the same structure, of which this is the first.
    Variants,
    /// A cursor that was parsed before the trace began.
    NotInTrace(u64),
    /// Calls and waits outside any cursor: LOB calls, remote procedures, `WAIT #0`.
    NoCursor,
    /// All beyond the limit.
    Others,
}

/// All statements.
#[derive(Debug, Default)]
pub(super) struct Statements {
    pub all: Vec<Statement>,
    by_key: FastMap<Key, StatementId>,
    text_bytes: usize,
    room: Vec<u8>,
    /// How many texts had no place of their own.
    pub merged: u64,
    /// How many texts were cut for want of room.
    pub cut: u64,
}

impl Statements {
    /// The statement of a text.
    pub(super) fn of_text(&mut self, parsing: &ParsedHead, text: &[u8], line: u64) -> StatementId {
        // Of a long text only the beginning is at hand.
        let key = Key::Text(text_hash(text) ^ parsing.text_bytes_read);
        if let Some(id) = self.by_key.get(&key) {
            return *id;
        }
        let structure = structure_hash(text, &mut self.room);
        let (key, kind) = match self.all.len() {
            0..TEXTS_MAX => (key, StatementKind::Text),
            _ => {
                self.merged += 1;
                (Key::Structure(structure), StatementKind::Variants)
            }
        };
        if let Some(id) = self.by_key.get(&key) {
            return *id;
        }
        if self.all.len() >= TEXTS_MAX + TEXTS_MAX / 2 {
            return self.others(line);
        }
        let mut room = ALL_TEXTS_BYTES_MAX.saturating_sub(self.text_bytes).min(TEXT_BYTES_MAX);
        if room < text.len() {
            self.cut += 1;
            room = room.max(200);
        }
        let kept = text[..text.len().min(room)].to_vec();
        self.text_bytes += kept.len();
        self.add(
            key,
            Statement {
                text: kept,
                text_bytes: parsing.text_bytes_read,
                stated_bytes: parsing.stated_bytes,
                structure,
                sql_id: parsing.sql_id.clone(),
                hash_value: parsing.hash_value,
                command: parsing.command,
                user: parsing.user,
                first_line: line,
                kind,
            },
        )
    }

    /// That of a cursor of which nothing is known.
    pub(super) fn of_cursor(&mut self, cursor: u64, line: u64) -> StatementId {
        let key = Key::Cursor(cursor);
        if let Some(id) = self.by_key.get(&key) {
            return *id;
        }
        if self.all.len() >= TEXTS_MAX {
            return self.others(line);
        }
        let kind = if cursor == 0 { StatementKind::NoCursor } else { StatementKind::NotInTrace(cursor) };
        self.add(key, nameless(kind, line))
    }

    /// That of whatever has no place of its own.
    pub(super) fn others(&mut self, line: u64) -> StatementId {
        match self.by_key.get(&Key::Others) {
            Some(id) => *id,
            None => self.add(Key::Others, nameless(StatementKind::Others, line)),
        }
    }

    fn add(&mut self, key: Key, statement: Statement) -> StatementId {
        let id = self.all.len() as StatementId;
        self.all.push(statement);
        self.by_key.insert(key, id);
        id
    }
}

fn nameless(kind: StatementKind, first_line: u64) -> Statement {
    Statement {
        text: Vec::new(),
        text_bytes: 0,
        stated_bytes: 0,
        structure: 0,
        sql_id: None,
        hash_value: None,
        command: -1,
        user: -1,
        first_line,
        kind,
    }
}

/// What the line before a text says of it, while the text is read.
#[derive(Clone, Debug)]
pub(super) struct ParsedHead {
    pub cursor: u64,
    pub depth: usize,
    pub line: u64,
    /// Whether the line before the text ended with a carriage return.
    pub has_return: bool,
    pub stated_bytes: i64,
    pub text_bytes_read: u64,
    pub sql_id: Option<String>,
    pub hash_value: Option<i64>,
    pub command: i64,
    pub user: i64,
    pub error: Option<i64>,
}

impl ParsedHead {
    pub(super) fn of(parsing: &Parsing<'_>, line: u64) -> Self {
        Self {
            cursor: parsing.cursor,
            depth: parsing.depth,
            line,
            has_return: false,
            stated_bytes: parsing.text_bytes,
            text_bytes_read: 0,
            sql_id: parsing.sql_id.map(|id| String::from_utf8_lossy(id).into_owned()),
            hash_value: parsing.hash_value,
            command: parsing.command,
            user: parsing.user,
            error: parsing.error,
        }
    }
}
