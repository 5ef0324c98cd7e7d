//! Reading what a COPY sends: large reads into one buffer, and its data handed on where it lies.

use std::io;
use std::thread;
use std::time::Duration;

use super::connection::{Connection, StatementError};
use super::copy_messages::{CopyEnd, CopyMessages};
use super::encode;
use crate::error::{CoreError, Result};

/// A Unix socket holds some 200 KB for its reader (net.core.wmem_default), TCP on one host a few times that. Larger
/// reads do not come, and this much still lies in the second-level cache when it is looked at.
const READ_BYTES: usize = 256 * 1024;

/// A server sends 8 KB at a time, and a reader that is faster than the server is woken up for each of them, at the
/// server's expense as well as its own. One that was ahead rests a little while the socket fills, far from full: the
/// same COPY of 690 MB took 1.10 s and not 1.34, its reader 0.18 s of CPU and not 0.32, its backend 1.08 s and not 1.16
/// (least and medians of 8; the timer adds some 60 us to a nap). Inside TLS a read is one record, and says nothing.
const AHEAD_BYTES: usize = 64 * 1024;
const NAP: Duration = Duration::from_micros(50);

/// A COPY under way; one that is given up leaves the connection of no use but to be closed.
pub struct CopyOut<'a> {
    connection: &'a mut Connection,
    messages: CopyMessages,
    buffer: Vec<u8>,
    /// Of the buffer, what came before the statement was sent.
    unread: usize,
    /// The last read has emptied the socket long before it was full.
    is_ahead: bool,
}

/// What one read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyProgress {
    /// So many bytes of messages.
    Bytes(usize),
    /// Nothing within the time that `limit_waiting` gives.
    Silence,
    /// The last bytes, so many: the connection is ready for the next query.
    Complete(usize),
}

impl Connection {
    /// Sends SQL that must be a COPY to the client, in the binary format, of so many columns. That it is one, and that
    /// the server does it, shows when it is read.
    pub fn copy_out(&mut self, sql: &str, columns: usize) -> Result<CopyOut<'_>> {
        let mut buffer = self.take_unused();
        let unread = buffer.len();
        buffer.resize(READ_BYTES.max(unread), 0);
        encode::query(self.outgoing(), sql);
        self.send_blocking()?;
        Ok(CopyOut { connection: self, messages: CopyMessages::new(columns), buffer, unread, is_ahead: false })
    }
}

impl CopyOut<'_> {
    /// Reads once, and hands each piece of the data to `data`. A piece is what lies together: a row may come in
    /// several, and several rows in one. Its error, too, comes back as one of the connection, which is of no more use.
    pub fn read(&mut self, mut data: impl FnMut(&[u8]) -> Result<()>) -> Result<CopyProgress, StatementError> {
        if self.is_ahead {
            thread::sleep(NAP);
        }
        let length = match std::mem::take(&mut self.unread) {
            0 => match self.connection.read_blocking(&mut self.buffer) {
                Ok(0) => return Err(self.lost(&io::ErrorKind::UnexpectedEof.into())),
                Ok(length) => length,
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => return Ok(CopyProgress::Silence),
                    io::ErrorKind::Interrupted => return Ok(CopyProgress::Bytes(0)),
                    _ => return Err(self.lost(&error)),
                },
            },
            unread => unread,
        };
        self.is_ahead = length < AHEAD_BYTES && !self.connection.is_tls();
        match self.messages.take(&self.buffer[..length], &mut data).map_err(StatementError::Connection)? {
            None => Ok(CopyProgress::Bytes(length)),
            Some(CopyEnd::Complete) => Ok(CopyProgress::Complete(length)),
            Some(CopyEnd::Failed(error)) => Err(StatementError::Server(error)),
            Some(CopyEnd::Unexpected(what)) => {
                Err(StatementError::Connection(CoreError::new("spec_invalid", format!("copy_sql: {what}"))))
            }
        }
    }

    fn lost(&self, error: &io::Error) -> StatementError {
        StatementError::Connection(self.connection.lost(error))
    }
}
