//! Finding the first route over memory that works and says what the server says.

use super::activity::SqlWaits;
use super::layout::Layout;
use super::names::WaitNames;
use super::program::Program;
use super::route::{Reasons, RouteRequest};
use super::self_test::agree_with_server;
use super::shared_memory::SharedMemory;

/// Open a server's shared memory by the best route of those asked for.
///
/// Learned, then validated against the server's processes and, where there is a connection, against
/// pg_stat_activity. The error says of each route why it did not work.
pub fn open_server(
    postmaster_pid: i32,
    request: RouteRequest,
    sql: Option<&mut SqlWaits>,
) -> Result<(SharedMemory, Layout), String> {
    open_server_by_names(postmaster_pid, request, sql, None)
}

/// Likewise, by these names of wait events instead of those of the server's version: if they are not the server's, it
/// is refused.
pub fn open_server_by_names(
    postmaster_pid: i32,
    request: RouteRequest,
    mut sql: Option<&mut SqlWaits>,
    names: Option<WaitNames>,
) -> Result<(SharedMemory, Layout), String> {
    let mut reasons = Reasons::default();
    let routes = request.over_memory();
    let learned = Program::open(postmaster_pid).and_then(|program| Ok((Layout::learn(&program, names)?, program)));
    let ((mut layout, note), program) = match learned {
        Ok(learned) => learned,
        Err(cause) => return Err(reasons.of_all(&routes, &cause)),
    };
    note.into_iter().for_each(|note| reasons.add(note));
    let mapping = program.mapping_of(layout.processes.start, 1).expect("checked when it was learned");
    for route in routes {
        let opened = SharedMemory::open(postmaster_pid, mapping, route).and_then(|mut memory| {
            let note = match sql.as_deref_mut() {
                Some(sql) => agree_with_server(&mut memory, &mut layout, sql)?,
                None => None,
            };
            note.into_iter().for_each(|note| reasons.add(note));
            Ok(memory)
        });
        match opened {
            Ok(memory) => return Ok((memory.with_note(reasons.line()), layout)),
            Err(cause) => reasons.add_route(route, &cause),
        }
    }
    Err(reasons.line().unwrap_or_else(|| "no route over memory was asked for".to_owned()))
}
