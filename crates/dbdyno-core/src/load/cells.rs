//! The outcome's cells: exact sums over all units from the load threads, snapshots of the units that were seen from the
//! sampler, joined by chunk and bin.

use std::collections::BTreeMap;

use super::outcome::{CellOutcome, EpisodesOutcome, SnapshotsOutcome};
use super::unit_sums::UnitSums;
use crate::probe::{Cell, EPISODE_BINS_PER_DECADE, Episodes, EventSnapshots, UnitCells};

/// All cells that a unit ended in, in order, and how long their chunks are.
pub(super) fn cells(sums: &mut UnitSums, seen: Option<&mut UnitCells>) -> (u64, Vec<CellOutcome>) {
    let mut snapshots = BTreeMap::new();
    if let Some(seen) = seen {
        seen.chunks.coarsen_to(sums.chunks.chunk_ns());
        sums.chunks.coarsen_to(seen.chunks.chunk_ns());
        for (chunk, cells) in seen.chunks.iter().enumerate() {
            snapshots.extend(cells.iter().map(|(bin, cell)| ((chunk, *bin), cell.clone())));
        }
    }
    let mut cells = Vec::new();
    for (chunk, bins) in sums.chunks.iter().enumerate() {
        for (bin, sum) in bins.iter() {
            let Cell { events, steps } = snapshots.remove(&(chunk, bin)).unwrap_or_default();
            cells.push(CellOutcome(
                chunk,
                bin,
                sum.units,
                sum.response_ns,
                sum.queue_ns,
                steps.cpu_ns,
                steps.run_queue_ns,
                of_events(&events),
            ));
        }
    }
    (sums.chunks.chunk_ns(), cells)
}

/// Events that were seen, in order.
pub(super) fn of_events(events: &EventSnapshots) -> Vec<SnapshotsOutcome> {
    let outcome = |(event, snapshots): (usize, crate::probe::Snapshots)| {
        SnapshotsOutcome(event, snapshots.seen, snapshots.looked, snapshots.asleep)
    };
    events.iter().map(outcome).collect()
}

/// The lengths of waits; those below the sampler's period are mostly missed.
pub(super) fn episodes(episodes: &Episodes, period_ns: Option<u64>) -> EpisodesOutcome {
    EpisodesOutcome {
        step_ns: episodes.step_ns(),
        bins_per_decade: EPISODE_BINS_PER_DECADE,
        cells: episodes.counts(),
        shortest_ns: period_ns,
    }
}
