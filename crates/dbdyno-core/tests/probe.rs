//! Planted truths: sessions that do a known thing, seen from outside by every route.

mod server;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dbdyno_core::load::{BackendClocks, Observer, Phase, PhaseCell, WaitsSpec};
use dbdyno_core::probe::{
    ACTIVITY_SQL, Activity, BackgroundProcess, ClientCounts, Probe, ProbeOutcome, Route, Snapshots, SqlWaits, Timeline,
    WaitNames, attach,
};
use server::{Server, Session, is_root, take_turn};

const WINDOW: Duration = Duration::from_millis(500);

/// From sending a statement to its being under way, on a busy machine.
const SETTLE: Duration = Duration::from_millis(200);

const SPIN: &str = "do $$ declare until timestamptz := clock_timestamp() + '1 hour'; \
                    begin while clock_timestamp() < until loop end loop; end $$";

fn spec(route: &str, server: &Server) -> WaitsSpec {
    WaitsSpec {
        route: route.to_owned(),
        postmaster_pid: Some(server.postmaster_pid()),
        period_ns: Some(1_000_000),
        budget: 0.25,
    }
}

/// Every route that can work for this user; the kernel lets only root map another process's memory.
fn routes() -> Vec<&'static str> {
    let others = ["contiguous", "mem", "sql"];
    if is_root() { [&["mapped"][..], &others].concat() } else { others.to_vec() }
}

fn sql_over(mut session: Session) -> SqlWaits {
    Box::new(move || {
        let rows = session.rows(ACTIVITY_SQL);
        let row = |line: String| {
            let given = |column: &str| (!column.is_empty()).then(|| column.to_owned());
            Activity::from_row(&line.split('|').map(given).collect::<Vec<_>>()).expect("a process id")
        };
        Ok(rows.into_iter().map(row).collect())
    })
}

fn phases(clients: usize, phase: Phase) -> Arc<[PhaseCell]> {
    let cells: Arc<[PhaseCell]> = (0..clients).map(|_| PhaseCell::default()).collect();
    for cell in cells.iter() {
        match phase {
            Phase::InUnit => cell.begin_unit(),
            phase => cell.set(phase),
        }
    }
    cells
}

fn attach_to(server: &Server, route: &str, clients: &[&Session], phases: Arc<[PhaseCell]>) -> Probe {
    let pids: Vec<i32> = clients.iter().map(|session| session.pid).collect();
    let probe = attach(&spec(route, server), &pids, phases, Some(sql_over(server.session()))).unwrap();
    assert_eq!(probe.route().to_string(), route);
    probe
}

fn timeline() -> Timeline {
    Timeline { start_ns: 0, chunk_ns: 1 << 40, step_ns: 1 << 40 }
}

struct Watched {
    outcome: ProbeOutcome,
    /// (CPU, run queue) of each client meanwhile.
    clocks: Vec<(u64, u64)>,
    elapsed_ns: u64,
}

fn watch(probe: Probe, clients: usize, time: Duration) -> Watched {
    let read = |probe: &Probe| -> Vec<BackendClocks> {
        (0..clients).map(|client| probe.read_clocks(client).expect("the server is on this host")).collect()
    };
    let started = Instant::now();
    let before = read(&probe);
    probe.start(timeline(), None);
    sleep(time);
    let after = read(&probe);
    let elapsed_ns = started.elapsed().as_nanos() as u64;
    let spent = |(a, b): (&BackendClocks, &BackendClocks)| (b.cpu_ns - a.cpu_ns, b.run_queue_ns - a.run_queue_ns);
    Watched { outcome: probe.finish(), clocks: before.iter().zip(&after).map(spent).collect(), elapsed_ns }
}

/// What looks have found of one client's backend, by name.
#[derive(Debug, Default, PartialEq)]
struct Found {
    /// "" for no event.
    asleep_in_unit: BTreeMap<String, u64>,
    running_in_unit: u64,
    at_rest: u64,
    between_units: Snapshots,
}

fn found(outcome: &ProbeOutcome) -> Vec<Found> {
    let clients = outcome.swept.iter().flat_map(|swept| &swept.closed.clients);
    let of = |client: &ClientCounts| {
        let named = |(event, snapshots): (usize, Snapshots)| (outcome.events[event].clone(), snapshots.asleep);
        let total = client.in_unit.total();
        Found {
            asleep_in_unit: client.in_unit.iter().map(named).filter(|(_, asleep)| *asleep > 0).collect(),
            running_in_unit: total.looked - total.asleep,
            at_rest: client.at_rest,
            between_units: client.between_units,
        }
    };
    clients.map(of).collect()
}

