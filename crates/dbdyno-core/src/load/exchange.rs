//! Bytes to and from the server, without waiting: one write and one read per round trip.

use std::io;
use std::time::Duration;

use super::worker::{Worker, io_error};
use crate::clock;
use crate::error::Result;
use crate::wire::{Frames, ReadOutcome};

/// A backend gets this long to go away.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

impl Worker<'_> {
    /// Sends what a client has queued; what the socket does not take now is sent when it can be.
    pub(super) fn flush(&mut self, index: usize) -> Result<()> {
        let client = &mut self.clients[index];
        let done = client.connection.flush().map_err(|error| client.connection.lost(&error))?;
        if done == client.write_blocked {
            client.write_blocked = !done;
            self.readiness.want_write(client.connection.as_raw_fd(), index, !done).map_err(io_error)?;
        }
        Ok(())
    }

    /// Reads what the server sent to a client; when it has answered everything, the client goes on.
    pub(super) fn receive(&mut self, index: usize) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let result = self.receive_into(index, &mut buffer);
        self.buffer = buffer;
        result
    }

    fn receive_into(&mut self, index: usize, buffer: &mut Vec<u8>) -> Result<()> {
        loop {
            let client = &mut self.clients[index];
            let outcome = client.connection.read(&mut client.remainder, buffer);
            let (length, drained) = match outcome.map_err(|error| client.connection.lost(&error))? {
                ReadOutcome::Bytes { length, drained } => (length, drained),
                ReadOutcome::Nothing => return Ok(()),
                ReadOutcome::Closed => return Err(client.connection.lost(&io::ErrorKind::UnexpectedEof.into())),
            };
            let now_ns = clock::now_ns();
            self.answered_ns = now_ns;
            let mut frames = Frames::new(&buffer[..length], &mut client.remainder);
            loop {
                let discard_rows = client.discards_rows();
                let Some(frame) = frames.next(&mut client.remainder, discard_rows) else { break };
                client.absorb(&frame, now_ns, self.shared.plan, &mut self.record)?;
            }
            if client.is_answered() {
                self.answered(index, now_ns)?;
            } else {
                self.fetch_on(index)?;
            }
            if drained {
                return Ok(());
            }
        }
    }

    /// Ends all sessions, and what they are still doing.
    pub(super) fn end_sessions(&mut self) {
        for client in &mut self.clients {
            if !client.is_answered() {
                // Best effort: a session that cannot be cancelled ends when its statement does.
                let _ = client.connection.cancel();
            }
            client.connection.say_goodbye();
        }
        for client in self.clients.drain(..) {
            client.connection.await_end(CLOSE_LIMIT);
        }
    }
}
