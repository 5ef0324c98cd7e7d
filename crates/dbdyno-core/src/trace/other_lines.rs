//! Lines that are neither calls nor waits: cursors, row sources, ends of transactions, errors, marks.

use super::call_line::DEPTH_MAX;
use super::fields::{Fields, TimeUnit, quoted_of, value_of};
use super::record::{Attribute, FileMark, Mark, Parsing, Record, Stat};

/// From behind the `#` of `PARSING IN CURSOR #` and of `PARSE ERROR #`.
pub(super) fn parsing(line: &[u8], unit: TimeUnit) -> Option<Parsing<'_>> {
    let mut fields = Fields::new(line);
    let cursor = fields.identifier()?;
    let line = fields.rest;
    let parsing = Parsing {
        cursor,
        text_bytes: value_of(line, b"len")?,
        depth: usize::try_from(value_of(line, b"dep")?).ok().filter(|depth| *depth <= DEPTH_MAX)?,
        user: value_of(line, b"uid")?,
        command: value_of(line, b"oct")?,
        hash_value: value_of(line, b"hv"),
        sql_id: quoted_of(line, b"sqlid").filter(|id| !id.is_empty()),
        error: value_of(line, b"err"),
        tim_ns: value_of(line, b"tim").and_then(|tim| unit.tim_ns(tim)).filter(|tim_ns| *tim_ns > 0),
    };
    Some(parsing)
}

/// From behind the `#`.
pub(super) fn stat(line: &[u8], unit: TimeUnit) -> Option<Stat<'_>> {
    let mut fields = Fields::new(line);
    let cursor = fields.identifier()?;
    let (head, tail) = fields.rest.split_at(memchr::memmem::find(fields.rest, b" op='")?);
    let text = tail[b" op='".len()..].trim_ascii_end();
    let text = text.strip_suffix(b"'")?;
    let (operation, figures) = match memchr::memmem::rfind(text, b"(cr=") {
        Some(at) if text.ends_with(b")") => (&text[..at], &text[at..]),
        _ => (text, &b""[..]),
    };
    let figure = |key: &[u8]| value_of(figures, key).unwrap_or(-1);
    let time = value_of(figures, b"time").and_then(|time| unit.duration_ns(time)).unwrap_or(-1);
    Some(Stat {
        cursor,
        id: value_of(head, b"id")?,
        rows: value_of(head, b"cnt")?,
        parent: value_of(head, b"pid").unwrap_or(-1),
        position: value_of(head, b"pos").unwrap_or(-1),
        object: value_of(head, b"obj").unwrap_or(-1),
        operation: operation.trim_ascii(),
        consistent_reads: figure(b"cr"),
        // 9.2 has `r` and `w`.
        physical_reads: value_of(figures, b"pr").unwrap_or_else(|| figure(b"r")),
        physical_writes: value_of(figures, b"pw").unwrap_or_else(|| figure(b"w")),
        starts: figure(b"str"),
        time_ns: time,
        cost: figure(b"cost"),
        bytes: figure(b"size"),
        cardinality: figure(b"card"),
    })
}

/// From behind `XCTEND `.
pub(super) fn transaction_end<'a>(line: &[u8], unit: TimeUnit) -> Option<Record<'a>> {
    let mut fields = Fields::new(line);
    fields.skip(b"rlbk=").then_some(())?;
    let is_rollback = fields.number()? != 0;
    fields.skip(b", rd_only=").then_some(())?;
    let is_read_only = fields.number()? != 0;
    let tim_ns = if fields.skip(b", tim=") { Some(unit.tim_ns(fields.number()?)?) } else { None };
    fields.rest.trim_ascii().is_empty().then_some(Record::TransactionEnd { is_rollback, is_read_only, tim_ns })
}

/// From behind the `#`.
pub(super) fn error<'a>(line: &[u8], unit: TimeUnit) -> Option<Record<'a>> {
    let mut fields = Fields::new(line);
    let cursor = fields.identifier()?;
    fields.skip(b":err=").then_some(())?;
    let code = fields.number()?;
    let tim_ns = if fields.skip(b" tim=") { Some(unit.tim_ns(fields.number()?)?) } else { None };
    fields.rest.trim_ascii().is_empty().then_some(Record::Error { cursor, code, tim_ns })
}

