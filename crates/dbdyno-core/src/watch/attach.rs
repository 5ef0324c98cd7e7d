//! Choosing how a server is watched: its memory where that can be read, SQL elsewhere.

use std::sync::{Arc, PoisonError};

use super::course::{Attached, Control};
use super::host::ThisHost;
use super::memory_slots::MemorySlots;
use super::outcome::Outcome;
use super::sampling::Tuning;
use super::spec::WatchSpec;
use super::sql_slots::{self, SqlServer};
use crate::error::{CoreError, Result};
use crate::probe::budget::{Budget, Costs, Plan, host_cpus};
use crate::probe::pace::now_ns;
use crate::probe::{Layout, Route, RouteRequest, SharedMemory, SqlWaits, StateFile, activity_over, open_server};
use crate::wire::{Connection, Target};

/// A wake-up and a hundred processes, until the first sweeps have told.
const SWEEP_NS_GUESSED: f64 = 15_000.0;

/// Watches all processes of a server and returns what was seen as JSON (docs/architecture.md).
pub fn watch_server(spec_json: &str, password: Option<&str>, control: &Control) -> Result<String> {
    let spec = WatchSpec::parse(spec_json)?;
    let request = RouteRequest::parse(&spec.route)?;
    if !request.allows(Route::Sql) && request.over_memory().is_empty() {
        return Err(CoreError::new(
            "spec_invalid",
            format!("route: {:?}; there is nothing to watch by it", spec.route),
        ));
    }
    allow_many_files();
    let outcome = match open_memory(&spec, request, password) {
        Ok(opened) => watch_memory(&spec, opened, control)?,
        Err(reason) => watch_over_sql(&spec, request, password, reason, control)?,
    };
    serde_json::to_string(&outcome).map_err(|error| CoreError::new("io", format!("outcome: {error}")))
}

/// Why not, if not: None where nobody asked for memory.
fn open_memory(
    spec: &WatchSpec,
    request: RouteRequest,
    password: Option<&str>,
) -> Result<OpenedMemory, Option<String>> {
    if request.over_memory().is_empty() {
        return Err(None);
    }
    let postmaster_pid =
        spec.postmaster_pid.ok_or_else(|| Some("the server is not known to be on this host".to_owned()))?;
    // Without a connection memory is believed as far as it agrees with the server's processes.
    let asked = spec.target.as_ref().map(|target| activity_queries(target, password)).transpose();
    let not_asked = asked.as_ref().err().map(|error| format!("not compared with pg_stat_activity: {error}"));
    let (mut sql, own_pid) = asked.ok().flatten().unzip();
    let (memory, layout) = open_server(postmaster_pid, request, sql.as_mut()).map_err(Some)?;
    let note = [memory.note().map(str::to_owned), not_asked].into_iter().flatten().reduce(|a, b| format!("{a}; {b}"));
    Ok(OpenedMemory { memory, layout, note, own_pid })
}

struct OpenedMemory {
    memory: SharedMemory,
    layout: Layout,
    note: Option<String>,
    /// Of the session that the self-test asked over; it may still be ending.
    own_pid: Option<i32>,
}

/// For the self-test, and the process that answers.
fn activity_queries(target: &Target, password: Option<&str>) -> Result<(SqlWaits, i32)> {
    let connection = Connection::connect(target, password)?;
    let own_pid = connection.process_id();
    Ok((activity_over(connection), own_pid))
}

