//! Servers of all supported versions and several builds, each driven into known waits: what is read from their
//! memory, by every route, is what they say themselves; and names of another version are refused.
//!
//! The environment variable DBDYNO_TEST_SERVERS names the servers: `LABEL=DIRECTORY`, separated by colons
//! (tests/other_servers.py prints it). A server that it does not name is left out.

mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dbdyno_core::probe::{
    Activity, Layout, Route, RouteRequest, SharedMemory, SqlWaits, WaitNames, activity_over, open_server,
    open_server_by_names,
};
use dbdyno_core::wire::Connection;
use server::{Server, Session, Setup, is_root};

/// Long enough for sessions to come to rest on a busy machine.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);

macro_rules! servers {
    ($($test:ident: $label:literal, $major:literal, $memory:literal;)*) => {
        $(
            #[test]
            fn $test() {
                let settings = &[
                    "listen_addresses=",
                    "shared_buffers=16MB",
                    concat!("shared_memory_type=", $memory),
                    "shared_preload_libraries=pg_stat_statements",
                ];
                if let Some(server) = start($label, settings) {
                    check(&server, $major, $memory == "sysv");
                }
            }
        )*
    };
}

servers! {
    postgresql_14_of_npm: "14-npm", 14, "sysv";
    postgresql_15_of_npm: "15-npm", 15, "mmap";
    postgresql_15_of_debian: "15-debian", 15, "sysv";
    postgresql_16_of_npm: "16-npm", 16, "mmap";
    postgresql_17_of_npm: "17-npm", 17, "sysv";
    postgresql_18_of_npm: "18-npm", 18, "mmap";
    postgresql_18_of_the_wheel: "18-wheel", 18, "sysv";
}

fn start(label: &str, settings: &'static [&'static str]) -> Option<Server> {
    let named = std::env::var("DBDYNO_TEST_SERVERS").unwrap_or_default();
    let directory = named.split(':').find_map(|server| server.strip_prefix(label)?.strip_prefix('='));
    if directory.is_none() {
        eprintln!("left out: DBDYNO_TEST_SERVERS names no server {label}");
    }
    Some(Server::start(PathBuf::from(directory?), &Setup { settings, ..Setup::default() }))
}

fn check(server: &Server, major: u32, is_sysv: bool) {
    let planted = Planted::new(server, major);
    let mut sql = activity_of(server);
    wait_until_planted(&planted, &mut sql);
    let mut layouts = Vec::new();
    for route in routes(is_sysv) {
        let request = RouteRequest::Only(route);
        let (mut memory, layout) = open_server(server.postmaster_pid(), request, Some(&mut sql)).unwrap();
        assert_eq!((memory.route(), memory.note(), layout.version), (route, None, major));
        let read = with_everyone(&planted, major, || everything_that_holds_still(&mut memory, &layout, &mut sql));
        planted.check(&read);
        check_background(&read, major);
        layouts.push(format!("{:?} {:?}", layout.processes, layout.status));
        assert_eq!(layouts.first(), layouts.last());
    }
    println!("{major}: {}", layouts[0]);
    if !is_sysv {
        let error = open_server(server.postmaster_pid(), RouteRequest::Only(Route::Sysv), None).err().unwrap();
        assert!(error.starts_with("sysv: ") && error.contains("no System V segment"), "{error}");
    }
    names_of_other_versions_are_refused(server, major, &mut sql);
    every_event_of_a_busy_server_has_a_name(server, &mut sql);
}

/// Those that can work for this user.
fn routes(is_sysv: bool) -> Vec<Route> {
    let possible = |route: &Route| match route {
        Route::Mapped => is_root(),
        Route::Sysv => is_sysv,
        _ => true,
    };
    Route::OVER_MEMORY.into_iter().filter(possible).collect()
}

/// Sessions in known waits.
struct Planted {
    _sessions: [Session; 6],
    /// Wait and state by process id.
    expected: BTreeMap<i32, (&'static str, &'static str)>,
}

