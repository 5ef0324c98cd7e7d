//! From what the connections kept to the outcome, as JSON, and the file of sketches.

use serde::Serialize;

use super::budget::{Budget, overflow_note};
use super::growth::{GrowthPoint, PartGrowth, growth};
use super::part::Kept;
use super::sample::{Sample, SampleCounts, merged};
use super::session::Read;
use super::spec::ScanSpec;
use super::tally::Tally;
use crate::sketch::HashId;
use crate::sketch::file::StoredColumn;

/// docs/architecture.md, "Distinct counts".
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    format: u32,
    rows: u64,
    bytes: u64,
    elapsed_ns: u64,
    client_cpu_ns: u64,
    columns: Vec<Counted>,
    groups: Vec<Counted>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Counted {
    name: String,
    nulls: u64,
    value_bytes: u64,
    ndv: Ndv,
    exact: bool,
    growth: Vec<GrowthPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<Vec<SampleCounts>>,
}

#[derive(Debug, Serialize)]
struct Ndv {
    estimate: f64,
    low: f64,
    high: f64,
}

impl Outcome {
    /// Of the parts in the order of their pages, and what all of them keep of the columns and, behind them, the groups.
    pub(super) fn new(spec: &ScanSpec, budget: Budget, parts: &[Read], elapsed_ns: u64) -> (Self, Vec<Tally>) {
        let (samples, overflowed) = samples(spec, &budget, parts);
        let tallies = united(parts);
        let mut samples = samples.into_iter();
        let counted = |(place, (name, tally)): (usize, (&String, &Tally))| Counted {
            name: name.clone(),
            nulls: tally.nulls,
            value_bytes: tally.value_bytes,
            ndv: Ndv::of(tally),
            exact: tally.column.sketch().is_exact(),
            growth: growth(&parts.iter().map(|part| PartGrowth::of(&part.kept, place)).collect::<Vec<_>>()),
            samples: samples.next(),
        };
        let names = spec.columns.iter().map(|column| &column.name).chain(spec.groups.iter().map(|group| &group.name));
        let mut columns: Vec<Counted> = names.zip(&tallies).enumerate().map(counted).collect();
        let groups = columns.split_off(spec.columns.len());
        let outcome = Self {
            format: 1,
            rows: parts.iter().map(|part| part.kept.rows()).sum(),
            bytes: parts.iter().map(|part| part.bytes).sum(),
            elapsed_ns,
            client_cpu_ns: parts.iter().map(|part| part.cpu_ns).sum(),
            columns,
            groups,
            notes: budget.notes.into_iter().chain(overflowed).collect(),
        };
        (outcome, tallies)
    }
}

impl Outcome {
    /// What goes into the file: the columns, and behind them the groups.
    pub(super) fn stored(&self, spec: &ScanSpec, tallies: Vec<Tally>) -> Vec<StoredColumn> {
        let columns = spec.columns.iter().map(|column| (&column.name, column.type_name.clone(), column.hash_id()));
        let groups = spec.groups.iter().map(|group| (&group.name, spec.types_of(group), HashId::Dbdyno1));
        let stored = |((name, type_name, hash_id), tally): ((&String, String, HashId), Tally)| StoredColumn {
            name: name.clone(),
            type_name,
            hash_id,
            seed: if hash_id == HashId::Dbdyno1 { spec.seed } else { spec.server_seed },
            rows: self.rows,
            nulls: tally.nulls,
            column: tally.column,
        };
        columns.chain(groups).zip(tallies).map(stored).collect()
    }
}

impl Ndv {
    fn of(tally: &Tally) -> Self {
        let estimate = tally.column.sketch().estimate();
        Self { estimate: estimate.distinct, low: estimate.low, high: estimate.high }
    }
}

impl<'a> PartGrowth<'a> {
    fn of(kept: &'a Kept, place: usize) -> Self {
        Self { rows: kept.rows(), schedule: kept.schedule.points(), tally: &kept.tallies[place] }
    }
}

/// Of all parts, without their points.
fn united(parts: &[Read]) -> Vec<Tally> {
    let mut parts = parts.iter().map(|part| &part.kept.tallies);
    let first = parts.next().expect("a scan has a part");
    let mut united: Vec<Tally> = first.iter().map(Tally::without_points).collect();
    for part in parts {
        united.iter_mut().zip(part).for_each(|(tally, other)| tally.unite(other));
    }
    united
}

/// By column, the samples of all targets; and a note for each that had to be given up.
fn samples(spec: &ScanSpec, budget: &Budget, parts: &[Read]) -> (Vec<Vec<SampleCounts>>, Vec<String>) {
    let mut by_column = vec![Vec::new(); spec.columns.len()];
    let mut notes = Vec::new();
    for place in 0..budget.samples.len() {
        let of_parts: Vec<&Sample> = parts.iter().map(|part| &part.kept.samples[place]).collect();
        if of_parts.iter().any(|sample| sample.has_overflowed()) {
            notes.push(overflow_note(of_parts[0].target()));
            continue;
        }
        by_column.iter_mut().zip(merged(&of_parts, spec.seed)).for_each(|(column, counts)| column.push(counts));
    }
    (by_column, notes)
}
