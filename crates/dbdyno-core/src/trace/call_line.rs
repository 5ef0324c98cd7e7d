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
#[inline(always)]
pub(super) fn call(kind: CallKind, line: &[u8], unit: TimeUnit) -> Option<Call> {
    let mut fields = Fields::new(line);
    let mut call = Call { kind, cursor: fields.identifier()?, ..EMPTY };
    fields.skip(b":").then_some(())?;
    let has_times = usual_order(&mut call, &mut fields, unit).is_some();
    pairs(&mut call, &mut fields, unit, has_times, |_, _| false)?.then_some(call)
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
    let mut call = Call { kind: CallKind::Lob, ..EMPTY };
    let has_tim = pairs(&mut call, &mut fields, unit, false, own)?;
    has_tim.then_some(LobCall { operation, bytes, call })
}

/// From behind the colon of `RPC EXEC:`, which has nothing but c and e.
pub(super) fn rpc(line: &[u8], unit: TimeUnit) -> Option<Call> {
    let mut call = Call { kind: CallKind::Rpc, ..EMPTY };
    pairs(&mut call, &mut Fields::new(line), unit, false, |_, _| false).map(|_| call)
}

/// What all versions have in this order. Where one has not, nothing is taken, and the pairs are read one by one; this
/// way takes half the time.
#[inline(always)]
fn usual_order(call: &mut Call, fields: &mut Fields<'_>, unit: TimeUnit) -> Option<()> {
    let mut ahead = *fields;
    let mut next = |key: &[u8]| if ahead.skip(key) { ahead.number() } else { None };
    let (cpu, elapsed) = (next(b"c=")?, next(b",e=")?);
    let reads = [next(b",p=")?, next(b",cr=")?, next(b",cu=")?];
    let (misses, rows) = (next(b",mis=")?, next(b",r=")?);
    let depth = usize::try_from(next(b",dep=")?).ok().filter(|depth| *depth <= DEPTH_MAX)?;
    next(b",og=")?;
    ahead.skip(b",").then_some(())?;
    call.cpu_ns = duration(Some(cpu), unit, &mut call.is_questionable);
    call.elapsed_ns = duration(Some(elapsed), unit, &mut call.is_questionable);
    [call.physical_reads, call.consistent_reads, call.current_reads] = reads;
    (call.misses, call.rows, call.depth) = (misses, rows, depth);
    *fields = ahead;
    Some(())
}

/// All `key=number`, and whether `tim` is among them; `own` takes what only one kind has.
#[inline(always)]
fn pairs<'a>(
    call: &mut Call,
    fields: &mut Fields<'a>,
    unit: TimeUnit,
    has_times: bool,
    mut own: impl FnMut(&[u8], &mut Fields<'a>) -> bool,
) -> Option<bool> {
    let (mut has_cpu, mut has_elapsed, mut has_tim) = (has_times, has_times, false);
    loop {
        let key = fields.until(b'=')?;
        match key {
            b"tim" => {
                has_tim = true;
                call.tim_ns = Some(unit.tim_ns(fields.number()?)?).filter(|tim_ns| *tim_ns > 0);
            }
            b"plh" => call.plan_hash = fields.identifier()?,
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
    is_whole.then_some(has_tim)
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
