//! The load engine against a real server: set DBDYNO_TEST_SERVER_BIN to a directory with its programs.

mod server;

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use dbdyno_core::CoreError;
use dbdyno_core::load::{request_stop, run_trial};
use serde_json::{Value, json};
use server::{Server, Setup, take_turn_of};

const SELECT_SCRIPT: &str = "\\set id random(1, 100)\nSELECT id, id + 1 FROM generate_series(:id, :id + 2) AS id;\n";

fn setup() -> Setup {
    Setup {
        settings: &["listen_addresses=", "fsync=off"],
        hba: "local all clear password\nlocal all md5 md5\nlocal all scram scram-sha-256\nlocal all all trust\n",
        ..Setup::default()
    }
}

macro_rules! server_or_skip {
    () => {
        match take_turn_of(setup) {
            Some(server) => server,
            None => return,
        }
    };
}

fn run(spec: &str) -> Value {
    let outcome = run_trial(spec, None, None).unwrap_or_else(|error| panic!("{}: {error}", error.code));
    let outcome: Value = serde_json::from_str(&outcome).expect("JSON");
    reconciles(&outcome);
    outcome
}

fn refused(spec: &str) -> CoreError {
    let error = run_trial(spec, None, None).expect_err("must fail");
    assert!(!error.message.contains('\n'), "more than one line: {error}");
    error
}

fn number(outcome: &Value, pointer: &str) -> f64 {
    outcome.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {pointer}"))
}

fn count(outcome: &Value, pointer: &str) -> u64 {
    outcome.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no count at {pointer}"))
}

/// What holds for every outcome.
fn reconciles(outcome: &Value) {
    let units = |name: &str| count(outcome, &format!("/units/{name}"));
    let classes = ["failed_serialization", "failed_deadlock", "failed_other", "failed_unfinished"];
    assert_eq!(units("failed"), classes.iter().map(|class| units(class)).sum::<u64>());
    for clock in ["response_time", "service_time", "queue_time"] {
        assert_eq!(units("successful"), count(outcome, &format!("/{clock}/count")), "{clock}");
    }
    let sum = |clock: &str| count(outcome, &format!("/{clock}/sum_ns"));
    assert_eq!(sum("response_time"), sum("service_time") + sum("queue_time"));
    let scripts = outcome["scripts"].as_array().expect("scripts");
    assert_eq!(units("successful"), scripts.iter().map(|script| count(script, "/successful")).sum::<u64>());
    let part = |name: &str| outcome["profile"][name].as_i64().unwrap_or(0);
    let waits: i64 =
        outcome["profile"]["waits_ns"].as_object().expect("waits").values().filter_map(Value::as_i64).sum();
    let parts =
        ["queue_ns", "cpu_ns", "run_queue_ns", "asleep_no_wait_event_ns", "client_and_network_ns", "unaccounted_ns"];
    assert_eq!(part("total_ns"), waits + parts.iter().map(|name| part(name)).sum::<i64>());
}

#[test]
fn a_closed_loop_keeps_every_client_busy() {
    let server = server_or_skip!();
    for (mode, threads) in [("prepared", 1), ("extended", 2), ("simple", 2)] {
        let changes = json!({"mode": mode, "threads": threads, "clients": 4});
        let outcome = run(&server.trial_spec(SELECT_SCRIPT, changes));
        let units = count(&outcome, "/units/successful");
        assert!(units > 100, "{mode}: only {units} units");
        assert_eq!(3 * units, count(&outcome, "/scripts/0/statements/0/rows"), "{mode}: three rows a unit");
        assert!((3.5..=4.0).contains(&number(&outcome, "/mean_in_flight")), "{mode}");
        let little =
            number(&outcome, "/throughput_per_s") * number(&outcome, "/response_time/sum_ns") / units as f64 / 1e9;
        // Short windows on a busy machine: the clients' spans differ by whole scheduling delays.
        assert!((3.2..=4.8).contains(&little), "{mode}: {little} in flight by Little's law");
        assert_eq!(0, count(&outcome, "/units/late"));
        assert_eq!(threads, count(&outcome, "/driver/threads"));
        assert!(count(&outcome, "/driver/cpu_ns") > 0);
        assert!((1 << 20..1 << 30).contains(&count(&outcome, "/driver/memory_bytes_max")));
        assert!(count(&outcome, "/units_with_warm_up") > units, "{mode}: the warm-up has units, too");
        assert!(outcome["fixed_units"].is_null());
    }
}

