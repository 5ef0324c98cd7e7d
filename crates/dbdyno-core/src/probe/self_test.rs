//! Before memory is believed: what it says must be what the server itself says.

use std::io;

use super::activity::{Activity, SqlWaits};
use super::layout::Layout;
use super::shared_memory::SharedMemory;

/// An event that changes while the server answers proves nothing, so there are several attempts.
const ATTEMPTS: usize = 5;

/// Compare what is read from memory with pg_stat_activity.
///
/// Only what was the same before and after the query is compared. What the server does not show is skipped, because
/// rights may hide it.
pub fn agrees_with_server(memory: &mut SharedMemory, layout: &Layout, sql: &mut SqlWaits) -> Result<(), String> {
    let mut complaint = "no event held still long enough to be compared with pg_stat_activity".to_owned();
    for _ in 0..ATTEMPTS {
        match compare(memory, layout, sql)? {
            Comparison { agreed, disagreement: None } if agreed > 0 => return Ok(()),
            Comparison { disagreement: Some(disagreement), .. } => complaint = disagreement,
            _ => {}
        }
    }
    Err(complaint)
}

#[derive(Default)]
struct Comparison {
    agreed: usize,
    disagreement: Option<String>,
}

fn compare(memory: &mut SharedMemory, layout: &Layout, sql: &mut SqlWaits) -> Result<Comparison, String> {
    let mut read = || events(memory, layout).map_err(|error| error.to_string());
    let before = read()?;
    let rows = sql()?;
    let after = read()?;
    let mut comparison = Comparison::default();
    for Activity { pid, wait, .. } in rows {
        let Some(shown) = wait else { continue };
        let Some(event) = event_of(pid, &before).filter(|event| event_of(pid, &after) == Some(*event)) else {
            continue;
        };
        let read = if event == 0 { "no wait event".to_owned() } else { layout.names.name(event) };
        match read == shown {
            true => comparison.agreed += 1,
            false => {
                let disagreement = format!("process {pid}: memory says {read}, the server {shown}");
                comparison.disagreement = Some(disagreement);
            }
        }
    }
    Ok(comparison)
}

/// (process id, wait event) of all slots.
fn events(memory: &mut SharedMemory, layout: &Layout) -> io::Result<Vec<(i32, u32)>> {
    let array = &layout.processes;
    memory.watch(&[array.span(0, array.slots - 1)]);
    memory.refresh()?;
    let pair = |slot| (memory.u32(array.pid_address(slot)) as i32, memory.u32(array.wait_address(slot)));
    Ok((0..array.slots).map(pair).collect())
}

fn event_of(pid: i32, events: &[(i32, u32)]) -> Option<u32> {
    events.iter().find(|(known, _)| *known == pid).map(|(_, event)| *event)
}
