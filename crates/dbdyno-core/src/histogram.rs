//! Stored histograms read back: merged, as quantiles or as logarithmic bins.
//!
//! A stored histogram is the standard HdrHistogram V2 compressed encoding in base64; merging histograms is exact,
//! averaging their percentiles would not be.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

use crate::error::CoreError;

/// The value in ns at each of `quantiles` (0 to 1) of the merged histograms; zeros where nothing was recorded.
///
/// # Errors
/// `histogram` when one of the texts is not an encoded histogram.
pub fn quantiles(encoded: &[String], quantiles: &[f64]) -> Result<Vec<u64>, CoreError> {
    let merged = merge(encoded)?;
    Ok(quantiles.iter().map(|&quantile| merged.value_at_quantile(quantile)).collect())
}

/// The merged histograms as (low_ns, high_ns, count), `bins_per_decade` equal steps of the logarithm, empty bins
/// left out.
///
/// # Errors
/// `histogram` when one of the texts is not an encoded histogram.
pub fn bins(encoded: &[String], bins_per_decade: u32) -> Result<Vec<(u64, u64, u64)>, CoreError> {
    let merged = merge(encoded)?;
    let edge = |index: i32| 10f64.powf(f64::from(index) / f64::from(bins_per_decade)).round() as u64;
    let mut bins: Vec<(i32, u64)> = Vec::new();
    for value in merged.iter_recorded() {
        let logarithm = (value.value_iterated_to().max(1) as f64).log10();
        let index = (logarithm * f64::from(bins_per_decade)).floor() as i32;
        match bins.last_mut() {
            Some((last, count)) if *last == index => *count += value.count_at_value(),
            _ => bins.push((index, value.count_at_value())),
        }
    }
    Ok(bins.into_iter().map(|(index, count)| (edge(index), edge(index + 1), count)).collect())
}

fn merge(encoded: &[String]) -> Result<Histogram<u64>, CoreError> {
    let mut merged = Histogram::<u64>::new(3).expect("3 significant digits are allowed");
    for text in encoded {
        merged.add(decode(text)?).map_err(|error| broken(&error.to_string()))?;
    }
    Ok(merged)
}

fn decode(text: &str) -> Result<Histogram<u64>, CoreError> {
    let bytes = STANDARD.decode(text).map_err(|error| broken(&error.to_string()))?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| broken(&error.to_string()))
}

fn broken(why: &str) -> CoreError {
    CoreError { code: "histogram", message: format!("a stored histogram cannot be read: {why}") }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

    use super::{STANDARD, bins, quantiles};

    fn encoded(values: &[u64]) -> String {
        let mut histogram = Histogram::<u64>::new(3).expect("valid");
        for &value in values {
            histogram.record(value).expect("in range");
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut bytes).expect("into memory");
        STANDARD.encode(bytes)
    }

    #[test]
    fn merges_before_it_asks_for_quantiles() {
        let parts = [encoded(&[1, 2, 3]), encoded(&[100, 200, 300, 400, 500, 600, 700])];

        assert_eq!(quantiles(&parts, &[0.1, 0.5, 1.0]).expect("valid"), [1, 200, 700]);
    }

    #[test]
    fn bins_cover_every_value_once() {
        let parts = [encoded(&[1, 9, 10, 99, 100])];

        assert_eq!(bins(&parts, 1).expect("valid"), [(1, 10, 2), (10, 100, 2), (100, 1000, 1)]);
    }

    #[test]
    fn a_broken_histogram_is_one_line() {
        let error = quantiles(&["bm9uc2Vuc2U=".to_owned()], &[0.5]).expect_err("nonsense");

        assert_eq!(error.code, "histogram");
        assert!(!error.message.contains('\n'));
    }
}
