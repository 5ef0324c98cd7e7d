//! The wait events of a server's processes, read from its shared memory at the instant of a stack.

use std::collections::HashMap;

use super::copy::read_remote;
use super::waits::WaitEvents;
use crate::probe::{ServerMemory, WaitNames};

/// Where each process keeps its wait event, looked up once.
pub struct ServerWaits {
    memory: ServerMemory,
    names: WaitNames,
    words: HashMap<i32, Option<u64>>,
}

impl ServerWaits {
    /// Learns the layout of a running server's memory; the reason where it cannot be read.
    pub fn open(postmaster_pid: i32) -> Result<Self, String> {
        let memory = ServerMemory::open(postmaster_pid)?;
        let version = memory.major_version()?;
        let names = WaitNames::of_version(version)
            .ok_or_else(|| format!("the wait-event numbers of PostgreSQL {version} are not known here"))?;
        Ok(ServerWaits { memory, names, words: HashMap::new() })
    }
}

impl WaitEvents for ServerWaits {
    fn event(&mut self, pid: i32) -> Option<u32> {
        let memory = &self.memory;
        // A process without a place in the array may be just beginning: it is asked again.
        let word = match self.words.get(&pid) {
            Some(Some(word)) => *word,
            _ => *self.words.entry(pid).insert_entry(memory.background_word(pid)).get().as_ref()?,
        };
        let mut bytes = [0; 4];
        let copied = read_remote(self.memory.postmaster_pid, word, &mut bytes).ok()?;
        (copied == bytes.len()).then(|| u32::from_le_bytes(bytes))
    }

    fn name(&self, event: u32) -> String {
        self.names.name(event)
    }
}