fn watch_memory(spec: &WatchSpec, opened: OpenedMemory, control: &Control) -> Result<Outcome> {
    let OpenedMemory { mut memory, layout, note, own_pid } = opened;
    let processes = &layout.processes;
    let mut spans = vec![processes.span(0, processes.slots - 1)];
    spans.extend(layout.status.as_ref().map(|status| status.span(0, status.slots - 1)));
    memory.watch(&spans).map_err(|error| CoreError::new("not_watchable", error.to_string()))?;
    let route = memory.route().to_string();
    let (names, version, slots_max) = (layout.names.clone(), layout.version, layout.processes.slots);
    let costs = Costs { sweep_ns: SWEEP_NS_GUESSED, look_ns: look_cost_ns(spec.postmaster_pid) };
    let budget = Budget::new(spec.budget, host_cpus(), spec.period_ns, costs);
    let attached = Attached {
        source: MemorySlots::new(memory, layout),
        slots_max,
        host: ThisHost::new(),
        own_pid,
        own_meter: None,
        event_names: Arc::new(move |event| names.name(event)),
        route,
        note,
        version,
        tuning: Tuning::Budget(budget),
    };
    attached.watch(spec, control)
}

fn watch_over_sql(
    spec: &WatchSpec,
    request: RouteRequest,
    password: Option<&str>,
    reason: Option<String>,
    control: &Control,
) -> Result<Outcome> {
    let why_not = || reason.clone().unwrap_or_else(|| "no route is left".to_owned());
    if !request.allows(Route::Sql) {
        return Err(CoreError::new("unsupported_server", format!("route: {}", why_not())));
    }
    let Some(target) = &spec.target else {
        return Err(CoreError::new("unsupported_server", format!("route: {}; sql: no target to ask", why_not())));
    };
    let server = sql_slots::connect(target, password, spec.postmaster_pid)?;
    let (period_ns, note) = (period_over_sql_ns(spec, &server), note_over_sql(&server, reason));
    let events = Arc::clone(&server.events);
    let name = move |event: u32| {
        let events = events.lock().unwrap_or_else(PoisonError::into_inner);
        events[event as usize - 1].clone()
    };
    let attached = Attached {
        source: server.slots,
        slots_max: server.slots_max,
        host: server.host,
        own_pid: Some(server.own_pid),
        own_meter: server.own_meter,
        event_names: Arc::new(name),
        route: Route::Sql.to_string(),
        note: Some(format!("{note}; asked every {} ms", period_ns / 1_000_000)),
        version: server.version,
        tuning: Tuning::Fixed(Plan { period_ns, looks_per_sweep: f64::INFINITY }),
    };
    attached.watch(spec, control)
}

/// The budget is a share of one CPU of the server: how many it has is not known.
fn period_over_sql_ns(spec: &WatchSpec, server: &SqlServer) -> u64 {
    const PERIOD_NS_MIN: u64 = 20_000_000;
    const PERIOD_NS_MAX: u64 = 1_000_000_000;
    let affordable_ns = (server.poll_ns as f64 / spec.budget) as u64;
    spec.period_ns.unwrap_or(affordable_ns).clamp(PERIOD_NS_MIN, PERIOD_NS_MAX)
}

fn note_over_sql(server: &SqlServer, reason: Option<String>) -> String {
    let mut notes: Vec<String> = reason.into_iter().collect();
    if server.hidden > 0 {
        let hidden = server.hidden;
        notes.push(format!("the activity of {hidden} processes is hidden from this role (grant pg_read_all_stats)"));
    }
    notes.push(format!("a question costs the server {} us of CPU", server.poll_ns / 1_000));
    notes.join("; ")
}

/// CPU time of one read of a process's state, by reading the postmaster's.
fn look_cost_ns(postmaster_pid: Option<i32>) -> f64 {
    const READS: u64 = 64;
    /// On the virtual machine of `probe::process`.
    const USUAL_NS: f64 = 2_500.0;
    let Some(state) = postmaster_pid.and_then(|pid| StateFile::open(pid).ok()) else { return USUAL_NS };
    let before_ns = now_ns(libc::CLOCK_THREAD_CPUTIME_ID);
    for _ in 0..READS {
        let _ = state.read();
    }
    let look_ns = (now_ns(libc::CLOCK_THREAD_CPUTIME_ID) - before_ns) / READS;
    (look_ns as f64).max(100.0)
}

/// Five files for each process of the server: as many as the administrator lets us open, not only as many
/// as the shell does.
fn allow_many_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for writing, then for reading; a refusal leaves things as they are.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}
