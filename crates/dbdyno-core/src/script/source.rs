//! A script's text with its name: turns byte offsets into lines and columns, and mistakes into errors.

use super::error::ScriptError;

/// The text being parsed.
pub(super) struct Source<'a> {
    file: &'a str,
    pub(super) text: &'a str,
    line_starts: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(super) fn new(file: &'a str, text: &'a str) -> Self {
        let after_newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        let line_starts = std::iter::once(0).chain(after_newlines).collect();
        Self { file, text, line_starts }
    }

    /// The line that holds `offset`, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        self.line_starts.partition_point(|&start| start <= offset) as u32
    }

    /// An error at `offset`, which must lie on a character's first byte or at the end.
    pub(super) fn error(&self, offset: usize, message: impl Into<String>) -> ScriptError {
        let line = self.line(offset);
        let start = self.line_starts[line as usize - 1];
        let column = self.text[start..offset].chars().count() as u32 + 1;
        ScriptError { file: self.file.to_owned(), line, column, message: message.into() }
    }

    /// A place for messages at run time, e.g. `transfer.sql:3`.
    pub(super) fn place(&self, offset: usize) -> String {
        format!("{}:{}", self.file, self.line(offset))
    }
}

/// A byte that can begin a variable's or a function's name: pgbench takes any character beyond ASCII.
pub(super) fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

/// A byte that can continue a name.
pub(super) fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit()
}

/// Where the run of name bytes from `start` ends.
pub(super) fn name_end(text: &str, start: usize) -> usize {
    let length = text.as_bytes()[start..].iter().take_while(|&&byte| continues_name(byte)).count();
    start + length
}

/// Whether a variable can be called that.
pub(super) fn is_variable_name(name: &str) -> bool {
    name.bytes().next().is_some_and(starts_name) && name.bytes().all(continues_name)
}

/// Space within a meta-command's line.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

/// The length of a backslash-newline at `offset`, which continues a meta-command on the next line.
pub(super) fn continuation_length(text: &str, offset: usize) -> Option<usize> {
    let rest = &text.as_bytes()[offset..];
    if rest.starts_with(b"\\\n") {
        Some(2)
    } else if rest.starts_with(b"\\\r\n") {
        Some(3)
    } else {
        None
    }
}

/// The first offset from `offset` on that is neither space nor continuation.
pub(super) fn skip_space(text: &str, mut offset: usize) -> usize {
    loop {
        if text.as_bytes().get(offset).copied().is_some_and(is_space) {
            offset += 1;
        } else if let Some(length) = continuation_length(text, offset) {
            offset += length;
        } else {
            return offset;
        }
    }
}
