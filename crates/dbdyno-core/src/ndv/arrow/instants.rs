//! Points and spans of time of any unit, as PostgreSQL has them: microseconds, and days, from 2000 on.

use std::marker::PhantomData;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_buffer::{IntervalDayTime, IntervalMonthDayNano, NullBuffer};
use arrow_schema::TimeUnit;

use super::HashRows;
use super::numbers::BLOCK;
use crate::sketch::hash;

const NS_PER_US: i128 = 1000;
const MS_PER_DAY: i64 = 86_400_000;
const DAYS_PER_MONTH: i128 = 30;
const NS_PER_DAY: i128 = MS_PER_DAY as i128 * 1_000_000;
/// From 1970, where Arrow begins to count, to 2000.
const EPOCH_DAYS: i64 = 10_957;
const EPOCH_NS: i128 = EPOCH_DAYS as i128 * NS_PER_DAY;

/// Values that are 64 bits of a canonical unit, with few exceptions or none.
pub(super) struct Instants<T, B, N> {
    seed: u64,
    bits: B,
    exactly_ns: N,
    native: PhantomData<T>,
}

impl<T, B, N> Instants<T, B, N>
where
    T: ArrowPrimitiveType,
    B: Fn(T::Native) -> Option<u64>,
    N: Fn(T::Native) -> i128,
{
    /// By their bits; where there are none, by their nanoseconds.
    pub(super) fn new(seed: u64, bits: B, exactly_ns: N) -> Self {
        Self { seed, bits, exactly_ns, native: PhantomData }
    }
}

impl<T, B, N> HashRows for Instants<T, B, N>
where
    T: ArrowPrimitiveType,
    B: Fn(T::Native) -> Option<u64>,
    N: Fn(T::Native) -> i128,
{
    fn hash(&mut self, array: &dyn Array, _nulls: Option<&NullBuffer>, hashes: &mut [u64]) {
        let mut bits = [0; BLOCK];
        for (values, hashes) in array.as_primitive::<T>().values().chunks(BLOCK).zip(hashes.chunks_mut(BLOCK)) {
            let bits = &mut bits[..values.len()];
            let mut exceptions = false;
            for (bits, value) in bits.iter_mut().zip(values) {
                let found = (self.bits)(*value);
                exceptions |= found.is_none();
                *bits = found.unwrap_or_default();
            }
            hash::fixed64(self.seed, bits, hashes);
            if exceptions {
                for (hash, value) in hashes.iter_mut().zip(values).filter(|(_, value)| (self.bits)(**value).is_none()) {
                    *hash = hash::bytes(self.seed, &nanoseconds((self.exactly_ns)(*value)));
                }
            }
        }
    }
}

/// Of no length that microseconds have, so that they never meet.
fn nanoseconds(span_ns: i128) -> [u8; 17] {
    let mut bytes = [0; 17];
    bytes[1..].copy_from_slice(&span_ns.to_be_bytes());
    bytes
}

/// Microseconds from 2000 on; None where they are not whole, or do not fit.
pub(super) fn timestamp_bits(unit: TimeUnit) -> impl Fn(i64) -> Option<u64> {
    const EPOCH_US: i64 = EPOCH_DAYS * MS_PER_DAY * 1000;
    let microseconds = microseconds(unit);
    move |value| microseconds(value).map(|from_1970_us| from_1970_us.wrapping_sub(EPOCH_US) as u64)
}

pub(super) fn timestamp_ns(unit: TimeUnit) -> impl Fn(i64) -> i128 {
    move |value| i128::from(value) * ns_per(unit) - EPOCH_NS
}

/// Microseconds since midnight.
pub(super) fn time_bits(unit: TimeUnit) -> impl Fn(i64) -> Option<u64> {
    let microseconds = microseconds(unit);
    move |value| microseconds(value).map(|since_midnight_us| since_midnight_us as u64)
}

pub(super) fn time_ns(unit: TimeUnit) -> impl Fn(i64) -> i128 {
    move |value| i128::from(value) * ns_per(unit)
}

/// Days from 2000 on.
pub(super) fn date_bits(days: i64) -> u64 {
    (days - EPOCH_DAYS) as u64
}

/// The same of a date in milliseconds; None where it is within a day, which no date should be.
pub(super) fn date64_bits(date_ms: i64) -> Option<u64> {
    (date_ms % MS_PER_DAY == 0).then_some(date_bits(date_ms / MS_PER_DAY))
}

fn microseconds(unit: TimeUnit) -> impl Fn(i64) -> Option<i64> {
    let (factor, divisor) = match unit {
        TimeUnit::Second => (1_000_000, 1),
        TimeUnit::Millisecond => (1000, 1),
        TimeUnit::Microsecond => (1, 1),
        TimeUnit::Nanosecond => (1, 1000),
    };
    move |value| match divisor {
        1 => value.checked_mul(factor),
        _ => (value % 1000 == 0).then_some(value / 1000),
    }
}

fn ns_per(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1000,
        TimeUnit::Nanosecond => 1,
    }
}

/// Writes a span as PostgreSQL compares them: 128 bits of microseconds.
pub(super) fn span(span_ns: i128, canonical: &mut Vec<u8>) {
    match span_ns % NS_PER_US {
        0 => canonical.extend_from_slice(&(span_ns / NS_PER_US).to_be_bytes()),
        _ => canonical.extend_from_slice(&nanoseconds(span_ns)),
    }
}

pub(super) fn months_ns(months: i32) -> i128 {
    i128::from(months) * DAYS_PER_MONTH * NS_PER_DAY
}

pub(super) fn day_time_ns(value: IntervalDayTime) -> i128 {
    i128::from(value.days) * NS_PER_DAY + i128::from(value.milliseconds) * 1_000_000
}

pub(super) fn month_day_ns(value: IntervalMonthDayNano) -> i128 {
    months_ns(value.months) + i128::from(value.days) * NS_PER_DAY + i128::from(value.nanoseconds)
}
