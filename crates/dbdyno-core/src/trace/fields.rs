//! Numbers and names inside a line; no byte is looked at twice, nothing is copied.

/// Longer than any time that a trace can tell: 11 days in microseconds.
const DURATION_US_MAX: i64 = 1_000_000_000_000;
/// Microseconds since 1970 until the year 2255, and what some platforms count since they were started.
const TIM_US_MAX: i64 = 9_000_000_000_000_000;

/// What is left of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    pub rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// Whether it goes on with this; if so, goes behind it.
    #[inline(always)]
    pub(super) fn skip(&mut self, prefix: &[u8]) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// An integer, and goes behind it.
    #[inline(always)]
    pub(super) fn number(&mut self) -> Option<i64> {
        let is_negative = self.skip(b"-");
        let mut value: u64 = 0;
        let mut digits = 0;
        while let Some(digit) = self.rest.get(digits).map(|byte| byte.wrapping_sub(b'0'))
            && digit <= 9
        {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            digits += 1;
        }
        self.rest = &self.rest[digits..];
        // 19 digits and more need not fit.
        let is_known = digits > 0 && digits < 19;
        let value = value as i64;
        is_known.then_some(if is_negative { -value } else { value })
    }

    /// A number that may lie anywhere in 64 bits: addresses and hash values.
    #[inline(always)]
    pub(super) fn identifier(&mut self) -> Option<u64> {
        let (mut value, mut digits) = (0_u64, 0);
        while let Some(digit) = self.rest.get(digits).map(|byte| byte.wrapping_sub(b'0'))
            && digit <= 9
        {
            value = match digits {
                0..19 => value * 10 + u64::from(digit),
                _ => value.checked_mul(10)?.checked_add(u64::from(digit))?,
            };
            digits += 1;
        }
        self.rest = &self.rest[digits..];
        (digits > 0).then_some(value)
    }

    /// What comes before this byte, and goes behind it; None where there is no such byte.
    #[inline(always)]
    pub(super) fn until(&mut self, byte: u8) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|each| *each == byte)?;
        let before = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Some(before)
    }
}

/// How many nanoseconds the trace's unit of time has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    /// Before 9i.
    Centiseconds,
    /// From 9i on.
    Microseconds,
}

impl TimeUnit {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Centiseconds => "centiseconds",
            Self::Microseconds => "microseconds",
        }
    }

    fn us(self) -> i64 {
        match self {
            Self::Centiseconds => 10_000,
            Self::Microseconds => 1,
        }
    }

    /// A duration in nanoseconds; None for one that cannot be: what a clock that is set back writes, as an unsigned
    /// number, and what damage does.
    #[inline(always)]
    pub(super) fn duration_ns(self, value: i64) -> Option<i64> {
        (value.unsigned_abs() <= DURATION_US_MAX as u64).then(|| value * self.us() * 1000)
    }

    /// A point in time in nanoseconds.
    #[inline(always)]
    pub(super) fn tim_ns(self, value: i64) -> Option<i64> {
        (0..=TIM_US_MAX / self.us()).contains(&value).then(|| value * self.us() * 1000)
    }
}

/// The value behind ` key=` or at the beginning, where a line has few of them.
pub(super) fn value_of(line: &[u8], key: &[u8]) -> Option<i64> {
    text_of(line, key).and_then(|text| Fields::new(text).number())
}

/// What stands behind `key=`, to the end of the line. A key begins the line or follows a space, a comma or `(`.
pub(super) fn text_of<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    memchr::memchr_iter(b'=', line).find_map(|at| {
        let before = line[..at].strip_suffix(key)?;
        let begins = before.last().is_none_or(|byte| matches!(byte, b' ' | b',' | b'(' | b':'));
        begins.then(|| line[at + 1..].trim_ascii_start())
    })
}

/// What stands in quotes behind `key=`.
pub(super) fn quoted_of<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let text = text_of(line, key)?.strip_prefix(b"'")?;
    text.iter().position(|byte| *byte == b'\'').map(|end| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_their_digits_do() {
        let read = |text: &str| {
            let mut fields = Fields::new(text.as_bytes());
            (fields.number(), fields.rest.len())
        };
        assert_eq!((Some(12), 1), read("12,"));
        assert_eq!((Some(-1), 0), read("-1"));
        assert_eq!((None, 1), read("x"));
        assert_eq!((None, 0), read("18446744073709551615"));
        assert_eq!((Some(999_999_999_999_999_999), 0), read("999999999999999999"));
        assert_eq!(Some(u64::MAX), Fields::new(b"18446744073709551615").identifier());
        assert_eq!(None, Fields::new(b"18446744073709551616").identifier());
    }

    #[test]
    fn keys_are_whole_words() {
        let line = b"len=27 dep=0 uid=5 tim=1 err=942 hv= 7 ad='8c' sqlid='abc'";
        assert_eq!(
            [Some(27), Some(0), Some(7), None],
            [&b"len"[..], b"dep", b"hv", b"id"].map(|key| value_of(line, key))
        );
        assert_eq!([Some(&b"8c"[..]), None], [&b"ad"[..], b"hv"].map(|key| quoted_of(line, key)));
    }

    #[test]
    fn times_that_cannot_be_are_not_taken_for_some() {
        assert_eq!(Some(20_000_000), TimeUnit::Centiseconds.duration_ns(2));
        assert_eq!(None, TimeUnit::Microseconds.duration_ns(1_000_000_000_001));
        assert_eq!(None, TimeUnit::Microseconds.tim_ns(-1));
        assert_eq!(None, TimeUnit::Centiseconds.tim_ns(i64::MAX / 2));
    }
}
