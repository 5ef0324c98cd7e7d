//! PgBackendStatus, what each server process tells about itself: its state and the query it runs.

use super::process_array::ProcessArray;
use super::program::Program;

/// Where the PgBackendStatus entries are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusArray {
    /// Address of the first.
    pub start: u64,
    /// From one to the next.
    pub stride: u64,
    /// How many there are, in use or not.
    pub slots: usize,
    /// Where in an entry the process id is, four bytes; 0 in an unused one.
    pub pid_offset: u64,
    /// Where the state is, four bytes: see `state_name`.
    pub state_offset: u64,
    /// Where the query id is, eight bytes.
    pub query_id_offset: Option<u64>,
}

impl StatusArray {
    /// Learn the layout from the processes that run.
    pub fn learn(_program: &Program, _version: u32, _processes: &ProcessArray) -> Result<Self, String> {
        Err("not yet".to_owned())
    }
}
