//! Which session a line belongs to: the last one that a mark has named. trcsess names the process whenever it changes,
//! a shared server's process the session.

use std::collections::HashMap;

use super::limits::SESSIONS_MAX;
use super::session::{Session, SessionKey};

/// All sessions of a file; there is always a current one.
#[derive(Debug)]
pub(super) struct Sessions {
    pub all: Vec<Session>,
    current: usize,
    process: Option<u64>,
    by_key: HashMap<SessionKey, usize>,
    /// The last session of each process.
    of_process: HashMap<u64, usize>,
    /// Marks of sessions that had no place of their own.
    pub merged: u64,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            all: vec![Session::new(SessionKey::default(), None, 1)],
            current: 0,
            process: None,
            by_key: HashMap::new(),
            of_process: HashMap::new(),
            merged: 0,
        }
    }
}

impl Sessions {
    #[inline(always)]
    pub(super) fn current(&mut self) -> &mut Session {
        &mut self.all[self.current]
    }

    #[inline(always)]
    pub(super) fn current_id(&self) -> u32 {
        self.current as u32
    }

    pub(super) fn switch_to(&mut self, id: usize) {
        self.current = id;
    }

    /// What follows was written by this process.
    pub(super) fn begin_process(&mut self, process: u64, line: u64) {
        self.process = Some(process);
        match self.of_process.get(&process) {
            Some(id) => self.current = *id,
            None => self.begin(SessionKey { session: None, process: Some(process) }, line),
        }
        self.of_process.insert(process, self.current);
    }

    /// What follows is of this session.
    pub(super) fn begin_session(&mut self, session: &[u8], line: u64) {
        let session = &session[..session.len().min(100)];
        self.begin(SessionKey { session: Some(session.into()), process: None }, line);
        if let Some(process) = self.process {
            self.of_process.insert(process, self.current);
        }
    }

    /// The first line of a session that began before another one had ended: the file's duration is less than the sum
    /// of theirs.
    pub(super) fn overlap(&self) -> Option<u64> {
        let mut sessions: Vec<&Session> = self.all.iter().filter(|session| session.extent.duration_ns() > 0).collect();
        sessions.sort_by_key(|session| session.extent.begin_ns);
        let is_overlapped = |pair: &&[&Session]| pair[1].extent.begin_ns < pair[0].extent.end_ns;
        sessions.windows(2).find(is_overlapped).map(|pair| pair[1].first_line)
    }

    fn begin(&mut self, key: SessionKey, line: u64) {
        if let Some(id) = self.by_key.get(&key) {
            self.current = *id;
            return;
        }
        let (process, current) = (self.process, self.current());
        if current.is_untouched() && current.key.session.is_none() {
            (current.key, current.process) = (key.clone(), process);
        } else if self.all.len() < SESSIONS_MAX {
            self.all.push(Session::new(key.clone(), process, line));
            self.current = self.all.len() - 1;
        } else {
            // The last one is that of all others.
            self.merged += 1;
            self.current = SESSIONS_MAX - 1;
            return;
        }
        self.by_key.insert(key, self.current);
    }
}
