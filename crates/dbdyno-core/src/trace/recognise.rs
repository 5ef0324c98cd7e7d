//! From a line to what it says: by its first byte, then by its first word. A record is taken for one only where its
//! cursor follows, so that a line of a SQL text or of a bind value that begins with such a word stays what it is.

use super::fields::TimeUnit;
use super::record::{CallKind, Mark, Record};
use super::{call_line, other_lines, wait_line};

/// None for a line that is no record. Records are written where the caller wants them: a copy of each would cost a
/// tenth of all time.
#[inline(always)]
pub(super) fn recognise(line: &[u8], unit: TimeUnit) -> Option<Record<'_>> {
    Some(match line.first()? {
        b' ' => return None,
        b'F' => call(CallKind::Fetch, behind(line, b"FETCH #")?, unit),
        b'W' if line.starts_with(b"WAIT") => match wait_line::wait(behind(line, b"WAIT #")?, unit) {
            Some(wait) => Record::Wait(wait),
            None => Record::Damaged,
        },
        b'E' if line.starts_with(b"EXEC") => call(CallKind::Exec, behind(line, b"EXEC #")?, unit),
        b'C' => call(CallKind::Close, behind(line, b"CLOSE #")?, unit),
        b'P' if line.starts_with(b"PARSE #") => call(CallKind::Parse, behind(line, b"PARSE #")?, unit),
        b'=' => return line.starts_with(b"=====================").then_some(Record::Separator),
        b'R' => return rpc(line.strip_prefix(b"RPC ")?, unit),
        _ => return rarer(line, unit),
    })
}

/// Kinds that make up a few percent of a trace's lines.
#[inline(never)]
fn rarer(line: &[u8], unit: TimeUnit) -> Option<Record<'_>> {
    let record = match line[0] {
        b'E' if line.starts_with(b"END OF STMT") => {
            line.trim_ascii_end().eq(b"END OF STMT").then_some(Record::EndOfStatement)
        }
        b'E' => other_lines::error(behind(line, b"ERROR #")?, unit),
        b'P' if line.starts_with(b"PARSE ERROR") => {
            let parsing = other_lines::parsing(behind(line, b"PARSE ERROR #")?, unit);
            parsing.filter(|parsing| parsing.error.is_some()).map(Record::ParseError)
        }
        b'P' => other_lines::parsing(behind(line, b"PARSING IN CURSOR #")?, unit).map(Record::Parsing),
        b'B' => binds(behind(line, b"BINDS #")?),
        b'S' if line.starts_with(b"STAT") => other_lines::stat(behind(line, b"STAT #")?, unit).map(Record::Stat),
        b'S' => Some(call(CallKind::SortUnmap, behind(line, b"SORT UNMAP #")?, unit)),
        b'X' => other_lines::transaction_end(line.strip_prefix(b"XCTEND ")?, unit),
        b'U' if line.starts_with(b"UNMAP") => Some(call(CallKind::Unmap, behind(line, b"UNMAP #")?, unit)),
        b'U' | b'W' => Some(Record::Mark(other_lines::header_process(line)?)),
        b'L' => {
            let colon = line.iter().take(20).position(|byte| *byte == b':')?;
            let operation = line[..colon].strip_prefix(b"LOB")?;
            (!operation.is_empty() && operation.iter().all(u8::is_ascii_uppercase)).then_some(())?;
            call_line::lob(&line[..colon], &line[colon + 1..], unit).map(Record::Lob)
        }
        b'*' => Some(Record::Mark(other_lines::mark(line.strip_prefix(b"*** ")?)?)),
        b'A' => Some(Record::Mark(other_lines::application(line.strip_prefix(b"APPNAME ")?)?)),
        _ => return None,
    };
    Some(record.unwrap_or(Record::Damaged))
}

/// What follows `WORD #`, if that is a cursor's number.
#[inline(always)]
fn behind<'a>(line: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    line.strip_prefix(word).filter(|rest| rest.first().is_some_and(u8::is_ascii_digit))
}

#[inline(always)]
fn call<'a>(kind: CallKind, line: &[u8], unit: TimeUnit) -> Record<'a> {
    match call_line::call(kind, line, unit) {
        Some(call) => Record::Call(call),
        None => Record::Damaged,
    }
}

fn binds<'a>(line: &[u8]) -> Option<Record<'a>> {
    let mut fields = super::fields::Fields::new(line);
    let cursor = fields.identifier()?;
    fields.rest.starts_with(b":").then_some(Record::Binds(cursor))
}

fn rpc(line: &[u8], unit: TimeUnit) -> Option<Record<'_>> {
    match line.strip_prefix(b"EXEC:") {
        Some(rest) => Some(call_line::rpc(rest, unit).map_or(Record::Damaged, Record::Call)),
        None => (line.starts_with(b"CALL:") || line.starts_with(b"BINDS:")).then_some(Record::Rpc),
    }
}

/// Whether it tells of which moment it is: a date may come between any two lines, even inside a text.
pub(super) fn is_time(record: &Record<'_>) -> bool {
    matches!(record, Record::Mark(Mark::Time(_)))
}
