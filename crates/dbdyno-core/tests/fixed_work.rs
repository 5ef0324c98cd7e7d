//! Fixed work against a real server: so many units, each of them counted, and nothing beside them.

mod server;

use dbdyno_core::load::run_trial;
use serde_json::{Value, json};
use server::take_turn;

macro_rules! server_or_skip {
    () => {
        match take_turn() {
            Some(server) => server,
            None => return,
        }
    };
}

const HOUR_NS: u64 = 3_600_000_000_000;

fn run(spec: &str) -> Value {
    let outcome = run_trial(spec, None, None).unwrap_or_else(|error| panic!("{}: {error}", error.code));
    serde_json::from_str(&outcome).expect("JSON")
}

/// Fixed work without warm-up, changed as `changes` says.
fn fixed(units: u64, changes: &Value) -> Value {
    let mut fixed = json!({"fixed_units": units, "warm_up_ns": 0, "window_ns": HOUR_NS, "clients": 1});
    for (key, value) in changes.as_object().expect("an object") {
        fixed[key] = value.clone();
    }
    fixed
}

fn number(outcome: &Value, pointer: &str) -> f64 {
    outcome.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {pointer}"))
}

fn count(outcome: &Value, pointer: &str) -> u64 {
    outcome.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no count at {pointer}"))
}

const COUNTED_TABLE: &str = "DROP TABLE IF EXISTS counted; CREATE TABLE counted AS SELECT 0 AS n";

#[test]
fn exactly_the_units_asked_for_are_run() {
    let server = server_or_skip!();
    for (clients, threads, units) in [(1, 1, 1), (1, 1, 200), (3, 2, 200), (3, 2, 2), (8, 2, 5)] {
        for mode in ["prepared", "extended", "simple"] {
            server.sql(COUNTED_TABLE);
            let changes = json!({"clients": clients, "threads": threads, "mode": mode});
            let outcome = run(&server.trial_spec("UPDATE counted SET n = n + 1;", fixed(units, &changes)));
            let place = format!("{units} units, {clients} clients, {mode}");
            assert_eq!(units, count(&outcome, "/units/successful"), "{place}");
            assert_eq!((0, 0), (count(&outcome, "/units/failed"), count(&outcome, "/units/skipped")), "{place}");
            assert_eq!(units as i64, server.number("SELECT n FROM counted"), "{place}: on the server");
            assert_eq!((units, units), (count(&outcome, "/fixed_units"), count(&outcome, "/units_with_warm_up")));
            assert_eq!(units, count(&outcome, "/scripts/0/statements/0/rows_affected"), "{place}");
            let series: u64 =
                outcome["series"]["units"].as_array().expect("steps").iter().filter_map(Value::as_u64).sum();
            assert_eq!(units, series, "{place}");
        }
    }
}

#[test]
fn little_s_law_holds_over_the_time_that_the_work_took() {
    let server = server_or_skip!();
    let changes = json!({"clients": 4, "threads": 2, "warm_up_ns": 50_000_000});
    let outcome = run(&server.trial_spec("SELECT pg_sleep(0.005);", fixed(101, &changes)));
    let (elapsed_s, units) = (number(&outcome, "/elapsed_ns") / 1e9, number(&outcome, "/units/successful"));
    assert!((number(&outcome, "/throughput_per_s") - units / elapsed_s).abs() < 1e-6);
    let mean_response_s = number(&outcome, "/response_time/sum_ns") / units / 1e9;
    let by_little = number(&outcome, "/throughput_per_s") * mean_response_s;
    assert!((number(&outcome, "/mean_in_flight") / by_little - 1.0).abs() < 1e-9);
    assert!((3.0..=4.0).contains(&by_little), "{by_little} of 4 clients in a unit");
    assert!(count(&outcome, "/units_with_warm_up") > 101, "the warm-up's units are counted apart");
}

#[test]
fn one_statement_is_timed_and_explained_as_a_whole() {
    let server = server_or_skip!();
    let waits = json!({"route": "auto", "postmaster_pid": server.postmaster_pid()});
    let outcome = run(&server.trial_spec("SELECT pg_sleep(0.3);", fixed(1, &json!({"waits": waits}))));
    let ms = |pointer: &str| number(&outcome, pointer) / 1e6;
    assert!((300.0..400.0).contains(&ms("/elapsed_ns")), "{} ms", ms("/elapsed_ns"));
    assert_eq!(count(&outcome, "/elapsed_ns"), count(&outcome, "/response_time/sum_ns"), "one unit, from start to end");
    assert_eq!(count(&outcome, "/elapsed_ns"), count(&outcome, "/profile/total_ns"));
    let sleeping_share = number(&outcome, "/profile/waits_ns/Timeout:PgSleep") / number(&outcome, "/elapsed_ns");
    assert!((0.9..=1.0).contains(&sleeping_share), "{sleeping_share}: {}", outcome["profile"]);
    let unaccounted_ms = outcome["profile"]["unaccounted_ns"].as_i64().expect("a number") as f64 / 1e6;
    assert!(unaccounted_ms.abs() < 3.0, "{unaccounted_ms} ms: {}", outcome["profile"]);
    assert!(outcome["profile"]["cpu_ns"].is_u64());
    let steps = outcome["series"]["units"].as_array().expect("steps").len();
    assert!((4..=6).contains(&steps), "{steps} steps of 100 ms for 300 ms of work and no hour");
}

