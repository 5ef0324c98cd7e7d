//! What tests of traces share.

use serde_json::Value;

use super::profile::profile_bytes;

/// What is said of a trace that lies in memory.
pub(super) fn outcome_of(text: &[u8]) -> Value {
    let outcome: Value = serde_json::from_str(&profile_bytes(text).expect("an outcome")).expect("JSON");
    outcome["files"][0].clone()
}

/// The codes of its notes.
pub(super) fn notes_of(outcome: &Value) -> Vec<&str> {
    outcome["notes"].as_array().expect("notes").iter().map(|note| note["code"].as_str().expect("a code")).collect()
}

/// That CPU, waits and the unaccounted rest are the duration in every scope, within calls and between them, too; and
/// that statements and the profile say the same.
pub(super) fn assert_adds_up(outcome: &Value) {
    let number = |value: &Value| value.as_i64().expect("a number");
    for scope in outcome["scopes"].as_array().expect("scopes") {
        let profile = &scope["profile_ns"];
        let waits: i64 = profile["waits"].as_object().expect("waits").values().map(number).sum();
        let accounted = number(&profile["cpu"]) + waits;
        assert_eq!(number(&scope["duration_ns"]), accounted + number(&profile["unaccounted"]));
        let parts = ["unaccounted_within_calls", "unaccounted_between_calls"].map(|part| number(&profile[part]));
        assert_eq!(number(&profile["unaccounted"]), parts[0] + parts[1]);
        let rows = scope["statements"].as_array().expect("statements");
        let own_cpu: i64 = rows
            .iter()
            .flat_map(|row| row["calls"].as_object().expect("calls").values())
            .map(|calls| number(&calls["own_cpu_ns"]))
            .sum();
        let row_waits: i64 = rows
            .iter()
            .flat_map(|row| row["waits"].as_array().expect("waits"))
            .map(|wait| number(&wait["sum_ns"]))
            .sum();
        assert_eq!((number(&profile["cpu"]), waits), (own_cpu, row_waits));
    }
}
