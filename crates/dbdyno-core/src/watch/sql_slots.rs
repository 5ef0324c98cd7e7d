//! The server's processes as pg_stat_activity shows them: for other hosts, and where memory cannot be read.
//!
//! One connection of ours, read-only, that names itself and may not take long. A poll costs the server some
//! tenths of a millisecond of CPU; it is measured at attach, and the rate is what the budget pays for.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::host::{Host, Kind, Kinds, Meter, ThisHost};
use super::source::{Activity, SessionState, SlotSource};
use crate::error::Result;
use crate::probe::{StateFile, parent};
use crate::wire::{Connection, Rows, StatementError, Target};

/// Planned once: planning is half of what a poll would cost.
const PREPARE_SQL: &str = "PREPARE dbdyno_watch AS SELECT pid, backend_type, leader_pid, state, query_id, \
     wait_event_type || ':' || wait_event FROM pg_stat_activity WHERE pid <> pg_backend_pid()";
const POLL_SQL: &str = "EXECUTE dbdyno_watch";
const SESSION_SQL: &str =
    "SET default_transaction_read_only = on; SET statement_timeout = '5s'; SET lock_timeout = '1s'";
/// A server that does not answer for so long is as good as gone.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Polls that the server may refuse in a row, for instance because they took too long.
const REFUSALS_MAX: u32 = 10;
/// Processes that are no sessions of max_connections.
const SLOTS_SQL: &str = "SELECT sum(setting::int) FROM pg_settings WHERE name IN ('max_connections', \
     'autovacuum_max_workers', 'autovacuum_worker_slots', 'max_worker_processes', 'max_wal_senders')";
const AUXILIARY_MAX: usize = 64;
const COST_POLLS: u32 = 10;

/// Names of wait events; event n is at n - 1.
pub type SqlEvents = Arc<Mutex<Vec<String>>>;

/// Polls, and keeps a slot for each process as long as it is shown.
pub struct SqlSlots {
    connection: Connection,
    events: SqlEvents,
    kinds: Arc<Mutex<Kinds>>,
    by_pid: BTreeMap<i32, usize>,
    slots: Vec<(i32, Activity)>,
    refusals: u32,
    reads_states: bool,
}

/// Whoever asks about processes that the server itself describes.
pub struct SqlHost {
    kinds: Arc<Mutex<Kinds>>,
    this_host: Option<ThisHost>,
}

/// A server reached over SQL.
pub struct SqlServer {
    /// Its processes.
    pub slots: SqlSlots,
    /// At most.
    pub slots_max: usize,
    /// Their kinds, and clocks if they are processes of this host.
    pub host: SqlHost,
    /// Shared with `slots`.
    pub events: SqlEvents,
    /// Major.
    pub version: u32,
    /// CPU time that one poll costs the server.
    pub poll_ns: u64,
    /// The session's process, on the server's host.
    pub own_pid: i32,
    /// Its clocks, if that is this host.
    pub own_meter: Option<Box<dyn Meter>>,
    /// Processes whose activity is hidden from the role.
    pub hidden: usize,
}

/// Log in and measure what a poll costs.
pub fn connect(target: &Target, password: Option<&str>, postmaster_pid: Option<i32>) -> Result<SqlServer> {
    let mut connection = Connection::connect(target, password)?;
    connection.limit_waiting(ANSWER_TIMEOUT)?;
    let mut ask = |sql: &str| connection.query(sql).map_err(|error| refused(sql, error));
    ask(SESSION_SQL)?;
    ask(PREPARE_SQL)?;
    let version = number(&ask("SHOW server_version_num")?).unwrap_or(0) as u32 / 10_000;
    let slots_max = number(&ask(SLOTS_SQL)?).unwrap_or(0) as usize + AUXILIARY_MAX;
    let rows = ask(POLL_SQL)?;
    let hidden = rows.iter().filter(|row| row.get(1).is_none_or(Option::is_none)).count();
    let own_pid = connection.process_id();
    let this_host = postmaster_pid.filter(|&pid| parent(own_pid) == Some(pid)).map(|_| ThisHost::new());
    let own_meter = this_host.as_ref().and_then(|host| host.open(own_pid)).map(|(_, meter)| meter);
    let poll_ns = poll_cost_ns(&mut connection, own_meter.as_deref())?;
    let (events, kinds) = (SqlEvents::default(), Arc::new(Mutex::new(Kinds::new())));
    let slots = SqlSlots {
        connection,
        events: Arc::clone(&events),
        kinds: Arc::clone(&kinds),
        by_pid: BTreeMap::new(),
        slots: vec![(0, Activity::default()); slots_max],
        refusals: 0,
        reads_states: this_host.is_some(),
    };
    let host = SqlHost { kinds, this_host };
    Ok(SqlServer { slots, slots_max, host, events, version, poll_ns, own_pid, own_meter, hidden })
}

fn refused(sql: &str, error: StatementError) -> crate::CoreError {
    match error {
        StatementError::Server(error) => crate::CoreError::new("sql_error", format!("{sql:?}: {error}")),
        StatementError::Connection(error) => error,
    }
}

fn number(rows: &Rows) -> Option<u64> {
    rows.first()?.first()?.as_ref()?.parse().ok()
}

