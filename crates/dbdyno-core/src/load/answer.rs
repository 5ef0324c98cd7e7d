//! The server's answers, message by message: results complete, rows are counted or captured, errors end
//! the try, and each ReadyForQuery pays for one Sync.

use std::io;

use super::capture;
use super::client::{Client, Failed, InFlight, Prepared};
use super::plan::Plan;
use super::record::{Record, Rows};
use crate::error::{CoreError, Result};
use crate::wire::{Frame, RowDescription, ServerError, rows_affected};

impl Client {
    /// Whether the contents of data rows are of no interest now.
    pub(super) fn discards_rows(&self) -> bool {
        self.in_flight.front().is_none_or(|statement| !statement.captures)
    }

    /// Takes in one message of the server.
    pub(super) fn absorb(&mut self, frame: &Frame<'_>, now_ns: u64, plan: &Plan, record: &mut Record) -> Result<()> {
        match frame.tag {
            b'D' => self.take_row(frame.body),
            b'C' | b'I' => return self.end_result(frame.body, now_ns, plan, record),
            b's' => self.fetch_suspended(),
            b'Z' => return self.take_ready(frame.body, now_ns, plan, record),
            b'E' => return self.take_error(frame.body),
            b'T' | b'n' => self.take_description(frame, plan),
            b'G' | b'H' | b'W' => return Err(self.copy_refused(plan)),
            _ => {}
        }
        Ok(())
    }

    fn take_row(&mut self, body: &[u8]) {
        self.rows.returned += 1;
        if !self.discards_rows() {
            self.captured.row(body);
        }
    }

    /// CommandComplete, or the answer to an empty query. Its count holds the rows of the last portion only, but a
    /// command that changes rows and returns some returns one for each.
    fn end_result(&mut self, tag: &[u8], now_ns: u64, plan: &Plan, record: &mut Record) -> Result<()> {
        let Some(statement) = self.in_flight.front().map(|statement| statement.statement) else { return Ok(()) };
        self.end_fetching();
        self.rows.affected += match rows_affected(tag) {
            Some(_) if self.was_suspended => self.rows.returned,
            affected => affected.unwrap_or(0),
        };
        if let Some(capture) = &plan.statements[statement].capture {
            self.captured.end_of_result(capture, &mut self.variables);
        }
        match plan.completes_when_ready() {
            true => Ok(()),
            false => self.complete(now_ns, plan, record),
        }
    }

    fn complete(&mut self, now_ns: u64, plan: &Plan, record: &mut Record) -> Result<()> {
        let Some(InFlight { statement, sent_ns, .. }) = self.in_flight.pop_front() else { return Ok(()) };
        let rows = std::mem::take(&mut self.rows);
        if self.unit.counted {
            record.statement_completed(statement, now_ns - sent_ns, rows);
        }
        let Some(capture) = &plan.statements[statement].capture else { return Ok(()) };
        self.captured.end_of_command(capture, &mut self.variables).map_err(|rows| {
            let message = format!("{}: \\gset takes exactly one row, the query gave {rows}", plan.place_of(statement));
            CoreError::new("script_runtime", message)
        })
    }

    fn take_ready(&mut self, body: &[u8], now_ns: u64, plan: &Plan, record: &mut Record) -> Result<()> {
        self.syncs_answered += 1;
        self.in_transaction = body != b"I";
        if plan.completes_when_ready() && self.failed.is_none() {
            self.complete(now_ns, plan, record)?;
        }
        if self.failed.is_some() {
            let answered = self.syncs_answered;
            self.in_flight.retain(|statement| statement.segment >= answered);
            self.preparing.clear();
            self.rows = Rows::default();
        }
        Ok(())
    }

    pub(super) fn take_error(&mut self, body: &[u8]) -> Result<()> {
        let error = ServerError::parse(body);
        if error.ends_session() {
            return Err(self.connection.lost(&io::Error::other(error.to_string())));
        }
        self.end_fetching();
        if self.failed.is_none() {
            let in_flight = self.in_flight.front().map(|statement| statement.statement);
            let statement = in_flight.or(self.preparing.front().copied());
            self.failed = Some(Failed { error, statement });
        }
        Ok(())
    }

    /// Wanted when a statement is prepared, and where a result is captured; elsewhere it is passed over.
    pub(super) fn take_description(&mut self, frame: &Frame<'_>, plan: &Plan) {
        if self.preparing.is_empty() && self.discards_rows() {
            return;
        }
        let description = match frame.tag {
            b'T' => RowDescription::parse(frame.body).unwrap_or_default(),
            _ => RowDescription::default(),
        };
        let statement = self.preparing.front().copied().or(self.in_flight.front().map(|statement| statement.statement));
        let Some(statement) = statement else { return };
        let capture = plan.statements[statement].capture.as_ref();
        let targets = capture.map(|capture| capture::targets(capture, &description, &plan.symbols)).unwrap_or_default();
        if self.preparing.pop_front().is_some() {
            let binary_results = description.all_binary && capture.is_none();
            self.prepared[statement] = Some(Prepared { binary_results, targets });
        } else {
            self.captured.targets = targets;
        }
    }

    fn copy_refused(&self, plan: &Plan) -> CoreError {
        let place = self.in_flight.front().map(|statement| plan.place_of(statement.statement)).unwrap_or_default();
        CoreError::new("sql_error", format!("{place}: COPY between server and client is not supported in a script"))
    }
}
