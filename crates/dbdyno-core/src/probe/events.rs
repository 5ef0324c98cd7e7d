//! The wait events of the clients' backends and of background processes, as numbered words of the server's memory.
//!
//! Words are numbered: clients first, in their order, then background processes.

use std::io;
use std::ops::Range;

use super::shared_memory::SharedMemory;

/// Wait events to be read again and again.
pub struct EventSource {
    memory: SharedMemory,
    words: Vec<u64>,
}

impl EventSource {
    /// What is at these addresses; one copy reaches over those of the clients.
    pub fn new(mut memory: SharedMemory, words: Vec<u64>, clients: usize) -> io::Result<Self> {
        let addresses = words[..clients].iter();
        if let Some((&first, &last)) = addresses.clone().min().zip(addresses.max()) {
            memory.watch(&[(first, (last + 4 - first) as usize)])?;
        }
        Ok(EventSource { memory, words })
    }

    /// The events of some clients.
    pub fn read_clients(&mut self, clients: Range<usize>, events: &mut [u32]) -> io::Result<()> {
        self.memory.refresh()?;
        clients.zip(events).for_each(|(client, event)| *event = self.memory.u32(self.words[client]));
        Ok(())
    }

    /// One event.
    pub fn read_one(&self, index: usize) -> io::Result<u32> {
        self.memory.fresh_u32(self.words[index])
    }
}