/// By the clock of the session's process where that is on this host; elsewhere by the server's own account,
/// which leaves out what sending the rows costs.
fn poll_cost_ns(connection: &mut Connection, meter: Option<&dyn Meter>) -> Result<u64> {
    if let Some(meter) = meter
        && let Some(before) = meter.cpu_ns()
    {
        for _ in 0..COST_POLLS {
            connection.query(POLL_SQL).map_err(|error| refused(POLL_SQL, error))?;
        }
        if let Some(after) = meter.cpu_ns() {
            return Ok((after - before) / u64::from(COST_POLLS));
        }
    }
    let explain = format!("EXPLAIN (ANALYZE, TIMING OFF, SUMMARY ON, FORMAT TEXT) {POLL_SQL}");
    let mut costs_ns = Vec::new();
    for _ in 0..COST_POLLS {
        let rows = connection.query(&explain).map_err(|error| refused(&explain, error))?;
        let times = rows.iter().filter_map(|row| explained_ns(row.first()?.as_ref()?));
        costs_ns.push(times.sum::<u64>());
    }
    costs_ns.sort_unstable();
    Ok(costs_ns[costs_ns.len() / 2])
}

/// `Planning Time: 0.123 ms`, `Execution Time: 0.123 ms`.
fn explained_ns(line: &str) -> Option<u64> {
    let line = line.trim_start();
    let time = line.strip_prefix("Planning Time: ").or_else(|| line.strip_prefix("Execution Time: "))?;
    let milliseconds: f64 = time.strip_suffix(" ms")?.parse().ok()?;
    Some((milliseconds * 1e6) as u64)
}

impl SqlSlots {
    fn poll(&mut self) -> io::Result<Option<Rows>> {
        match self.connection.query(POLL_SQL) {
            Ok(rows) => {
                self.refusals = 0;
                Ok(Some(rows))
            }
            Err(StatementError::Server(_)) if self.refusals < REFUSALS_MAX => {
                self.refusals += 1;
                Ok(None)
            }
            Err(StatementError::Server(error)) => Err(io::Error::other(error.to_string())),
            Err(StatementError::Connection(error)) => Err(io::Error::other(error.message)),
        }
    }

    fn take_row(&mut self, row: &[Option<String>]) -> Option<()> {
        let [Some(pid), backend_type, leader_pid, state, query_id, event] = row else { return None };
        let pid: i32 = pid.parse().ok()?;
        let slot = match self.by_pid.get(&pid) {
            Some(&slot) => slot,
            None => {
                let free = self.slots.iter().position(|(pid, _)| *pid == 0)?;
                let kind = Kind {
                    backend_type: backend_type.clone().unwrap_or_else(|| "unknown".to_owned()),
                    leader_pid: leader_pid.as_ref().and_then(|text| text.parse().ok()),
                };
                self.kinds.lock().unwrap_or_else(PoisonError::into_inner).insert(pid, kind);
                self.by_pid.insert(pid, free);
                free
            }
        };
        let activity = Activity {
            event: event.as_deref().map_or(0, |name| self.event_number(name)),
            state: state.as_deref().map_or(SessionState::Unknown, SessionState::of_name),
            query_id: query_id.as_ref().and_then(|text| text.parse().ok()).unwrap_or(0),
        };
        self.slots[slot] = (pid, activity);
        Some(())
    }

    fn event_number(&self, name: &str) -> u32 {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let index = events.iter().position(|known| known == name).unwrap_or_else(|| {
            events.push(name.to_owned());
            events.len() - 1
        });
        index as u32 + 1
    }
}

impl SlotSource for SqlSlots {
    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn refresh(&mut self) -> io::Result<bool> {
        let Some(rows) = self.poll()? else { return Ok(false) };
        let pids: Vec<i32> = rows.iter().filter_map(|row| row.first()?.as_ref()?.parse().ok()).collect();
        let slots = &mut self.slots;
        self.by_pid.retain(|pid, slot| {
            let is_there = pids.contains(pid);
            if !is_there {
                slots[*slot] = (0, Activity::default());
            }
            is_there
        });
        for row in &rows {
            self.take_row(row);
        }
        Ok(true)
    }

    fn pid(&mut self, slot: usize) -> i32 {
        self.slots[slot].0
    }

    fn activity(&self, slot: usize) -> Activity {
        self.slots[slot].1
    }

    fn activity_now(&self, slot: usize) -> io::Result<Activity> {
        Ok(self.slots[slot].1)
    }

    fn knows_states(&self) -> bool {
        true
    }

    fn answers_late(&self) -> bool {
        self.reads_states
    }
}

impl Host for SqlHost {
    type Reader = StateFile;

    fn kind(&self, pid: i32) -> Option<Kind> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).get(&pid).cloned()
    }

    fn is_alive(&self, pid: i32) -> bool {
        self.this_host.as_ref().is_none_or(|host| host.is_alive(pid))
    }

    fn reads_clocks(&self) -> bool {
        self.this_host.is_some()
    }

    fn open(&self, pid: i32) -> Option<(StateFile, Box<dyn Meter>)> {
        self.this_host.as_ref()?.open(pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_account_of_a_poll() {
        assert_eq!(Some(123_000), explained_ns("Planning Time: 0.123 ms"));
        assert_eq!(Some(2_000_000), explained_ns(" Execution Time: 2.000 ms"));
        assert_eq!(None, explained_ns("Function Scan on pg_stat_get_activity s  (cost=0.00..1.00 rows=100)"));
    }
}
