//! The identity of a statement: its text, and its structure, which is the text without literals, comments, letter
//! case and runs of spaces.

use md5::{Digest, Md5};
use twox_hash::XxHash3_64;

/// The hash of a text as it stands.
pub(super) fn text_hash(text: &[u8]) -> u64 {
    XxHash3_64::oneshot(text)
}

/// The hash of its structure; `room` is used again from call to call.
pub(super) fn structure_hash(text: &[u8], room: &mut Vec<u8>) -> u64 {
    room.clear();
    structure(text, room);
    XxHash3_64::oneshot(room)
}

/// The SQL_ID that the server gives a text since 10g: the last 64 bits of the MD5 of the text and a zero byte, in base
/// 32 without the letters e, i, l, o. Traces of 11.1 and later say both; it is held against them.
pub(super) fn sql_id(text: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdfghjkmnpqrstuvwxyz";
    let digest = Md5::new().chain_update(text).chain_update([0]).finalize();
    let word = |at: usize| u64::from(u32::from_le_bytes([digest[at], digest[at + 1], digest[at + 2], digest[at + 3]]));
    let number = word(8) << 32 | word(12);
    (0..13).rev().map(|place| char::from(LETTERS[(number >> (5 * place) & 31) as usize])).collect()
}

/// Letters in upper case, one space for any run of them, `?` for each literal; comments are left out, hints are not.
fn structure(text: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        at += match rest[0] {
            b'\'' => literal(rest, 0, out),
            b'n' | b'N' | b'q' | b'Q' if begins_word(out) && quoted_prefix(rest) > 0 => {
                literal(rest, quoted_prefix(rest), out)
            }
            b'"' => copied(rest, 1 + length_to(&rest[1..], b"\""), out),
            b'-' if rest.starts_with(b"--") => length_to(rest, b"\n"),
            b'/' if rest.starts_with(b"/*+") => upper(rest, length_to(rest, b"*/"), out),
            b'/' if rest.starts_with(b"/*") => 2 + length_to(&rest[2..], b"*/"),
            byte if byte.is_ascii_whitespace() => space(out),
            byte if byte.is_ascii_digit() && begins_word(out) => number(rest, out),
            _ => upper(rest, 1, out),
        };
    }
    out.truncate(out.trim_ascii_end().len());
}

/// `n'..'`, `q'[..]'`, `nq'[..]'`: how many letters come before the quote; 0 for none of these.
fn quoted_prefix(rest: &[u8]) -> usize {
    let letters = rest.iter().take(2).take_while(|byte| matches!(byte, b'n' | b'N' | b'q' | b'Q')).count();
    if rest.get(letters) == Some(&b'\'') { letters } else { 0 }
}

fn literal(rest: &[u8], prefix: usize, out: &mut Vec<u8>) -> usize {
    out.push(b'?');
    let text = &rest[prefix + 1..];
    let has_delimiter = rest[..prefix].iter().any(|byte| byte.eq_ignore_ascii_case(&b'q'));
    let length = match text.first() {
        Some(open) if has_delimiter => {
            let close = match open {
                b'[' => b']',
                b'(' => b')',
                b'{' => b'}',
                b'<' => b'>',
                other => *other,
            };
            length_to(text, &[close, b'\''])
        }
        _ => plain_literal(text),
    };
    prefix + 1 + length
}

/// To the quote that is not doubled, and behind it.
fn plain_literal(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'\'', &text[at..]) {
        at += quote + 1;
        if text.get(at) != Some(&b'\'') {
            return at;
        }
        at += 1;
    }
    text.len()
}

/// Behind the first of these; all where there is none.
fn length_to(text: &[u8], end: &[u8]) -> usize {
    memchr::memmem::find(text, end).map_or(text.len(), |at| at + end.len())
}

fn copied(rest: &[u8], length: usize, out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&rest[..length]);
    length
}

fn upper(rest: &[u8], length: usize, out: &mut Vec<u8>) -> usize {
    out.extend(rest[..length].iter().map(u8::to_ascii_uppercase));
    length
}

fn space(out: &mut Vec<u8>) -> usize {
    if !out.is_empty() && !out.ends_with(b" ") {
        out.push(b' ');
    }
    1
}

/// Not `T1`, not `:1`, not `COL#2`.
fn begins_word(out: &[u8]) -> bool {
    out.last()
        .is_none_or(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | b':' | b'?' | 0x80..)))
}

/// `1`, `1.5`, `1e-3`, `2d`.
fn number(rest: &[u8], out: &mut Vec<u8>) -> usize {
    out.push(b'?');
    let is_exponent = |at: usize| at > 0 && matches!(rest[at - 1], b'e' | b'E') && matches!(rest[at], b'+' | b'-');
    (0..rest.len())
        .find(|at| !(rest[*at].is_ascii_alphanumeric() || rest[*at] == b'.' || is_exponent(*at)))
        .unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut out = Vec::new();
        structure(text.as_bytes(), &mut out);
        String::from_utf8(out).expect("of text")
    }

    #[test]
    fn literals_are_no_part_of_the_structure() {
        let cases = [
            ("select * from t where a = 1", "SELECT * FROM T WHERE A = ?"),
            ("SELECT  *\nfrom T where a=1.5e-3 ", "SELECT * FROM T WHERE A=?"),
            ("select 'it''s', n'x', q'[a'b]', N'' from t1", "SELECT ?, ?, ?, ? FROM T1"),
            ("select :1, col#2, x$3, \"Mixed 1\" from t", "SELECT :1, COL#2, X$3, \"Mixed 1\" FROM T"),
            ("select /* 17 */ 1 -- x\n from t", "SELECT ? FROM T"),
            ("select /*+ index(t 1) */ 1 from t", "SELECT /*+ INDEX(T 1) */ ? FROM T"),
            ("select 'open", "SELECT ?"),
            ("/*", ""),
            ("", ""),
        ];
        for (text, structure) in cases {
            assert_eq!(structure, shown(text), "{text}");
        }
    }

    #[test]
    fn the_id_is_that_of_the_server() {
        assert_eq!("7h35uxf5uhmm1", sql_id(b"select sysdate from dual"));
        assert_eq!("8ggw94h7mvxd7", sql_id(b"COMMIT"));
        assert_eq!("06nvwn223659v", sql_id(b"alter session set events '10046 trace name context off'"));
    }
}
