//! Preparing all statements before the load: fixed work may have no warm-up, and its first execution shall
//! not be measured with its Parse.

use std::iter;

use super::client::Client;
use super::plan::Plan;
use crate::error::Result;
use crate::wire::Frame;

impl Client {
    /// Prepares every statement, waiting for the server. One that cannot be prepared yet, because another one
    /// of its script creates what it names, is prepared when it is met.
    pub(super) fn prepare_all(&mut self, plan: &Plan) -> Result<()> {
        for statement in 0..plan.statements.len() {
            self.write_prepare(plan, iter::once(statement));
            self.connection.send_blocking()?;
            while !self.is_answered() {
                let (tag, body) = self.connection.receive_blocking()?;
                match tag {
                    b'T' | b'n' => self.take_description(&Frame { tag, body: &body }, plan),
                    b'E' => self.take_error(&body)?,
                    b'Z' => self.syncs_answered += 1,
                    _ => {}
                }
            }
            if self.failed.take().is_some() {
                self.preparing.clear();
            }
        }
        Ok(())
    }
}