/// Of the looks within units that found the backend asleep: those with this event ("" for none).
fn share_asleep(event: &str, client: &Found) -> f64 {
    let count = client.asleep_in_unit.get(event).copied().unwrap_or(0);
    count as f64 / client.asleep_in_unit.values().sum::<u64>() as f64
}

/// Of all looks: those that found the backend running. A loaded machine runs it a little more.
fn share_running(client: &Found) -> f64 {
    let asleep = client.asleep_in_unit.values().sum::<u64>() + client.at_rest + client.between_units.asleep;
    let running = client.running_in_unit + client.between_units.looked - client.between_units.asleep;
    running as f64 / (asleep + running) as f64
}

#[test]
fn sleep_spin_and_row_lock_are_seen_as_what_they_are() {
    let Some(server) = take_turn() else { return };
    let [mut sleeper, mut spinner, mut waiter, mut holder] = [(); 4].map(|()| server.session());
    for route in routes() {
        holder.rows("drop table if exists t; create table t as select 1 as a; begin; update t set a = 2");
        let cells = phases(4, Phase::InUnit);
        let probe = attach_to(&server, route, &[&sleeper, &spinner, &waiter, &holder], cells);
        sleeper.send("select pg_sleep(1000)");
        spinner.send(SPIN);
        waiter.send("update t set a = 3");
        sleep(SETTLE);
        let Watched { outcome, clocks, elapsed_ns } = watch(probe, 4, WINDOW);
        let seen = found(&outcome);
        for (client, event) in [(0, "Timeout:PgSleep"), (2, "Lock:transactionid"), (3, "Client:ClientRead")] {
            assert_eq!(share_asleep(event, &seen[client]), 1.0, "{route}: {seen:?}");
            assert!(share_running(&seen[client]) < 0.25, "{route}: {seen:?}");
        }
        assert!(share_running(&seen[1]) > 0.99, "{route}: {seen:?}");
        for client in [0, 2, 3] {
            assert!(clocks[client].0 < elapsed_ns / 20, "{route}: client {client} used {:?}", clocks[client]);
        }
        println!("{route}: sampler {:.4} of a CPU", outcome.sampler_cost.cpu_ns as f64 / elapsed_ns as f64);
        let cancel = format!("select pg_cancel_backend(pid) from unnest(array[{}, {}]) pid", sleeper.pid, spinner.pid);
        holder.rows(&cancel);
        holder.rows("rollback");
        [&mut sleeper, &mut spinner, &mut waiter].into_iter().for_each(|session| drop(session.rows("select 1")));
    }
}

/// Eight backends that sleep and compute in turn, two thousand times a second each: were event and state
/// of different instants, a tenth of the sleep would show as without an event. A host that takes the CPU away between
/// the two readings makes such a pair now and then (0.2 % were seen).
#[test]
fn short_waits_are_not_taken_for_their_neighbours() {
    let Some(server) = take_turn() else { return };
    let mut nappers = [(); 8].map(|()| server.session());
    for route in routes().into_iter().filter(|route| *route != "sql") {
        let probe = attach_to(&server, route, &nappers.each_ref(), phases(8, Phase::InUnit));
        let nap = "do $$ begin loop perform pg_sleep(0.0003); for i in 1..2000 loop end loop; end loop; end $$";
        nappers.iter_mut().for_each(|session| session.send(nap));
        sleep(SETTLE);
        let Watched { outcome, clocks, elapsed_ns } = watch(probe, 8, WINDOW);
        let clients = found(&outcome);
        let sum = |count: fn(&Found) -> u64| clients.iter().map(count).sum::<u64>();
        let naps = sum(|client| client.asleep_in_unit["Timeout:PgSleep"]);
        let asleep = sum(|client| client.asleep_in_unit.values().sum::<u64>());
        let running = sum(|client| client.running_in_unit);
        let runnable_ns: u64 = clocks.iter().map(|(cpu_ns, run_queue_ns)| cpu_ns + run_queue_ns).sum();
        let running_by_clocks = runnable_ns as f64 / (8 * elapsed_ns) as f64;
        let running_by_snapshots = running as f64 / (running + asleep) as f64;
        println!(
            "{route}: {naps} of {asleep}; {running_by_snapshots:.3} running, {running_by_clocks:.3} by the clocks"
        );
        assert!(naps > 1000 && (asleep - naps) * 100 <= asleep, "{route}: {clients:?}");
        server.session().rows("select pg_cancel_backend(pid) from pg_stat_activity where query like '%pg_sleep%'");
        nappers.iter_mut().for_each(|session| drop(session.rows("select 1")));
    }
}

