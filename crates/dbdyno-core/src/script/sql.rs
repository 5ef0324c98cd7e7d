//! Where a SQL command of a script ends, and which of its parts are code, strings and comments.
//!
//! Follows psql's lexer, with standard-conforming strings: a command ends at a `;` outside quotes,
//! parentheses and `BEGIN ATOMIC` bodies, at a backslash (the next meta-command), or with the text.
//! `\;` and `\:` put the bare character into the command.

use super::source::{continues_name, name_end, starts_name};

/// What a part of a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentKind {
    Code,
    Quoted,
    Comment,
}

/// A run of a command's text of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) kind: SegmentKind,
    pub(super) text: String,
}

/// Why a command ends where it does; the offset is that of the first byte behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Semicolon(usize),
    /// The offset is behind the backslash.
    Backslash(usize),
    Text,
}

/// A command as it stands in the script, without the space and line comments before it.
#[derive(Debug)]
pub(super) struct SqlCommand {
    pub(super) start: usize,
    pub(super) segments: Vec<Segment>,
    pub(super) ending: Ending,
}

impl SqlCommand {
    /// Whether there is nothing to send: only space and comments.
    pub(super) fn is_blank(&self) -> bool {
        let blank = |segment: &Segment| segment.kind == SegmentKind::Comment || segment.text.trim().is_empty();
        self.segments.iter().all(blank)
    }
}

/// What opened and never closed. The server could only refuse such a command, and it swallows
/// whatever follows it in the script.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unclosed {
    pub(super) start: usize,
    pub(super) what: &'static str,
}

/// Reads the command that begins at `offset`.
pub(super) fn read_sql(text: &str, offset: usize) -> Result<SqlCommand, Unclosed> {
    let body = Body::default();
    let mut reader = Reader { text, offset, segments: Vec::new(), start: offset, parentheses: Vec::new(), body };
    let ending = reader.read()?;
    if let Some(&start) = reader.parentheses.first() {
        return Err(Unclosed { start, what: "parenthesis" });
    }
    Ok(SqlCommand { start: reader.start, segments: reader.segments, ending })
}

struct Reader<'a> {
    text: &'a str,
    offset: usize,
    segments: Vec<Segment>,
    start: usize,
    /// Where those that are open stand.
    parentheses: Vec<usize>,
    body: Body,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<Ending, Unclosed> {
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\\' => match self.byte(1) {
                    Some(forced @ (b';' | b':')) => self.forced(forced),
                    _ => return Ok(Ending::Backslash(self.offset + 1)),
                },
                b';' => {
                    self.take(SegmentKind::Code, self.offset + 1);
                    if self.parentheses.is_empty() && !self.body.is_open() {
                        return Ok(Ending::Semicolon(self.offset));
                    }
                }
                _ => self.token(byte)?,
            }
        }
        Ok(Ending::Text)
    }

    fn byte(&self, distance: usize) -> Option<u8> {
        self.text.as_bytes().get(self.offset + distance).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.offset..]
    }

    /// Moves the text up to `end` into the command.
    fn take(&mut self, kind: SegmentKind, end: usize) {
        let part = &self.text[self.offset..end];
        if self.segments.is_empty() {
            self.start = self.offset;
        }
        match self.segments.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(part),
            _ => self.segments.push(Segment { kind, text: part.to_owned() }),
        }
        self.offset = end;
    }

    /// `\;` joins statements into one command; `\:` is a colon to the lexer, and nothing more.
    fn forced(&mut self, byte: u8) {
        if byte == b';' {
            self.body.next_statement();
        }
        self.offset += 1;
        self.take(SegmentKind::Code, self.offset + 1);
    }

    fn token(&mut self, byte: u8) -> Result<(), Unclosed> {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c' => self.space(self.offset + 1),
            b'-' if self.byte(1) == Some(b'-') => self.line_comment(),
            b'/' if self.byte(1) == Some(b'*') => self.block_comment()?,
            b'\'' => self.quoted(quoted_end(self.text, self.offset), "string")?,
            b'"' => self.quoted(quoted_end(self.text, self.offset), "quoted name")?,
            b'e' | b'E' if self.byte(1) == Some(b'\'') => {
                self.quoted(escape_string_end(self.text, self.offset + 1), "string")?;
            }
            b'$' => self.dollar()?,
            b':' => self.colon(),
            b'(' | b')' => self.parenthesis(byte),
            _ if starts_name(byte) => self.identifier(),
            _ if byte.is_ascii_digit() => self.number(),
            _ => self.take(SegmentKind::Code, self.offset + 1),
        }
        Ok(())
    }

    fn quoted(&mut self, end: Option<usize>, what: &'static str) -> Result<(), Unclosed> {
        let end = end.ok_or(Unclosed { start: self.offset, what })?;
        self.take(SegmentKind::Quoted, end);
        Ok(())
    }

    fn block_comment(&mut self) -> Result<(), Unclosed> {
        let end = block_comment_end(self.text, self.offset);
        self.take(SegmentKind::Comment, end.ok_or(Unclosed { start: self.offset, what: "comment" })?);
        Ok(())
    }

    /// Space counts only once there is something to separate.
    fn space(&mut self, end: usize) {
        if self.segments.is_empty() {
            self.offset = end;
        } else {
            self.take(SegmentKind::Code, end);
        }
    }

    fn line_comment(&mut self) {
        let end = line_end(self.text, self.offset);
        if self.segments.is_empty() {
            self.offset = end;
        } else {
            self.take(SegmentKind::Comment, end);
        }
    }

    /// `$$...$$`, `$tag$...$tag$`, or a lone `$` (`$1` is none of our business).
    fn dollar(&mut self) -> Result<(), Unclosed> {
        let tag_end = name_end(self.text, self.offset + 1);
        let begins_with_digit = self.byte(1).is_some_and(|byte| byte.is_ascii_digit());
        if begins_with_digit || self.text.as_bytes().get(tag_end) != Some(&b'$') {
            self.take(SegmentKind::Code, self.offset + 1);
            return Ok(());
        }
        let delimiter = &self.text[self.offset..=tag_end];
        let inside = tag_end + 1;
        let end = self.text[inside..].find(delimiter).map(|at| inside + at + delimiter.len());
        self.quoted(end, "dollar-quoted string")
    }

    /// `::` is a cast; `:name` is one token, so that the e of `:e'...'` begins no escape string.
    fn colon(&mut self) {
        let end = if self.byte(1) == Some(b':') { self.offset + 2 } else { name_end(self.text, self.offset + 1) };
        self.take(SegmentKind::Code, end);
    }

    fn parenthesis(&mut self, byte: u8) {
        if byte == b'(' {
            self.parentheses.push(self.offset);
        } else {
            self.parentheses.pop();
        }
        self.take(SegmentKind::Code, self.offset + 1);
    }

    fn identifier(&mut self) {
        let end = self.offset + identifier_length(self.rest());
        let is_outside_parentheses = self.parentheses.is_empty();
        if is_outside_parentheses || self.body.is_in_head() {
            let word = self.text[self.offset..end].to_ascii_lowercase();
            self.body.word(&word, is_outside_parentheses);
        }
        self.take(SegmentKind::Code, end);
    }

    /// Digits and what is glued to them: `1e5`, `0x1f`, `1_000`.
    fn number(&mut self) {
        let digits = self.rest().bytes().take_while(|&byte| byte.is_ascii_digit() || byte == b'_').count();
        let tail = &self.rest()[digits..];
        let glued = if tail.bytes().next().is_some_and(starts_name) { identifier_length(tail) } else { 0 };
        self.take(SegmentKind::Code, self.offset + digits + glued);
    }
}