#[test]
fn the_first_execution_is_measured_without_its_parse() {
    let server = server_or_skip!();
    server.sql("DROP TABLE IF EXISTS statements; CREATE TABLE statements (prepared bigint)");
    let script = "INSERT INTO statements SELECT count(*) FROM pg_prepared_statements;\nSELECT 1;\n";
    run(&server.trial_spec(script, fixed(1, &json!({}))));
    assert_eq!(2, server.number("SELECT prepared FROM statements"), "both, before the first unit");
}

#[test]
fn a_statement_that_cannot_be_prepared_beforehand_is_prepared_when_it_is_met() {
    let server = server_or_skip!();
    let script = "DROP TABLE IF EXISTS made;\nCREATE TABLE made (id int);\nINSERT INTO made VALUES (1), (2);\n";
    server.sql("DROP TABLE IF EXISTS made");
    let outcome = run(&server.trial_spec(script, fixed(1, &json!({}))));
    assert_eq!(2, count(&outcome, "/scripts/0/statements/2/rows_affected"));
    let wrong = server.trial_spec("SELECT 1;\nSELECT nothing FROM nowhere;\n", fixed(1, &json!({})));
    let error = run_trial(&wrong, None, None).expect_err("must fail");
    assert_eq!("test.sql:2: SQLSTATE 42P01: relation \"nowhere\" does not exist", error.message);
}

#[test]
fn what_does_not_start_within_the_window_is_skipped() {
    let server = server_or_skip!();
    let changes = json!({"window_ns": 180_000_000});
    let outcome = run(&server.trial_spec("SELECT pg_sleep(0.1);", fixed(10, &changes)));
    assert_eq!((2, 8), (count(&outcome, "/units/successful"), count(&outcome, "/units/skipped")));
    let changes = json!({"window_ns": 50_000_000, "drain_limit_ns": 50_000_000});
    let outcome = run(&server.trial_spec("SELECT pg_sleep(30);", fixed(3, &changes)));
    assert_eq!((1, 2), (count(&outcome, "/units/failed_unfinished"), count(&outcome, "/units/skipped")));
    assert_eq!(0.0, number(&outcome, "/throughput_per_s"));
    assert_eq!(0, server.number("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(30)%'"));
}

#[test]
fn failed_units_are_part_of_the_work() {
    let server = server_or_skip!();
    let script = "\\set n random(1, 1000)\nSELECT 1 / (:n % 2);\n";
    let outcome = run(&server.trial_spec(script, fixed(100, &json!({"continue_on_error": true, "clients": 2}))));
    let (successful, failed) = (count(&outcome, "/units/successful"), count(&outcome, "/units/failed_other"));
    assert_eq!((100, successful), (successful + failed, count(&outcome, "/units_with_warm_up")));
    assert!(failed > 20, "{failed} of 100 divisions by zero");
}

#[test]
fn think_times_lie_between_the_units_of_fixed_work_too() {
    let server = server_or_skip!();
    let arrival = json!({"kind": "closed", "think_time_distribution": "uniform",
                         "think_time_min_ns": 10_000_000, "think_time_max_ns": 20_000_000});
    let outcome = run(&server.trial_spec("SELECT 1;", fixed(11, &json!({"arrival": arrival}))));
    let elapsed_ms = number(&outcome, "/elapsed_ns") / 1e6;
    assert!((120.0..300.0).contains(&elapsed_ms), "{elapsed_ms} ms for 10 think times of 10 to 20 ms");
    assert_eq!(11, count(&outcome, "/units/successful"));
}

#[test]
fn a_client_that_warms_up_until_the_work_is_done_has_no_part_in_it() {
    let server = server_or_skip!();
    let script = "SELECT pg_sleep(0.3 * :client_id);\n";
    let changes = json!({"clients": 2, "warm_up_ns": 10_000_000});
    let outcome = run(&server.trial_spec(script, fixed(20, &changes)));
    assert_eq!(20, count(&outcome, "/units/successful"));
    assert!(number(&outcome, "/elapsed_ns") < 2e8, "its unit of 300 ms is none of the 20");
    assert!(count(&outcome, "/units_with_warm_up") > 20);
}

#[test]
fn samples_of_the_wal_end_with_the_work() {
    let server = server_or_skip!();
    let changes = json!({"exposure_period_ns": 10_000_000});
    let outcome = run(&server.trial_spec("SELECT pg_sleep(0.1);", fixed(1, &changes)));
    let samples = outcome["exposure"]["samples"].as_array().expect("samples").len();
    // One at the start and one at the end; on a busy machine the work ends late, and the samples with it.
    let most = number(&outcome, "/elapsed_ns") / 1e7 + 2.0;
    assert!(samples >= 3 && samples as f64 <= most, "{samples} samples in {most} periods");
}