#[test]
fn statements_are_timed_apart() {
    let server = server_or_skip!();
    let script = "SELECT pg_sleep(0.01);\n\\sleep 5 ms\nSELECT 1;\n";
    let outcome = run(&server.trial_spec(script, json!({})));
    let mean = |pointer: &str| {
        number(&outcome, &format!("{pointer}/sum_ns")) / number(&outcome, &format!("{pointer}/count")) / 1e6
    };
    let (slow, fast) = (mean("/scripts/0/statements/0/service_time"), mean("/scripts/0/statements/1/service_time"));
    assert!((10.0..14.0).contains(&slow), "{slow} ms");
    assert!(fast < 4.0, "{fast} ms");
    assert!(mean("/service_time") >= slow + fast + 5.0, "the sleep belongs to the unit");
}

#[test]
fn units_without_sql_come_to_an_end_too() {
    let server = server_or_skip!();
    let open = json!({"kind": "open", "process": "constant", "start_per_s": 1e8, "end_per_s": 1e8});
    for arrival in [json!({"kind": "closed"}), open] {
        let changes =
            json!({"arrival": arrival, "warm_up_ns": 0, "window_ns": 50_000_000, "drain_limit_ns": 50_000_000});
        let outcome = run(&server.trial_spec("\\set x 1\n", changes));
        assert!(count(&outcome, "/units/successful") > 100);
    }
}

#[test]
fn think_time_lies_between_units() {
    let server = server_or_skip!();
    let changes = json!({"arrival": {"kind": "closed", "think_time_ns": 10_000_000}, "window_ns": 500_000_000});
    let outcome = run(&server.trial_spec("SELECT 1;", changes));
    let units = count(&outcome, "/units/successful");
    assert!((20..=100).contains(&units), "{units} units of 2 clients in 50 think times");
    assert!(number(&outcome, "/mean_in_flight") < 1.0);
}

#[test]
fn a_think_time_belongs_to_each_unit_the_last_one_too() {
    let server = server_or_skip!();
    for (distribution, mean_ms, limits_ms) in [("uniform", 0, (10, 50)), ("exponential", 30, (0, 1000))] {
        let arrival = json!({"kind": "closed", "think_time_ns": mean_ms * 1_000_000, "think_time_distribution": distribution,
                             "think_time_min_ns": limits_ms.0 * 1_000_000, "think_time_max_ns": limits_ms.1 * 1_000_000});
        let changes = json!({"arrival": arrival, "clients": 50, "window_ns": 400_000_000});
        let outcome = run(&server.trial_spec("SELECT 1;", changes));
        let units = number(&outcome, "/units/successful");
        let mean_response_s = number(&outcome, "/response_time/sum_ns") / units / 1e9;
        // By the interactive response time law. Some 650 exponential think times give their mean to 4 %.
        let expected = 50.0 / (0.030 + mean_response_s);
        let ratio = number(&outcome, "/throughput_per_s") / expected;
        assert!((0.84..1.16).contains(&ratio), "{distribution}: {ratio} of what it must be");
    }
}

