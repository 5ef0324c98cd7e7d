//! Before memory is believed: what it says must be what the server itself says.
//!
//! Memory is read before and after the query, and only what was the same in both is compared. On a busy server that is
//! no proof that it was the same in between, so one disagreement proves nothing either: what counts is whether a value
//! read from memory, an event say, is shown by its name more often than not.

use std::collections::BTreeMap;
use std::io;

use super::activity::{Activity, SqlWaits};
use super::layout::Layout;
use super::shared_memory::SharedMemory;

/// Rounds at most; one without any disagreement ends the test.
const ROUNDS: usize = 5;

/// A value must be shown as something else so often, and more often than as itself, to be refused.
const DISAGREEMENTS_MIN: usize = 3;

/// Compare what is read from memory with pg_stat_activity: wait events, and then states and query ids.
///
/// What the server does not show is skipped, because rights may hide it. Wait events that disagree are an error.
/// States that do are given up, in the layout, and the reason returned; likewise query ids.
pub fn agree_with_server(
    memory: &mut SharedMemory,
    layout: &mut Layout,
    sql: &mut SqlWaits,
) -> Result<Option<String>, String> {
    let mut tallies = Tallies::default();
    for _ in 0..ROUNDS {
        let before = seen(memory, layout).map_err(|error| error.to_string())?;
        let rows = sql()?;
        let after = seen(memory, layout).map_err(|error| error.to_string())?;
        let still: Vec<Seen> = before.into_iter().filter(|entry| after.contains(entry)).collect();
        let mut round = Tallies::default();
        round.compare(&still, &rows, layout);
        let is_clean = round.waits.agreed() > 0 && round.disagreed() == 0;
        tallies.add(round);
        if is_clean {
            break;
        }
    }
    match tallies.waits.contradiction() {
        Some(contradiction) => Err(contradiction),
        None if tallies.waits.agreed() == 0 => {
            Err("no event held still long enough to be compared with pg_stat_activity".to_owned())
        }
        None => Ok(tallies.give_up_what_disagrees(layout)),
    }
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
    memory.watch(&spans)?;
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

#[derive(Default)]
struct Tallies {
    waits: Tally,
    states: Tally,
    query_ids: Tally,
}

impl Tallies {
    fn compare(&mut self, still: &[Seen], rows: &[Activity], layout: &Layout) {
        for row in rows {
            let Some(entry) = still.iter().find(|entry| entry.pid == row.pid) else { continue };
            if let Some(shown) = &row.wait {
                let read = if entry.event == 0 { "no wait event".to_owned() } else { layout.names.name(entry.event) };
                self.waits.compare(row.pid, read, shown);
            }
            let Some((state, query_id)) = entry.state else { continue };
            if let Some(shown) = &row.state {
                let read = layout.state_name(state).map_or_else(|| format!("state {state}"), str::to_owned);
                self.states.compare(row.pid, read, shown);
            }
            if let (Some(query_id), Some(shown)) = (query_id, row.query_id) {
                let read = format!("query {}", query_id.cast_signed());
                self.query_ids.compare(row.pid, read, &format!("query {shown}"));
            }
        }
    }

    fn add(&mut self, round: Tallies) {
        self.waits.add(round.waits);
        self.states.add(round.states);
        self.query_ids.add(round.query_ids);
    }

    fn disagreed(&self) -> usize {
        [&self.waits, &self.states, &self.query_ids].into_iter().map(Tally::disagreed).sum()
    }

    fn give_up_what_disagrees(&self, layout: &mut Layout) -> Option<String> {
        if let Some(contradiction) = self.states.contradiction() {
            layout.status = None;
            return Some(format!("states and query ids: {contradiction}"));
        }
        let contradiction = self.query_ids.contradiction()?;
        layout.status.as_mut()?.query_id_offset = None;
        Some(format!("query ids: {contradiction}"))
    }
}

/// By what memory says: how often the server agreed, how often it did not, and what it said last.
#[derive(Default)]
struct Tally(BTreeMap<String, Value>);

#[derive(Default)]
struct Value {
    agreed: usize,
    disagreed: usize,
    disagreement: String,
}

impl Tally {
    fn compare(&mut self, pid: i32, read: String, shown: &str) {
        let disagreement = format!("process {pid}: memory says {read}, the server {shown}");
        let is_shown = read == shown;
        let value = self.0.entry(read).or_default();
        match is_shown {
            true => value.agreed += 1,
            false => (value.disagreed, value.disagreement) = (value.disagreed + 1, disagreement),
        }
    }

    fn add(&mut self, round: Tally) {
        for (read, seen) in round.0 {
            let value = self.0.entry(read).or_default();
            value.agreed += seen.agreed;
            value.disagreed += seen.disagreed;
            if seen.disagreed > 0 {
                value.disagreement = seen.disagreement;
            }
        }
    }

    fn agreed(&self) -> usize {
        self.0.values().map(|value| value.agreed).sum()
    }

    fn disagreed(&self) -> usize {
        self.0.values().map(|value| value.disagreed).sum()
    }

    fn contradiction(&self) -> Option<String> {
        let is_refused = |value: &&Value| value.disagreed >= DISAGREEMENTS_MIN.max(value.agreed + 1);
        self.0.values().find(is_refused).map(|value| value.disagreement.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(comparisons: &[(&str, &str)]) -> Tally {
        let mut tally = Tally::default();
        comparisons.iter().for_each(|(read, shown)| tally.compare(7, (*read).to_owned(), shown));
        tally
    }

    #[test]
    fn a_wrong_name_is_refused_and_a_change_in_between_is_not() {
        let race = [("idle", "active"), ("idle", "active"), ("idle", "active"), ("idle", "idle")];
        let races = [&race[..], &[("idle", "idle"); 2], &[("rare", "active"); 2]].concat();
        assert_eq!(tally(&races).contradiction(), None);
        assert_eq!((tally(&races).agreed(), tally(&races).disagreed()), (3, 5));
        let contradiction = tally(&race).contradiction().unwrap();
        assert_eq!(contradiction, "process 7: memory says idle, the server active");
    }

    #[test]
    fn rounds_add_up() {
        let mut all = tally(&[("a", "b"), ("a", "b")]);
        all.add(tally(&[("a", "c"), ("b", "b")]));
        assert_eq!((all.agreed(), all.disagreed()), (1, 3));
        assert_eq!(all.contradiction().unwrap(), "process 7: memory says a, the server c");
    }
}