impl Planted {
    fn new(server: &Server, major: u32) -> Self {
        let mut sessions = [(); 6].map(|()| server.session());
        let [idle, sleeper, holder, row_waiter, advisory_waiter, far] = &mut sessions;
        idle.rows("set compute_query_id = on; select 'the idle one'");
        holder.rows("create table t as select 1 as a; begin; update t set a = 2; select pg_advisory_lock(4711)");
        sleeper.send("set compute_query_id = on; select pg_sleep(1000)");
        row_waiter.send("update t set a = 3");
        advisory_waiter.send("select pg_advisory_lock(4711)");
        plant_foreign_wait(server, far);
        let read = "Client:ClientRead";
        let expected = BTreeMap::from([
            (idle.pid, (read, "idle")),
            (holder.pid, (read, "idle in transaction")),
            (sleeper.pid, ("Timeout:PgSleep", "active")),
            (row_waiter.pid, ("Lock:transactionid", "active")),
            (advisory_waiter.pid, ("Lock:advisory", "active")),
            (far.pid, (if major < 17 { "Extension:Extension" } else { "Extension:PostgresFdwGetResult" }, "active")),
        ]);
        Planted { _sessions: sessions, expected }
    }

    fn check(&self, read: &BTreeMap<i32, Activity>) {
        for (pid, (wait, state)) in &self.expected {
            let seen = read.get(pid).unwrap_or_else(|| panic!("process {pid} is not in memory"));
            assert_eq!((seen.wait.as_deref(), seen.state.as_deref()), (Some(*wait), Some(*state)));
        }
        assert!(read.values().filter(|seen| seen.query_id.is_some()).count() >= 2, "{read:?}");
    }
}

/// An event of an extension, which has a name of its own since 17.
fn plant_foreign_wait(server: &Server, session: &mut Session) {
    session.rows("create extension postgres_fdw; create view slow as select pg_sleep(1000)::text as a");
    let options = format!("host '{}', port '{}', dbname 'postgres'", server.directory.display(), server.port);
    session.rows(&format!("create server near foreign data wrapper postgres_fdw options ({options})"));
    session.rows("create user mapping for dyno server near options (user 'dyno')");
    session.rows("create foreign table far (a text) server near options (table_name 'slow')");
    session.send("select * from far");
}

fn activity_of(server: &Server) -> SqlWaits {
    activity_over(Connection::connect(&server.target(), None).unwrap())
}

fn wait_until_planted(planted: &Planted, sql: &mut SqlWaits) {
    let limit = Instant::now() + SETTLE_LIMIT;
    loop {
        let rows = sql().unwrap();
        let shows = |(pid, (wait, _)): (&i32, &(&str, &str))| {
            rows.iter().any(|row| row.pid == *pid && row.wait.as_deref() == Some(*wait))
        };
        if planted.expected.iter().all(shows) {
            return;
        }
        assert!(Instant::now() < limit, "{rows:?}");
        sleep(Duration::from_millis(10));
    }
}

/// The first of some readings in which all planted sessions and main loops held still: who waits for a lock wakes up
/// once, after `deadlock_timeout`, to look for a deadlock, and background processes do now and then.
fn with_everyone(
    planted: &Planted,
    major: u32,
    mut read: impl FnMut() -> BTreeMap<i32, Activity>,
) -> BTreeMap<i32, Activity> {
    const ATTEMPTS: usize = 20;
    let mut last = read();
    for _ in 1..ATTEMPTS {
        let waits = waits_of(&last);
        if planted.expected.keys().all(|pid| last.contains_key(pid))
            && main_loops(major).iter().all(|name| waits.contains(name))
        {
            break;
        }
        sleep(Duration::from_millis(20));
        last = read();
    }
    last
}

