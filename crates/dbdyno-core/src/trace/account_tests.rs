//! Small traces by hand, each for one rule of the accounts.

use serde_json::Value;

use super::limits::{ROWS_MAX, TEXTS_MAX, UNRESOLVED_MAX};
use super::testing::{assert_adds_up, notes_of, outcome_of};

fn call(kind: &str, cursor: u64, (cpu, elapsed): (u64, u64), depth: u64, tim: u64) -> String {
    format!("{kind} #{cursor}:c={cpu},e={elapsed},p=1,cr=2,cu=3,mis=0,r=1,dep={depth},og=1,plh=7,tim={tim}\n")
}

fn wait(cursor: u64, event: &str, elapsed: u64, parameters: &str, tim: u64) -> String {
    format!("WAIT #{cursor}: nam='{event}' ela= {elapsed} {parameters} obj#=5 tim={tim}\n")
}

fn parsing(cursor: u64, text: &str) -> String {
    format!(
        "PARSING IN CURSOR #{cursor} len={} dep=0 uid=0 oct=3 lid=0 tim=0 hv=1 ad='1'\n{text}\nEND OF STMT\n",
        text.len()
    )
}

fn outcome(parts: &[String]) -> Value {
    let outcome = outcome_of(parts.concat().as_bytes());
    assert_adds_up(&outcome);
    outcome
}

/// In microseconds.
fn us(value: &Value) -> i64 {
    value.as_i64().expect("a number") / 1_000
}

/// CPU, unaccounted within calls, unaccounted.
fn profile(outcome: &Value) -> [i64; 3] {
    let profile = &outcome["scopes"][0]["profile_ns"];
    ["cpu", "unaccounted_within_calls", "unaccounted"].map(|key| us(&profile[key]))
}

#[test]
fn a_lob_call_within_another_call_is_counted_once_and_one_between_calls_too() {
    let lob = |tim| format!("LOBREAD: type=TEMPORARY LOB,bytes=9,c=30,e=100,p=0,cr=1,cu=0,tim={tim}\n");
    let read = || wait(0, "direct path read", 60, "file number=1 first dba=2 block cnt=3", 1_380);
    let within = outcome(&[read(), lob(1_400), call("EXEC", 1, (50, 500), 0, 1_500)]);
    assert_eq!([50, 500 - 50 - 60, 500 - 50 - 60], profile(&within));
    let between =
        outcome(&[call("EXEC", 1, (50, 100), 0, 1_200), read(), lob(1_400), call("EXEC", 1, (50, 90), 0, 1_500)]);
    assert_eq!([130, 290 - 130 - 60, 400 - 130 - 60], profile(&between));
    let lobs = &between["scopes"][0]["lob_calls"][0];
    assert_eq!(
        (Some("LOBREAD"), Some(9), 100),
        (lobs["operation"].as_str(), lobs["lob_bytes"].as_i64(), us(&lobs["elapsed_ns"]))
    );
}

#[test]
fn what_a_failed_parse_has_called_counts_for_nobody_else() {
    let failed = "PARSE ERROR #9:len=5 dep=0 uid=0 oct=3 lid=0 tim=1100 err=942\nselec\n".to_owned();
    let parts = [call("EXEC", 2, (40, 50), 1, 1_050), failed, call("EXEC", 1, (5, 10), 0, 1_200)];
    let failing = outcome(&parts);
    assert_eq!(45, profile(&failing)[0]);
    let rows = failing["scopes"][0]["statements"].as_array().expect("rows");
    let own: Vec<i64> = rows.iter().filter_map(|row| row["calls"]["exec"].get("own_elapsed_ns")).map(us).collect();
    assert_eq!(vec![50, 10], own);
    let error = &failing["scopes"][0]["errors"][0];
    assert_eq!((Some(942), Some(2)), (error["code"].as_i64(), error["line"].as_i64()));
    assert!(notes_of(&failing).is_empty(), "{}", failing["notes"]);
}