#[test]
fn scripts_draw_the_same_whatever_the_think_time() {
    let server = server_or_skip!();
    let mut runs = Vec::new();
    for think_time in ["constant", "exponential"] {
        server.sql(DRAWN_TABLE);
        let arrival = json!({"kind": "closed", "think_time_ns": 1_000_000, "think_time_distribution": think_time});
        run(&server.trial_spec(DRAW_SCRIPT, json!({"arrival": arrival})));
        runs.push(inserted(&server));
    }
    assert_eq!(runs[0]["1"][..20], runs[1]["1"][..20]);
}

#[test]
fn clients_connect_evenly_over_the_ramp() {
    let server = server_or_skip!();
    server.sql("DROP TABLE IF EXISTS begun; CREATE TABLE begun (client int, at timestamptz)");
    let script =
        "INSERT INTO begun SELECT :client_id, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid();\n";
    let changes = json!({"clients": 5, "threads": 2, "connect_ramp_ns": 500_000_000});
    run(&server.trial_spec(script, changes));
    let rows = server
        .sql("SELECT DISTINCT client, extract(epoch FROM at - min(at) OVER ()) * 1000 FROM begun ORDER BY client");
    let after_first_ms: Vec<f64> =
        rows.iter().map(|row| row[1].as_ref().expect("a time").parse().expect("a number")).collect();
    assert_eq!(5, after_first_ms.len());
    for (client, at_ms) in after_first_ms.iter().enumerate() {
        let late_ms = at_ms - 100.0 * client as f64;
        assert!((-60.0..95.0).contains(&late_ms), "client {client} connected after {at_ms} ms");
    }
}

#[test]
fn an_open_loop_starts_what_is_due() {
    let server = server_or_skip!();
    for threads in [1, 2] {
        let arrival = json!({"kind": "open", "process": "constant", "start_per_s": 500, "end_per_s": 500});
        let changes = json!({"arrival": arrival, "window_ns": 400_000_000, "threads": threads, "clients": 4});
        let outcome = run(&server.trial_spec("SELECT 1;", changes));
        let units = count(&outcome, "/units/successful");
        assert!(units.abs_diff(200) <= threads, "{units} of 200 units");
        assert!((number(&outcome, "/throughput_per_s") - 500.0).abs() < 100.0);
    }
}

#[test]
fn a_window_shorter_than_the_pauses_at_its_edges_ends() {
    let server = server_or_skip!();
    let waits = json!({"route": "off", "postmaster_pid": server.postmaster_pid()});
    for arrival in [
        json!({"kind": "closed"}),
        json!({"kind": "open", "process": "poisson", "start_per_s": 3000, "end_per_s": 3000}),
    ] {
        let changes = json!({"arrival": arrival, "waits": waits, "window_ns": 100_000, "clients": 8, "threads": 2});
        let spec = server.trial_spec("SELECT 1;", changes);
        for _ in 0..10 {
            let started = Instant::now();
            run(&spec);
            assert!(started.elapsed() < Duration::from_secs(10), "waited for the drain limit");
        }
    }
}

#[test]
fn a_stall_shows_as_the_late_units_it_caused() {
    let server = server_or_skip!();
    server.sql("DROP TABLE IF EXISTS stalled; CREATE TABLE stalled AS SELECT 1 AS id");
    let arrival = json!({"kind": "open", "process": "poisson", "start_per_s": 1000, "end_per_s": 1000});
    let changes = json!({"arrival": arrival, "window_ns": 3_000_000_000_u64, "clients": 8});
    let spec = server.trial_spec("SELECT id FROM stalled;", changes);
    let outcome = thread::scope(|scope| {
        let trial = scope.spawn(|| run(&spec));
        thread::sleep(Duration::from_millis(700));
        server.sql("BEGIN; LOCK TABLE stalled; SELECT pg_sleep(1); COMMIT");
        trial.join().expect("no panic")
    });
    let late = count(&outcome, "/units/late");
    // About 1000 arrive during the stall, and those behind them wait until the backlog is gone.
    assert!((900..=2000).contains(&late), "{late} late units");
    assert!(count(&outcome, "/units/successful") > 2700);
    let mean_queue_ms = number(&outcome, "/queue_time/sum_ns") / number(&outcome, "/queue_time/count") / 1e6;
    assert!(mean_queue_ms > 100.0, "{mean_queue_ms} ms; a third waits half a second on average");
}

