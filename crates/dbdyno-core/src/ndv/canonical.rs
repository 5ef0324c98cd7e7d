//! Values as the server sends them, brought to a form in which what is equal to PostgreSQL is equal bit by bit.
//!
//! | decoder  | types                                        | what is hashed |
//! |---|---|---|
//! | integer  | int2, int4, int8, bool, date, time, timestamp, money, ... | the value, sign-extended to 64 bits |
//! | unsigned | oid and its like, xid, xid8, pg_lsn          | the value, zero-extended |
//! | float    | float4, float8                               | a double; one zero, one NaN |
//! | numeric  | numeric                                      | weight, sign and digits to the base 10,000, without outer zeros |
//! | interval | interval                                     | microseconds, a month of 30 days, a day of 24 hours |
//! | bpchar   | character(n)                                 | the text without the blanks at its end |
//! | jsonb    | jsonb                                        | its text, numbers without the zeros at their end |
//! | bytes    | whatever is equal only where its bytes are   | the bytes |
//! | hashed   | whatever else the server has a hash of       | nothing: the server's hash comes in its place |
//!
//! The server has a hash of jsonb, too, but not one to count by: 1, [1] and [[[1]]] have the same.
//!
//! `python/dbdyno/ndv/decoders.py` says which type goes by which decoder; a test holds each of them against
//! COUNT(DISTINCT).

use serde::Deserialize;

use crate::sketch::hash;

/// How a column's values become hashes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Decoder {
    /// Two's complement of 1, 2, 4 or 8 bytes.
    Integer,
    /// Without a sign, of 4 or 8 bytes.
    Unsigned,
    /// IEEE 754 of 4 or 8 bytes.
    Float,
    /// Of any size, with a display scale that does not count.
    Numeric,
    /// Months, days and microseconds.
    Interval,
    /// Blank-padded.
    Bpchar,
    /// JSON's text, as the server writes it: keys in order, each once.
    Jsonb,
    /// As they are.
    Bytes,
    /// 64 bits in their place, hashed by the server.
    Hashed,
}

impl Decoder {
    /// Whether `bits` gives 64 bits that are the value, to be hashed by blocks, and not a hash.
    pub(super) fn gives_values(self) -> bool {
        matches!(self, Self::Integer | Self::Unsigned | Self::Float)
    }

    /// Whether programs that read sketches for others take such a value as its 64 bits, or as the bytes that came.
    pub(super) fn gives_known_bytes(self) -> bool {
        matches!(self, Self::Integer | Self::Float | Self::Bytes)
    }

    /// The value's 64 bits, or their hash. None where no value of such a type has this form.
    #[inline(always)]
    pub(super) fn bits(self, value: &[u8], seed: u64, scratch: &mut Vec<u8>) -> Option<u64> {
        match self {
            Self::Integer => integer(value),
            Self::Unsigned => unsigned(value),
            Self::Float => float(value),
            Self::Numeric => numeric(value, scratch).map(|()| hash::bytes(seed, scratch)),
            Self::Interval => interval(value).map(|span_us| hash::bytes(seed, &span_us.to_be_bytes())),
            Self::Bpchar => Some(hash::bytes(seed, without_blanks(value))),
            Self::Jsonb => jsonb(value, scratch).map(|text| hash::bytes(seed, text)),
            Self::Bytes => Some(hash::bytes(seed, value)),
            // Its lower half is the better mixed one (docs/sketch-file.md).
            Self::Hashed => value.try_into().ok().map(|hash| u64::from_be_bytes(hash).rotate_left(32)),
        }
    }
}

