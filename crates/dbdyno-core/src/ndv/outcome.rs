//! From what the connections kept to the outcome, as JSON, and the file of sketches.

use serde::Serialize;

use super::budget::{Budget, overflow_note};
use super::counter::Counter;
use super::exports::{Exported, Exports};
use super::growth::{GrowthPoint, PartGrowth, growth};
use super::part::Kept;
use super::sample::{Sample, SampleCounts, merged};
use super::session::Read;
use super::spec::{ColumnSpec, ScanSpec};
use super::tally::Tally;
use crate::error::{CoreError, Result};
use crate::sketch::HashId;
use crate::sketch::file::{self, StoredColumn};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    not_counted: Option<Vec<NotCounted>>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Counted {
    name: String,
    #[serde(rename = "type")]
    type_name: String,
    nulls: u64,
    value_bytes: Option<u64>,
    ndv: Ndv,
    exact: bool,
    growth: Vec<GrowthPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<Vec<SampleCounts>>,
}

/// A column of a file whose values cannot be told apart.
#[derive(Debug, Serialize)]
pub(super) struct NotCounted {
    pub column: String,
    #[serde(rename = "type")]
    pub type_name: String,
    pub reason: String,
}

/// Of a scan as a whole.
#[derive(Debug)]
pub(super) struct Totals {
    pub rows: u64,
    pub bytes: u64,
    pub elapsed_ns: u64,
    pub client_cpu_ns: u64,
}

#[derive(Debug, Serialize)]
struct Ndv {
    estimate: f64,
    low: f64,
    high: f64,
}

/// A column or a group, beside its counts.
#[derive(Clone, Debug)]
pub(super) struct Described {
    pub name: String,
    pub type_name: String,
    pub hash_id: HashId,
    pub seed: u64,
}

impl Outcome {
    /// Of the parts in the order of their pages, and the file of the columns and, behind them, the groups.
    pub(super) fn of_parts(spec: &ScanSpec, budget: Budget, parts: &[Read], elapsed_ns: u64) -> (Self, Vec<u8>) {
        let (samples, overflowed) = samples(spec, &budget, parts);
        let (described, tallies) = (described(spec), united(parts));
        let mut samples = samples.into_iter();
        let counted = |(place, (described, tally)): (usize, (&Described, &Tally))| {
            let growth = growth(&parts.iter().map(|part| PartGrowth::of(&part.kept, place)).collect::<Vec<_>>());
            Counted { samples: samples.next(), ..Counted::new(described, tally, Some(tally.value_bytes), growth) }
        };
        let mut columns: Vec<Counted> = described.iter().zip(&tallies).enumerate().map(counted).collect();
        let groups = columns.split_off(spec.columns.len());
        let totals = Totals {
            rows: parts.iter().map(|part| part.kept.rows()).sum(),
            bytes: parts.iter().map(|part| part.bytes).sum(),
            elapsed_ns,
            client_cpu_ns: parts.iter().map(|part| part.cpu_ns).sum(),
        };
        let notes = budget.notes.into_iter().chain(overflowed).collect();
        let sketches = sketches(totals.rows, described.into_iter().zip(tallies));
        (Self { notes, ..Self::new(totals, columns, groups) }, sketches)
    }

    fn new(totals: Totals, columns: Vec<Counted>, groups: Vec<Counted>) -> Self {
        let Totals { rows, bytes, elapsed_ns, client_cpu_ns } = totals;
        let (not_counted, notes) = (None, Vec::new());
        Self { format: 1, rows, bytes, elapsed_ns, client_cpu_ns, columns, groups, not_counted, notes }
    }

    /// As JSON.
    ///
    /// # Errors
    /// None that we know of.
    pub(super) fn text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| CoreError::new("io", format!("outcome: {error}")))
    }
}

/// What was counted of a source that one reader read.
pub(super) struct Counts {
    pub columns: Vec<(Described, Counter)>,
    pub groups: Vec<(Described, Counter)>,
    pub not_counted: Vec<NotCounted>,
    pub exported: Vec<Exported>,
    /// Columns of which the others have no sketches, with their types.
    pub not_exported: Vec<String>,
}

/// What a scan gives.
#[derive(Debug)]
pub struct SourceScan {
    /// As JSON (docs/architecture.md).
    pub outcome: String,
    /// The sketches of the columns and, behind them, the groups, as a file.
    pub sketches: Vec<u8>,
    /// Sketches for other programs.
    pub exported: Vec<Exported>,
}

impl SourceScan {
    /// Of a source.
    ///
    /// # Errors
    /// None that we know of.
    pub(super) fn new(counts: Counts, totals: Totals) -> Result<Self> {
        let rows = totals.rows;
        let counted = |(described, counter): &(Described, Counter)| {
            assert_eq!(rows, counter.rows(), "each column has all rows");
            Counted::new(described, &counter.tally, None, counter.growth())
        };
        let (columns, groups) =
            (counts.columns.iter().map(counted).collect(), counts.groups.iter().map(counted).collect());
        let counters = counts.columns.into_iter().chain(counts.groups);
        let sketches = sketches(rows, counters.map(|(described, counter)| (described, counter.tally)));
        let not_exported = counts.not_exported.iter().map(|column| {
            format!("{column} has no sketch for others: integers, floating-point numbers, texts and binaries have")
        });
        let outcome = Outcome {
            not_counted: Some(counts.not_counted),
            notes: not_exported.collect(),
            ..Outcome::new(totals, columns, groups)
        };
        Ok(Self { outcome: outcome.text()?, sketches, exported: counts.exported })
    }
}

impl Counted {
    fn new(described: &Described, tally: &Tally, value_bytes: Option<u64>, growth: Vec<GrowthPoint>) -> Self {
        Self {
            name: described.name.clone(),
            type_name: described.type_name.clone(),
            nulls: tally.nulls,
            value_bytes,
            ndv: Ndv::of(tally),
            exact: tally.column.sketch().is_exact(),
            growth,
            samples: None,
        }
    }
}

/// Of all columns, and behind them of all groups.
fn described(spec: &ScanSpec) -> Vec<Described> {
    let columns = spec.columns.iter().map(|column| (&column.name, column.type_name.clone(), column.hash_id()));
    let groups = spec.groups.iter().map(|group| (&group.name, spec.types_of(group), HashId::Dbdyno1));
    let described = |(name, type_name, hash_id): (&String, String, HashId)| Described {
        name: name.clone(),
        type_name,
        hash_id,
        seed: if hash_id == HashId::Dbdyno1 { spec.seed } else { spec.server_seed },
    };
    columns.chain(groups).map(described).collect()
}

/// As a file.
fn sketches(rows: u64, counted: impl Iterator<Item = (Described, Tally)>) -> Vec<u8> {
    let stored = |(described, tally): (Described, Tally)| StoredColumn {
        name: described.name,
        type_name: described.type_name,
        hash_id: described.hash_id,
        seed: described.seed,
        rows,
        nulls: tally.nulls,
        column: tally.column,
    };
    file::write(&counted.map(stored).collect::<Vec<_>>())
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

/// Sketches for others of the columns of all parts.
pub(super) fn exported(spec: &ScanSpec, parts: &[Read]) -> Vec<Exported> {
    let mut of_parts: Vec<_> = parts.iter().map(|part| part.kept.exports()).collect();
    let of_column = |column: &ColumnSpec| {
        let exports: Vec<&Exports> = of_parts.iter_mut().filter_map(|part| part.next().flatten()).collect();
        Exports::written(&column.name, &exports)
    };
    spec.columns.iter().flat_map(of_column).collect()
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