#[test]
fn units_over_the_latency_limit_are_late_and_run_all_the_same() {
    let server = server_or_skip!();
    let arrival = json!({"kind": "open", "process": "constant", "start_per_s": 100, "end_per_s": 100});
    let changes = json!({"arrival": arrival, "clients": 1, "window_ns": 300_000_000, "latency_limit_ns": 15_000_000});
    let outcome = run(&server.trial_spec("SELECT pg_sleep(0.03);", changes));
    let units = count(&outcome, "/units/successful");
    assert!(units.abs_diff(30) <= 1, "{units} of 30 units");
    assert_eq!((units, 0), (count(&outcome, "/units/late"), count(&outcome, "/units/skipped")));
    let last_queue_ms = (number(&outcome, "/elapsed_ns") - number(&outcome, "/window_ns")) / 1e6;
    assert!(last_queue_ms > 500.0, "30 units of 30 ms arrive in 300 ms: the last one waits, {last_queue_ms} ms");
}

#[test]
fn what_the_drain_limit_cuts_off_is_counted() {
    let server = server_or_skip!();
    let arrival = json!({"kind": "open", "process": "constant", "start_per_s": 100, "end_per_s": 100});
    let changes = json!({"arrival": arrival, "clients": 1, "window_ns": 100_000_000, "drain_limit_ns": 100_000_000});
    let outcome = run(&server.trial_spec("SELECT pg_sleep(30);", changes));
    assert_eq!(0, count(&outcome, "/units/successful"));
    let units = count(&outcome, "/units/failed_unfinished") + count(&outcome, "/units/skipped");
    assert!(units.abs_diff(10) <= 1, "{units} of 10 units");
    assert_eq!(0, server.number("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(30)%'"));
}

#[test]
fn pipelines_wait_once() {
    let server = server_or_skip!();
    let script =
        "\\startpipeline\nSELECT 1;\nSELECT 2;\n\\syncpipeline\nSELECT pg_sleep(0.01);\nSELECT 3;\n\\endpipeline\n";
    for mode in ["extended", "prepared"] {
        let outcome = run(&server.trial_spec(script, json!({"mode": mode})));
        let units = count(&outcome, "/units/successful");
        assert!(units > 0);
        for statement in 0..4 {
            let pointer = format!("/scripts/0/statements/{statement}/rows");
            assert_eq!(units, count(&outcome, &pointer), "{mode}: statement {statement}");
        }
        let slow = number(&outcome, "/scripts/0/statements/2/service_time/sum_ns") / units as f64;
        assert!(slow >= 1e7, "{mode}: a statement ends when its answer comes");
    }
}

#[test]
fn results_go_into_variables() {
    let server = server_or_skip!();
    for mode in ["simple", "extended", "prepared"] {
        server.sql("DROP TABLE IF EXISTS captured; CREATE TABLE captured (a int, b text)");
        let script = "SELECT 20 AS a, NULL AS b \\gset one_\nSELECT 1 AS a, 'x''y' AS t UNION ALL SELECT 2, 'last' \\aset all_\n\
                      INSERT INTO captured VALUES (:one_a::int + :all_a::int, :one_b);\n";
        run(&server.trial_spec(script, json!({"mode": mode, "clients": 1})));
        let rows = server.sql("SELECT DISTINCT a, b FROM captured");
        let outcome =
            run(&server.trial_spec("SELECT 7 AS a, NULL AS b \\gset of_\n", json!({"mode": mode, "clients": 1})));
        assert_eq!(json!({"of_a": "7", "of_b": null}), outcome["captured"], "{mode}");
        assert_eq!(vec![vec![Some("22".to_owned()), None]], rows, "{mode}");
        let error = refused(&server.trial_spec("SELECT 1 AS a WHERE false \\gset\n", json!({"mode": mode})));
        assert_eq!("script_runtime", error.code);
        assert_eq!("test.sql:1: \\gset takes exactly one row, the query gave 0", error.message);
    }
}

