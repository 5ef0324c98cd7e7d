//! The words and signs of an expression.

use super::error::ScriptError;
use super::source::{Source, is_variable_name, name_end, skip_space, starts_name};
use super::value::parse_double;

/// One of them. Signs and keywords are in their plain form: `!=` arrives as `<>`, `Case` as `case`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Sign(&'static str),
    Keyword(&'static str),
    Integer(i64),
    /// 9223372036854775808, an integer only behind a minus sign.
    MinimumMagnitude,
    Double(f64),
    Variable(&'a str),
    Name(&'a str),
    End,
}

/// Two-character signs first: the longest match wins.
const SIGNS: [&str; 21] =
    ["<>", "!=", "<=", ">=", "<<", ">>", "+", "-", "*", "/", "%", "=", "<", ">", "|", "&", "#", "~", "(", ")", ","];
const KEYWORDS: [&str; 14] =
    ["and", "or", "not", "is", "isnull", "notnull", "case", "when", "then", "else", "end", "null", "true", "false"];

/// Reads tokens up to the end of a meta-command's line.
pub(super) struct Tokens<'a> {
    source: &'a Source<'a>,
    offset: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(source: &'a Source<'a>, offset: usize) -> Self {
        Self { source, offset }
    }

    /// The offset behind the last token.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// The next token and where it starts. At the end of the line it stays there.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, usize), ScriptError> {
        let text = self.source.text;
        let start = skip_space(text, self.offset);
        self.offset = start;
        let (token, end) = match text.as_bytes().get(start).copied() {
            None | Some(b'\n') => (Token::End, start),
            Some(b':') => self.variable(start)?,
            Some(byte) if starts_name(byte) => word(text, start),
            Some(byte) if byte.is_ascii_digit() || is_fraction(text, start) => self.number(start)?,
            Some(_) => self.sign(start)?,
        };
        self.offset = end;
        Ok((token, start))
    }

    fn variable(&self, start: usize) -> Result<(Token<'a>, usize), ScriptError> {
        let end = name_end(self.source.text, start + 1);
        let name = &self.source.text[start + 1..end];
        if is_variable_name(name) {
            Ok((Token::Variable(name), end))
        } else if name.is_empty() {
            Err(self.source.error(start, "a variable's name must follow ':'"))
        } else {
            Err(self.source.error(start, format!("invalid variable name {name:?}: it must not begin with a digit")))
        }
    }

    fn number(&self, start: usize) -> Result<(Token<'a>, usize), ScriptError> {
        let text = self.source.text;
        let integer_end = digits_end(text, start);
        let end = number_end(text, start);
        let digits = &text[start..end];
        let overflow = |kind| self.source.error(start, format!("{kind} constant overflow: {digits}"));
        let token = if end > integer_end {
            Token::Double(parse_double(digits).ok_or_else(|| overflow("double"))?)
        } else if digits == "9223372036854775808" {
            Token::MinimumMagnitude
        } else {
            Token::Integer(digits.parse().map_err(|_| overflow("bigint"))?)
        };
        Ok((token, end))
    }

    fn sign(&self, start: usize) -> Result<(Token<'a>, usize), ScriptError> {
        let rest = &self.source.text[start..];
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            let plain = if *sign == "!=" { "<>" } else { sign };
            return Ok((Token::Sign(plain), start + sign.len()));
        }
        let seen = rest.chars().next().unwrap_or_default();
        Err(self.source.error(start, format!("unexpected character {seen:?}")))
    }
}

fn word(text: &str, start: usize) -> (Token<'_>, usize) {
    let end = name_end(text, start);
    let word = &text[start..end];
    let keyword = KEYWORDS.iter().find(|keyword| keyword.eq_ignore_ascii_case(word));
    (keyword.map_or(Token::Name(word), |keyword| Token::Keyword(keyword)), end)
}

fn digits_end(text: &str, start: usize) -> usize {
    start + text.as_bytes()[start..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Whether a number without an integer part starts here: `.5`.
fn is_fraction(text: &str, start: usize) -> bool {
    let rest = &text.as_bytes()[start..];
    rest[0] == b'.' && rest.get(1).is_some_and(u8::is_ascii_digit)
}

/// Digits, a point with or without digits behind it, and an exponent if it is a whole one.
fn number_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut end = digits_end(text, start);
    if bytes.get(end) == Some(&b'.') {
        end = digits_end(text, end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent_end = digits_end(text, (end + 1 + signed).min(text.len()));
        if exponent_end > end + 1 + signed {
            end = exponent_end;
        }
    }
    end
}
