//! The wait events of a server's processes, read from its shared memory at the instant of a stack.

use std::collections::HashMap;

use super::waits::WaitEvents;
use crate::probe::{Layout, RouteRequest, SharedMemory, open_server};

/// A server's memory, and in which slot of it each process was met.
pub struct ServerWaits {
    memory: SharedMemory,
    layout: Layout,
    slots: HashMap<i32, usize>,
}

impl ServerWaits {
    /// Learns the layout of a running server's memory; the reason where it cannot be read.
    pub fn open(postmaster_pid: i32) -> Result<Self, String> {
        let (memory, layout) = open_server(postmaster_pid, RouteRequest::Auto, None)?;
        Ok(ServerWaits { memory, layout, slots: HashMap::new() })
    }

    /// The slot of a process; another one may have it meanwhile, then it is looked up again.
    fn slot(&mut self, pid: i32) -> Option<usize> {
        let holds = |memory: &SharedMemory, layout: &Layout, slot| {
            memory.fresh_u32(layout.processes.pid_address(slot)).is_ok_and(|seen| seen as i32 == pid)
        };
        if let Some(&slot) = self.slots.get(&pid)
            && holds(&self.memory, &self.layout, slot)
        {
            return Some(slot);
        }
        let slot = self.layout.processes.slots_of(&mut self.memory, &[pid]).ok()?.first().copied()??;
        self.slots.insert(pid, slot);
        Some(slot)
    }
}

impl WaitEvents for ServerWaits {
    fn event(&mut self, pid: i32) -> Option<u32> {
        let slot = self.slot(pid)?;
        self.memory.fresh_u32(self.layout.processes.wait_address(slot)).ok()
    }

    fn name(&self, event: u32) -> String {
        self.layout.names.name(event)
    }
}