/// commit_delay sleeps without a wait event.
#[test]
fn sleep_without_a_wait_event_is_a_line_of_its_own() {
    let Some(server) = take_turn() else { return };
    let mut committer = server.session();
    committer.rows("drop table if exists t; create table t as select 1 as a");
    committer.rows("set commit_delay = 100000; set commit_siblings = 0");
    for route in routes() {
        let probe = attach_to(&server, route, &[&committer], phases(1, Phase::InUnit));
        committer.send("do $$ begin for i in 1..1000000 loop update t set a = i; commit; end loop; end $$");
        sleep(SETTLE);
        let Watched { outcome, .. } = watch(probe, 1, WINDOW);
        let seen = &found(&outcome)[0];
        assert!(share_asleep("", seen) > 0.75, "{route}: {seen:?}");
        server.session().rows(&format!("select pg_cancel_backend({})", committer.pid));
        committer.rows("select 1");
    }
}

#[test]
fn phases_decide_where_a_snapshot_counts() {
    let Some(server) = take_turn() else { return };
    let mut sessions = [(); 3].map(|()| server.session());
    let cells = phases(3, Phase::InUnit);
    cells[1].set(Phase::BetweenUnits);
    cells[2].set(Phase::OutsideSpan);
    let clients: Vec<&Session> = sessions.iter().collect();
    let probe = attach_to(&server, routes()[0], &clients, cells);
    sessions.iter_mut().for_each(|session| session.send("select pg_sleep(1000)"));
    sleep(SETTLE);
    let Watched { outcome, .. } = watch(probe, 3, Duration::from_millis(300));
    let seen = found(&outcome);
    assert_eq!(share_asleep("Timeout:PgSleep", &seen[0]), 1.0);
    assert_eq!(seen[1].asleep_in_unit, BTreeMap::new());
    assert!(seen[1].between_units.asleep > 100 && share_running(&seen[1]) < 0.1, "{seen:?}");
    assert_eq!(seen[2], Found::default());
    let sweeps = outcome.swept.expect("sampled").sweeps;
    assert!((100..400).contains(&sweeps), "{sweeps}");
}

#[test]
fn background_processes_are_named_and_their_time_adds_up() {
    let Some(server) = take_turn() else { return };
    let session = server.session();
    for route in routes() {
        let probe = attach_to(&server, route, &[&session], phases(1, Phase::InUnit));
        let Watched { outcome, elapsed_ns, .. } = watch(probe, 1, WINDOW);
        let mut types: BTreeMap<&str, u64> = BTreeMap::new();
        let may_come_and_go = |process: &&BackgroundProcess| process.backend_type == "autovacuum worker";
        for process in outcome.background.iter().filter(|process| !may_come_and_go(process)) {
            *types.entry(&process.backend_type).or_default() += 1;
            let waits_ns = process.waits_ns.values().sum::<u64>();
            let parts_ns = process.cpu_ns + process.run_queue_ns + waits_ns + process.asleep_no_wait_event_ns;
            assert!(parts_ns.abs_diff(elapsed_ns) < elapsed_ns / 10, "{route}: {process:?}");
            let is_idle = |event: &String| event.starts_with("Activity:") || event == "IO:WalSync";
            assert!(process.waits_ns.keys().any(is_idle), "{route}: {process:?}");
        }
        let expected = [
            ("autovacuum launcher", 1),
            ("background writer", 1),
            ("checkpointer", 1),
            ("io worker", 3),
            ("logical replication launcher", 1),
            ("walwriter", 1),
        ];
        assert_eq!(types, BTreeMap::from(expected), "{route}");
    }
}

#[test]
fn processes_may_go_and_the_rest_is_still_watched() {
    let Some(server) = take_turn() else { return };
    for route in routes() {
        let (leaver, stayer) = (server.session(), server.session());
        let probe = attach_to(&server, route, &[&leaver, &stayer], phases(2, Phase::InUnit));
        probe.start(timeline(), None);
        sleep(Duration::from_millis(200));
        drop(leaver);
        sleep(Duration::from_millis(300));
        assert_eq!(probe.read_clocks(0), None, "{route}");
        assert!(probe.read_clocks(1).unwrap().asleep, "{route}");
        let outcome = probe.finish();
        assert_eq!(outcome.note, None, "{route}");
        let seen = found(&outcome);
        let [left, stayed] = [0, 1].map(|client: usize| seen[client].asleep_in_unit["Client:ClientRead"]);
        assert!(left > 0 && left < stayed, "{route}: {left} {stayed}");
    }
}

