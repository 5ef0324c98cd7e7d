//! The trial spec: what `run_trial` is asked to do. Its shape is described in docs/architecture.md.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::think_time::ThinkTime;
use crate::error::{CoreError, Result};
use crate::wire::Target;

/// A whole spec.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialSpec {
    /// Where the load goes.
    pub target: Target,
    /// Run on every client connection, in order, before the load starts.
    #[serde(default)]
    pub session_sql: Vec<String>,
    /// One of these is drawn for each unit of work, by weight.
    pub scripts: Vec<ScriptSpec>,
    /// Start values of variables (pgbench's -D).
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// How statements are sent.
    #[serde(default)]
    pub mode: QueryMode,
    /// Connections.
    pub clients: usize,
    /// Load threads; each owns a fixed slice of the clients.
    #[serde(default = "one")]
    pub threads: usize,
    /// When units start.
    pub arrival: ArrivalSpec,
    /// All random streams derive from it.
    pub seed: u64,
    /// Load before the first counted unit.
    pub warm_up_ns: u64,
    /// Units whose intended start lies in this time are counted.
    pub window_ns: u64,
    /// Fixed work: so many units are counted, over all clients, and then the trial ends; the window is then
    /// the time in which they must start.
    #[serde(default)]
    pub fixed_units: Option<u64>,
    /// Rows that one Execute may return; the portal is executed again until it is at its end.
    #[serde(default)]
    pub fetch_rows: Option<u32>,
    /// Time over which the clients connect, evenly.
    #[serde(default)]
    pub connect_ramp_ns: u64,
    /// How long counted units are waited for after the window.
    #[serde(default = "default_drain_limit_ns")]
    pub drain_limit_ns: u64,
    /// Tries per unit where the server reports a serialization failure or a deadlock.
    #[serde(default = "one_try")]
    pub max_tries: u32,
    /// Count any other SQL error as a failed unit instead of ending the trial.
    #[serde(default)]
    pub continue_on_error: bool,
    /// Units slower than this are late. They run all the same: pgbench skips what is late already, which
    /// hides an overload.
    #[serde(default)]
    pub latency_limit_ns: Option<u64>,
    /// Resolution of the time series.
    #[serde(default = "default_series_step_ns")]
    pub series_step_ns: u64,
    /// How the server is watched.
    pub waits: WaitsSpec,
    /// How often inserted and flushed WAL positions are read; null: never.
    #[serde(default)]
    pub exposure_period_ns: Option<u64>,
    /// Stacks of the clients' backends over the window; null: none.
    #[serde(default)]
    pub stacks: Option<TrialStacks>,
}

/// How stacks are recorded in a trial.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialStacks {
    /// CPU stacks a second of CPU time, wait stacks a second.
    pub frequency_hz: u64,
}

/// One weighted script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptSpec {
    /// File name, for reports and messages.
    pub name: String,
    /// In pgbench's language.
    pub text: String,
    /// Relative to the sum of all weights; 0 leaves it out.
    #[serde(default = "one_weight")]
    pub weight: u32,
}

/// pgbench's -M.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum QueryMode {
    /// One text with the values in it.
    Simple,
    /// Parse, bind and execute each time.
    Extended,
    /// Parse once per connection, bind and execute each time.
    #[default]
    Prepared,
}

/// When units start.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum ArrivalSpec {
    /// Each client starts a unit when its last one ended and the think time has passed.
    Closed(ThinkTime),
    /// Units arrive by themselves, whatever the server does.
    Open {
        /// How the gaps vary.
        process: ArrivalProcess,
        /// Rate before and at the start of the window.
        start_per_s: f64,
        /// Rate at the end of the window and after; linear in between.
        end_per_s: f64,
    },
}

impl ArrivalSpec {
    /// Whether a unit starts as soon as the one before has ended: then none can be late.
    pub(super) fn starts_at_once(&self) -> bool {
        matches!(self, Self::Closed(think_time) if think_time.is_none())
    }
}

