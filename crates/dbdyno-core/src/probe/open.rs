//! Finding the first route over memory that works and says what the server says.

use super::activity::SqlWaits;
use super::layout::Layout;
use super::program::Program;
use super::route::{Reasons, RouteRequest};
use super::self_test::agrees_with_server;
use super::shared_memory::SharedMemory;

/// Open a server's shared memory by the best route of those asked for.
///
/// Learned, then validated against the server's processes and, where there is a connection, against
/// pg_stat_activity. The error says of each route why it did not work.
pub fn open_server(
    postmaster_pid: i32,
    request: RouteRequest,
    mut sql: Option<&mut SqlWaits>,
) -> Result<(SharedMemory, Layout), String> {
    let mut reasons = Reasons::default();
    let routes = request.over_memory();
    let learned = Program::open(postmaster_pid).and_then(|program| Ok((Layout::learn(&program)?, program)));
    let (layout, program) = learned
        .inspect_err(|cause| routes.iter().for_each(|&route| reasons.add_route(route, cause)))
        .map_err(|cause| reasons.line().unwrap_or(cause))?;
    let mapping = program.mapping_of(layout.processes.start, 1).expect("checked when it was learned");
    for route in routes {
        let opened = SharedMemory::open(postmaster_pid, mapping, route).and_then(|mut memory| {
            if let Some(sql) = sql.as_deref_mut() {
                agrees_with_server(&mut memory, &layout, sql)?;
            }
            Ok(memory)
        });
        match opened {
            Ok(memory) => return Ok((memory.with_note(reasons.line()), layout)),
            Err(cause) => reasons.add_route(route, &cause),
        }
    }
    Err(reasons.line().unwrap_or_else(|| "no route over memory was asked for".to_owned()))
}
