//! One record of CSV: where its fields lie.
//!
//! Lines end with \n or \r\n, but within quotes. A field that begins with a quote ends with one; two quotes within
//! are one. A quote within a field that does not begin with one is a character like others.

use memchr::{memchr, memchr2};

/// The characters that mean something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    pub delimiter: u8,
    pub quote: u8,
}

/// Where a field lies in the bytes of its record, without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub begin: usize,
    pub end: usize,
    pub is_quoted: bool,
    /// Whether two quotes in it are one.
    pub has_quotes: bool,
}

/// How far a record goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// So many bytes.
    Record(usize),
    /// Beyond what has come.
    More,
}

impl Dialect {
    /// The fields of the record with which the bytes begin; `is_last` says that no more bytes will come.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn record(self, bytes: &[u8], is_last: bool, fields: &mut Vec<Field>) -> Result<Found, &'static str> {
        fields.clear();
        let mut at = 0;
        loop {
            let field = match bytes.get(at) {
                Some(byte) if *byte == self.quote => match self.quoted(bytes, at + 1) {
                    Some(field) => field,
                    None if is_last => return Err("a quote is never closed"),
                    None => return Ok(Found::More),
                },
                _ => {
                    let rest = &bytes[at..];
                    let end = memchr2(self.delimiter, b'\n', rest).map_or(bytes.len(), |length| at + length);
                    Field { begin: at, end, is_quoted: false, has_quotes: false }
                }
            };
            let behind = field.end + usize::from(field.is_quoted);
            let (field, end) = match (bytes.get(behind), bytes.get(behind + 1)) {
                (Some(byte), _) if *byte == self.delimiter => {
                    fields.push(field);
                    at = behind + 1;
                    continue;
                }
                (Some(b'\n'), _) => (field, behind + 1),
                (Some(b'\r'), Some(b'\n')) => (field, behind + 2),
                (Some(b'\r') | None, None) if is_last => (field, bytes.len()),
                (_, None) if !is_last => return Ok(Found::More),
                _ => return Err("a closing quote is followed by something else than the end of a field"),
            };
            fields.push(field.without_return(bytes));
            return Ok(Found::Record(end));
        }
    }

    /// A field that begins behind its quote; None if its end has not come. What may be half of a pair of quotes is not
    /// looked at before the other half can be there, but at the end of all.
    fn quoted(self, bytes: &[u8], begin: usize) -> Option<Field> {
        let (mut at, mut has_quotes) = (begin, false);
        loop {
            let end = at + memchr(self.quote, &bytes[at..])?;
            if bytes.get(end + 1) != Some(&self.quote) {
                return Some(Field { begin, end, is_quoted: true, has_quotes });
            }
            has_quotes = true;
            at = end + 2;
        }
    }
}

impl Field {
    /// Without the first half of the \r\n behind it.
    fn without_return(self, bytes: &[u8]) -> Self {
        let has_return = !self.is_quoted && self.end > self.begin && bytes[self.end - 1] == b'\r';
        Self { end: self.end - usize::from(has_return), ..self }
    }

    /// Writes the value behind what is there.
    pub(super) fn write(self, bytes: &[u8], quote: u8, value: &mut Vec<u8>) {
        let mut rest = &bytes[self.begin..self.end];
        if self.has_quotes {
            while let Some(at) = memchr(quote, rest) {
                value.extend_from_slice(&rest[..=at]);
                rest = &rest[at + 2..];
            }
        }
        value.extend_from_slice(rest);
    }

    /// Nothing between two delimiters. Two quotes are a text without characters.
    pub(super) fn is_null(self) -> bool {
        self.begin == self.end && !self.is_quoted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COMMA: Dialect = Dialect { delimiter: b',', quote: b'"' };

    /// All records of a text of which `step` more bytes come whenever that is wanted.
    fn records(text: &[u8], step: usize) -> Result<Vec<Vec<Option<String>>>, &'static str> {
        let (mut rows, mut fields) = (Vec::new(), Vec::new());
        let (mut at, mut known) = (0, 0);
        while at < text.len() {
            match COMMA.record(&text[at..known], known == text.len(), &mut fields)? {
                Found::More => known = text.len().min(known + step),
                Found::Record(bytes) => {
                    let value = |field: &Field| {
                        let mut value = Vec::new();
                        field.write(&text[at..known], b'"', &mut value);
                        (!field.is_null()).then(|| String::from_utf8(value).expect("text"))
                    };
                    rows.push(fields.iter().map(value).collect());
                    at += bytes;
                }
            }
        }
        Ok(rows)
    }

    #[test]
    fn records_are_what_they_look_like() {
        let text = b"a,b\r\n1,\"two\nlines\"\n,\"\"\n\"say \"\"so\"\"\",5\"\r\n\"\"\"\",\r,\n x ,last";
        let row = |values: &[Option<&str>]| values.iter().map(|value| value.map(str::to_owned)).collect::<Vec<_>>();
        let expected = vec![
            row(&[Some("a"), Some("b")]),
            row(&[Some("1"), Some("two\nlines")]),
            row(&[None, Some("")]),
            row(&[Some("say \"so\""), Some("5\"")]),
            row(&[Some("\""), Some("\r"), None]),
            row(&[Some(" x "), Some("last")]),
        ];
        for step in 1..text.len() {
            assert_eq!(Ok(expected.clone()), records(text, step), "{step}");
        }
    }

    #[test]
    fn quotes_that_do_not_fit_are_refused() {
        assert_eq!(Err("a quote is never closed"), records(b"a,\"b\nc", 3));
        let behind = "a closing quote is followed by something else than the end of a field";
        assert_eq!(Err(behind), records(b"\"a\"b,c\n", 3));
        assert_eq!(Err(behind), records(b"\"a\"\rb,c\n", 3));
        assert_eq!(Err(behind), records(b"\"a\"b", 9));
    }

    proptest! {
        #[test]
        fn what_was_quoted_comes_back(
            rows in proptest::collection::vec(proptest::collection::vec("[a,\"\n\r ]{0,5}", 2..4), 1..6), step in 1usize..40,
        ) {
            let quoted = |value: &String| format!("\"{}\"", value.replace('"', "\"\""));
            let line = |row: &Vec<String>| row.iter().map(quoted).collect::<Vec<_>>().join(",");
            let text = rows.iter().map(line).collect::<Vec<_>>().join("\n");
            let expected: Vec<Vec<_>> = rows.into_iter().map(|row| row.into_iter().map(Some).collect()).collect();
            prop_assert_eq!(Ok(expected), records(text.as_bytes(), step));
        }

        #[test]
        fn nonsense_is_no_panic(text in "[a,\"\n\r]{0,40}", step in 1usize..9) {
            let _ = records(text.as_bytes(), step);
        }
    }
}
