//! What the server itself tells about its processes, over a connection.

use crate::wire::{Connection, StatementError};

/// One row of pg_stat_activity. What the server does not tell, to whom asks or of this process, is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Process id.
    pub pid: i32,
    /// `Class:Name` of the wait event.
    pub wait: Option<String>,
    /// `active`, `idle` and so on.
    pub state: Option<String>,
    /// Identifies the query text; there where `compute_query_id` is on.
    pub query_id: Option<i64>,
}

/// Asks the server: all rows of pg_stat_activity. Called from the sampler thread.
pub type SqlWaits = Box<dyn FnMut() -> Result<Vec<Activity>, String> + Send>;

/// The question. Who asks is left out: it is never as idle as it was before and will be after.
pub const ACTIVITY_SQL: &str = "SELECT pid, wait_event_type || ':' || wait_event, state, query_id FROM pg_stat_activity WHERE pid <> pg_backend_pid()";

/// Asks over a connection that nobody else uses.
pub fn activity_over(mut connection: Connection) -> SqlWaits {
    Box::new(move || {
        let rows = connection.query(ACTIVITY_SQL).map_err(|error| match error {
            StatementError::Server(error) => error.to_string(),
            StatementError::Connection(error) => error.message,
        })?;
        Ok(rows.iter().filter_map(|row| Activity::from_row(row)).collect())
    })
}

impl Activity {
    /// A row of the answer to `ACTIVITY_SQL`.
    pub fn from_row(row: &[Option<String>]) -> Option<Self> {
        let [Some(pid), wait, state, query_id] = row else { return None };
        let query_id = query_id.as_ref().and_then(|text| text.parse().ok());
        Some(Activity { pid: pid.parse().ok()?, wait: wait.clone(), state: state.clone(), query_id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_far_as_the_server_tells() {
        let text = |text: &str| Some(text.to_owned());
        let row = [text("7"), text("IO:WalSync"), text("active"), text("-12")];
        let expected = Activity { pid: 7, wait: text("IO:WalSync"), state: text("active"), query_id: Some(-12) };
        assert_eq!(Activity::from_row(&row), Some(expected));
        assert_eq!(
            Activity::from_row(&[text("8"), None, None, None]),
            Some(Activity { pid: 8, ..Activity::default() })
        );
        assert_eq!(Activity::from_row(&[None, None, None, None]), None);
    }
}