#[test]
fn a_missing_caller_does_not_make_its_calls_count_twice() {
    let orphans = outcome(&[call("FETCH", 3, (10, 20), 3, 1_020), call("EXEC", 1, (30, 60), 0, 1_050)]);
    assert_eq!([30, 30, 30], profile(&orphans));
    let longer = outcome(&[call("FETCH", 3, (10, 90_000), 1, 91_000), call("EXEC", 1, (30, 60), 0, 91_050)]);
    assert_eq!(vec!["recursion_longer_than_call"], notes_of(&longer));
}

#[test]
fn a_procedure_called_by_the_client_encloses_what_it_calls() {
    let remote = "RPC CALL:PROCEDURE P\nRPC BINDS:\n bind 0: dty=2\nRPC EXEC:c=70,e=200\n".to_owned();
    let outcome = outcome(&[call("EXEC", 1, (50, 100), 1, 1_100), remote]);
    assert_eq!(70, profile(&outcome)[0]);
    assert_eq!(Some(0), outcome["unknown_lines"]["count"].as_u64());
}

#[test]
fn a_session_of_a_shared_server_keeps_its_accounts_in_every_process() {
    let mark = |process: u64, session: &str| {
        format!("*** [ Unix process pid: {process} ]\n*** SESSION ID:({session}) 2007-10-9 16:21:08.294\n")
    };
    let outcome = outcome(&[
        mark(1, "5.6"),
        call("EXEC", 1, (10, 20), 1, 1_020),
        mark(1, "7.8"),
        call("EXEC", 1, (1, 2), 0, 1_030),
        mark(2, "5.6"),
        call("EXEC", 1, (15, 40), 0, 1_040),
        "*** [ Unix process pid: 1 ]\n".to_owned(),
        call("EXEC", 1, (3, 4), 0, 1_050),
    ]);
    let cpu: Vec<(Option<&str>, i64)> = outcome["scopes"]
        .as_array()
        .expect("scopes")
        .iter()
        .map(|scope| (scope["session"].as_str(), us(&scope["profile_ns"]["cpu"])))
        .collect();
    assert_eq!(vec![(None, 19), (Some("5.6"), 15), (Some("7.8"), 4)], cpu);
}

#[test]
fn waits_without_moments_are_put_end_to_end_before_the_first_call_and_after_the_last() {
    let untold = |event: &str, elapsed: u64| format!("WAIT #1: nam='{event}' ela= {elapsed} p1=1 p2=2 p3=1\n");
    let outcome = outcome(&[
        untold("SQL*Net message from client", 300),
        untold("db file sequential read", 40),
        call("EXEC", 1, (10, 60), 0, 1_000),
        untold("SQL*Net message to client", 5),
        untold("SQL*Net message from client", 700),
    ]);
    assert_eq!(300 + 60 + 705, us(&outcome["scopes"][0]["duration_ns"]));
    assert_eq!([10, 10, 10], profile(&outcome));
    assert_eq!(vec!["unit_assumed", "estimated_wait_times"], notes_of(&outcome));
}

#[test]
fn the_slowest_execution_has_its_binds_and_lines() {
    let binds = |value: u64| {
        format!(
            "BINDS #1:\n Bind#0\n  oacdty=02 mxl=22\n  oacflg=00 fl2=1\n*** 2010-01-15 08:21:16.294\n  value={value}\n"
        )
    };
    let execution = |value, elapsed, tim| {
        binds(value) + &call("EXEC", 1, (1, 10), 0, tim) + &call("FETCH", 1, (1, elapsed), 0, tim + elapsed)
    };
    let outcome =
        outcome(&[parsing(1, "select 1"), execution(7, 20, 2_000), execution(8, 500, 3_000), execution(9, 90, 4_000)]);
    let executions = &outcome["scopes"][0]["statements"][0]["executions"];
    assert_eq!((Some(3), 640), (executions["count"].as_u64(), us(&executions["sum_ns"])));
    let slowest = &executions["slowest"];
    assert_eq!(
        (510, Some(18), Some(12)),
        (us(&slowest["elapsed_ns"]), slowest["line"].as_u64(), slowest["binds_line"].as_u64())
    );
    assert_eq!(Some(" Bind#0\n  oacdty=02 mxl=22\n  value=8\n"), slowest["binds"].as_str());
}

