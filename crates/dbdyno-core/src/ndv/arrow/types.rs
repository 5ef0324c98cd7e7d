//! Arrow's types: what each is called, and how its values become hashes.
//!
//! The names are PostgreSQL's, so that a sketch of a file merges with one of a table where both hash alike; what
//! PostgreSQL does not have is called as DuckDB calls it.

use arrow_array::types::*;
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};

use super::HashRows;
use super::byte_values::{FixedSize, Offsets, Views};
use super::decimals;
use super::dictionary::Dictionary;
use super::instants::{
    Instants, date_bits, date64_bits, day_time_ns, month_day_ns, months_ns, span, time_bits, time_ns, timestamp_bits,
    timestamp_ns,
};
use super::nested::{FixedSizeLists, Lists, Structs};
use super::numbers::{Booleans, Encoded, NoValues, Numbers, double_bits};

/// A hasher, or why there is none.
type Made = Result<Box<dyn HashRows>, String>;

/// The type as a user reads it.
pub(super) fn name(data_type: &DataType) -> String {
    let fixed = match data_type {
        DataType::Null => "null",
        DataType::Boolean => "boolean",
        DataType::Int8 => "tinyint",
        DataType::Int16 => "smallint",
        DataType::Int32 => "integer",
        DataType::Int64 => "bigint",
        DataType::UInt8 => "utinyint",
        DataType::UInt16 => "usmallint",
        DataType::UInt32 => "uinteger",
        DataType::UInt64 => "ubigint",
        DataType::Float16 => "half",
        DataType::Float32 => "real",
        DataType::Float64 => "double precision",
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => "bytea",
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Time32(_) | DataType::Time64(_) => "time without time zone",
        DataType::Timestamp(_, None) => "timestamp without time zone",
        DataType::Timestamp(_, Some(_)) => "timestamp with time zone",
        DataType::Duration(_) | DataType::Interval(_) => "interval",
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => return format!("numeric({precision},{scale})"),
        DataType::Dictionary(_, entries) => return name(entries),
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::FixedSizeList(element, _)
        | DataType::ListView(element)
        | DataType::LargeListView(element) => return format!("{}[]", name(element.data_type())),
        DataType::Struct(fields) => return format!("struct({})", fields_of(fields.iter().map(AsRef::as_ref))),
        DataType::Map(pairs, _) => return format!("map({})", types_of(pairs.data_type())),
        DataType::RunEndEncoded(_, values) => return name(values.data_type()),
        DataType::Union(fields, _) => {
            return format!("union({})", fields_of(fields.iter().map(|(_, field)| field.as_ref())));
        }
    };
    fixed.to_owned()
}

/// Of the key and the value in a map's pairs.
fn types_of(pair: &DataType) -> String {
    match pair {
        DataType::Struct(fields) => fields.iter().map(|field| name(field.data_type())).collect::<Vec<_>>().join(", "),
        other => name(other),
    }
}

fn fields_of<'a>(fields: impl Iterator<Item = &'a Field>) -> String {
    let described = |field: &Field| format!("{} {}", field.name(), name(field.data_type()));
    fields.map(described).collect::<Vec<_>>().join(", ")
}

