//! One trial from connecting to outcome.
//!
//! ```text
//! spec -> Plan -> connect -> attach probe -> load threads + exposure thread -> merge -> Outcome
//!                               `- started when the window begins, finished when all spans are closed
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use super::arrivals::Arrivals;
use super::assemble::{Measured, assemble};
use super::client::Client;
use super::exposure::ExposureProbe;
use super::live::Board;
use super::outcome::Exposure;
use super::phase_cell::PhaseCell;
use super::plan::Plan;
use super::record::{Record, RecordPlan};
use super::session::{connect_clients, initial_variables, wait_queries};
use super::spec::{ArrivalSpec, QueryMode, TrialSpec};
use super::stacks::StacksOverWindow;
use super::stop;
use super::streams::{Purpose, streams};
use super::tickets::Tickets;
use super::window::Window;
use super::worker::{Shared, Worker, WorkerReport};
use crate::clock;
use crate::error::{CoreError, Result};
use crate::probe::{self, Probe, Timeline};
use crate::stacks::StacksOutcome;
use crate::wire::Connection;

/// Connects, warms up, measures one window and returns the outcome as JSON (docs/architecture.md).
///
/// `live`, if somebody watches, shows the trial while it runs.
pub fn run_trial(spec_json: &str, password: Option<&str>, live: Option<&Board>) -> Result<String> {
    let spec = TrialSpec::parse(spec_json)?;
    let plan = Plan::new(&spec)?;
    let result = measure(&spec, &plan, password, live);
    stop::take_request()?;
    let outcome = assemble(&spec, &plan, result?);
    serde_json::to_string(&outcome).map_err(|error| CoreError::new("io", format!("outcome: {error}")))
}

fn measure(spec: &TrialSpec, plan: &Plan, password: Option<&str>, live: Option<&Board>) -> Result<Measured> {
    let connections = connect_clients(spec, password)?;
    let process_ids: Vec<i32> = connections.iter().map(Connection::process_id).collect();
    let exposure = ExposureProbe::connect(spec, password);
    let phases: Arc<[PhaseCell]> = (0..spec.clients).map(|_| PhaseCell::default()).collect();
    let wait_queries = wait_queries(spec, password)?;
    let probe = probe::attach(&spec.waits, &process_ids, Arc::clone(&phases), wait_queries)?;
    let clients = clients(spec, plan, connections)?;
    let started_ns = clock::now_ns() + START_MARGIN_NS;
    let shared = Shared {
        spec,
        plan,
        window: Window::new(started_ns, spec.warm_up_ns, spec.window_ns, spec.drain_limit_ns),
        observer: &probe,
        phases: &phases,
        tickets: Tickets::new(spec.fixed_units),
        unclosed: AtomicUsize::new(spec.clients),
        abandoned: AtomicBool::new(false),
        live,
    };
    if let Some(board) = live {
        board.begin(plan.script_names(), shared.window, spec.fixed_units.is_some(), Arc::clone(&phases));
    }
    let started_at_ns = clock::date_ns() + (shared.window.start_ns - clock::now_ns());
    let stacks = StacksOverWindow::new(spec, &process_ids);
    let (reports, exposure, stacks) = run_threads(&shared, clients, exposure, &probe, stacks)?;
    let window = shared.window;
    let skipped = shared.tickets.left();
    Ok(Measured { started_at_ns, window, reports, skipped, exposure, stacks, probe: probe.finish() })
}

/// Threads are up before the load starts.
const START_MARGIN_NS: u64 = 1_000_000;

fn run_threads(
    shared: &Shared<'_>,
    clients: Vec<Client>,
    exposure: Option<ExposureProbe>,
    probe: &Probe,
    mut stacks: StacksOverWindow,
) -> Result<(Vec<WorkerReport>, Exposure, Option<StacksOutcome>)> {
    let workers = workers(shared, clients)?;
    thread::scope(|scope| {
        let exposure = exposure.map(|exposure| scope.spawn(move || exposure.run(shared)));
        let workers: Vec<_> = workers.into_iter().map(|worker| spawn(scope, worker)).collect();
        start_probe_with_window(shared, probe);
        stacks.start();
        let reports = workers.into_iter().map(join).collect::<Result<Vec<_>>>();
        let exposure = exposure.map(join).unwrap_or_default();
        reports.map(|reports| (reports, exposure, stacks.finish()))
    })
}

fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    worker: Worker<'scope>,
) -> ScopedJoinHandle<'scope, Result<WorkerReport>> {
    thread::Builder::new()
        .name("dbdyno-load".to_owned())
        .spawn_scoped(scope, move || worker.run())
        .expect("the machine has room for another thread")
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Background processes are watched over the counted phase only.
fn start_probe_with_window(shared: &Shared<'_>, probe: &Probe) {
    const LONGEST_WAIT_NS: u64 = 20_000_000;
    loop {
        let left_ns = shared.window.start_ns.saturating_sub(clock::now_ns());
        if left_ns == 0 || shared.abandoned.load(Ordering::Relaxed) || stop::is_requested() {
            return probe.start(timeline(shared), shared.live.map(|board| board.waits().clone()));
        }
        thread::sleep(Duration::from_nanos(left_ns.min(LONGEST_WAIT_NS)));
    }
}

fn timeline(shared: &Shared<'_>) -> Timeline {
    let (window, spec) = (&shared.window, shared.spec);
    Timeline { start_ns: window.start_ns, chunk_ns: chunk_ns(spec), step_ns: spec.series_step_ns }
}

/// What is resampled for error bars: about ten chunks a trial. Nobody knows beforehand how long fixed work takes, so
/// its chunks begin short and grow with it.
fn chunk_ns(spec: &TrialSpec) -> u64 {
    const CHUNKS_WANTED: u64 = 10;
    const CHUNK_NS_MIN: u64 = 50_000_000;
    match spec.fixed_units {
        Some(_) => CHUNK_NS_MIN,
        None => (spec.window_ns / CHUNKS_WANTED).max(CHUNK_NS_MIN),
    }
}

/// Contiguous slices of the clients, as equal as they can be.
fn workers<'a>(shared: &'a Shared<'a>, clients: Vec<Client>) -> Result<Vec<Worker<'a>>> {
    let spec = shared.spec;
    let threads = spec.threads.min(spec.clients);
    let record = Record::new(record_plan(spec, shared.plan), shared.window);
    let mut clients = clients.into_iter();
    let mut schedules = streams(spec.seed, Purpose::Arrivals, 0..threads).into_iter();
    (0..threads)
        .map(|thread| {
            let count = spec.clients * (thread + 1) / threads - spec.clients * thread / threads;
            let clients: Vec<Client> = clients.by_ref().take(count).collect();
            let random = schedules.next().expect("one for each thread");
            let share = count as f64 / spec.clients as f64;
            let arrivals = match spec.arrival {
                ArrivalSpec::Closed(_) => None,
                ArrivalSpec::Open { process, start_per_s, end_per_s } => {
                    let rates = (start_per_s * share, end_per_s * share);
                    Some(Arrivals::new(process, rates, thread as f64 / threads as f64, &shared.window, random))
                }
            };
            Worker::new(shared, clients, record.clone(), arrivals)
        })
        .collect()
}

fn clients(spec: &TrialSpec, plan: &Plan, connections: Vec<Connection>) -> Result<Vec<Client>> {
    let values = streams(spec.seed, Purpose::Values, 0..spec.clients);
    let choices = streams(spec.seed, Purpose::Choice, 0..spec.clients);
    let think_times = streams(spec.seed, Purpose::ThinkTimes, 0..spec.clients);
    let streams =
        values.into_iter().zip(choices).zip(think_times).map(|((values, choice), think)| [values, choice, think]);
    connections
        .into_iter()
        .zip(streams)
        .enumerate()
        .map(|(number, (connection, streams))| {
            let mut client = Client::new(number, connection, plan, initial_variables(spec, plan, number), streams);
            if spec.fixed_units.is_some() && plan.mode == QueryMode::Prepared {
                client.prepare_all(plan)?;
            }
            client.connection.set_nonblocking()?;
            Ok(client)
        })
        .collect()
}

fn record_plan(spec: &TrialSpec, plan: &Plan) -> RecordPlan {
    RecordPlan {
        scripts: plan.scripts.len(),
        statements: plan.statements.len(),
        series_step_ns: spec.series_step_ns,
        latency_limit_ns: spec.latency_limit_ns,
        starts_are_intended: spec.arrival.starts_at_once(),
        work_is_fixed: spec.fixed_units.is_some(),
        chunk_ns: chunk_ns(spec),
    }
}
