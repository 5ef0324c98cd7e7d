//! All that one must know of a server to read its shared memory: learned, then validated.

use super::made_names::made_names;
use super::names::WaitNames;
use super::process_array::ProcessArray;
use super::program::Program;
use super::program_names::check_names;
use super::status_array::{self, StatusArray};

/// What is where, and what it is called.
#[derive(Clone, Debug)]
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
    /// Learn it from the server's program and processes; beside it, why the status array could not be learned.
    ///
    /// The names are those of the server's version unless others are given.
    pub fn learn(program: &Program, names: Option<WaitNames>) -> Result<(Self, Option<String>), String> {
        let version = program.major_version()?;
        let names = names
            .or_else(|| WaitNames::of_version(version))
            .ok_or_else(|| format!("the wait-event numbers of PostgreSQL {version} are not known here"))?;
        check_names(program, &names)?;
        let processes = ProcessArray::learn(program)?;
        let names = names.with_made(made_names(program, version, &processes));
        let (status, cause) = match StatusArray::learn(program, version) {
            Ok(status) => (Some(status), None),
            Err(cause) => (None, Some(format!("states and query ids: {cause}"))),
        };
        Ok((Layout { version, names, processes, status }, cause))
    }

    /// A state as pg_stat_activity shows it; `None` for a process that has none.
    pub fn state_name(&self, state: u32) -> Option<&'static str> {
        status_array::state_name(self.version, state)
    }
}
