//! What is asked for and what comes out, as JSON (docs/architecture.md, "Stacks").

use serde::{Deserialize, Serialize};

use crate::error::{CoreError, Result};

/// Snapshots a second unless asked otherwise: prime to the round periods that servers keep.
const DEFAULT_FREQUENCY_HZ: u64 = 99;
const MOST_FREQUENT_HZ: u64 = 10_000;

fn default_frequency() -> u64 {
    DEFAULT_FREQUENCY_HZ
}

fn auto() -> String {
    "auto".to_owned()
}

/// What to record.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StacksSpec {
    /// The processes; without them all children of the postmaster.
    #[serde(default)]
    pub pids: Option<Vec<i32>>,
    /// Also whose memory names the wait events.
    #[serde(default)]
    pub postmaster_pid: Option<i32>,
    /// How long; a trial ends it itself.
    #[serde(default)]
    pub seconds_ns: Option<u64>,
    /// CPU stacks a second of CPU time, wait stacks a second.
    #[serde(default = "default_frequency")]
    pub frequency_hz: u64,
    /// `auto`, `perf` or `stop`.
    #[serde(default = "auto")]
    pub route: String,
}

impl StacksSpec {
    /// The spec of a text, checked.
    pub fn parse(text: &str) -> Result<Self> {
        let spec: StacksSpec =
            serde_json::from_str(text).map_err(|error| CoreError::new("spec_invalid", format!("stacks: {error}")))?;
        spec.check()?;
        Ok(spec)
    }

    /// Refuses what cannot be done, naming the key.
    pub fn check(&self) -> Result<()> {
        let invalid = |message: String| Err(CoreError::new("spec_invalid", message));
        if !(1..=MOST_FREQUENT_HZ).contains(&self.frequency_hz) {
            return invalid(format!("stacks.frequency_hz: {}; must be 1 to {MOST_FREQUENT_HZ}", self.frequency_hz));
        }
        if !["auto", "perf", "stop"].contains(&self.route.as_str()) {
            return invalid(format!("stacks.route: {:?}; must be auto, perf or stop", self.route));
        }
        if self.pids.is_none() && self.postmaster_pid.is_none() {
            return invalid(
                "stacks.pids: null; name processes, or a postmaster_pid whose children to watch".to_owned(),
            );
        }
        Ok(())
    }
}

/// Process, `cpu` or `wait`, wait event ("": none; null: not known), frames (root first), how often.
pub type StackRow = (i32, &'static str, Option<String>, Vec<u32>, u64);

/// What was recorded.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StacksOutcome {
    /// Of this document.
    pub format: u32,
    /// `perf` or `stop`; null where neither is allowed, and then there are no CPU stacks.
    pub route: Option<&'static str>,
    /// What is missing, and what to do.
    pub note: Option<String>,
    /// As asked for.
    pub frequency_hz: u64,
    /// How long it took.
    pub elapsed_ns: u64,
    /// How long processes stood still, by the route `stop`.
    pub pause_ns: Option<PauseSummary>,
    /// Time in the kernel of the watched processes.
    pub kernel: KernelTime,
    /// The recorder's own CPU time.
    pub recorder_cpu_ns: u64,
    /// Names of functions.
    pub frames: Vec<String>,
    /// In a fixed order.
    pub stacks: Vec<StackRow>,
    /// Stacks that were due and not kept.
    pub lost: u64,
}

/// Pauses of the watched processes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PauseSummary {
    /// How many.
    pub count: u64,
    /// Their mean.
    pub mean: u64,
    /// The longest.
    pub max: u64,
}

/// What is known of the time in the kernel.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct KernelTime {
    /// Whether CPU stacks were also taken there.
    pub seen: bool,
    /// Its share of the CPU time, from the kernel's own account in ticks; null where too few went by.
    pub share: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named_by_key() {
        let cases = [
            (r#"{"pids": [1], "frequency_hz": 0}"#, "stacks.frequency_hz: 0; must be 1 to 10000"),
            (r#"{"pids": [1], "route": "dance"}"#, "stacks.route: \"dance\"; must be auto, perf or stop"),
            ("{}", "stacks.pids: null; name processes, or a postmaster_pid whose children to watch"),
        ];
        for (text, message) in cases {
            assert_eq!(StacksSpec::parse(text).unwrap_err().message, message);
        }
        assert_eq!(StacksSpec::parse(r#"{"pids": [1]}"#).unwrap().frequency_hz, 99);
    }
}
