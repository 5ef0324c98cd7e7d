//! One session: blocking while it is set up, then driven by the readiness loop without blocking.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use super::encode;
use super::frame::{Frames, Remainder};
use super::row::text_columns;
use super::server_error::ServerError;
use super::startup;
use super::target::{SslMode, Target};
use super::transport::{Transport, unreachable};
use crate::error::{CoreError, Result};

/// The rows of a query, as text.
pub type Rows = Vec<Vec<Option<String>>>;

/// Why a blocking statement did not succeed.
#[derive(Debug)]
pub enum StatementError {
    /// The server refused it; the session goes on.
    Server(ServerError),
    /// The session is gone.
    Connection(CoreError),
}

/// A session with the server.
pub struct Connection {
    transport: Transport,
    target: Target,
    process_id: i32,
    secret_key: Vec<u8>,
    outgoing: Vec<u8>,
    sent: usize,
    /// Of the blocking part only: what was read and not yet used.
    incoming: Vec<u8>,
    used: usize,
}

/// Who may stop what a session is doing.
#[derive(Clone)]
pub struct Canceller {
    target: Target,
    process_id: i32,
    secret_key: Vec<u8>,
}

impl Canceller {
    /// Asks the server, over a connection of its own, to stop what the session is doing; returns when it has heard.
    pub fn cancel(&self) -> Result<()> {
        let mut transport = startup::open_transport(&self.target)?;
        let mut request = Vec::new();
        encode::cancel_request(&mut request, self.process_id, &self.secret_key);
        transport
            .write(&request)
            .and_then(|_| transport.flush())
            .and_then(|()| transport.read(&mut [0]))
            .map(|_| ())
            .map_err(|error| unreachable(&self.target, &error))
    }
}

/// What one non-blocking read found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// So many bytes lie at the front of the buffer; `drained` when nothing more is waiting.
    Bytes {
        /// Kept head of a message included.
        length: usize,
        /// Whether it is pointless to read again now.
        drained: bool,
    },
    /// Nothing to read.
    Nothing,
    /// The server closed the connection.
    Closed,
}

impl Connection {
    /// Connects and logs in; blocking. As with libpq, sslmode prefer is content without TLS where the server
    /// refuses a session that has it.
    pub fn connect(target: &Target, password: Option<&str>) -> Result<Self> {
        let transport = startup::open_transport(target);
        let has_tls = transport.as_ref().is_ok_and(Transport::is_tls);
        let result = transport.and_then(|transport| Self::log_in(transport, target, password));
        let refuses_tls = |error: &CoreError| error.code == "tls" || (has_tls && error.code == "not_admitted");
        if target.sslmode != SslMode::Prefer || !result.as_ref().is_err_and(refuses_tls) {
            return result;
        }
        let plain = Target { sslmode: SslMode::Disable, ..target.clone() };
        let without_tls = startup::open_transport(&plain).and_then(|it| Self::log_in(it, &plain, password));
        without_tls.or(result)
    }

    fn log_in(transport: Transport, target: &Target, password: Option<&str>) -> Result<Self> {
        let mut connection = Self {
            transport,
            target: target.clone(),
            process_id: 0,
            secret_key: Vec::new(),
            outgoing: Vec::with_capacity(1024),
            sent: 0,
            incoming: Vec::new(),
            used: 0,
        };
        startup::log_in(&mut connection, target, password)?;
        connection.transport.set_timeout(None).map_err(|error| unreachable(target, &error))?;
        Ok(connection)
    }

    /// The backend's process id.
    #[must_use]
    pub fn process_id(&self) -> i32 {
        self.process_id
    }

    pub(super) fn set_backend_key(&mut self, process_id: i32, secret_key: &[u8]) {
        self.process_id = process_id;
        self.secret_key = secret_key.to_vec();
    }

    pub(super) fn is_tls(&self) -> bool {
        self.transport.is_tls()
    }

    /// The server's certificate, inside TLS.
    pub(super) fn server_certificate(&self) -> Option<&[u8]> {
        self.transport.server_certificate()
    }

