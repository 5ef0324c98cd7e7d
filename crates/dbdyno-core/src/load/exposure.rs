//! What a crash would lose: WAL inserted but not flushed, looked at during the window over a
//! connection and on a thread of its own.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::outcome::Exposure;
use super::spec::TrialSpec;
use super::window::Window;
use super::worker::Shared;
use crate::clock;
use crate::wire::{Connection, Rows, encode};

/// Positions in bytes since the beginning of the WAL.
const POSITIONS_SQL: &str =
    "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn, pg_current_wal_flush_lsn() - '0/0'::pg_lsn";
const STATEMENT_NAME: &str = "exposure";
/// Beyond it the samples grow as they come: the window of fixed work may be hours, and its work a second.
const SAMPLES_EXPECTED_MAX: u64 = 10_000;
/// A thread that waits for the window looks this often whether the trial was given up.
const LONGEST_WAIT_NS: u64 = 100_000_000;

/// The connection, with its statement prepared.
pub(super) struct ExposureProbe {
    connection: Connection,
    request: Vec<u8>,
    period_ns: u64,
}

impl ExposureProbe {
    /// None where nothing was asked for, or where the server does not tell (a standby, no permission,
    /// no connection left): the trial goes on without samples.
    pub(super) fn connect(spec: &TrialSpec, password: Option<&str>) -> Option<Self> {
        let period_ns = spec.exposure_period_ns?;
        let mut connection = Connection::connect(&spec.target, password).ok()?;
        encode::parse(connection.outgoing(), STATEMENT_NAME, POSITIONS_SQL);
        encode::sync(connection.outgoing());
        connection.round_trip().ok()?;
        let mut request = encode::bind_head(STATEMENT_NAME, 0);
        request.extend_from_slice(&encode::bind_tail(false));
        encode::patch_length(&mut request, 1);
        encode::execute(&mut request);
        encode::sync(&mut request);
        let mut probe = Self { connection, request, period_ns };
        probe.positions()?;
        Some(probe)
    }

    /// Samples over the window, or until fixed work is done.
    pub(super) fn run(mut self, shared: &Shared<'_>) -> Exposure {
        let Window { start_ns, end_ns, .. } = shared.window;
        let expected = ((end_ns - start_ns) / self.period_ns + 1).min(SAMPLES_EXPECTED_MAX);
        let mut samples = Vec::with_capacity(expected as usize);
        let mut due_ns = start_ns;
        while due_ns < end_ns
            && !shared.work_is_done()
            && !shared.abandoned.load(Ordering::Relaxed)
            && !super::stop::is_requested()
        {
            let now_ns = clock::now_ns();
            if now_ns < due_ns {
                std::thread::sleep(Duration::from_nanos((due_ns - now_ns).min(LONGEST_WAIT_NS)));
                continue;
            }
            let Some((inserted, flushed)) = self.positions() else { break };
            samples.push((clock::now_ns() - start_ns, inserted, flushed));
            // Samples that a stall has swallowed are not made up for.
            due_ns += self.period_ns * (now_ns - due_ns).div_ceil(self.period_ns).max(1);
        }
        self.connection.say_goodbye();
        Exposure { samples: Some(samples) }
    }

    fn positions(&mut self) -> Option<(u64, u64)> {
        self.connection.outgoing().extend_from_slice(&self.request);
        positions_of(&self.connection.round_trip().ok()?)
    }
}

/// The insert position is read first, so that a flush in between can overtake it: then all is flushed.
fn positions_of(rows: &Rows) -> Option<(u64, u64)> {
    let number = |column: usize| rows.first()?.get(column)?.as_ref()?.parse::<u64>().ok();
    let (inserted, flushed) = (number(0)?, number(1)?);
    Some((inserted, flushed.min(inserted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_flushed_is_never_ahead_of_what_is_inserted() {
        let row = |inserted: &str, flushed: &str| vec![vec![Some(inserted.to_owned()), Some(flushed.to_owned())]];
        assert_eq!(Some((900, 700)), positions_of(&row("900", "700")));
        assert_eq!(Some((900, 900)), positions_of(&row("900", "950")));
        assert_eq!(None, positions_of(&vec![vec![None, None]]));
    }
}
