//! All that one must know of a server to read its shared memory: learned, then validated.

use super::names::WaitNames;
use super::process_array::ProcessArray;
use super::program::Program;
use super::status_array::StatusArray;

/// What is where, and what it is called.
pub struct Layout {
    /// The major version.
    pub version: u32,
    /// Of the wait events.
    pub names: WaitNames,
    /// PGPROC.
    pub processes: ProcessArray,
    /// PgBackendStatus; `None` where it could not be learned.
    pub status: Option<StatusArray>,
}

impl Layout {
    /// Learn it from the server's processes.
    pub fn learn(program: &Program) -> Result<Self, String> {
        let version = program.major_version()?;
        let names = WaitNames::of_version(version)
            .ok_or_else(|| format!("the wait-event numbers of PostgreSQL {version} are not known here"))?;
        let processes = ProcessArray::learn(program)?;
        let status = StatusArray::learn(program, version, &processes).ok();
        Ok(Layout { version, names, processes, status })
    }
}