    /// Where messages are written before they are sent.
    pub fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing
    }

    /// Runs SQL by the simple protocol and returns all rows of all its results; blocking.
    pub fn query(&mut self, sql: &str) -> Result<Rows, StatementError> {
        encode::query(&mut self.outgoing, sql);
        self.round_trip()
    }

    /// Sends what is in `outgoing`, which must end with a query or Sync, and reads its answer; blocking.
    pub fn round_trip(&mut self) -> Result<Rows, StatementError> {
        self.send_blocking().map_err(StatementError::Connection)?;
        let mut rows = Rows::new();
        let mut failure = None;
        loop {
            let (tag, body) = self.receive_blocking().map_err(StatementError::Connection)?;
            match tag {
                b'D' => rows.push(text_columns(&body)),
                b'E' => failure = Some(ServerError::parse(&body)),
                b'Z' => return failure.map_or(Ok(rows), |error| Err(StatementError::Server(error))),
                _ => {}
            }
        }
    }

    /// Sends all of `outgoing`; blocking.
    pub fn send_blocking(&mut self) -> Result<()> {
        match self.flush() {
            Ok(true) => Ok(()),
            Ok(false) => Err(unreachable(&self.target, &io::ErrorKind::TimedOut.into())),
            Err(error) => Err(self.lost(&error)),
        }
    }

    /// The next message: its type byte and its body; blocking.
    pub fn receive_blocking(&mut self) -> Result<(u8, Vec<u8>)> {
        loop {
            let mut remainder = Remainder::default();
            let mut frames = Frames::new(&self.incoming[self.used..], &mut remainder);
            if let Some(frame) = frames.next(&mut remainder, false) {
                let message = (frame.tag, frame.body.to_vec());
                self.used += 5 + message.1.len();
                return Ok(message);
            }
            self.incoming.drain(..self.used);
            self.used = 0;
            let mut chunk = [0; 4096];
            match self.transport.read(&mut chunk) {
                Ok(0) => return Err(self.lost(&io::ErrorKind::UnexpectedEof.into())),
                Ok(length) => self.incoming.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.lost(&error)),
            }
        }
    }

    /// What was read beyond the last message that was received; it is the caller's now.
    pub(super) fn take_unused(&mut self) -> Vec<u8> {
        self.incoming.drain(..std::mem::take(&mut self.used));
        std::mem::take(&mut self.incoming)
    }

    /// Reads what is there, and waits for it as long as `limit_waiting` says; 0: the server has closed.
    pub(super) fn read_blocking(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.transport.read(buffer)
    }

    /// From now on a blocking answer that takes longer than this means that the connection is lost.
    pub fn limit_waiting(&self, time: Duration) -> Result<()> {
        self.transport.set_timeout(Some(time)).map_err(|error| unreachable(&self.target, &error))
    }

    /// From now on reading and writing never wait.
    pub fn set_nonblocking(&mut self) -> Result<()> {
        debug_assert_eq!(self.used, self.incoming.len(), "an answer was left unread");
        self.transport.set_nonblocking(true).map_err(|error| unreachable(&self.target, &error))
    }

    /// For the readiness loop.
    #[must_use]
    pub fn as_raw_fd(&self) -> RawFd {
        self.transport.as_raw_fd()
    }

    /// Sends what is in `outgoing`; true when all of it is gone.
    pub fn flush(&mut self) -> io::Result<bool> {
        let wait = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock => Ok(false),
            _ => Err(error),
        };
        while self.sent < self.outgoing.len() {
            match self.transport.write(&self.outgoing[self.sent..]) {
                Ok(length) => self.sent += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return wait(error),
            }
        }
        self.outgoing.clear();
        self.sent = 0;
        self.transport.flush().map_or_else(wait, |()| Ok(true))
    }

    /// Reads once into the shared buffer, behind the kept head of a message; never waits.
    pub fn read(&mut self, remainder: &mut Remainder, buffer: &mut Vec<u8>) -> io::Result<ReadOutcome> {
        let kept = remainder.restore(buffer);
        loop {
            match self.transport.read(&mut buffer[kept..]) {
                Ok(0) => return Ok(ReadOutcome::Closed),
                Ok(length) => {
                    let drained = kept + length < buffer.len() && !self.transport.is_tls();
                    return Ok(ReadOutcome::Bytes { length: kept + length, drained });
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    remainder.keep(&buffer[..kept]);
                    return Ok(ReadOutcome::Nothing);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The session ended without being asked to, or never began.
    #[must_use]
    pub fn lost(&self, error: &io::Error) -> CoreError {
        if self.process_id == 0 {
            return unreachable(&self.target, error);
        }
        let message = format!(
            "target {}: the connection of backend {} was lost ({error}); see the server's log",
            self.target.address(),
            self.process_id
        );
        CoreError::new("connection_lost", message)
    }

    /// Asks the server, over a connection of its own, to stop what this session is doing.
    pub fn cancel(&self) -> Result<()> {
        self.canceller().cancel()
    }

    /// The same for somebody else, while this session is in use.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        let (target, secret_key) = (self.target.clone(), self.secret_key.clone());
        Canceller { target, process_id: self.process_id, secret_key }
    }

    /// Ends the session; `await_end` sees it through.
    pub fn say_goodbye(&mut self) {
        encode::terminate(&mut self.outgoing);
        // Best effort: when the connection is broken, the session is ending by itself.
        let _ = self.transport.set_nonblocking(false).and_then(|()| self.flush().map(|_| ()));
    }

    /// Waits, up to the limit, until the backend has gone: what is measured next shall not meet it.
    pub fn await_end(mut self, limit: Duration) {
        if self.transport.set_timeout(Some(limit)).is_ok() {
            let mut rest = [0; 4096];
            while matches!(self.transport.read(&mut rest), Ok(1..)) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_says_nothing_is_unreachable() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its number").port();
        let target = format!(
            r#"{{"host": "127.0.0.1", "port": {port}, "user": "u", "dbname": "d", "sslmode": "disable",
                "connect_timeout_ns": 50000000}}"#
        );
        let target: Target = serde_json::from_str(&target).expect("valid");
        let error = Connection::connect(&target, None).err().expect("nobody answers");
        assert_eq!("unreachable", error.code);
        assert!(error.message.contains("no answer in time"), "{error}");
    }
}
