//! Which calls another call has made. The server writes a call when it ends, so that recursive calls stand before the
//! call that made them, one deeper:
//!
//! ```text
//! EXEC  dep=2   own            kept at 2
//! FETCH dep=2   own            kept at 2
//! EXEC  dep=1   less those two kept at 1
//! EXEC  dep=0   less that one
//! ```
//!
//! A call takes whatever is kept deeper than itself: where a line in between is missing, its calls count for the next
//! one that is there, and never twice.

use super::call_line::DEPTH_MAX;
use super::sums::Spent;

/// Calls of one statement at one depth, since the last call above them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Children {
    pub row: u32,
    pub count: u64,
    pub spent: Spent,
    pub line: u64,
}

#[derive(Clone, Debug, Default)]
struct Level {
    spent: Spent,
    children: Vec<Children>,
}

/// Calls whose caller has not ended.
#[derive(Clone, Debug)]
pub(super) struct Recursion {
    levels: Vec<Level>,
    /// No level below is in use.
    deepest: usize,
}

impl Default for Recursion {
    fn default() -> Self {
        Self { levels: vec![Level::default(); DEPTH_MAX + 1], deepest: 0 }
    }
}

impl Recursion {
    /// What calls below this depth have spent that nobody has taken; `each` is told of their statements.
    #[inline(always)]
    pub(super) fn take_below(&mut self, depth: usize, mut each: impl FnMut(&Children)) -> Spent {
        let mut spent = Spent::default();
        while self.deepest > depth {
            let level = &mut self.levels[self.deepest];
            spent.add(&level.spent);
            level.spent = Spent::default();
            level.children.drain(..).for_each(|children| each(&children));
            self.deepest -= 1;
        }
        spent
    }

    /// A call of this depth has ended. `slot` is where the statement's calls are kept, as far as it is known.
    #[inline(always)]
    pub(super) fn keep(&mut self, depth: usize, row: u32, slot: &mut u32, spent: &Spent, line: u64) {
        self.deepest = self.deepest.max(depth);
        let level = &mut self.levels[depth];
        level.spent.add(spent);
        match level.children.get_mut(*slot as usize) {
            Some(children) if children.row == row => {
                children.count += 1;
                children.spent.add(spent);
            }
            _ => {
                *slot = level.children.len() as u32;
                level.children.push(Children { row, count: 1, spent: *spent, line });
            }
        }
    }

    /// A call has ended of which the trace does not say what it spent: what it has called counts for its caller.
    pub(super) fn lift(&mut self, depth: usize, each: impl FnMut(&Children)) {
        let spent = self.take_below(depth, each);
        self.deepest = self.deepest.max(depth);
        self.levels[depth].spent.add(&spent);
    }

    /// Calls that no call has taken, when the trace ends; those of depth 0 are among them.
    pub(super) fn take_all(&mut self, mut each: impl FnMut(&Children)) {
        self.take_below(0, &mut each);
        self.levels[0].children.drain(..).for_each(|children| each(&children));
        self.levels[0].spent = Spent::default();
    }
}