/// The values that each client inserted, in order.
fn inserted(server: &Server) -> HashMap<String, Vec<String>> {
    let mut values: HashMap<String, Vec<String>> = HashMap::new();
    for row in server.sql("SELECT client, value FROM drawn ORDER BY client, position") {
        let [Some(client), Some(value)] = row.as_slice() else { panic!("no nulls") };
        values.entry(client.clone()).or_default().push(value.clone());
    }
    values
}

const DRAW_SCRIPT: &str =
    "\\set value random(1, 1000000000)\nINSERT INTO drawn (client, value) VALUES (:client_id, :value);\n";
const DRAWN_TABLE: &str = "DROP TABLE IF EXISTS drawn; CREATE TABLE drawn (position serial, client int, value int)";

#[test]
fn the_same_seed_gives_each_client_the_same_values() {
    let server = server_or_skip!();
    let mut runs = Vec::new();
    for clients in [2, 3] {
        server.sql(DRAWN_TABLE);
        run(&server.trial_spec(DRAW_SCRIPT, json!({"clients": clients, "threads": clients - 1})));
        runs.push(inserted(&server));
    }
    for client in ["0", "1"] {
        let common = runs[0][client].len().min(runs[1][client].len());
        assert!(common > 20);
        assert_eq!(runs[0][client][..common], runs[1][client][..common], "client {client}");
    }
    assert_ne!(runs[0]["0"][0], runs[0]["1"][0]);
}

#[test]
fn the_values_are_those_of_pgbench() {
    let server = server_or_skip!();
    server.sql(DRAWN_TABLE);
    run(&server.trial_spec(DRAW_SCRIPT, json!({})));
    let ours = inserted(&server);
    server.sql(DRAWN_TABLE);
    let script = server.directory.join("draw.sql");
    std::fs::write(&script, DRAW_SCRIPT).expect("a script");
    let status = std::process::Command::new(server.binaries.join("pgbench"))
        .arg("-h")
        .arg(&server.directory)
        .args(["-U", "dyno", "-n", "-c", "2", "-t", "20", "--random-seed=42", "-f"])
        .arg(&script)
        .arg("postgres")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    assert!(status.expect("pgbench runs").success());
    let theirs = inserted(&server);
    for client in ["0", "1"] {
        assert_eq!(theirs[client], ours[client][..20], "client {client}");
    }
}

const CONTENDED_SCRIPT: &str = "\\set value random(1, 1000000000)\nBEGIN ISOLATION LEVEL REPEATABLE READ;\n\
    UPDATE contended SET n = n + 1;\nINSERT INTO drawn (client, value) VALUES (:client_id, :value);\nEND;\n";

#[test]
fn serialization_failures_are_retried_with_the_same_values() {
    let server = server_or_skip!();
    server.sql("DROP TABLE IF EXISTS contended; CREATE TABLE contended AS SELECT 0 AS n");
    for mode in ["simple", "prepared"] {
        server.sql(DRAWN_TABLE);
        run(&server.trial_spec(CONTENDED_SCRIPT, json!({"clients": 1})));
        let alone = inserted(&server);
        server.sql(DRAWN_TABLE);
        server.sql("UPDATE contended SET n = 0");
        let outcome = run(&server.trial_spec(CONTENDED_SCRIPT, json!({"clients": 4, "max_tries": 1000, "mode": mode})));
        assert!(count(&outcome, "/units/retried") > 0, "{mode}: nothing was retried");
        assert_eq!(0, count(&outcome, "/units/failed"));
        let together = inserted(&server);
        let common = alone["0"].len().min(together["0"].len());
        assert!(common > 5);
        assert_eq!(alone["0"][..common], together["0"][..common], "{mode}");
        assert_eq!(server.number("SELECT n FROM contended"), server.number("SELECT count(*) FROM drawn"));
    }
}

