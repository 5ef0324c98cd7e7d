//! Lines of waits, `WAIT #cursor: nam='event' ela= N ...`: with `p1= p2= p3=` and without `tim` in 9i, with named
//! parameters, `obj#` and `tim` from 10g on; and what their parameters say.

use super::call_line::duration;
use super::fields::{Fields, TimeUnit};
use super::record::Wait;

/// From behind the `#`; None where something is missing.
pub(super) fn wait(line: &[u8], unit: TimeUnit) -> Option<Wait<'_>> {
    let mut fields = Fields::new(line);
    let cursor = fields.identifier()?;
    fields.skip(b": nam=").then_some(())?;
    let quote = *fields.rest.first().filter(|byte| matches!(byte, b'\'' | b'"'))?;
    fields.rest = &fields.rest[1..];
    let event = fields.until(quote)?;
    fields.skip(b" ela=").then_some(())?;
    fields.skip(b" ");
    let mut is_questionable = false;
    let elapsed_ns = duration(Some(fields.number()?), unit, &mut is_questionable);
    let rest = fields.rest.trim_ascii_end();
    let wait = Wait { cursor, event, elapsed_ns, parameters: rest, object: None, tim_ns: None, is_questionable };
    match last_pair(rest) {
        Some((parameters, b"tim", tim)) => {
            let tim_ns = Some(unit.tim_ns(tim)?).filter(|tim_ns| *tim_ns > 0);
            Some(match last_pair(parameters) {
                Some((parameters, b"obj#", object)) => Wait { parameters, object: Some(object), tim_ns, ..wait },
                _ => Wait { parameters, tim_ns, ..wait },
            })
        }
        // A line of 10g and later that ends here is cut off.
        Some((_, b"p3", _)) if rest.starts_with(b" p1=") => Some(wait),
        _ => None,
    }
}

/// ` key=number` at the end, and what comes before.
#[inline(always)]
fn last_pair(text: &[u8]) -> Option<(&[u8], &[u8], i64)> {
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let mut equals = (text.len() - digits).checked_sub(1)?;
    if text[equals] == b'-' {
        equals = equals.checked_sub(1)?;
    }
    if text[equals] != b'=' {
        return None;
    }
    let key = text[..equals].iter().rev().take_while(|byte| **byte != b' ').count();
    let begin = equals - key;
    let number = Fields::new(&text[equals + 1..]).number()?;
    Some((text[..begin].trim_ascii_end(), &text[begin..equals], number))
}

/// Of a wait for blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    pub file: i64,
    pub first: i64,
    pub count: i64,
}

/// Which blocks a wait was for, whatever the version calls its parameters: `file#= block#= blocks=`,
/// `file number= first dba= block cnt=`, and p1, p2, p3 of events that read and write blocks.
pub(super) fn blocks(event: &[u8], parameters: &[u8]) -> Option<Blocks> {
    let mut fields = Fields::new(parameters);
    let is_named = fields.skip(b" file#=") || fields.skip(b" file number=");
    (is_named || reads_blocks(event) && fields.skip(b" p1=")).then_some(())?;
    let file = fields.number()?;
    (fields.skip(b" block#=") || fields.skip(b" first dba=") || fields.skip(b" p2=")).then_some(())?;
    let first = fields.number()?;
    let is_request =
        fields.skip(b" blocks=") || fields.skip(b" block cnt=") || (reads_blocks(event) && fields.skip(b" p3="));
    let count = if is_request { fields.number()? } else { 0 };
    Some(Blocks { file, first, count })
}

/// Whose third parameter is a number of blocks.
fn reads_blocks(event: &[u8]) -> bool {
    const EVENTS: [&[u8]; 9] = [
        b"db file sequential read",
        b"db file scattered read",
        b"db file single write",
        b"direct path read",
        b"direct path write",
        b"direct path read temp",
        b"direct path write temp",
        b"direct path read (lob)",
        b"direct path write (lob)",
    ];
    EVENTS.contains(&event)
}

/// The first parameter, which tells what a lock, a latch or a mutex protects: (its name, its value).
pub(super) fn first_parameter(parameters: &[u8]) -> Option<(&[u8], i64)> {
    let mut fields = Fields::new(parameters.strip_prefix(b" ")?);
    let name = fields.until(b'=')?;
    Some((name, fields.number()?))
}
