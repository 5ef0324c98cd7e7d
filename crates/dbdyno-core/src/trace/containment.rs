//! Whether a wait lies within a call or between two: it stands before the call within which it was, and before the
//! call that followed it. The moments decide.
//!
//! ```text
//!      FETCH          message from client        FETCH
//! |--------------|...|-------------------|...|---wait---------|
//!                                            begin = tim - e   tim
//! ```
//!
//! A call takes the waits whose middle is not before its begin: clocks are read a little before and after. Those that
//! a call of depth 0 leaves were between calls. LOB calls, which do not say how deep they are, are taken like waits.

use super::limits::UNRESOLVED_MAX;
use super::sums::Spent;

/// Waits between two calls of depth 0, usually.
const ROOM_KEPT: usize = 256;

/// A wait of which it is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenWait {
    pub middle_ns: i64,
    pub elapsed_ns: i64,
    pub row: u32,
    /// Its place among the waits of the row.
    pub place: u32,
    /// By its name; where the moments cannot tell.
    pub is_between_by_name: bool,
}

/// A LOB call of which it is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenLob {
    middle_ns: i64,
    spent: Spent,
}

/// Waits and LOB calls since the last call of depth 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    waits: Vec<OpenWait>,
    lobs: Vec<OpenLob>,
    /// How many were told by their names for want of room.
    pub told_by_name: u64,
}

impl Open {
    /// One more wait; `between` is told of those that are settled for want of room.
    #[inline(always)]
    pub(super) fn add_wait(&mut self, wait: OpenWait, between: impl FnMut(&OpenWait)) {
        if self.waits.len() == UNRESOLVED_MAX {
            let oldest = self.waits.drain(..UNRESOLVED_MAX / 2);
            self.told_by_name += oldest.len() as u64;
            oldest.filter(|wait| wait.is_between_by_name).collect::<Vec<_>>().iter().for_each(between);
        }
        self.waits.push(wait);
    }

    pub(super) fn add_lob(&mut self, begin_ns: i64, end_ns: i64, spent: Spent) {
        if self.lobs.len() == UNRESOLVED_MAX {
            let oldest = self.lobs.drain(..UNRESOLVED_MAX / 2);
            self.told_by_name += oldest.len() as u64;
        }
        self.lobs.push(OpenLob { middle_ns: begin_ns.midpoint(end_ns), spent });
    }

    /// A call that began then has ended: what the LOB calls within it have spent.
    #[inline(always)]
    pub(super) fn take_since(&mut self, begin_ns: i64) -> Spent {
        while let Some(wait) = self.waits.last()
            && (wait.middle_ns > begin_ns || wait.middle_ns == begin_ns && !wait.is_between_by_name)
        {
            self.waits.pop();
        }
        let mut spent = Spent::default();
        while let Some(lob) = self.lobs.last()
            && lob.middle_ns >= begin_ns
        {
            spent.add(&lob.spent);
            self.lobs.pop();
        }
        spent
    }

    /// No call is under way: all that are left were between calls.
    #[inline(always)]
    pub(super) fn settle(&mut self, between: impl FnMut(&OpenWait)) {
        self.waits.iter().for_each(between);
        self.waits.clear();
        self.lobs.clear();
        // One call with many waits is no reason to keep their room in each of many sessions.
        self.waits.shrink_to(ROOM_KEPT);
    }
}
