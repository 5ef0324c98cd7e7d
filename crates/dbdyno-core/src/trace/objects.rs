//! What the waits were for: files, objects, sizes of requests, first parameters of locks; sums per event.

use super::hashing::FastMap;
use super::limits::OBJECTS_MAX;

/// What a sum is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Target {
    /// By number.
    File(i64),
    /// By `obj#`.
    Object(i64),
    /// Requests of so many blocks.
    RequestBlocks(i64),
    /// `name|mode` of a lock, `number` or address of a latch, `idn` of a mutex.
    FirstParameter(i64),
    /// All beyond the limit.
    Others,
}

/// Sums of waits for one of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TargetSums {
    pub count: u64,
    pub blocks: i64,
    pub elapsed_ns: i64,
    pub first_line: u64,
    pub longest_ns: i64,
    pub longest_line: u64,
}

impl TargetSums {
    fn record(&mut self, blocks: i64, elapsed_ns: i64, line: u64) {
        if self.count == 0 {
            (self.first_line, self.longest_ns, self.longest_line) = (line, elapsed_ns, line);
        }
        if elapsed_ns > self.longest_ns {
            (self.longest_ns, self.longest_line) = (elapsed_ns, line);
        }
        self.count += 1;
        self.blocks = self.blocks.saturating_add(blocks);
        self.elapsed_ns = self.elapsed_ns.saturating_add(elapsed_ns);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if self.count == 0 {
            *self = *other;
            return;
        }
        self.first_line = self.first_line.min(other.first_line);
        if other.longest_ns > self.longest_ns {
            (self.longest_ns, self.longest_line) = (other.longest_ns, other.longest_line);
        }
        self.count += other.count;
        self.blocks = self.blocks.saturating_add(other.blocks);
        self.elapsed_ns = self.elapsed_ns.saturating_add(other.elapsed_ns);
    }
}

/// (session, event, what).
pub(super) type TargetKey = (u32, u32, Target);

/// All of a file.
#[derive(Debug, Default)]
pub(super) struct Targets {
    pub sums: FastMap<TargetKey, TargetSums>,
    /// How many waits had no place of their own.
    pub merged: u64,
}

impl Targets {
    #[inline]
    pub(super) fn record(&mut self, key: TargetKey, blocks: i64, elapsed_ns: i64, line: u64) {
        if let Some(sums) = self.sums.get_mut(&key) {
            return sums.record(blocks, elapsed_ns, line);
        }
        let key = match self.sums.len() {
            0..OBJECTS_MAX => key,
            _ => {
                self.merged += 1;
                (key.0, key.1, Target::Others)
            }
        };
        self.sums.entry(key).or_default().record(blocks, elapsed_ns, line);
    }
}
