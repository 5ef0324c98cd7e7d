//! A file from its first line to its last: which lines are records, which are a statement's text or a bind's value.
//!
//! ```text
//!           header line              PARSING IN CURSOR            BINDS
//! header <--------------- between ---------------------> text   between -----> binds
//!    |  record or ***      ^  END OF STMT, or a record   |        ^ a record    |
//!    +---------------------+-----------------------------+        +-------------+
//! ```
//!
//! A date (`*** 2019-...`) may stand anywhere and ends nothing.

use super::fields::TimeUnit;
use super::ledger::Ledger;
use super::limits::TEXT_BYTES_MAX;
use super::lines::{Cutter, Line};
use super::notes::{Note, UnknownLines};
use super::other_lines;
use super::recognise::{is_time, recognise};
use super::record::{FileMark, Mark, Record};
use super::statements::ParsedHead;

/// What the lines that are no records belong to.
#[derive(Clone, Debug)]
enum Within {
    Header,
    Between,
    Text(ParsedHead),
    Binds,
    /// Of a remote procedure call.
    Rpc,
}

/// What a file says of the database that wrote it.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    pub version: Option<String>,
    pub line: u64,
    /// What it says, a line each: instance, host, paths.
    pub lines: Vec<(u64, String)>,
}

/// One file while it is read.
#[derive(Debug)]
pub(super) struct Reader {
    cutter: Cutter,
    state: State,
}

/// All but the cutter, which calls it.
#[derive(Debug)]
pub(super) struct State {
    within: Within,
    pub unit: TimeUnit,
    is_unit_stated: bool,
    pub header: Header,
    text: Vec<u8>,
    text_has_lines: bool,
    pub ledger: Ledger,
    pub unknown: UnknownLines,
    pub bind_lines: u64,
    pub text_lines: u64,
}

/// Of a header.
const HEADER_LINES_MAX: usize = 100;
const HEADER_LINE_BYTES_MAX: usize = 300;

impl Reader {
    pub(super) fn new() -> Self {
        let state = State {
            within: Within::Header,
            unit: TimeUnit::Microseconds,
            is_unit_stated: false,
            header: Header::default(),
            text: Vec::new(),
            text_has_lines: false,
            ledger: Ledger::default(),
            unknown: UnknownLines::default(),
            bind_lines: 0,
            text_lines: 0,
        };
        Self { cutter: Cutter::default(), state }
    }

    /// The next bytes of the file.
    pub(super) fn take(&mut self, piece: &[u8]) {
        let state = &mut self.state;
        self.cutter.take(piece, |line| state.line(line));
    }

    /// The file is over: what was read, and how many lines it had.
    pub(super) fn finish(mut self) -> (State, u64) {
        let state = &mut self.state;
        self.cutter.finish(|line| state.line(line));
        if let Within::Text(ParsedHead { error: None, line, .. }) = state.within {
            state.ledger.notes.add(Note::TextWithoutEnd, line);
        }
        state.end_text(false);
        self.state.ledger.finish();
        (self.state, self.cutter.lines())
    }
}

impl State {
    fn line(&mut self, line: Line<'_>) {
        let unit = self.unit;
        match recognise(line.text, unit) {
            None => self.other_line(line),
            Some(record) if line.is_unfinished || line.is_cut => self.doubtful(line, record),
            Some(record) => self.record(line, record),
        }
    }

    /// A record that may be shorter than it was: its last number is not to be trusted.
    fn doubtful(&mut self, line: Line<'_>, record: Record<'_>) {
        match record {
            Record::EndOfStatement | Record::Separator | Record::Rpc | Record::Binds(_) | Record::Mark(_) => {
                self.record(line, record);
            }
            _ => self.ledger.notes.add(Note::UnfinishedLine, line.number),
        }
    }

    #[inline(always)]
    fn record(&mut self, line: Line<'_>, record: Record<'_>) {
        match self.within {
            Within::Between => {}
            Within::Header => self.leave(&record, line),
            _ if is_time(&record) => {}
            _ => self.leave(&record, line),
        }
        let number = line.number;
        if !matches!(record, Record::Stat(_)) {
            self.ledger.end_plan();
        }
        match record {
            Record::Call(call) => self.ledger.call(&call, number),
            Record::Wait(wait) => {
                if !self.is_unit_stated {
                    self.assume_unit(&wait, number);
                }
                self.ledger.wait(&wait, number);
            }
            Record::Lob(lob) => self.ledger.lob_call(&lob, number),
            Record::Parsing(parsing) | Record::ParseError(parsing) => {
                self.ledger.moment(parsing.tim_ns, number);
                self.within =
                    Within::Text(ParsedHead { has_return: line.has_return, ..ParsedHead::of(&parsing, number) });
                self.text.clear();
                self.text_has_lines = false;
            }
            Record::EndOfStatement | Record::Separator => {}
            Record::Binds(cursor) => {
                self.ledger.begin_binds(cursor, number);
                self.within = Within::Binds;
            }
            Record::Stat(stat) => self.ledger.stat(&stat, number),
            Record::TransactionEnd { is_rollback, is_read_only, tim_ns } => {
                self.ledger.moment(tim_ns, number);
                self.ledger.transaction_end(is_rollback, is_read_only, number);
            }
            Record::Error { cursor, code, tim_ns } => {
                self.ledger.moment(tim_ns, number);
                self.ledger.error(cursor, code, number);
            }
            Record::Mark(mark) => self.mark(mark, number),
            Record::Rpc => self.within = Within::Rpc,
            Record::Damaged => self.ledger.notes.add(Note::DamagedLine, number),
        }
    }

