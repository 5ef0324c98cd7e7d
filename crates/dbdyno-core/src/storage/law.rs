//! What a programmed device does: the truth that a calibration must find.

use std::collections::HashMap;

use serde::Deserialize;

use super::spec::Method;

/// A device on a clock of its own, which goes as fast as it is computed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Law {
    /// I/Os that it works on at a time; the others wait in the order in which they came.
    pub servers: usize,
    /// How long it works on one: each I/O belongs to one of these.
    pub modes: Vec<Mode>,
    /// CPU time of the host for each I/O, during which it starts no other.
    pub host_ns: u64,
    /// Bytes pass one after another at this rate; null: in no time.
    pub bytes_per_s: Option<f64>,
    /// Pages in memory of its own, which replaces one at random.
    pub cache: Option<Cache>,
    /// A limit that lets bursts through.
    pub bucket: Option<Bucket>,
    /// When it stands still.
    #[serde(default)]
    pub stalls: Vec<Stall>,
    /// Pages from here on were never written: they come from nowhere, as zeros.
    pub zeros: Option<Zeros>,
    /// Slow change of all its times.
    pub drift: Option<Drift>,
    /// How long it takes to make a write durable.
    pub flush: Option<FlushLaw>,
    /// Of chance.
    pub seed: u64,
}

/// A lognormal time.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// Of all I/Os; the shares of a device sum to 1.
    pub share: f64,
    /// Its median.
    pub median_ns: f64,
    /// Standard deviation of its logarithm.
    pub sigma: f64,
}

/// What is in it takes `median_ns`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Its size.
    pub bytes: u64,
    /// Lognormal, as a mode.
    pub median_ns: f64,
    /// Standard deviation of its logarithm.
    pub sigma: f64,
}

/// Each I/O takes its bytes out of a bucket that is full at first and is refilled at a rate.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bucket {
    /// Its size.
    pub burst_bytes: f64,
    /// Its refill.
    pub bytes_per_s: f64,
}

/// No I/O begins to be worked on.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// From here, on the device's clock.
    pub at_ns: u64,
    /// For so long.
    pub for_ns: u64,
}

/// Pages that nobody wrote.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zeros {
    /// From this byte on.
    pub from_byte: u64,
    /// They take so long.
    pub median_ns: f64,
}

/// All times are multiplied by exp(x), x an Ornstein-Uhlenbeck process.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    /// Its standard deviation.
    pub sigma: f64,
    /// Time after which its correlation is 1/e.
    pub correlation_ns: f64,
}

/// A lognormal time, by method.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlushLaw {
    /// Of every method that is not named below.
    pub median_ns: f64,
    /// Standard deviation of its logarithm.
    pub sigma: f64,
    /// How many times as long these take.
    #[serde(default)]
    pub times: HashMap<Method, f64>,
}

impl Law {
    /// Whether it can be obeyed.
    ///
    /// # Errors
    /// What is wrong, as one line.
    pub fn check(&self) -> Result<(), String> {
        let shares: f64 = self.modes.iter().map(|mode| mode.share).sum();
        match () {
            () if self.servers == 0 => Err("servers: 0; give at least 1".to_owned()),
            () if self.modes.is_empty() => Err("modes: none; give at least one".to_owned()),
            () if (shares - 1.0).abs() > 1e-9 => Err(format!("modes: their shares sum to {shares}; they must to 1")),
            () => Ok(()),
        }
    }
}
