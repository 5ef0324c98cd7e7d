//! Before memory is believed: what it says must be what the server itself says.

use std::io;

use super::activity::{Activity, SqlWaits};
use super::layout::Layout;
use super::shared_memory::SharedMemory;

/// What changes while the server answers proves nothing, so there are several attempts.
const ATTEMPTS: usize = 5;

/// Compare what is read from memory with pg_stat_activity: wait events, and then states and query ids.
///
/// Only what was the same before and after the query is compared. What the server does not show is skipped, because
/// rights may hide it. Wait events that disagree are an error. States that do are given up, in the layout, and the
/// reason returned; likewise query ids.
pub fn agree_with_server(
    memory: &mut SharedMemory,
    layout: &mut Layout,
    sql: &mut SqlWaits,
) -> Result<Option<String>, String> {
    let mut complaint = "no event held still long enough to be compared with pg_stat_activity".to_owned();
    for _ in 0..ATTEMPTS {
        let before = seen(memory, layout).map_err(|error| error.to_string())?;
        let rows = sql()?;
        let after = seen(memory, layout).map_err(|error| error.to_string())?;
        let still: Vec<Seen> = before.into_iter().filter(|entry| after.contains(entry)).collect();
        match compare_waits(&still, &rows, layout) {
            Verdict { agreed: 0, disagreement: None } => {}
            Verdict { disagreement: Some(disagreement), .. } => complaint = disagreement,
            _ => return Ok(give_up_what_disagrees(&still, &rows, layout)),
        }
    }
    Err(complaint)
}

/// What memory says of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    pid: i32,
    event: u32,
    /// With the query id.
    state: Option<(u32, Option<u64>)>,
}

fn seen(memory: &mut SharedMemory, layout: &Layout) -> io::Result<Vec<Seen>> {
    let (array, status) = (&layout.processes, layout.status.as_ref());
    let status_span = status.map(|status| status.span(0, status.slots - 1));
    let spans: Vec<_> = status_span.into_iter().chain([array.span(0, array.slots - 1)]).collect();
    memory.watch(&spans);
    memory.refresh()?;
    let state_of = |pid: i32| {
        let status = status?;
        let slot = (0..status.slots).find(|&slot| memory.u32(status.entry(slot) + status.pid_offset) as i32 == pid)?;
        let query_id = status.query_id_offset.map(|offset| memory.u64(status.entry(slot) + offset));
        Some((memory.u32(status.entry(slot) + status.state_offset), query_id))
    };
    let entry = |slot| {
        let pid = memory.u32(array.pid_address(slot)) as i32;
        (pid != 0).then(|| Seen { pid, event: memory.u32(array.wait_address(slot)), state: state_of(pid) })
    };
    Ok((0..array.slots).filter_map(entry).collect())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Verdict {
    agreed: usize,
    disagreement: Option<String>,
}

impl Verdict {
    fn add(&mut self, pid: i32, read: &str, shown: &str) {
        match read == shown {
            true => self.agreed += 1,
            false => self.disagreement = Some(format!("process {pid}: memory says {read}, the server {shown}")),
        }
    }
}

fn pairs<'a>(still: &'a [Seen], rows: &'a [Activity]) -> impl Iterator<Item = (&'a Seen, &'a Activity)> {
    rows.iter().filter_map(|row| Some((still.iter().find(|entry| entry.pid == row.pid)?, row)))
}

fn compare_waits(still: &[Seen], rows: &[Activity], layout: &Layout) -> Verdict {
    let mut verdict = Verdict::default();
    for (entry, row) in pairs(still, rows) {
        let Some(shown) = &row.wait else { continue };
        let read = if entry.event == 0 { "no wait event".to_owned() } else { layout.names.name(entry.event) };
        verdict.add(row.pid, &read, shown);
    }
    verdict
}

fn give_up_what_disagrees(still: &[Seen], rows: &[Activity], layout: &mut Layout) -> Option<String> {
    let (mut states, mut query_ids) = (Verdict::default(), Verdict::default());
    for (entry, row) in pairs(still, rows) {
        let Some((state, query_id)) = entry.state else { continue };
        if let Some(shown) = &row.state {
            states.add(row.pid, layout.state_name(state).unwrap_or("no state"), shown);
        }
        if let (Some(query_id), Some(shown)) = (query_id, row.query_id) {
            query_ids.add(row.pid, &format!("query {}", query_id.cast_signed()), &format!("query {shown}"));
        }
    }
    let cause = states.disagreement.or_else(|| query_ids.disagreement.clone())?;
    match &mut layout.status {
        Some(status) if query_ids.disagreement.is_some_and(|disagreement| disagreement == cause) => {
            status.query_id_offset = None;
        }
        status => *status = None,
    }
    Some(format!("states and query ids: {cause}"))
}
