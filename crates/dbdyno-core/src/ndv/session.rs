//! The connections of a scan: one transaction each, all with one snapshot.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::live::Board;
use super::part::{Kept, Part};
use super::scan::interrupted;
use super::spec::{PartSpec, ScanSpec};
use crate::clock;
use crate::error::{CoreError, Result};
use crate::wire::{Canceller, Connection, CopyProgress, ServerError, StatementError, Target};

/// How often a connection that brings nothing looks whether it is still wanted.
const SILENCE: Duration = Duration::from_millis(100);
/// A server that was told to stop answers at once; one that does not answer is left alone.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// A backend ends within milliseconds.
const GOODBYE: Duration = Duration::from_secs(5);

/// One connection, in its transaction.
pub(super) struct Session {
    connection: Connection,
    address: String,
}

/// What came over it.
pub(super) struct Read {
    pub kept: Kept,
    pub bytes: u64,
    /// Of the thread that read it.
    pub cpu_ns: u64,
    pub ended_ns: u64,
}

/// Connects once for each part; the snapshot of the first is that of all.
pub(super) fn begin(spec: &ScanSpec, password: Option<&str>, board: &Board) -> Result<Vec<Session>> {
    let mut sessions = Vec::with_capacity(spec.parts.len());
    let mut snapshot = None;
    for part in &spec.parts {
        if board.is_stopped() {
            return Err(interrupted());
        }
        let mut session = Session::connect(&spec.target, password)?;
        session.begin(part, snapshot.as_deref())?;
        if spec.parts.len() > 1 && snapshot.is_none() {
            snapshot = Some(session.export_snapshot()?);
        }
        sessions.push(session);
    }
    Ok(sessions)
}

impl Session {
    fn connect(target: &Target, password: Option<&str>) -> Result<Self> {
        let connection = Connection::connect(target, password)?;
        connection.limit_waiting(Duration::from_nanos(target.connect_timeout_ns))?;
        Ok(Self { connection, address: target.address() })
    }

    fn begin(&mut self, part: &PartSpec, snapshot: Option<&str>) -> Result<()> {
        let shared = snapshot.map(|snapshot| format!("SET TRANSACTION SNAPSHOT '{snapshot}'"));
        let (first, others) = part.begin_sql.split_at(1.min(part.begin_sql.len()));
        for sql in first.iter().chain(&shared).chain(others) {
            self.query(sql)?;
        }
        Ok(())
    }

    fn export_snapshot(&mut self) -> Result<String> {
        let rows = self.query("SELECT pg_catalog.pg_export_snapshot()")?;
        let name = rows.into_iter().flatten().flatten().next();
        name.ok_or_else(|| CoreError::new("scan_failed", "the server has exported no snapshot"))
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.connection.query(sql).map_err(|error| self.failure(error, sql))
    }

    /// For whoever has to stop it.
    pub(super) fn canceller(&self) -> Canceller {
        self.connection.canceller()
    }

    /// Reads all rows of a part; the session is over afterwards, whatever happens.
    pub(super) fn read(
        mut self,
        copy_sql: &str,
        part: Part,
        columns: usize,
        board: &Board,
        ending: &AtomicBool,
    ) -> Result<Read> {
        let result = self.copy(copy_sql, part, columns, board, ending);
        if result.as_ref().is_err_and(|error| error.code != "connection_lost") {
            // Of an error of its own the server has stopped; of ours it knows nothing.
            let _ = self.connection.cancel();
        }
        self.connection.say_goodbye();
        self.connection.await_end(GOODBYE);
        result
    }

    fn copy(
        &mut self,
        copy_sql: &str,
        mut part: Part,
        columns: usize,
        board: &Board,
        ending: &AtomicBool,
    ) -> Result<Read> {
        let cpu_before_ns = clock::thread_cpu_ns();
        self.connection.limit_waiting(SILENCE)?;
        let mut copy = self.connection.copy_out(copy_sql, columns)?;
        let (mut bytes, mut silence) = (0, Duration::ZERO);
        loop {
            let rows_before = part.rows();
            let progress = match copy.read(|piece| part.take(piece)) {
                Ok(progress) => progress,
                Err(error) => return Err(self.failure(error, copy_sql)),
            };
            match progress {
                CopyProgress::Bytes(length) | CopyProgress::Complete(length) => {
                    bytes += length as u64;
                    board.add(part.rows() - rows_before, length as u64);
                }
                CopyProgress::Silence if ending.load(Ordering::Relaxed) && silence >= LAST_WORDS => {
                    return Err(self.connection.lost(&io::ErrorKind::TimedOut.into()));
                }
                CopyProgress::Silence if ending.load(Ordering::Relaxed) => silence += SILENCE,
                CopyProgress::Silence => {}
            }
            if let CopyProgress::Complete(_) = progress {
                break;
            }
        }
        let (cpu_ns, ended_ns) = (clock::thread_cpu_ns() - cpu_before_ns, clock::now_ns());
        Ok(Read { kept: part.finish()?, bytes, cpu_ns, ended_ns })
    }

    fn failure(&self, error: StatementError, sql: &str) -> CoreError {
        match error {
            StatementError::Connection(error) => error,
            StatementError::Server(error) => self.refusal(&error, sql),
        }
    }

    fn refusal(&self, error: &ServerError, sql: &str) -> CoreError {
        let Self { connection, address } = self;
        if error.ends_session() {
            let message = format!(
                "target {address}: the server ended the session of backend {}: {error}",
                connection.process_id()
            );
            return CoreError::new("connection_lost", message);
        }
        let what = sql.split_once('(').map_or(sql, |(head, _)| head).trim_end();
        CoreError::new("scan_failed", format!("target {address}: {what}: {error}"))
    }
}
