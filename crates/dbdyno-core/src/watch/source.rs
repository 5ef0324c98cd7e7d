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

    /// `BackendState` of backend_status.h; 18 put `STATE_STARTING` behind the first.
    pub fn of_code(version: u32, code: u32) -> Self {
        use SessionState::{
            Active, Disabled, FastPath, Idle, IdleInTransaction, IdleInTransactionAborted, Starting, Unknown,
        };
        const BEFORE_18: [SessionState; 7] =
            [Unknown, Idle, Active, IdleInTransaction, FastPath, IdleInTransactionAborted, Disabled];
        const FROM_18: [SessionState; 8] =
            [Unknown, Starting, Idle, Active, IdleInTransaction, FastPath, IdleInTransactionAborted, Disabled];
        let table = if version < 18 { &BEFORE_18[..] } else { &FROM_18[..] };
        table.get(code as usize).copied().unwrap_or(Unknown)
    }

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

    /// Brings a copy up to date, where reading is from a copy.
    fn refresh(&mut self) -> io::Result<()>;

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
    fn states_have_the_code_of_their_version_and_one_name() {
        let names_of = |version| (0..8).map(|code| SessionState::of_code(version, code).name()).collect::<Vec<_>>();
        let before = [
            None,
            Some("idle"),
            Some("active"),
            Some("idle in transaction"),
            Some("fastpath function call"),
            Some("idle in transaction (aborted)"),
            Some("disabled"),
            None,
        ];
        assert_eq!(before.to_vec(), names_of(17));
        assert_eq!([None, Some("starting"), Some("idle"), Some("active")], names_of(18)[..4]);
        assert!(SessionState::ALL.into_iter().all(|state| SessionState::of_name(state.name().unwrap_or("")) == state));
    }
}
