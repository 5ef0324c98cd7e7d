//! Fetching a result in portions, as drivers do: each Execute of the portal returns at most `fetch_rows` rows.
//!
//! ```text
//! Bind Execute Flush ->   <- rows, PortalSuspended     the portal has more
//!      Execute Flush ->   <- rows, PortalSuspended
//!      Execute Flush ->   <- rows, CommandComplete     or an error
//!               Sync ->   <- ReadyForQuery             outside a transaction block: committed
//! ```
//!
//! One write and one read a fetch. Flush, because a Sync between fetches would end the implicit transaction
//! and the portal with it. The statement has completed with ReadyForQuery, as it has without a limit, where
//! CommandComplete arrives together with it: its commit is part of it.

use super::client::Client;
use super::plan::Plan;
use super::worker::Worker;
use crate::error::Result;
use crate::wire::encode;

/// How far the fetching of a result has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fetch {
    /// Nothing is being fetched.
    #[default]
    None,
    /// An Execute was sent.
    Awaited,
    /// There are more rows: the next Execute is to be sent.
    Suspended,
    /// There are none, or there was an error: Sync is to be sent.
    Ended,
}

impl Client {
    /// Queues the Flush behind the first Execute.
    pub(super) fn begin_fetching(&mut self) {
        encode::flush(self.connection.outgoing());
        self.fetch = Fetch::Awaited;
        self.was_suspended = false;
    }

    /// PortalSuspended came.
    pub(super) fn fetch_suspended(&mut self) {
        self.fetch = Fetch::Suspended;
        self.was_suspended = true;
    }

    /// CommandComplete or an error came.
    pub(super) fn end_fetching(&mut self) {
        if self.fetch != Fetch::None {
            self.fetch = Fetch::Ended;
        }
    }

    /// Queues what the last answer asks for; false: nothing.
    fn write_next_fetch(&mut self, plan: &Plan) -> bool {
        match (self.fetch, self.in_flight.front()) {
            (Fetch::Suspended, Some(statement)) => {
                let out = self.connection.outgoing();
                plan.statements[statement.statement].write_execute(out);
                encode::flush(out);
                self.fetch = Fetch::Awaited;
            }
            (Fetch::Ended, _) => {
                self.write_sync();
                self.fetch = Fetch::None;
            }
            _ => return false,
        }
        true
    }
}

impl Worker<'_> {
    /// Asks for the next rows, if a client's portal has more of them.
    pub(super) fn fetch_on(&mut self, index: usize) -> Result<()> {
        match self.clients[index].write_next_fetch(self.shared.plan) {
            true => self.flush(index),
            false => Ok(()),
        }
    }
}
