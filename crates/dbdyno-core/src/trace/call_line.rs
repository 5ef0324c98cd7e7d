//! Lines of database calls: `KIND #cursor:c=..,e=..,...,tim=..`, of every version.

use super::fields::{Fields, TimeUnit};
use super::record::{Call, CallKind, LobCall};

/// Deeper than the server lets recursion go (50).
pub(super) const DEPTH_MAX: usize = 63;

const EMPTY: Call = Call {
    kind: CallKind::Parse,
    cursor: 0,
    cpu_ns: 0,
    elapsed_ns: 0,
    physical_reads: 0,
    consistent_reads: 0,
    current_reads: 0,
    misses: 0,
    rows: 0,
    depth: 0,
    plan_hash: 0,
    tim_ns: None,
    is_questionable: false,
};

/// From behind the `#`. A line that does not reach its end, `tim`, is None: its numbers may be cut off, too.
pub(super) fn call(kind: CallKind, line: &[u8], unit: TimeUnit) -> Option<Call> {
    let mut fields = Fields::new(line);
    let cursor = fields.identifier()?;
    fields.skip(b":").then_some(())?;
    let (call, has_tim) = pairs(Call { kind, cursor, ..EMPTY }, &mut fields, unit, |_, _| false)?;
    has_tim.then_some(call)
}

/// From behind the colon of `LOBREAD:` and its like, which have no cursor and no depth.
pub(super) fn lob<'a>(operation: &'a [u8], line: &'a [u8], unit: TimeUnit) -> Option<LobCall<'a>> {
    let mut fields = Fields::new(line.trim_ascii_start());
    let mut bytes = 0;
    let own = |key: &[u8], fields: &mut Fields<'a>| match key {
        b"bytes" => fields.number().map(|number| bytes = number).is_some(),
        b"type" => {
            let end = fields.rest.iter().position(|byte| *byte == b',').unwrap_or(fields.rest.len());
            fields.rest = &fields.rest[end..];
            true
        }
        _ => false,
    };
    let (call, has_tim) = pairs(Call { kind: CallKind::Lob, ..EMPTY }, &mut fields, unit, own)?;
    has_tim.then_some(LobCall { operation, bytes, call })
}

/// From behind the colon of `RPC EXEC:`, which has nothing but c and e.
pub(super) fn rpc(line: &[u8], unit: TimeUnit) -> Option<Call> {
    pairs(Call { kind: CallKind::Rpc, ..EMPTY }, &mut Fields::new(line), unit, |_, _| false).map(|(call, _)| call)
}

/// All `key=number`, and whether `tim` is among them; `own` takes what only one kind has.
#[inline(always)]
fn pairs<'a>(
    mut call: Call,
    fields: &mut Fields<'a>,
    unit: TimeUnit,
    mut own: impl FnMut(&[u8], &mut Fields<'a>) -> bool,
) -> Option<(Call, bool)> {
    let (mut has_cpu, mut has_elapsed, mut has_tim) = (false, false, false);
    loop {
        let key = fields.until(b'=')?;
        match key {
            b"c" => {
                has_cpu = true;
                call.cpu_ns = duration(fields.number(), unit, &mut call.is_questionable);
            }
            b"e" => {
                has_elapsed = true;
                call.elapsed_ns = duration(fields.number(), unit, &mut call.is_questionable);
            }
            b"p" => call.physical_reads = fields.number()?,
            b"cr" => call.consistent_reads = fields.number()?,
            b"cu" => call.current_reads = fields.number()?,
            b"mis" => call.misses = fields.number()?,
            b"r" => call.rows = fields.number()?,
            b"dep" => call.depth = usize::try_from(fields.number()?).ok().filter(|depth| *depth <= DEPTH_MAX)?,
            b"plh" => call.plan_hash = fields.identifier()?,
            b"tim" => {
                has_tim = true;
                call.tim_ns = Some(unit.tim_ns(fields.number()?)?).filter(|tim_ns| *tim_ns > 0);
            }
            key if own(key, fields) => {}
            // `og`, `type`, and what a later version may add.
            _ => {
                fields.number()?;
            }
        }
        if !fields.skip(b",") {
            break;
        }
    }
    let is_whole = fields.rest.trim_ascii().is_empty() && has_cpu && has_elapsed;
    is_whole.then_some((call, has_tim))
}

/// What cannot be is nothing, and said to be questionable.
#[inline(always)]
pub(super) fn duration(value: Option<i64>, unit: TimeUnit, is_questionable: &mut bool) -> i64 {
    let duration_ns = value.and_then(|value| unit.duration_ns(value)).unwrap_or_else(|| {
        *is_questionable = true;
        0
    });
    *is_questionable |= duration_ns < 0;
    duration_ns
}