/// From behind `***`; None for one that says nothing that we know.
pub(super) fn mark(line: &[u8]) -> Option<Mark<'_>> {
    let line = line.trim_ascii();
    const ATTRIBUTES: [(&[u8], Attribute); 6] = [
        (b"SERVICE NAME:(", Attribute::Service),
        (b"MODULE NAME:(", Attribute::Module),
        (b"ACTION NAME:(", Attribute::Action),
        (b"CLIENT ID:(", Attribute::Client),
        (b"CLIENT DRIVER:(", Attribute::Driver),
        (b"CONTAINER ID:(", Attribute::Container),
    ];
    if let Some(rest) = line.strip_prefix(b"SESSION ID:(") {
        return Some(Mark::Session(in_parentheses(rest)?)).filter(|_| rest.first().is_some_and(u8::is_ascii_digit));
    }
    for (prefix, attribute) in ATTRIBUTES {
        if let Some(rest) = line.strip_prefix(prefix) {
            return Some(Mark::Attribute(attribute, in_parentheses(rest)?));
        }
    }
    for prefix in [&b"[ Unix process pid: "[..], b"[ Windows thread id: "] {
        if let Some(rest) = line.strip_prefix(prefix) {
            return Fields::new(rest).identifier().map(Mark::Process);
        }
    }
    if is_date(line) {
        return Some(Mark::Time(line));
    }
    file_mark(line).map(Mark::File)
}

/// `APPNAME mod='Module 1' mh=262111370 act='Action 11' ah=810452301`, from behind the first word.
pub(super) fn application(line: &[u8]) -> Option<Mark<'_>> {
    Some(Mark::Application { module: quoted_of(line, b"mod")?, action: quoted_of(line, b"act")? })
}

/// `Unix process pid: 9850, image: oracle@host` and `Windows thread id: 2104, image: ORACLE.EXE (SHAD)` of a header.
pub(super) fn header_process(line: &[u8]) -> Option<Mark<'_>> {
    let rest = line.strip_prefix(b"Unix process pid: ").or_else(|| line.strip_prefix(b"Windows thread id: "))?;
    Fields::new(rest).identifier().map(Mark::Process)
}

/// Names may hold parentheses, and what follows the last one is a date.
fn in_parentheses(rest: &[u8]) -> Option<&[u8]> {
    memchr::memrchr(b')', rest).map(|end| &rest[..end])
}

/// `2019-07-09T09:57:07`, `2010-01-15 08:21:16.294`, `2007-10-9 16:21:08.294`.
fn is_date(line: &[u8]) -> bool {
    let mut fields = Fields::new(line);
    let is_year = fields.number().is_some_and(|year| (1900..10_000).contains(&year));
    is_year && fields.skip(b"-") && fields.number().is_some() && fields.skip(b"-") && fields.number().is_some()
}

fn file_mark(line: &[u8]) -> Option<FileMark> {
    let has = |text: &str| memchr::memmem::find(line, text.as_bytes()).is_some();
    match () {
        () if has("CONTINUES IN FILE") => Some(FileMark::ContinuesElsewhere),
        () if has("CONTINUED FROM FILE") => Some(FileMark::ContinuedFromElsewhere),
        () if has("SIZE IS LIMITED") => Some(FileMark::SizeLimited),
        () => None,
    }
}

/// The text behind a key that is a version: `Release 12.2.0.1.0 - 64bit` and `Version 19.3.0.0.0`.
pub(super) fn version(line: &[u8]) -> Option<&[u8]> {
    let behind = if line.starts_with(b"Oracle") {
        let at = memchr::memmem::find(line, b"Release ")?;
        &line[at + b"Release ".len()..]
    } else {
        line.strip_prefix(b"Version ")?
    };
    let end = behind.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.').unwrap_or(behind.len());
    let version = &behind[..end];
    (version.contains(&b'.') && version[0].is_ascii_digit()).then_some(version)
}
