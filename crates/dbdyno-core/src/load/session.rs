//! Before the load: connections, session settings, and the variables that every client begins with.

use std::thread;
use std::time::{Duration, Instant};

use super::plan::Plan;
use super::spec::TrialSpec;
use super::{stop, streams};
use crate::error::{CoreError, Result};
use crate::probe::{SqlWaits, activity_over};
use crate::script::Value;
use crate::wire::{Connection, StatementError};

/// Connects all clients, some at a time and evenly over the ramp, and runs the session SQL on each of them.
pub(super) fn connect_clients(spec: &TrialSpec, password: Option<&str>) -> Result<Vec<Connection>> {
    let threads = spec.threads.min(spec.clients);
    thread::scope(|scope| {
        let started = Instant::now();
        let connect = move |client: usize| {
            wait_for_turn(spec, started, client)?;
            connect_client(spec, password)
        };
        let connecting: Vec<_> = (0..threads)
            .map(|thread| spec.clients * thread / threads..spec.clients * (thread + 1) / threads)
            .map(|slice| scope.spawn(move || slice.map(connect).collect::<Result<Vec<_>>>()))
            .collect();
        let mut connections = Vec::with_capacity(spec.clients);
        for slice in connecting {
            connections.extend(slice.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(connections)
    })
}

/// A client's place on the connect ramp.
fn wait_for_turn(spec: &TrialSpec, started: Instant, client: usize) -> Result<()> {
    /// A stop is noticed so soon.
    const LONGEST_WAIT: Duration = Duration::from_millis(100);
    let due_ns = u128::from(spec.connect_ramp_ns) * client as u128 / spec.clients as u128;
    let due = Duration::from_nanos(due_ns as u64);
    while let Some(left) = due.checked_sub(started.elapsed()).filter(|left| !left.is_zero()) {
        check_stop()?;
        thread::sleep(left.min(LONGEST_WAIT));
    }
    check_stop()
}

fn check_stop() -> Result<()> {
    match stop::is_requested() {
        true => Err(CoreError::new("interrupted", "interrupted while connecting")),
        false => Ok(()),
    }
}

fn connect_client(spec: &TrialSpec, password: Option<&str>) -> Result<Connection> {
    let mut connection = Connection::connect(&spec.target, password)?;
    for sql in &spec.session_sql {
        connection.query(sql).map_err(|error| match error {
            StatementError::Server(error) => CoreError::new("sql_error", format!("session_sql {sql:?}: {error}")),
            StatementError::Connection(error) => error,
        })?;
    }
    Ok(connection)
}

/// The query by which the probe reads waits where it cannot read the server's memory, and checks itself
/// where it can; on a connection of its own.
pub(super) fn wait_queries(spec: &TrialSpec, password: Option<&str>) -> Result<Option<SqlWaits>> {
    if spec.waits.route == "off" {
        return Ok(None);
    }
    Ok(Some(activity_over(Connection::connect(&spec.target, password)?)))
}

/// The workload's variables, and pgbench's own: `client_id`, `random_seed` and `default_seed`.
pub(super) fn initial_variables(spec: &TrialSpec, plan: &Plan, client: usize) -> Vec<Value> {
    let mut variables = vec![Value::Unset; plan.symbols.len()];
    let mut set = |name: &str, value: Value| {
        if let Some(id) = plan.symbols.find(name) {
            variables[id.0 as usize] = value;
        }
    };
    set("client_id", Value::Integer(client as i64));
    set("random_seed", Value::Integer(spec.seed as i64));
    set("default_seed", Value::Integer(streams::default_seed(spec.seed)));
    for (name, text) in &spec.variables {
        set(name, Value::from_text(text));
    }
    variables
}