/// How its values become hashes.
///
/// # Errors
/// Why they cannot.
pub(in super::super) fn hasher(data_type: &DataType, seed: u64) -> Made {
    Ok(match data_type {
        DataType::Null => Box::new(NoValues),
        DataType::Boolean => Box::new(Booleans { seed }),
        DataType::Int8 => Box::new(Numbers::<Int8Type, _>::new(seed, |value| i64::from(value) as u64)),
        DataType::Int16 => Box::new(Numbers::<Int16Type, _>::new(seed, |value| i64::from(value) as u64)),
        DataType::Int32 => Box::new(Numbers::<Int32Type, _>::new(seed, |value| i64::from(value) as u64)),
        DataType::Int64 => Box::new(Numbers::<Int64Type, _>::new(seed, |value| value as u64)),
        DataType::UInt8 => Box::new(Numbers::<UInt8Type, _>::new(seed, u64::from)),
        DataType::UInt16 => Box::new(Numbers::<UInt16Type, _>::new(seed, u64::from)),
        DataType::UInt32 => Box::new(Numbers::<UInt32Type, _>::new(seed, u64::from)),
        DataType::UInt64 => Box::new(Numbers::<UInt64Type, _>::new(seed, |value| value)),
        DataType::Float16 => Box::new(Numbers::<Float16Type, _>::new(seed, |value| double_bits(value.to_f64()))),
        DataType::Float32 => Box::new(Numbers::<Float32Type, _>::new(seed, |value| double_bits(value.into()))),
        DataType::Float64 => Box::new(Numbers::<Float64Type, _>::new(seed, double_bits)),
        DataType::Utf8 => Box::new(Offsets::<Utf8Type>::new(seed)),
        DataType::LargeUtf8 => Box::new(Offsets::<LargeUtf8Type>::new(seed)),
        DataType::Utf8View => Box::new(Views::<StringViewType>::new(seed)),
        DataType::Binary => Box::new(Offsets::<BinaryType>::new(seed)),
        DataType::LargeBinary => Box::new(Offsets::<LargeBinaryType>::new(seed)),
        DataType::BinaryView => Box::new(Views::<BinaryViewType>::new(seed)),
        DataType::FixedSizeBinary(_) => Box::new(FixedSize { seed }),
        DataType::Decimal32(_, scale) => decimal::<Decimal32Type>(seed, *scale, |value| value.unsigned_abs().into()),
        DataType::Decimal64(_, scale) => decimal::<Decimal64Type>(seed, *scale, |value| value.unsigned_abs().into()),
        DataType::Decimal128(_, scale) => decimal::<Decimal128Type>(seed, *scale, i128::unsigned_abs),
        DataType::Decimal256(_, scale) => {
            let scale = *scale;
            Box::new(Encoded::<Decimal256Type, _>::new(seed, move |value, canonical| {
                decimals::write(value.wrapping_abs(), value.is_negative(), scale, canonical);
            }))
        }
        DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(_, _)
        | DataType::Duration(_)
        | DataType::Interval(_) => time_hasher(data_type, seed)?,
        DataType::Dictionary(key, entries) => dictionary(key, hasher(entries, seed)?)?,
        DataType::List(element) => Box::new(Lists::<i32>::new(seed, hasher(element.data_type(), seed)?)),
        DataType::LargeList(element) => Box::new(Lists::<i64>::new(seed, hasher(element.data_type(), seed)?)),
        DataType::FixedSizeList(element, length) => {
            Box::new(FixedSizeLists::new(seed, hasher(element.data_type(), seed)?, *length as usize))
        }
        DataType::Map(entries, _) => Box::new(Lists::of_pairs(seed, hasher(entries.data_type(), seed)?)),
        DataType::Struct(fields) => {
            let fields = fields.iter().map(|field| hasher(field.data_type(), seed)).collect::<Result<Vec<_>, _>>()?;
            Box::new(Structs::new(seed, fields.into_iter()))
        }
        DataType::Union(_, _) => return Err("values of a union are not compared".to_owned()),
        DataType::ListView(_) | DataType::LargeListView(_) | DataType::RunEndEncoded(_, _) => {
            return Err(format!("Arrow's layout {data_type} is not read; cast it to a plain one"));
        }
    })
}

fn decimal<T: DecimalType>(seed: u64, scale: i8, magnitude: fn(T::Native) -> u128) -> Box<dyn HashRows>
where
    T::Native: Default + PartialOrd,
{
    Box::new(Encoded::<T, _>::new(seed, move |value, canonical| {
        decimals::write(magnitude(value), value < T::Native::default(), scale, canonical);
    }))
}