#[test]
fn failures_are_counted_by_class() {
    let server = server_or_skip!();
    server.sql("DROP TABLE IF EXISTS contended; CREATE TABLE contended AS SELECT 0 AS n");
    server.sql(DRAWN_TABLE);
    let outcome = run(&server.trial_spec(CONTENDED_SCRIPT, json!({"clients": 4})));
    assert!(count(&outcome, "/units/failed_serialization") > 0);
    assert_eq!(count(&outcome, "/units/failed"), count(&outcome, "/units/failed_serialization"));
    let script = "BEGIN;\nSELECT 1 / (:client_id - 1);\nEND;\n";
    for mode in ["simple", "extended", "prepared"] {
        let outcome = run(&server.trial_spec(script, json!({"continue_on_error": true, "mode": mode})));
        assert!(count(&outcome, "/units/failed_other") > 0, "{mode}");
        assert!(count(&outcome, "/units/successful") > 0, "{mode}");
    }
}

#[test]
fn an_error_in_a_pipeline_fails_its_unit_only() {
    let server = server_or_skip!();
    let script =
        "\\startpipeline\nBEGIN;\nSELECT 1 / (:client_id - 1);\n\\syncpipeline\nSELECT 2;\nEND;\n\\endpipeline\n";
    let outcome = run(&server.trial_spec(script, json!({"continue_on_error": true})));
    assert!(count(&outcome, "/units/failed_other") > 0);
    assert!(count(&outcome, "/units/successful") > 0);
}

#[test]
fn sql_errors_name_the_place_and_the_servers_words() {
    let server = server_or_skip!();
    for mode in ["simple", "extended", "prepared"] {
        let error = refused(&server.trial_spec("SELECT 1;\n\nSELECT nothing FROM nowhere;\n", json!({"mode": mode})));
        assert_eq!("sql_error", error.code);
        assert_eq!("test.sql:3: SQLSTATE 42P01: relation \"nowhere\" does not exist", error.message);
    }
    let error = refused(&server.trial_spec("SELECT 1;", json!({"session_sql": ["SET nonsense = 1"]})));
    assert_eq!("sql_error", error.code);
    assert!(error.message.starts_with("session_sql \"SET nonsense = 1\": SQLSTATE 42704"), "{error}");
    let error = refused(&server.trial_spec("\\set x 1 / 0\nSELECT 1;\n", json!({})));
    assert_eq!(("script_runtime", "test.sql:1: division by zero"), (error.code, error.message.as_str()));
    let error = refused(&server.trial_spec("COPY pg_class TO STDOUT;\n", json!({})));
    assert!(error.message.contains("COPY"), "{error}");
}

#[test]
fn session_settings_hold_on_every_connection() {
    let server = server_or_skip!();
    server.sql("DROP TABLE IF EXISTS settings; CREATE TABLE settings (value text)");
    let script = "INSERT INTO settings VALUES (current_setting('synchronous_commit'));\n";
    run(&server.trial_spec(script, json!({"session_sql": ["SET synchronous_commit = 'local'"], "clients": 3})));
    let rows = server.sql("SELECT DISTINCT value FROM settings");
    assert_eq!(vec![vec![Some("local".to_owned())]], rows);
}

#[test]
fn passwords_are_given_as_the_server_asks_for_them() {
    let server = server_or_skip!();
    for (role, encryption) in [("clear", "scram-sha-256"), ("md5", "md5"), ("scram", "scram-sha-256")] {
        server.sql(&format!("SET password_encryption = '{encryption}'; DROP ROLE IF EXISTS {role}; CREATE ROLE {role} LOGIN PASSWORD 'open sesame'"));
        let spec = server.trial_spec("SELECT 1;", json!({"target": server.target_json(role), "window_ns": 10_000_000}));
        assert!(run_trial(&spec, Some("open sesame"), None).is_ok(), "{role}");
        for password in [None, Some("secret guess")] {
            let error = run_trial(&spec, password, None).expect_err("must be refused");
            assert_eq!("authentication_failed", error.code, "{role}");
            assert!(error.message.contains(role) && !error.message.contains("guess"), "{error}");
        }
    }
}

