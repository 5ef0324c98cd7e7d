//! One scan from connecting to outcome.
//!
//! ```text
//! spec -> sessions, one snapshot -> a thread each: COPY -> Part --+-> union, growth, samples -> Outcome, file
//!                                      this one: stop? a failure? cancel them all
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::budget::Budget;
use super::live::Board;
use super::outcome::{Outcome, SourceScan, exported};
use super::part::Part;
use super::session::{self, Read, Session};
use super::spec::ScanSpec;
use crate::error::{CoreError, Result};

/// How long a wish to stop may go unnoticed.
const CHECK_PERIOD: Duration = Duration::from_millis(20);
/// A request that came before the statement has stopped nothing.
const CANCEL_PERIOD: Duration = Duration::from_millis(500);

/// Reads a table once and returns the outcome as JSON (docs/architecture.md), the sketches as a file, and those for
/// others.
///
/// # Errors
/// Those of connecting; `spec_invalid`; `scan_failed` and `connection_lost` for what the server refuses and breaks;
/// `interrupted` after `board.request_stop`. No session is left in any case.
pub fn scan_postgres(spec_json: &str, password: Option<&str>, board: &Board) -> Result<SourceScan> {
    let spec = ScanSpec::parse(spec_json)?;
    let budget = Budget::of(&spec);
    let sessions = session::begin(&spec, password, board)?;
    let started_ns = board.begin(spec.rows_expected);
    let parts = read_parts(&spec, &budget, sessions, board)?;
    let ended_ns = parts.iter().map(|part| part.ended_ns).max().unwrap_or(started_ns);
    let (outcome, sketches) = Outcome::of_parts(&spec, budget, &parts, ended_ns - started_ns);
    Ok(SourceScan { outcome: outcome.text()?, sketches, exported: exported(&spec, &parts) })
}

/// All parts, in their order. If one fails, the others are cancelled, and its error is that of the scan.
fn read_parts(spec: &ScanSpec, budget: &Budget, sessions: Vec<Session>, board: &Board) -> Result<Vec<Read>> {
    let mut at_work: Vec<_> = sessions.iter().map(|session| Some(session.canceller())).collect();
    let mut ended: Vec<(usize, Result<Read>)> = Vec::new();
    let ending = &AtomicBool::new(false);
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for (number, session) in sessions.into_iter().enumerate() {
            let sender = sender.clone();
            let read = move || {
                let part = Part::new(spec, number, budget);
                let result = session.read(&spec.parts[number].copy_sql, part, spec.columns.len(), board, ending);
                sender.send((number, result)).expect("received until all have sent");
            };
            thread::Builder::new().name("dbdyno-ndv".to_owned()).spawn_scoped(scope, read).expect("room for a thread");
        }
        drop(sender);
        let mut cancelled: Option<Instant> = None;
        loop {
            match receiver.recv_timeout(CHECK_PERIOD) {
                Ok((number, result)) => {
                    at_work[number] = None;
                    ended.push((number, result));
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Of a thread that panicked the scope tells.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let is_over = board.is_stopped() || ended.iter().any(|(_, result)| result.is_err());
            if is_over && cancelled.is_none_or(|at| at.elapsed() >= CANCEL_PERIOD) {
                ending.store(true, Ordering::Relaxed);
                // A server that cannot be asked is left alone by the threads after a while.
                at_work.iter().flatten().for_each(|canceller| drop(canceller.cancel()));
                cancelled = Some(Instant::now());
            }
        }
    });
    if board.is_stopped() {
        return Err(interrupted());
    }
    // In the order in which they came to an end: the first failure is the cause of the others.
    let mut parts =
        ended.into_iter().map(|(number, result)| result.map(|part| (number, part))).collect::<Result<Vec<_>>>()?;
    parts.sort_by_key(|(number, _)| *number);
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

/// The error after `Board::request_stop`.
pub(super) fn interrupted() -> CoreError {
    CoreError::new("interrupted", "the scan was interrupted; nothing was kept, and the server was told to stop")
}
