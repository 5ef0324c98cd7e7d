//! Results fetched in portions, against a real server.

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

fn run(spec: &str) -> Value {
    let outcome = run_trial(spec, None, None).unwrap_or_else(|error| panic!("{}: {error}", error.code));
    serde_json::from_str(&outcome).expect("JSON")
}

fn work(units: u64, mode: &str, fetch_rows: impl Into<Value>) -> Value {
    json!({"fixed_units": units, "warm_up_ns": 0, "window_ns": 60_000_000_000_u64, "clients": 1, "mode": mode,
           "fetch_rows": fetch_rows.into()})
}

fn count(outcome: &Value, pointer: &str) -> u64 {
    outcome.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no count at {pointer}"))
}

const ROWS: &str = "/scripts/0/statements/0/rows";
const AFFECTED: &str = "/scripts/0/statements/0/rows_affected";

#[test]
fn any_portion_gives_all_rows() {
    let server = server_or_skip!();
    let script = "SELECT id, repeat('x', 100) FROM generate_series(1, 2100) AS id;\nSELECT 1 WHERE false;\n";
    for mode in ["prepared", "extended"] {
        for rows in [Value::Null, json!(1), json!(7), json!(1000), json!(2100), json!(i32::MAX)] {
            let outcome = run(&server.trial_spec(script, work(3, mode, rows.clone())));
            assert_eq!(3, count(&outcome, "/units/successful"), "{mode}, {rows} rows a fetch");
            assert_eq!(3 * 2100, count(&outcome, ROWS), "{mode}, {rows} rows a fetch");
            assert_eq!(3, count(&outcome, "/scripts/0/statements/0/service_time/count"), "one service time");
            assert_eq!(0, count(&outcome, "/scripts/0/statements/1/rows"));
            assert_eq!(0, count(&outcome, AFFECTED));
        }
    }
}

#[test]
fn what_was_changed_is_counted_once_however_it_is_fetched() {
    let server = server_or_skip!();
    server.sql("DROP TABLE IF EXISTS changed; CREATE TABLE changed AS SELECT id FROM generate_series(1, 12) AS id");
    for (mode, rows) in
        [("prepared", json!(5)), ("prepared", json!(4)), ("extended", json!(100)), ("simple", Value::Null)]
    {
        let returning = "UPDATE changed SET id = id RETURNING id;\nUPDATE changed SET id = id;\n";
        let outcome = run(&server.trial_spec(returning, work(2, mode, rows.clone())));
        assert_eq!((24, 24), (count(&outcome, ROWS), count(&outcome, AFFECTED)), "{mode}, {rows} rows a fetch");
        let second = |key: &str| count(&outcome, &format!("/scripts/0/statements/1/{key}"));
        assert_eq!((0, 24), (second("rows"), second("rows_affected")), "{mode}, {rows} rows a fetch");
    }
}

#[test]
fn a_statement_has_committed_when_it_has_completed() {
    let server = server_or_skip!();
    server.sql("DROP TABLE IF EXISTS slow; CREATE TABLE slow (id int); \
                CREATE OR REPLACE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.02); RETURN NULL; END'; \
                CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()");
    for rows in [Value::Null, json!(1)] {
        let outcome = run(&server.trial_spec("INSERT INTO slow VALUES (1) RETURNING id;", work(2, "prepared", rows)));
        assert!(
            count(&outcome, "/scripts/0/statements/0/service_time/sum_ns") >= 40_000_000,
            "the commit is part of it"
        );
    }
    assert_eq!(4, server.number("SELECT count(*) FROM slow"));
}

#[test]
fn portions_work_in_transactions_and_with_captured_results() {
    let server = server_or_skip!();
    server.sql("DROP TABLE IF EXISTS captured; CREATE TABLE captured (a int)");
    let script = "BEGIN;\nSELECT id FROM generate_series(1, 10) AS id;\nSELECT 42 AS a \\gset\nSELECT id AS last FROM generate_series(1, 9) AS id \\aset\n\
                  INSERT INTO captured VALUES (:a::int + :last::int);\nEND;\n";
    for mode in ["prepared", "extended"] {
        let outcome = run(&server.trial_spec(script, work(1, mode, 4)));
        assert_eq!(10, count(&outcome, "/scripts/0/statements/1/rows"), "{mode}");
        assert_eq!(9, count(&outcome, "/scripts/0/statements/3/rows"), "{mode}");
    }
    assert_eq!(vec![vec![Some("51".to_owned())], vec![Some("51".to_owned())]], server.sql("SELECT a FROM captured"));
}

#[test]
fn an_error_between_two_portions_fails_the_unit_only() {
    let server = server_or_skip!();
    let script = "SELECT 1 / (8 - id) FROM generate_series(1, 10) AS id;\n";
    for mode in ["prepared", "extended"] {
        let mut changes = work(3, mode, 3);
        let error = run_trial(&server.trial_spec(script, changes.clone()), None, None).expect_err("must fail");
        assert_eq!("test.sql:1: SQLSTATE 22012: division by zero", error.message);
        changes["continue_on_error"] = json!(true);
        let outcome = run(&server.trial_spec(script, changes));
        assert_eq!((0, 3), (count(&outcome, "/units/successful"), count(&outcome, "/units/failed_other")), "{mode}");
    }
}

#[test]
fn between_portions_the_server_waits_for_the_client() {
    let server = server_or_skip!();
    let waits = json!({"route": "auto", "postmaster_pid": server.postmaster_pid()});
    let mut changes = work(1, "prepared", 1);
    changes["waits"] = waits;
    let outcome = run(&server.trial_spec("SELECT id FROM generate_series(1, 20000) AS id;", changes));
    assert_eq!(20_000, count(&outcome, ROWS));
    let (client_ns, total_ns) =
        (count(&outcome, "/profile/client_and_network_ns"), count(&outcome, "/profile/total_ns"));
    assert!(client_ns * 10 > total_ns, "{client_ns} of {total_ns} ns: {}", outcome["profile"]);
}

#[test]
fn a_pipeline_is_refused_by_name() {
    let server = server_or_skip!();
    let script = "SELECT 1;\n\\startpipeline\nSELECT 1;\n\\endpipeline\n";
    let error = run_trial(&server.trial_spec(script, work(1, "prepared", 7)), None, None).expect_err("must fail");
    assert_eq!("script_runtime", error.code);
    assert!(
        error.message.starts_with("test.sql:2: \\startpipeline") && error.message.contains("fetch_rows"),
        "{error}"
    );
}
