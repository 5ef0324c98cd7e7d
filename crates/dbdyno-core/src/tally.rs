//! One clock over many units: an HdrHistogram of three digits, and the exact sum.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use serde::Serialize;

/// One clock over many units or I/Os.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Distribution {
    /// Values recorded.
    pub count: u64,
    /// Their exact sum (the histogram has 3 digits).
    pub sum_ns: u64,
    /// HdrHistogram V2, compressed, base64.
    pub histogram: String,
}

/// Of what started; zeros in a closed loop without think time, where nothing can be late.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Lateness {
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
}

/// A histogram and the exact sum of what went in.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    histogram: Histogram<u64>,
    /// Exact, whatever the histogram rounds.
    pub sum_ns: u64,
}

/// Longest time told apart: one hour; longer ones are recorded as one hour, but summed exactly.
const HIGHEST_NS: u64 = 3_600_000_000_000;
const DIGITS: u8 = 3;

impl Tally {
    /// Nothing recorded.
    pub(crate) fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, HIGHEST_NS, DIGITS).expect("the bounds are valid");
        Self { histogram, sum_ns: 0 }
    }

    /// One value.
    pub(crate) fn record(&mut self, value_ns: u64) {
        self.histogram.saturating_record(value_ns);
        self.sum_ns += value_ns;
    }

    /// The same value many times.
    pub(crate) fn record_n(&mut self, value_ns: u64, count: u64) {
        self.histogram.saturating_record_n(value_ns, count);
        self.sum_ns += value_ns * count;
    }

    /// All that the other holds as well.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("all tallies have the same bounds");
        self.sum_ns += other.sum_ns;
    }

    /// How many values.
    pub(crate) fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// As the outcome holds it.
    pub(crate) fn to_distribution(&self) -> Distribution {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes).expect("a Vec takes every write");
        Distribution { count: self.count(), sum_ns: self.sum_ns, histogram: STANDARD.encode(bytes) }
    }

    /// Of the lateness histogram.
    pub(crate) fn to_lateness(&self) -> Lateness {
        let histogram = &self.histogram;
        Lateness { p50: histogram.value_at_quantile(0.5), p99: histogram.value_at_quantile(0.99), max: histogram.max() }
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;

    use super::*;

    #[test]
    fn histograms_survive_their_encoding_within_three_digits() {
        let mut tally = Tally::new();
        [1, 999, 1_000_000, 7_654_321_000].into_iter().for_each(|value| tally.record(value));
        let distribution = tally.to_distribution();
        let bytes = STANDARD.decode(distribution.histogram).expect("base64");
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).expect("V2 compressed");
        assert_eq!((4, 7_655_322_000), (distribution.count, distribution.sum_ns));
        assert_eq!(4, read.len());
        assert!(read.max().abs_diff(7_654_321_000) <= 7_654_321_000 / 1000);
        assert_eq!(999, read.value_at_quantile(0.5));
    }
}