    /// A record ends whatever was being read.
    #[cold]
    fn leave(&mut self, record: &Record<'_>, line: Line<'_>) {
        if let Within::Text(head) = &self.within {
            let is_end = matches!(record, Record::EndOfStatement) || head.error.is_some();
            if !is_end {
                self.ledger.notes.add(Note::TextWithoutEnd, line.number);
            }
            self.end_text(is_end);
        }
        // The process stands in the middle of a header.
        if !matches!((&self.within, record), (Within::Header, Record::Mark(Mark::Process(_)))) {
            self.within = Within::Between;
        }
    }

    fn end_text(&mut self, is_whole: bool) {
        if let Within::Text(head) = &self.within {
            if is_whole && head.error.is_none() && head.text_bytes_read as i64 != head.stated_bytes {
                self.ledger.notes.add(Note::TextLengthDiffers, head.line);
            }
            self.ledger.parsed(head, &self.text);
            self.within = Within::Between;
        }
    }

    /// A line that is no record.
    fn other_line(&mut self, line: Line<'_>) {
        match &mut self.within {
            Within::Text(head) => {
                self.text_lines += 1;
                let bytes = line.text.len() as u64 + u64::from(self.text_has_lines);
                head.text_bytes_read += bytes;
                if self.text_has_lines && self.text.len() < TEXT_BYTES_MAX {
                    self.text.push(b'\n');
                }
                let room = TEXT_BYTES_MAX - self.text.len();
                self.text.extend_from_slice(&line.text[..line.text.len().min(room)]);
                if line.has_return && !head.has_return {
                    // The client's own, in a file whose lines end without.
                    head.text_bytes_read += 1;
                    if self.text.len() < TEXT_BYTES_MAX {
                        self.text.push(b'\r');
                    }
                }
                self.text_has_lines = true;
            }
            Within::Binds => {
                self.bind_lines += 1;
                if !is_layout(line.text) {
                    self.ledger.bind_line(line.text);
                }
            }
            Within::Rpc => self.bind_lines += 1,
            Within::Header => self.header_line(line),
            Within::Between if line.text.trim_ascii().is_empty() => {}
            Within::Between if begins_header(line.text) => {
                self.within = Within::Header;
                self.header_line(line);
            }
            Within::Between => self.unknown.add(line.text, line.number),
        }
        if line.is_cut {
            self.ledger.notes.add(Note::LongLine, line.number);
        }
    }

    fn header_line(&mut self, line: Line<'_>) {
        if let Some(version) = other_lines::version(line.text) {
            let version = String::from_utf8_lossy(version).into_owned();
            let is_old =
                version.split('.').next().and_then(|major| major.parse().ok()).is_some_and(|major: u32| major < 9);
            self.unit = if is_old { TimeUnit::Centiseconds } else { TimeUnit::Microseconds };
            self.is_unit_stated = true;
            (self.header.version, self.header.line) = (Some(version), line.number);
        }
        if self.header.lines.len() < HEADER_LINES_MAX && !line.text.trim_ascii().is_empty() {
            let text = &line.text[..line.text.len().min(HEADER_LINE_BYTES_MAX)];
            self.header.lines.push((line.number, String::from_utf8_lossy(text).into_owned()));
        }
    }

    /// Without a header: parameters with names and moments came with 10g, microseconds with 9i.
    #[cold]
    fn assume_unit(&mut self, wait: &super::record::Wait<'_>, line: u64) {
        self.is_unit_stated = true;
        if wait.tim_ns.is_none() && self.header.version.is_none() {
            self.ledger.notes.add(Note::UnitAssumed, line);
        }
    }

    fn mark(&mut self, mark: Mark<'_>, line: u64) {
        match mark {
            Mark::Time(text) => self.ledger.sessions.current().add_mark(text, line),
            Mark::Session(session) => self.ledger.sessions.begin_session(session, line),
            Mark::Process(process) => self.ledger.sessions.begin_process(process, line),
            Mark::Attribute(attribute, name) => self.ledger.sessions.current().add_attribute(attribute, name, line),
            Mark::Application { module, action } => {
                let session = self.ledger.sessions.current();
                session.add_attribute(super::record::Attribute::Module, module, line);
                session.add_attribute(super::record::Attribute::Action, action, line);
            }
            Mark::File(mark) => {
                let note = match mark {
                    FileMark::ContinuesElsewhere => Note::ContinuesElsewhere,
                    FileMark::ContinuedFromElsewhere => Note::ContinuedFromElsewhere,
                    FileMark::SizeLimited => Note::SizeLimited,
                };
                self.ledger.notes.add(note, line);
            }
        }
    }
}

/// Flags and addresses of a bind, which nobody asks for; half of what a block of them has.
fn is_layout(text: &[u8]) -> bool {
    text.starts_with(b"  oacflg=") || text.starts_with(b"  kxsbbbfp=") || text.is_empty()
}

/// Where files are put one behind the other, another header begins.
fn begins_header(text: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 6] =
        [b"Trace file ", b"Dump file ", b"Oracle", b"ORACLE_HOME", b"Build label:", b"Instance name:"];
    let is_path = (text.starts_with(b"/") || text.get(1) == Some(&b':')) && text.trim_ascii_end().ends_with(b".trc");
    is_path || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}