/// How the gaps between arrivals vary.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalProcess {
    /// Exponential gaps: independent users.
    Poisson,
    /// Equal gaps.
    Constant,
}

/// How the server's waits and clocks are observed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitsSpec {
    /// `auto`, `mapped`, `sysv`, `contiguous`, `mem`, `sql` or `off`.
    pub route: String,
    /// Null for a server on another host.
    #[serde(default)]
    pub postmaster_pid: Option<i32>,
    /// Between two snapshots, in the mean; null: as the budget allows.
    #[serde(default)]
    pub period_ns: Option<u64>,
    /// Share of the host's CPU that the sampler may use.
    #[serde(default = "default_budget")]
    pub budget: f64,
}

impl WaitsSpec {
    fn check_budget(&self) -> Result<()> {
        match self.budget > 0.0 && self.budget <= 0.5 {
            true => Ok(()),
            false => Err(invalid(format!("waits.budget: {}; must be above 0 and at most 0.5", self.budget))),
        }
    }
}

impl TrialSpec {
    /// Parses and checks a spec.
    pub fn parse(json: &str) -> Result<Self> {
        let spec: Self = serde_json::from_str(json).map_err(|error| invalid(format!("trial spec: {error}")))?;
        spec.check()?;
        Ok(spec)
    }

    fn check(&self) -> Result<()> {
        let positive = |key: &str, value: u64| match value {
            0 => Err(invalid(format!("{key}: 0; must be at least 1"))),
            _ => Ok(()),
        };
        positive("clients", self.clients as u64)?;
        positive("threads", self.threads as u64)?;
        positive("window_ns", self.window_ns)?;
        positive("max_tries", u64::from(self.max_tries))?;
        positive("series_step_ns", self.series_step_ns)?;
        if let Some(period_ns) = self.waits.period_ns {
            positive("waits.period_ns", period_ns)?;
        }
        self.waits.check_budget()?;
        if let Some(period_ns) = self.exposure_period_ns {
            positive("exposure_period_ns", period_ns)?;
        }
        if let Some(units) = self.fixed_units {
            positive("fixed_units", units)?;
        }
        if self.scripts.iter().map(|script| u64::from(script.weight)).sum::<u64>() == 0 {
            return Err(invalid("scripts: no script has a weight above 0; give at least one"));
        }
        self.check_fetch_rows()?;
        self.check_arrival()
    }

    fn check_fetch_rows(&self) -> Result<()> {
        let Some(rows) = self.fetch_rows else { return Ok(()) };
        if rows == 0 || i32::try_from(rows).is_err() {
            return Err(invalid(format!("fetch_rows: {rows}; must be from 1 to {}", i32::MAX)));
        }
        if self.mode == QueryMode::Simple {
            return Err(invalid(format!("fetch_rows: {rows}; needs mode extended or prepared, not simple")));
        }
        Ok(())
    }

    fn check_arrival(&self) -> Result<()> {
        let (start_per_s, end_per_s) = match self.arrival {
            ArrivalSpec::Closed(think_time) => return think_time.check(),
            ArrivalSpec::Open { start_per_s, end_per_s, .. } => (start_per_s, end_per_s),
        };
        if let Some(units) = self.fixed_units {
            return Err(invalid(format!("fixed_units: {units}; needs arrival closed, not open")));
        }
        for (key, rate) in [("arrival.start_per_s", start_per_s), ("arrival.end_per_s", end_per_s)] {
            if !(rate.is_finite() && (0.0..=1e8).contains(&rate)) {
                return Err(invalid(format!("{key}: {rate}; must be from 0 to 100000000 units per second")));
            }
        }
        if start_per_s + end_per_s <= 0.0 {
            return Err(invalid("arrival: both rates are 0; at least one must be above 0"));
        }
        Ok(())
    }
}

pub(super) fn invalid(message: impl Into<String>) -> CoreError {
    CoreError::new("spec_invalid", message)
}