#[test]
fn plans_are_summed_by_shape_and_hash() {
    let stat = |id: u64, rows: u64, name: &str| {
        format!("STAT #1 id={id} cnt={rows} pid={} pos=1 obj=3 op='{name} (cr=2 pr=1 pw=0 time=9 us)'\n", id - 1)
    };
    let set = |rows, name: &str| stat(1, rows, "SORT AGGREGATE") + &stat(2, rows, name);
    let outcome = outcome(&[
        parsing(1, "select 1"),
        call("EXEC", 1, (1, 2), 0, 1_000),
        set(4, "TABLE ACCESS FULL T"),
        set(5, "TABLE ACCESS FULL T"),
        set(1, "INDEX FULL SCAN I"),
    ]);
    let plans = outcome["scopes"][0]["statements"][0]["plans"].as_array().expect("plans");
    let shown: Vec<(u64, u64, i64, i64)> = plans
        .iter()
        .map(|plan| {
            let source = &plan["row_sources"][1];
            let number = |value: &Value| value.as_i64().expect("a number");
            (
                plan["count"].as_u64().expect("a count"),
                plan["line"].as_u64().expect("a line"),
                number(&source["rows"]),
                us(&source["time_ns"]),
            )
        })
        .collect();
    assert_eq!(vec![(2, 5, 9, 18), (1, 9, 1, 9)], shown);
    assert!(plans[0]["row_sources"][1]["starts"].is_null());
}

#[test]
fn files_objects_sizes_and_locks_are_summed_over_their_waits() {
    let outcome = outcome(&[
        wait(1, "db file scattered read", 10, "file#=4 block#=9 blocks=16", 1_000),
        wait(1, "db file scattered read", 30, "file#=4 block#=25 blocks=8", 1_100),
        wait(1, "enq: TX - row lock contention", 70, "name|mode=1415053318 usn<<16 | slot=3 sequence=9", 1_200),
        wait(1, "SQL*Net message from client", 70, "driver id=1 #bytes=1 p3=0", 1_300),
    ]);
    let shown: Vec<String> = outcome["scopes"][0]["targets"]
        .as_array()
        .expect("targets")
        .iter()
        .map(|target| {
            format!(
                "{} {} {} {} {} {}",
                target["by"],
                target["value"],
                target["count"],
                target["blocks"],
                us(&target["sum_ns"]),
                target["slowest_line"]
            )
        })
        .collect();
    let expected = [
        "\"file\" 4 2 24 40 2",
        "\"object\" 5 2 24 40 2",
        "\"request_blocks\" 8 1 8 30 2",
        "\"request_blocks\" 16 1 16 10 1",
        "\"object\" 5 1 0 70 3",
        "\"first_parameter\" 1415053318 1 0 70 3",
    ];
    assert_eq!(expected.to_vec(), shown);
}

#[test]
fn transactions_errors_and_computed_ids_are_there() {
    let outcome = outcome(&[
        parsing(1, "COMMIT"),
        "XCTEND rlbk=0, rd_only=0\nXCTEND rlbk=0, rd_only=1\nXCTEND rlbk=1, rd_only=0, tim=900\n".to_owned(),
        call("EXEC", 1, (1, 2), 0, 1_000),
        "ERROR #1:err=1 tim=1000\nERROR #1:err=1 tim=1000\n".to_owned(),
    ]);
    let scope = &outcome["scopes"][0];
    assert_eq!(
        serde_json::json!({"commits": 1, "rollbacks": 1, "read_only": 1, "first_line": 4, "last_line": 6}),
        scope["transactions"]
    );
    assert_eq!(serde_json::json!([{"statement": 0, "code": 1, "count": 2, "line": 8}]), scope["errors"]);
    let statement = &outcome["statements"][0];
    assert_eq!(
        (Some("8ggw94h7mvxd7"), Some(true)),
        (statement["sql_id"].as_str(), statement["sql_id_is_computed"].as_bool())
    );
}