/// What memory says of each process, as the server would show it.
fn read_all(memory: &mut SharedMemory, layout: &Layout) -> BTreeMap<i32, Activity> {
    let (processes, status) = (&layout.processes, layout.status.as_ref().expect("it was learned"));
    let spans = [processes.span(0, processes.slots - 1), status.span(0, status.slots - 1)];
    memory.watch(&spans).expect("both lie in the shared memory");
    memory.refresh().unwrap();
    let mut read = BTreeMap::new();
    for slot in 0..processes.slots {
        let pid = memory.u32(processes.pid_address(slot)) as i32;
        let event = memory.u32(processes.wait_address(slot));
        let wait = (event != 0).then(|| layout.names.name(event));
        if pid != 0 {
            read.insert(pid, Activity { pid, wait, ..Activity::default() });
        }
    }
    for entry in (0..status.slots).map(|slot| status.entry(slot)) {
        let pid = memory.u32(entry + status.pid_offset) as i32;
        if let Some(activity) = read.get_mut(&pid) {
            activity.state = layout.state_name(memory.u32(entry + status.state_offset)).map(str::to_owned);
            let query_id = memory.u64(entry + status.query_id_offset.expect("all versions have it"));
            activity.query_id = (query_id != 0).then(|| query_id.cast_signed());
        }
    }
    read
}

/// Each process of which memory said the same before and after, and the server in between.
fn everything_that_holds_still(
    memory: &mut SharedMemory,
    layout: &Layout,
    sql: &mut SqlWaits,
) -> BTreeMap<i32, Activity> {
    let before = read_all(memory, layout);
    let rows = sql().unwrap();
    let after = read_all(memory, layout);
    let mut still = BTreeMap::new();
    for row in rows {
        let read = after.get(&row.pid).unwrap_or_else(|| panic!("{row:?} has no PGPROC"));
        if before.get(&row.pid) == Some(read) && *read == row {
            still.insert(row.pid, row);
        }
    }
    still
}

fn waits_of(read: &BTreeMap<i32, Activity>) -> BTreeSet<&str> {
    read.values().filter_map(|row| row.wait.as_deref()).collect()
}

/// Of the processes that every server has.
fn main_loops(major: u32) -> [&'static str; 4] {
    let launcher = if major < 17 { "Activity:AutoVacuumMain" } else { "Activity:AutovacuumMain" };
    ["Activity:CheckpointerMain", "Activity:WalWriterMain", "Activity:LogicalLauncherMain", launcher]
}

fn check_background(read: &BTreeMap<i32, Activity>, major: u32) {
    let waits = waits_of(read);
    for expected in main_loops(major) {
        assert!(waits.contains(expected), "{expected}: {waits:?}");
    }
    assert_eq!(waits.contains("Activity:IoWorkerMain"), major >= 18, "{waits:?}");
}

fn names_of_other_versions_are_refused(server: &Server, major: u32, sql: &mut SqlWaits) {
    for other in (14..=18).filter(|other| *other != major) {
        let names = WaitNames::of_version(other).unwrap();
        let request = RouteRequest::Only(Route::Contiguous);
        let opened = open_server_by_names(server.postmaster_pid(), request, Some(sql), Some(names));
        let error = opened.err().unwrap_or_else(|| panic!("names of {other} are taken for those of {major}"));
        let says_which = error.contains("has no wait event") || error.contains("memory says");
        assert!(error.starts_with("contiguous: ") && says_which, "{error}");
        println!("{major}, names of {other}: {error}");
    }
}

/// Commits, and what is seen of them.
fn every_event_of_a_busy_server_has_a_name(server: &Server, sql: &mut SqlWaits) {
    let mut committer = server.session();
    committer.rows("create table u (a int)");
    committer.send("do $$ begin for i in 1..1000000 loop insert into u values (i); commit; end loop; end $$");
    let (mut memory, layout) = open_server(server.postmaster_pid(), RouteRequest::Auto, Some(sql)).unwrap();
    let mut seen = BTreeSet::new();
    let limit = Instant::now() + Duration::from_millis(200);
    while Instant::now() < limit {
        let read = read_all(&mut memory, &layout);
        seen.extend(read.into_values().filter_map(|row| row.wait));
    }
    println!("{seen:?}");
    assert!(seen.iter().all(|name| !name.contains('#')), "{seen:?}");
    let lock = layout.names.name(made_lock(&layout));
    assert_eq!(lock, "LWLock:pg_stat_statements");
}

/// The event of the lock that the preloaded pg_stat_statements has asked for.
fn made_lock(layout: &Layout) -> u32 {
    let events = (0..300).map(|id| 0x0100_0000 | id);
    events.into_iter().find(|event| layout.names.name(*event).ends_with(":pg_stat_statements")).expect("it has one")
}
