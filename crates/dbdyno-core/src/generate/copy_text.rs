//! Rows in COPY's text format: values end with a tab, the last of a row with a line break.
//!
//! Nothing is escaped: what is written are numbers, and words that hold none of the characters that would need it.

use super::calendar::{Date, date};

const SECONDS_IN_DAY: u64 = 86_400;

/// The buffer of one chunk.
pub(super) struct CopyText {
    bytes: Vec<u8>,
}

impl CopyText {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes) }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A whole value that is text.
    pub(super) fn text(&mut self, value: &str) {
        self.part(value);
        self.end_value();
    }

    /// A whole value that is a number.
    pub(super) fn integer(&mut self, value: u64) {
        self.digits(value);
        self.end_value();
    }

    /// A decimal with two places, from hundredths.
    pub(super) fn cents(&mut self, value: u64) {
        self.digits(value / 100);
        self.bytes.push(b'.');
        self.two_digits(value % 100);
        self.end_value();
    }

    /// A boolean.
    pub(super) fn boolean(&mut self, value: bool) {
        self.bytes.push(if value { b't' } else { b'f' });
        self.end_value();
    }

    /// A date, in days after 2021-01-01.
    pub(super) fn date(&mut self, days: i64) {
        self.day(date(days));
        self.end_value();
    }

    /// A timestamp with time zone, in seconds after 2021-01-01 00:00 UTC.
    pub(super) fn timestamp(&mut self, seconds: u64) {
        self.day(date((seconds / SECONDS_IN_DAY) as i64));
        let second_of_day = seconds % SECONDS_IN_DAY;
        for (separator, value) in
            [(b' ', second_of_day / 3600), (b':', second_of_day / 60 % 60), (b':', second_of_day % 60)]
        {
            self.bytes.push(separator);
            self.two_digits(value);
        }
        self.part("+00");
        self.end_value();
    }

    /// No value.
    pub(super) fn null(&mut self) {
        self.text("\\N");
    }

    /// A part of a value.
    pub(super) fn part(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// A part of a value, in small letters (ASCII).
    pub(super) fn lower_part(&mut self, text: &str) {
        self.bytes.extend(text.bytes().map(|byte| byte.to_ascii_lowercase()));
    }

    /// A number as part of a value.
    pub(super) fn digits(&mut self, value: u64) {
        self.bytes.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    /// Ends a value that was written in parts.
    pub(super) fn end_value(&mut self) {
        self.bytes.push(b'\t');
    }

    /// Ends the row: the tab behind its last value becomes a line break.
    pub(super) fn end_row(&mut self) {
        if let Some(last) = self.bytes.last_mut() {
            *last = b'\n';
        }
    }

    fn day(&mut self, (year, month, day): Date) {
        self.digits(year);
        self.bytes.push(b'-');
        self.two_digits(month);
        self.bytes.push(b'-');
        self.two_digits(day);
    }

    fn two_digits(&mut self, value: u64) {
        self.bytes.extend([b'0' + (value / 10) as u8, b'0' + (value % 10) as u8]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_between_tabs_and_rows_between_line_breaks() {
        let mut text = CopyText::with_capacity(64);
        text.integer(7);
        text.cents(1205);
        text.cents(3);
        text.null();
        text.boolean(true);
        text.end_row();
        text.date(59);
        text.timestamp(86_400 + 3_661);
        text.part("A");
        text.lower_part("Bc");
        text.digits(12);
        text.end_value();
        text.text("end");
        text.end_row();
        let expected = "7\t12.05\t0.03\t\\N\tt\n2021-03-01\t2021-01-02 01:01:01+00\tAbc12\tend\n";
        assert_eq!(String::from_utf8(text.into_bytes()).unwrap(), expected);
    }
}