#[test]
fn carriage_returns_of_a_text_are_its_own_where_the_file_has_none() {
    let text = "select *\r\nfrom dual";
    let own = outcome(&[parsing(1, text)]);
    assert_eq!((Some(text), true), (own["statements"][0]["text"].as_str(), notes_of(&own).is_empty()));
    let of_the_file = outcome_of(parsing(1, "select *\nfrom dual").replace('\n', "\r\n").as_bytes());
    let text = of_the_file["statements"][0]["text"].as_str();
    assert_eq!((Some("select *\nfrom dual"), true), (text, notes_of(&of_the_file).is_empty()));
}

#[test]
fn a_cursor_number_used_again_is_another_statement() {
    let outcome = outcome(&[
        call("FETCH", 1, (5, 6), 0, 1_000),
        parsing(1, "select 1"),
        call("EXEC", 1, (1, 2), 0, 1_100),
        parsing(1, "select 2"),
        call("EXEC", 1, (3, 4), 0, 1_200),
    ]);
    let kinds: Vec<(Option<&str>, Option<&str>)> = outcome["statements"]
        .as_array()
        .expect("statements")
        .iter()
        .map(|statement| (statement["kind"].as_str(), statement["text"].as_str()))
        .collect();
    let expected = [("not_in_trace", ""), ("statement", "select 1"), ("statement", "select 2")];
    assert_eq!(expected.map(|(kind, text)| (Some(kind), Some(text))).to_vec(), kinds);
    assert_eq!(outcome["statements"][1]["structure"], outcome["statements"][2]["structure"]);
    let own: Vec<i64> = outcome["scopes"][0]["statements"]
        .as_array()
        .expect("rows")
        .iter()
        .flat_map(|row| row["calls"].as_object().expect("calls").values())
        .map(|calls| us(&calls["own_cpu_ns"]))
        .collect();
    assert_eq!(vec![5, 1, 3], own);
}

#[test]
fn beyond_the_limits_sums_stay_exact_and_a_note_says_so() {
    let count = TEXTS_MAX as u64 + 50;
    let variants: Vec<String> = (0..count)
        .map(|text| parsing(1, &format!("select {text}")) + &call("EXEC", 1, (1, 2), 0, 1_000 + 10 * text))
        .collect();
    let many = outcome(&variants);
    assert_eq!(count as i64, profile(&many)[0]);
    assert_eq!(vec!["statements_merged", "histograms_missing"], notes_of(&many));
    let kinds = many["statements"].as_array().expect("statements");
    assert_eq!((TEXTS_MAX + 1, Some("variants")), (kinds.len(), kinds[TEXTS_MAX]["kind"].as_str()));
    let cursors: Vec<String> =
        (0..ROWS_MAX as u64).map(|cursor| call("EXEC", cursor, (1, 2), 0, 1_000 + 10 * cursor)).collect();
    let others = outcome(&cursors);
    assert_eq!(ROWS_MAX as i64, profile(&others)[0]);
    assert_eq!(
        Some("others"),
        others["statements"].as_array().expect("statements").last().expect("one")["kind"].as_str()
    );
    let waits: Vec<String> = (0..UNRESOLVED_MAX as u64 + 1)
        .map(|each| wait(1, "db file sequential read", 5, "file#=1 block#=2 blocks=1", 1_000 + 10 * each))
        .collect();
    let elapsed = 10 * UNRESOLVED_MAX as u64 + 100;
    let long = outcome(&[waits.concat(), call("EXEC", 1, (1, elapsed), 0, 1_000 + elapsed)]);
    assert_eq!(elapsed as i64 - 1 - 5 * (UNRESOLVED_MAX as i64 + 1), profile(&long)[1]);
    assert_eq!(vec!["waits_told_by_name"], notes_of(&long));
}