#[test]
fn clocks_of_an_idle_backend_are_exact_and_of_a_busy_one_say_that_they_are_not() {
    let Some(server) = take_turn() else { return };
    let mut session = server.session();
    let probe = attach_to(&server, "off", &[&session], phases(1, Phase::InUnit));
    let idle = exact_clocks(&probe);
    assert_eq!(probe.read_clocks(0), Some(idle));
    session.send(SPIN);
    sleep(Duration::from_millis(50));
    assert!(!probe.read_clocks(0).unwrap().asleep);
    assert!(probe.finish().swept.is_none());
}

/// The measurement as the engine makes it: the backend sleeps at both edges.
#[test]
fn a_spin_is_cpu_and_run_queue_and_nothing_else() {
    let Some(server) = take_turn() else { return };
    let mut session = server.session();
    let probe = attach_to(&server, "off", &[&session], phases(1, Phase::InUnit));
    session.rows("select 1");
    let before = exact_clocks(&probe);
    let started = Instant::now();
    session.rows(&SPIN.replace("1 hour", "500 ms"));
    let elapsed_ns = started.elapsed().as_nanos() as f64;
    let after = exact_clocks(&probe);
    let (cpu_ns, run_queue_ns) = (after.cpu_ns - before.cpu_ns, after.run_queue_ns - before.run_queue_ns);
    println!("CPU {cpu_ns} + run queue {run_queue_ns} of {elapsed_ns} ns");
    assert!(((cpu_ns + run_queue_ns) as f64 / elapsed_ns - 1.0).abs() < 0.05);
}

fn exact_clocks(probe: &Probe) -> BackendClocks {
    let read = || probe.read_clocks(0).expect("the server is on this host");
    let exact = || Some(read()).filter(|clocks| clocks.asleep);
    (0..1000)
        .find_map(|_| {
            exact().or_else(|| {
                sleep(Duration::from_millis(1));
                None
            })
        })
        .expect("it goes to sleep")
}

#[test]
fn the_table_of_names_is_the_servers_own() {
    let Some(server) = take_turn() else { return };
    let mut session = server.session();
    let version: u32 = session.rows("show server_version_num")[0].parse().unwrap();
    let mut expected = session.rows("select type || ':' || name from pg_wait_events where type <> 'InjectionPoint'");
    let mut known: Vec<String> = WaitNames::of_version(version / 10000).unwrap().all().map(|(_, name)| name).collect();
    expected.sort();
    known.sort();
    assert_eq!(known, expected);
}

#[test]
fn what_cannot_be_watched_is_said() {
    let Some(server) = take_turn() else { return };
    let session = server.session();
    let attach_as = |spec: &WaitsSpec, sql| attach(spec, &[session.pid], phases(1, Phase::InUnit), sql);
    let elsewhere = WaitsSpec { postmaster_pid: Some(std::process::id() as i32), ..spec("auto", &server) };
    let error = attach_as(&elsewhere, None).err().unwrap();
    assert!(error.message.contains("is not a child of process"), "{error}");
    let probe = attach_as(&elsewhere, Some(sql_over(server.session()))).unwrap();
    assert_eq!((probe.route(), probe.read_clocks(0)), (Route::Sql, None));
    assert!(probe.finish().note.unwrap().contains("is not a child of process"));
    let error = attach_as(&spec("mapping", &server), None).err().unwrap();
    assert_eq!(error.code, "spec_invalid");
    assert!(error.message.contains("waits.route: \"mapping\"; must be auto, mapped"), "{error}");
    if !is_root() {
        let error = attach_as(&spec("mapped", &server), None).err().unwrap();
        assert!(error.message.contains("mapped: map_files/") && error.message.contains("not permitted"), "{error}");
    }
}

/// A server that says something else than what memory holds is not believed to have the known layout.
#[test]
fn the_self_test_refuses_names_that_the_server_does_not_use() {
    let Some(server) = take_turn() else { return };
    let session = server.session();
    let pid = session.pid;
    let liar: SqlWaits =
        Box::new(move || Ok(vec![Activity { pid, wait: Some("IO:WalSync".to_owned()), ..Activity::default() }]));
    let probe = attach(&spec("auto", &server), &[pid], phases(1, Phase::InUnit), Some(liar)).unwrap();
    assert_eq!(probe.route(), Route::Sql);
    let note = probe.finish().note.unwrap();
    assert!(note.contains("memory says Client:ClientRead, the server IO:WalSync"), "{note}");
}