/// Tells whether a `;` lies within the `BEGIN ATOMIC ... END` body of CREATE [OR REPLACE] FUNCTION
/// or PROCEDURE. psql's heuristic: in such a statement BEGIN and CASE open, END closes.
#[derive(Debug, Default)]
struct Body {
    head: Vec<String>,
    depth: u32,
}

/// CREATE OR REPLACE FUNCTION: no more words decide what a statement is.
const HEAD_WORDS: usize = 4;

impl Body {
    fn is_open(&self) -> bool {
        self.depth > 0
    }

    fn is_in_head(&self) -> bool {
        self.head.len() < HEAD_WORDS
    }

    fn next_statement(&mut self) {
        self.head.clear();
    }

    fn word(&mut self, word: &str, is_outside_parentheses: bool) {
        if self.is_in_head() {
            self.head.push(word.to_owned());
        }
        if !is_outside_parentheses || !self.is_routine() {
            return;
        }
        match word {
            "begin" => self.depth += 1,
            "case" if self.depth > 0 => self.depth += 1,
            "end" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    fn is_routine(&self) -> bool {
        let head: Vec<&str> = self.head.iter().map(String::as_str).collect();
        matches!(
            head.as_slice(),
            ["create", "function" | "procedure", ..] | ["create", "or", "replace", "function" | "procedure", ..]
        )
    }
}

/// An identifier may hold `$` behind its first character.
fn identifier_length(text: &str) -> usize {
    text.bytes().take_while(|&byte| continues_name(byte) || byte == b'$').count()
}

fn line_end(text: &str, offset: usize) -> usize {
    text[offset..].find(['\n', '\r']).map_or(text.len(), |at| offset + at)
}

/// Behind the `*/` that matches the `/*` at `offset`; comments nest.
fn block_comment_end(text: &str, offset: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 1;
    let mut at = offset + 2;
    while depth > 0 {
        match bytes.get(at..)? {
            [] => return None,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            _ => at += 1,
        }
    }
    Some(at)
}

/// Behind the quote that closes the one at `offset`. A doubled quote closes and opens at once,
/// which comes to the same.
fn quoted_end(text: &str, offset: usize) -> Option<usize> {
    let quote = char::from(text.as_bytes()[offset]);
    text[offset + 1..].find(quote).map(|at| offset + 1 + at + 1)
}

/// Behind the end of the escape string whose quote is at `offset`: a backslash escapes what
/// follows it, and the string goes on where a quote follows across a line's end.
fn escape_string_end(text: &str, offset: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = offset + 1;
    loop {
        match bytes.get(at..)? {
            [] => return None,
            [b'\\', ..] | [b'\'', b'\'', ..] => at += 2,
            [b'\'', ..] => match continued_string(text, at + 1) {
                Some(inside) => at = inside,
                None => return Some(at + 1),
            },
            _ => at += 1,
        }
    }
}

/// Behind the quote that continues a string closed before `offset`: space with at least one line's end between.
fn continued_string(text: &str, offset: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut is_on_new_line) = (offset, false);
    loop {
        match bytes.get(at..)? {
            [b'\n' | b'\r', ..] => (at, is_on_new_line) = (at + 1, true),
            [b' ' | b'\t' | b'\x0b' | b'\x0c', ..] => at += 1,
            [b'-', b'-', ..] => at = line_end(text, at),
            [b'\'', ..] if is_on_new_line => return Some(at + 1),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands of `text`, which holds no meta-command.
    fn commands(text: &str) -> Vec<String> {
        let mut offset = 0;
        let mut found = Vec::new();
        loop {
            let command = read_sql(text, offset).unwrap();
            if !command.is_blank() {
                found.push(command.segments.iter().map(|segment| segment.text.as_str()).collect::<String>());
            }
            match command.ending {
                Ending::Semicolon(next) => offset = next,
                Ending::Text => return found,
                Ending::Backslash(at) => panic!("a backslash at {at}"),
            }
        }
    }

    fn kinds(text: &str) -> Vec<(SegmentKind, String)> {
        read_sql(text, 0).unwrap().segments.into_iter().map(|segment| (segment.kind, segment.text)).collect()
    }

    #[test]
    fn a_semicolon_in_code_ends_a_command() {
        assert_eq!(commands("SELECT 1;SELECT\n2; ;SELECT 3"), ["SELECT 1;", "SELECT\n2;", ";", "SELECT 3"]);
        assert_eq!(commands("SELECT 1 \\; SELECT 2;"), ["SELECT 1 ; SELECT 2;"]);
        assert_eq!(commands("a[1 \\: 2];"), ["a[1 : 2];"]);
    }

    #[test]
    fn a_semicolon_elsewhere_does_not() {
        let wholes = [
            "SELECT 'a;''b;';",
            "SELECT E'a;\\';b', e'\\\\';",
            "SELECT E'a'\n -- between\n 'b\\';c';",
            "SELECT \"a;\"\"b;\";",
            "SELECT $$a;$b;$$;",
            "SELECT $t$a; $$ ;$t$;",
            "SELECT 1 /* ; /* ; */ ; */;",
            "SELECT 1 -- ;\n;",
            "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT (2););",
            "CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; END;",
            "create procedure p() begin atomic select 1; end;",
        ];
        for whole in wholes {
            assert_eq!(commands(whole), [whole]);
        }
    }

    #[test]
    fn what_only_looks_like_a_quote_opens_nothing() {
        for text in ["SELECT name'a\\';", "SELECT a$b$c;", "SELECT $1$2;", "SELECT :e'a\\';", "SELECT 1e'\\';"] {
            assert_eq!(commands(&format!("{text}SELECT 2;")), [text, "SELECT 2;"]);
        }
        assert_eq!(commands("BEGIN; END;"), ["BEGIN;", "END;"]);
        assert_eq!(commands("CREATE TABLE t(); BEGIN; END;"), ["CREATE TABLE t();", "BEGIN;", "END;"]);
    }

    #[test]
    fn comments_and_space_before_a_command_are_dropped_but_for_block_comments() {
        assert_eq!(commands("-- a\n  SELECT 1; -- b\n\n-- c"), ["SELECT 1;"]);
        assert_eq!(commands("/*+ hint */ SELECT 1;\n/* nothing else */"), ["/*+ hint */ SELECT 1;"]);
        assert_eq!(read_sql("  -- a\n SELECT 1;", 0).unwrap().start, 8);
    }

    #[test]
    fn code_strings_and_comments_are_told_apart() {
        use SegmentKind::*;
        let expected =
            [(Code, "a "), (Quoted, "'b'"), (Code, "::c "), (Comment, "/* d */"), (Quoted, "$$e$$"), (Code, ";")];
        let expected: Vec<_> = expected.into_iter().map(|(kind, text)| (kind, text.to_owned())).collect();
        assert_eq!(kinds("a 'b'::c /* d */$$e$$;"), expected);
    }

    #[test]
    fn a_backslash_in_code_ends_a_command() {
        assert_eq!(read_sql("SELECT 1 \\gset", 0).unwrap().ending, Ending::Backslash(10));
        assert_eq!(read_sql("SELECT '\\g' \\gset", 0).unwrap().ending, Ending::Backslash(13));
    }
}