#[inline]
fn integer(value: &[u8]) -> Option<u64> {
    let value = match *value {
        [a, b, c, d] => i64::from(i32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => i64::from_be_bytes([a, b, c, d, e, f, g, h]),
        [a, b] => i64::from(i16::from_be_bytes([a, b])),
        [a] => i64::from(a as i8),
        _ => return None,
    };
    Some(value as u64)
}

#[inline]
fn unsigned(value: &[u8]) -> Option<u64> {
    match *value {
        [a, b, c, d] => Some(u64::from(u32::from_be_bytes([a, b, c, d]))),
        [a, b, c, d, e, f, g, h] => Some(u64::from_be_bytes([a, b, c, d, e, f, g, h])),
        _ => None,
    }
}

#[inline]
fn float(value: &[u8]) -> Option<u64> {
    let value = match *value {
        [a, b, c, d] => f64::from(f32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => f64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => return None,
    };
    // To PostgreSQL every NaN is equal to every other. -0 + 0 is 0.
    Some(if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() })
}

/// Writes weight, sign and digits to `canonical`, all big-endian 16 bits; of NaN and the infinities the sign says all.
///
/// The digits are to the base 10,000, and the weight is that of the first of them: 1.5 is (0, +, [1, 5000]).
fn numeric(value: &[u8], canonical: &mut Vec<u8>) -> Option<()> {
    const HEADER_BYTES: usize = 8;
    const NEGATIVE: u16 = 0x4000;
    let (header, digits) = value.split_first_chunk::<HEADER_BYTES>()?;
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let (count, weight, sign) = (usize::from(word(0)), word(2) as i16, word(4));
    if digits.len() != 2 * count {
        return None;
    }
    canonical.clear();
    if sign != 0 && sign != NEGATIVE {
        canonical.extend_from_slice(&sign.to_be_bytes());
        return Some(());
    }
    let is_digit = |digit: &[u8]| digit != [0, 0];
    let first = digits.chunks_exact(2).position(is_digit).unwrap_or(count);
    let end = digits.chunks_exact(2).rposition(is_digit).map_or(first, |last| last + 1);
    let (weight, sign) = if first == end { (0, 0) } else { (i32::from(weight) - first as i32, sign) };
    canonical.extend_from_slice(&(weight as i16).to_be_bytes());
    canonical.extend_from_slice(&sign.to_be_bytes());
    canonical.extend_from_slice(&digits[2 * first..2 * end]);
    Some(())
}

/// As PostgreSQL compares them. The infinities (17 and later) are the outermost values of all three parts, which no
/// other interval reaches.
fn interval(value: &[u8]) -> Option<i128> {
    const DAYS_PER_MONTH: i128 = 30;
    const MICROSECONDS_PER_DAY: i128 = 86_400_000_000;
    let (time, rest) = value.split_first_chunk()?;
    let (days, months) = rest.split_first_chunk()?;
    let months = i32::from_be_bytes(months.try_into().ok()?);
    let days = i128::from(i32::from_be_bytes(*days)) + i128::from(months) * DAYS_PER_MONTH;
    Some(i128::from(i64::from_be_bytes(*time)) + days * MICROSECONDS_PER_DAY)
}

fn without_blanks(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    &text[..end]
}

/// The text behind the version, with 1.50 and 1.0 as 1.5 and 1. PostgreSQL writes numbers without an exponent.
fn jsonb<'a>(value: &'a [u8], scratch: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    const VERSION: u8 = 1;
    let (&VERSION, text) = value.split_first()? else { return None };
    if !text.contains(&b'.') {
        return Some(text);
    }
    scratch.clear();
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'.')) {
        let length = if rest[at] == b'"' { string_bytes(&rest[at..]) } else { fraction_bytes(&rest[at..]) };
        let (before, from) = rest.split_at(at);
        let (piece, behind) = from.split_at(length);
        scratch.extend_from_slice(before);
        scratch.extend_from_slice(if piece[0] == b'"' { piece } else { without_zeros(piece) });
        rest = behind;
    }
    scratch.extend_from_slice(rest);
    Some(scratch)
}