#[test]
fn unreachable_servers_are_one_line() {
    let server = server_or_skip!();
    let mut target = server.target_json("dyno");
    target["port"] = json!(1);
    let error = refused(&server.trial_spec("SELECT 1;", json!({"target": target})));
    assert_eq!("unreachable", error.code);
    let mut target = server.target_json("dyno");
    target["dbname"] = json!("absent");
    let error = refused(&server.trial_spec("SELECT 1;", json!({"target": target})));
    assert!(error.message.ends_with("check dbname"), "{error}");
    let error = refused(&server.trial_spec("SELECT 1;", json!({"clients": 100})));
    assert!(error.message.contains("use fewer clients"), "{error}");
}

#[test]
fn a_lost_connection_ends_the_trial() {
    let server = server_or_skip!();
    let spec = server.trial_spec("SELECT 1;", json!({"window_ns": 20_000_000_000_u64}));
    let error = thread::scope(|scope| {
        let trial = scope.spawn(|| refused(&spec));
        thread::sleep(Duration::from_millis(300));
        server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dbdyno' AND pid <> pg_backend_pid()");
        trial.join().expect("no panic")
    });
    assert_eq!("connection_lost", error.code, "{error}");
}

#[test]
fn a_stop_ends_the_trial_and_its_sessions() {
    let server = server_or_skip!();
    let spec = server.trial_spec("SELECT pg_sleep(30);", json!({"window_ns": 20_000_000_000_u64}));
    let error = thread::scope(|scope| {
        let trial = scope.spawn(|| refused(&spec));
        thread::sleep(Duration::from_millis(300));
        request_stop();
        trial.join().expect("no panic")
    });
    assert_eq!("interrupted", error.code);
    assert_eq!(0, server.number("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(30)%'"));
    assert!(run(&server.trial_spec("SELECT 1;", json!({}))).is_object(), "the request is used up");
}

#[test]
fn planted_sleeps_are_found_in_the_profile() {
    let server = server_or_skip!();
    let waits = json!({"route": "auto", "postmaster_pid": server.postmaster_pid()});
    let outcome =
        run(&server.trial_spec("SELECT pg_sleep(0.02);", json!({"waits": waits, "window_ns": 1_000_000_000})));
    let sleeping_ms =
        number(&outcome, "/profile/waits_ns/Timeout:PgSleep") / number(&outcome, "/units/successful") / 1e6;
    assert!((19.0..=21.0).contains(&sleeping_ms), "{sleeping_ms} ms: {}", outcome["profile"]);
    assert!(outcome["profile"]["cpu_ns"].is_u64());
}

#[test]
fn exposure_is_sampled_over_the_window() {
    let server = server_or_skip!();
    server.sql(DRAWN_TABLE);
    let outcome = run(&server.trial_spec(DRAW_SCRIPT, json!({"exposure_period_ns": 10_000_000})));
    let samples = outcome["exposure"]["samples"].as_array().expect("samples");
    assert!((10..=21).contains(&samples.len()), "{} samples in 20 periods", samples.len());
    for pair in samples.windows(2) {
        assert!(pair[0][0].as_u64() < pair[1][0].as_u64() && pair[0][1].as_u64() <= pair[1][1].as_u64());
    }
    assert!(samples.iter().all(|sample| sample[2].as_u64() <= sample[1].as_u64()));
    assert!(run(&server.trial_spec("SELECT 1;", json!({})))["exposure"]["samples"].is_null());
}