fn one() -> usize {
    1
}

fn one_try() -> u32 {
    1
}

fn one_weight() -> u32 {
    1
}

fn default_drain_limit_ns() -> u64 {
    60_000_000_000
}

fn default_series_step_ns() -> u64 {
    100_000_000
}

/// One hundredth: on two CPUs 20 us of a millisecond.
fn default_budget() -> f64 {
    0.01
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMAL: &str = r#"{"target": {"host": "/tmp", "port": 5432, "user": "u", "dbname": "d"},
        "scripts": [{"name": "s", "text": "SELECT 1;"}], "clients": 1, "arrival": {"kind": "closed"},
        "seed": 1, "warm_up_ns": 0, "window_ns": 1, "waits": {"route": "off"}}"#;

    fn refusal(from: &str, to: &str) -> String {
        assert!(MINIMAL.contains(from), "the test changes nothing");
        let error = TrialSpec::parse(&MINIMAL.replace(from, to)).expect_err("must be refused");
        assert_eq!("spec_invalid", error.code);
        assert!(!error.message.contains('\n'));
        error.message
    }

    #[test]
    fn defaults_fill_what_is_left_out() {
        let spec = TrialSpec::parse(MINIMAL).expect("valid");
        assert_eq!(QueryMode::Prepared, spec.mode);
        assert_eq!((1, 1), (spec.threads, spec.max_tries));
        assert!(spec.arrival.starts_at_once());
        assert_eq!((None, None, 0), (spec.fixed_units, spec.fetch_rows, spec.connect_ramp_ns));
    }

    #[test]
    fn mistakes_name_the_key() {
        assert!(refusal("\"seed\": 1", "\"sead\": 1").contains("`sead`"));
        assert!(refusal("\"clients\": 1", "\"clients\": \"x\"").contains("invalid type"));
        assert_eq!("clients: 0; must be at least 1", refusal("\"clients\": 1", "\"clients\": 0"));
        assert!(refusal("\"kind\": \"closed\"", "\"kind\": \"ajar\"").contains("`ajar`"));
        assert!(refusal("\"closed\"", "\"closed\", \"thinking_ns\": 1").contains("`thinking_ns`"));
        assert!(refusal("\"text\": \"SELECT 1;\"", "\"text\": \"\", \"weight\": 0").starts_with("scripts:"));
        let open = "\"kind\": \"open\", \"process\": \"poisson\", \"start_per_s\": -1, \"end_per_s\": 1";
        assert!(refusal("\"kind\": \"closed\"", open).starts_with("arrival.start_per_s: -1"));
        let uniform = "\"closed\", \"think_time_distribution\": \"uniform\"";
        let spendthrift = "\"off\", \"budget\": 0.6";
        assert!(refusal("\"off\"", spendthrift).starts_with("waits.budget: 0.6; must be above 0"));
        assert!(refusal("\"closed\"", uniform).starts_with("arrival.think_time_max_ns: null"));
    }

    #[test]
    fn what_cannot_go_together_is_refused() {
        assert_eq!("fixed_units: 0; must be at least 1", refusal("\"seed\": 1", "\"seed\": 1, \"fixed_units\": 0"));
        let open =
            "{\"kind\": \"open\", \"process\": \"poisson\", \"start_per_s\": 1, \"end_per_s\": 1}, \"fixed_units\": 5";
        let refused = refusal("{\"kind\": \"closed\"}", open);
        assert_eq!("fixed_units: 5; needs arrival closed, not open", refused);
        let simple = "\"seed\": 1, \"fetch_rows\": 7, \"mode\": \"simple\"";
        let refused = refusal("\"seed\": 1", simple);
        assert_eq!("fetch_rows: 7; needs mode extended or prepared, not simple", refused);
        let refused = refusal("\"seed\": 1", "\"seed\": 1, \"fetch_rows\": 2147483648");
        assert_eq!("fetch_rows: 2147483648; must be from 1 to 2147483647", refused);
    }
}
