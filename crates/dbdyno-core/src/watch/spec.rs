//! What `watch_server` is asked to do.

use std::path::PathBuf;

use serde::Deserialize;

use crate::error::{CoreError, Result};
use crate::wire::Target;

/// A whole spec.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchSpec {
    /// For the route `sql`, and to check what memory says; null: never connect.
    #[serde(default)]
    pub target: Option<Target>,
    /// Null for a server on another host.
    #[serde(default)]
    pub postmaster_pid: Option<i32>,
    /// `auto`, or the name of one route.
    #[serde(default = "auto")]
    pub route: String,
    /// Between two sweeps; null: as the budget allows.
    #[serde(default)]
    pub period_ns: Option<u64>,
    /// Share of the host's CPU that watching may take.
    #[serde(default = "one_percent")]
    pub budget: f64,
    /// How long.
    pub seconds_ns: u64,
    /// How long a step is.
    #[serde(default = "one_second")]
    pub step_ns: u64,
    /// Processes of the server that are ours.
    #[serde(default)]
    pub ignore_pids: Vec<i32>,
    /// Where the Parquet file goes; null: nowhere.
    #[serde(default)]
    pub snapshots_path: Option<PathBuf>,
}

impl WatchSpec {
    /// Parses and checks a spec.
    pub fn parse(json: &str) -> Result<Self> {
        let spec: Self = serde_json::from_str(json).map_err(|error| invalid(format!("watch spec: {error}")))?;
        let positive = |key: &str, value: u64| match value {
            0 => Err(invalid(format!("{key}: 0; must be at least 1"))),
            _ => Ok(()),
        };
        positive("seconds_ns", spec.seconds_ns)?;
        positive("step_ns", spec.step_ns)?;
        positive("period_ns", spec.period_ns.unwrap_or(1))?;
        if !(spec.budget > 0.0 && spec.budget <= 0.5) {
            return Err(invalid(format!(
                "budget: {}; must be a share of the host's CPU above 0, at most 0.5",
                spec.budget
            )));
        }
        if spec.target.is_none() && spec.postmaster_pid.is_none() {
            return Err(invalid("target: null; must be given where postmaster_pid is null, too"));
        }
        Ok(spec)
    }
}

fn invalid(message: impl Into<String>) -> CoreError {
    CoreError::new("spec_invalid", message)
}

fn auto() -> String {
    "auto".to_owned()
}

fn one_percent() -> f64 {
    0.01
}

fn one_second() -> u64 {
    1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_has_a_default_and_mistakes_name_the_key() {
        let spec = WatchSpec::parse(r#"{"postmaster_pid": 1, "seconds_ns": 5}"#).expect("valid");
        assert_eq!(("auto", None, 0.01, 1_000_000_000), (&*spec.route, spec.period_ns, spec.budget, spec.step_ns));
        let cases = [
            (r#"{"postmaster_pid": 1, "seconds_ns": 0}"#, "seconds_ns: 0; must be at least 1"),
            (r#"{"postmaster_pid": 1, "seconds_ns": 1, "step_ns": 0}"#, "step_ns: 0; must be at least 1"),
            (r#"{"postmaster_pid": 1, "seconds_ns": 1, "period_ns": 0}"#, "period_ns: 0; must be at least 1"),
            (r#"{"postmaster_pid": 1, "seconds_ns": 1, "budget": 1.5}"#, "budget: 1.5; must be a share"),
            (r#"{"seconds_ns": 1}"#, "target: null; must be given"),
            (r#"{"postmaster_pid": 1, "second_ns": 1}"#, "watch spec: unknown field `second_ns`"),
        ];
        for (text, message) in cases {
            let error = WatchSpec::parse(text).expect_err("must be refused");
            assert!(error.code == "spec_invalid" && error.message.starts_with(message), "{error}");
        }
    }
}