fn time_hasher(data_type: &DataType, seed: u64) -> Made {
    fn wide<T: arrow_array::ArrowPrimitiveType<Native = i64>>(
        seed: u64,
        bits: impl Fn(i64) -> Option<u64> + 'static,
        exactly_ns: impl Fn(i64) -> i128 + 'static,
    ) -> Box<dyn HashRows> {
        Box::new(Instants::<T, _, _>::new(seed, bits, exactly_ns))
    }
    fn spans<T: arrow_array::ArrowPrimitiveType>(
        seed: u64,
        nanoseconds: impl Fn(T::Native) -> i128 + 'static,
    ) -> Box<dyn HashRows> {
        Box::new(Encoded::<T, _>::new(seed, move |value, canonical| span(nanoseconds(value), canonical)))
    }
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    Ok(match data_type {
        DataType::Date32 => Box::new(Numbers::<Date32Type, _>::new(seed, |days| date_bits(days.into()))),
        DataType::Date64 => wide::<Date64Type>(seed, date64_bits, timestamp_ns(Millisecond)),
        DataType::Time32(Second) => {
            Box::new(Numbers::<Time32SecondType, _>::new(seed, |value| (i64::from(value) * 1_000_000) as u64))
        }
        DataType::Time32(Millisecond) => {
            Box::new(Numbers::<Time32MillisecondType, _>::new(seed, |value| (i64::from(value) * 1000) as u64))
        }
        DataType::Time64(Microsecond) => {
            wide::<Time64MicrosecondType>(seed, time_bits(Microsecond), time_ns(Microsecond))
        }
        DataType::Time64(Nanosecond) => wide::<Time64NanosecondType>(seed, time_bits(Nanosecond), time_ns(Nanosecond)),
        DataType::Timestamp(Second, _) => {
            wide::<TimestampSecondType>(seed, timestamp_bits(Second), timestamp_ns(Second))
        }
        DataType::Timestamp(Millisecond, _) => {
            wide::<TimestampMillisecondType>(seed, timestamp_bits(Millisecond), timestamp_ns(Millisecond))
        }
        DataType::Timestamp(Microsecond, _) => {
            wide::<TimestampMicrosecondType>(seed, timestamp_bits(Microsecond), timestamp_ns(Microsecond))
        }
        DataType::Timestamp(Nanosecond, _) => {
            wide::<TimestampNanosecondType>(seed, timestamp_bits(Nanosecond), timestamp_ns(Nanosecond))
        }
        DataType::Duration(Second) => spans::<DurationSecondType>(seed, time_ns(Second)),
        DataType::Duration(Millisecond) => spans::<DurationMillisecondType>(seed, time_ns(Millisecond)),
        DataType::Duration(Microsecond) => spans::<DurationMicrosecondType>(seed, time_ns(Microsecond)),
        DataType::Duration(Nanosecond) => spans::<DurationNanosecondType>(seed, time_ns(Nanosecond)),
        DataType::Interval(IntervalUnit::YearMonth) => spans::<IntervalYearMonthType>(seed, months_ns),
        DataType::Interval(IntervalUnit::DayTime) => spans::<IntervalDayTimeType>(seed, day_time_ns),
        DataType::Interval(IntervalUnit::MonthDayNano) => spans::<IntervalMonthDayNanoType>(seed, month_day_ns),
        other => return Err(format!("{other} is no type of Arrow's")),
    })
}

fn dictionary(key: &DataType, entries: Box<dyn HashRows>) -> Made {
    Ok(match key {
        DataType::Int8 => Box::new(Dictionary::<Int8Type>::new(entries)),
        DataType::Int16 => Box::new(Dictionary::<Int16Type>::new(entries)),
        DataType::Int32 => Box::new(Dictionary::<Int32Type>::new(entries)),
        DataType::Int64 => Box::new(Dictionary::<Int64Type>::new(entries)),
        DataType::UInt8 => Box::new(Dictionary::<UInt8Type>::new(entries)),
        DataType::UInt16 => Box::new(Dictionary::<UInt16Type>::new(entries)),
        DataType::UInt32 => Box::new(Dictionary::<UInt32Type>::new(entries)),
        DataType::UInt64 => Box::new(Dictionary::<UInt64Type>::new(entries)),
        other => return Err(format!("a dictionary with indices of the type {other} is none of Arrow's")),
    })
}