/// A JSON string at the beginning of a text, with both quotes.
fn string_bytes(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = text.iter().skip(1).position(|byte| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// A decimal point at the beginning of a text, with the digits behind it.
fn fraction_bytes(text: &[u8]) -> usize {
    text.iter().skip(1).position(|byte| !byte.is_ascii_digit()).map_or(text.len(), |digits| digits + 1)
}

fn without_zeros(fraction: &[u8]) -> &[u8] {
    let end = fraction.iter().rposition(|byte| !matches!(byte, b'0' | b'.')).map_or(0, |last| last + 1);
    &fraction[..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bits(decoder: Decoder, value: &[u8]) -> Option<u64> {
        decoder.bits(value, 3, &mut b"what was there before".to_vec())
    }

    /// `weight`, `sign`, display scale and digits as numeric_send writes them.
    fn sent(weight: i16, sign: u16, scale: u16, digits: &[u16]) -> Vec<u8> {
        let words = [digits.len() as u16, weight as u16, sign, scale];
        words.iter().chain(digits).flat_map(|word| word.to_be_bytes()).collect()
    }

    /// `months`, `days` and `microseconds` as interval_send writes them.
    fn span(months: i32, days: i32, microseconds: i64) -> Vec<u8> {
        [microseconds.to_be_bytes().as_slice(), &days.to_be_bytes(), &months.to_be_bytes()].concat()
    }

    proptest! {
        #[test]
        fn integers_are_the_same_in_any_width(value: i8) {
            let widths: [Vec<u8>; 4] = [
                value.to_be_bytes().to_vec(),
                i16::from(value).to_be_bytes().to_vec(),
                i32::from(value).to_be_bytes().to_vec(),
                i64::from(value).to_be_bytes().to_vec(),
            ];
            for width in widths {
                prop_assert_eq!(Some(i64::from(value) as u64), bits(Decoder::Integer, &width));
            }
        }

        #[test]
        fn floats_are_equal_where_doubles_are(first: f32, second: f64) {
            let (wide, narrow) = (f64::from(first).to_be_bytes(), first.to_be_bytes());
            prop_assert_eq!(bits(Decoder::Float, &wide), bits(Decoder::Float, &narrow));
            let equal = f64::from(first) == second || (first.is_nan() && second.is_nan());
            prop_assert_eq!(equal, bits(Decoder::Float, &narrow) == bits(Decoder::Float, &second.to_be_bytes()));
        }

        #[test]
        fn outer_zeros_of_a_numeric_do_not_count(
            weight in -1000i16..1000, digits in proptest::collection::vec(0u16..10_000, 0..6),
            scale in 0u16..20, before in 0u16..4, behind in 0usize..4,
        ) {
            let padded = [vec![0; usize::from(before)], digits.clone(), vec![0; behind]].concat();
            let padded = sent(weight + before as i16, 0, scale, &padded);
            prop_assert_eq!(bits(Decoder::Numeric, &sent(weight, 0, 0, &digits)), bits(Decoder::Numeric, &padded));
        }

        #[test]
        fn intervals_are_equal_where_their_microseconds_are(months: i32, days: i32, microseconds: i64, moved in -99i32..99) {
            let same = span(months.saturating_sub(moved), days.saturating_add(30 * moved), microseconds);
            let days_left = i64::from(days.saturating_add(30 * moved)) - i64::from(days);
            let months_left = i64::from(months) - i64::from(months.saturating_sub(moved));
            let equal = days_left == 30 * months_left;
            let original = bits(Decoder::Interval, &span(months, days, microseconds));
            prop_assert_eq!(equal, original == bits(Decoder::Interval, &same));
        }
    }

    #[test]
    fn an_oid_beyond_the_half_of_them_is_no_negative_number() {
        assert_eq!(Some(4_000_000_000), bits(Decoder::Unsigned, &4_000_000_000_u32.to_be_bytes()));
        assert_eq!(Some(u64::MAX), bits(Decoder::Unsigned, &u64::MAX.to_be_bytes()));
    }

    #[test]
    fn there_is_one_zero_and_one_nan() {
        assert_eq!(Some(0), bits(Decoder::Float, &(-0.0_f64).to_be_bytes()));
        assert_eq!(Some(0), bits(Decoder::Float, &(-0.0_f32).to_be_bytes()));
        let quiet = bits(Decoder::Float, &f64::NAN.to_be_bytes());
        for other in [f64::from_bits(0x7FF0_0000_0000_0001), f64::from_bits(0xFFF8_0000_0000_0000)] {
            assert_eq!(quiet, bits(Decoder::Float, &other.to_be_bytes()));
        }
        assert_eq!(quiet, bits(Decoder::Float, &f32::NAN.to_be_bytes()));
    }

    #[test]
    fn numerics_differ_where_their_values_do() {
        let values = [
            sent(0, 0, 1, &[1]),
            sent(0, 0x4000, 1, &[1]),
            sent(1, 0, 0, &[1]),
            sent(0, 0, 4, &[1, 5000]),
            sent(-1, 0, 4, &[1]),
            sent(0, 0, 0, &[]),
            sent(0, 0xC000, 0, &[]),
            sent(0, 0xD000, 0, &[]),
            sent(0, 0xF000, 0, &[]),
        ];
        let hashes: Vec<_> = values.iter().map(|value| bits(Decoder::Numeric, value).expect("a numeric")).collect();
        for (index, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..index].contains(hash), "{index}");
        }
        assert_eq!(bits(Decoder::Numeric, &values[0]), bits(Decoder::Numeric, &sent(0, 0, 2, &[1])), "1.0 and 1.00");
        assert_eq!(bits(Decoder::Numeric, &values[5]), bits(Decoder::Numeric, &sent(3, 0x4000, 2, &[0, 0])), "0");
    }

    #[test]
    fn a_day_has_24_hours_and_a_month_30_days() {
        let day = bits(Decoder::Interval, &span(0, 1, 0));
        assert_eq!(day, bits(Decoder::Interval, &span(0, 0, 86_400_000_000)));
        assert_eq!(day, bits(Decoder::Interval, &span(1, -29, 0)));
        assert_ne!(day, bits(Decoder::Interval, &span(0, 1, 1)));
        let infinite = [span(i32::MAX, i32::MAX, i64::MAX), span(i32::MIN, i32::MIN, i64::MIN)];
        assert_ne!(bits(Decoder::Interval, &infinite[0]), bits(Decoder::Interval, &infinite[1]));
    }

    #[test]
    fn blanks_at_the_end_count_only_in_bytes() {
        for text in [b"ab".as_slice(), b"ab ", b"ab      "] {
            assert_eq!(bits(Decoder::Bytes, b"ab"), bits(Decoder::Bpchar, text));
        }
        assert_eq!(bits(Decoder::Bytes, b""), bits(Decoder::Bpchar, b"   "));
        assert_eq!(bits(Decoder::Bytes, b" a"), bits(Decoder::Bpchar, b" a "));
        assert_ne!(bits(Decoder::Bytes, b"ab"), bits(Decoder::Bytes, b"ab "));
    }

    #[test]
    fn zeros_at_the_end_of_json_numbers_do_not_count_but_in_strings() {
        let canonical = |text: &str| {
            let value = [&[1], text.as_bytes()].concat();
            let mut scratch = b"what was there before".to_vec();
            String::from_utf8(jsonb(&value, &mut scratch).expect("version 1").to_vec()).expect("text")
        };
        for (text, expected) in [
            ("1.0", "1"),
            ("-1.50", "-1.5"),
            ("100", "100"),
            ("0.000", "0"),
            ("[1.0, 10.010, 0.5]", "[1, 10.01, 0.5]"),
            (r#"{"a.0": 1.0, "b": "2.0"}"#, r#"{"a.0": 1, "b": "2.0"}"#),
            (r#"["\"1.0", "\\", 1.0, "\\\".0"]"#, r#"["\"1.0", "\\", 1, "\\\".0"]"#),
            (r#"{"größe": 1.10, "": null}"#, r#"{"größe": 1.1, "": null}"#),
            (r#""unended 1.0"#, r#""unended 1.0"#),
        ] {
            assert_eq!(expected, canonical(text));
        }
        assert_eq!(None, bits(Decoder::Jsonb, b"\x02{}"), "a version that nobody knows");
    }

    #[test]
    fn the_servers_hash_comes_with_its_halves_exchanged() {
        assert_eq!(Some(0xFFFF_FFF9_FFFF_FFFF), bits(Decoder::Hashed, &(-7_i64).to_be_bytes()));
    }

    #[test]
    fn a_length_that_no_value_has_is_refused() {
        use Decoder::{Float, Hashed, Integer, Interval, Jsonb, Numeric, Unsigned};
        for decoder in [Integer, Unsigned, Float, Numeric, Interval, Jsonb, Hashed] {
            for value in [b"".as_slice(), b"abc", b"abcde", b"abcdefghijklmnopq"] {
                assert_eq!(None, bits(decoder, value), "{decoder:?} {value:?}");
            }
        }
        assert_eq!(None, bits(Numeric, &sent(0, 0, 0, &[1, 2])[..10]));
    }
}
