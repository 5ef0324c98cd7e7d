//! What a sweep reads: one entry for each process that the server has room for.

use std::io;

/// What a session is doing, as the server says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SessionState {
    /// It says nothing: a background process, or a session whose activity is hidden from us.
    #[default]
    Unknown,
    /// Not yet logged in (18 and later).
    Starting,
    /// Executing.
    Active,
    /// Waiting for its client, outside a transaction.
    Idle,
    /// Waiting for its client inside one.
    IdleInTransaction,
    /// The same after an error.
    IdleInTransactionAborted,
    /// Executing a fast-path function.
    FastPath,
    /// `track_activities` is off.
    Disabled,
}

impl SessionState {
    const ALL: [SessionState; 8] = [
        SessionState::Unknown,
        SessionState::Starting,
        SessionState::Active,
        SessionState::Idle,
        SessionState::IdleInTransaction,
        SessionState::IdleInTransactionAborted,
        SessionState::FastPath,
        SessionState::Disabled,
    ];

    /// The column `state` of pg_stat_activity.
    pub fn of_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|state| state.name() == Some(name)).unwrap_or_default()
    }

    /// As pg_stat_activity spells it; none where it shows none.
    pub fn name(self) -> Option<&'static str> {
        match self {
            SessionState::Unknown => None,
            SessionState::Starting => Some("starting"),
            SessionState::Active => Some("active"),
            SessionState::Idle => Some("idle"),
            SessionState::IdleInTransaction => Some("idle in transaction"),
            SessionState::IdleInTransactionAborted => Some("idle in transaction (aborted)"),
            SessionState::FastPath => Some("fastpath function call"),
            SessionState::Disabled => Some("disabled"),
        }
    }

    /// Whether somebody may be waiting for it: not for an idle session, nor for a process that serves none.
    pub fn is_busy(self) -> bool {
        !matches!(self, SessionState::Unknown | SessionState::Idle)
    }
}

/// What one process was seen doing; equal ones in a row are one stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Activity {
    /// The route's number for the wait event; 0: none.
    pub event: u32,
    /// Of the session.
    pub state: SessionState,
    /// 0: none, or not computed.
    pub query_id: i64,
}

/// The server's table of processes.
pub trait SlotSource {
    /// How many entries there are at present; what is behind them is empty.
    fn slots(&self) -> usize;

    /// Brings a copy up to date, where reading is from a copy; false where the server gave nothing new this time.
    fn refresh(&mut self) -> io::Result<bool>;

    /// The process in a slot; 0: none.
    fn pid(&mut self, slot: usize) -> i32;

    /// What it was doing at the last refresh.
    fn activity(&self, slot: usize) -> Activity;

    /// What it does now, as far as a single process can be asked.
    fn activity_now(&self, slot: usize) -> io::Result<Activity>;

    /// Whether the states of sessions are known; otherwise none is known to be idle.
    fn knows_states(&self) -> bool;

    /// Whether the events are of some time before `refresh` returns, so that a process's state must be
    /// read on both sides of it.
    fn answers_late(&self) -> bool;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_name_of_its_own() {
        assert!(SessionState::ALL.into_iter().all(|state| SessionState::of_name(state.name().unwrap_or("")) == state));
        assert_eq!(SessionState::Unknown, SessionState::of_name("busy"));
        let busy: Vec<_> = SessionState::ALL.into_iter().filter(|state| state.is_busy()).collect();
        assert_eq!(6, busy.len(), "all but unknown and idle: {busy:?}");
    }
}
