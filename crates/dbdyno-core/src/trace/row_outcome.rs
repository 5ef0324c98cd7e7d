//! From what a statement has done to JSON (docs/architecture.md, "Traces").

use std::collections::BTreeMap;

use serde::Serialize;

use super::events::Events;
use super::outcome::lossy;
use super::plans::{Plan, PlanLine};
use super::record::CallKind;
use super::rows::{Executions, Row};
use super::sums::{CallSums, WaitSums, encoded};

/// All waits for one event.
#[derive(Debug, Serialize)]
pub(super) struct WaitOutcome {
    event: String,
    class: &'static str,
    count: u64,
    pub sum_ns: i64,
    between_calls_count: u64,
    between_calls_ns: i64,
    min_ns: i64,
    max_ns: i64,
    first_line: u64,
    slowest_line: u64,
    histogram: Option<String>,
}

/// What a statement has done.
#[derive(Debug, Serialize)]
pub(super) struct RowOutcome {
    statement: u32,
    depth_min: Option<usize>,
    depth_max: usize,
    calls: BTreeMap<&'static str, CallOutcome>,
    waits: Vec<WaitOutcome>,
    plans: Vec<PlanOutcome>,
    executions: ExecutionsOutcome,
}

/// All calls of one kind.
#[derive(Debug, Serialize)]
pub(super) struct CallOutcome {
    count: u64,
    cpu_ns: i64,
    elapsed_ns: i64,
    own_cpu_ns: i64,
    own_elapsed_ns: i64,
    physical_reads: i64,
    consistent_reads: i64,
    current_reads: i64,
    own_physical_reads: i64,
    own_consistent_reads: i64,
    own_current_reads: i64,
    misses: i64,
    rows: i64,
    first_line: u64,
    slowest_ns: i64,
    slowest_line: u64,
}

#[derive(Debug, Serialize)]
struct ExecutionsOutcome {
    count: u64,
    sum_ns: i64,
    histogram: Option<String>,
    slowest: Option<SlowestOutcome>,
}

#[derive(Debug, Serialize)]
struct SlowestOutcome {
    elapsed_ns: i64,
    rows: i64,
    line: u64,
    binds: String,
    binds_line: u64,
}

#[derive(Debug, Serialize)]
struct PlanOutcome {
    plan_hash: u64,
    count: u64,
    line: u64,
    row_sources: Vec<RowSourceOutcome>,
}

#[derive(Debug, Serialize)]
struct RowSourceOutcome {
    id: i64,
    parent: i64,
    position: i64,
    object: i64,
    operation: String,
    rows: i64,
    consistent_reads: Option<i64>,
    physical_reads: Option<i64>,
    physical_writes: Option<i64>,
    starts: Option<i64>,
    time_ns: Option<i64>,
    cost: Option<i64>,
    bytes: Option<i64>,
    cardinality: Option<i64>,
}

impl RowOutcome {
    pub(super) fn of(row: &Row, events: &Events) -> Self {
        let calls = CallKind::ALL.into_iter().filter(|kind| row.calls[*kind as usize].count > 0);
        Self {
            statement: row.statement,
            depth_min: (row.depth_min != usize::MAX).then_some(row.depth_min),
            depth_max: row.depth_max,
            calls: calls.map(|kind| (kind.name(), CallOutcome::of(&row.calls[kind as usize]))).collect(),
            waits: row.waits.iter().map(|wait| WaitOutcome::of(wait, events)).collect(),
            plans: row.plans.iter().map(PlanOutcome::of).collect(),
            executions: ExecutionsOutcome::of(&row.executions),
        }
    }
}

impl CallOutcome {
    pub(super) fn of(sums: &CallSums) -> Self {
        Self {
            count: sums.count,
            cpu_ns: sums.all.cpu_ns,
            elapsed_ns: sums.all.elapsed_ns,
            own_cpu_ns: sums.own.cpu_ns,
            own_elapsed_ns: sums.own.elapsed_ns,
            physical_reads: sums.all.physical_reads,
            consistent_reads: sums.all.consistent_reads,
            current_reads: sums.all.current_reads,
            own_physical_reads: sums.own.physical_reads,
            own_consistent_reads: sums.own.consistent_reads,
            own_current_reads: sums.own.current_reads,
            misses: sums.misses,
            rows: sums.rows,
            first_line: sums.first_line,
            slowest_ns: sums.slowest_ns,
            slowest_line: sums.slowest_line,
        }
    }
}

impl WaitOutcome {
    pub(super) fn of(wait: &WaitSums, events: &Events) -> Self {
        let event = &events.all[wait.event as usize];
        Self {
            event: lossy(&event.name),
            class: event.class.name(),
            count: wait.count,
            sum_ns: wait.elapsed_ns,
            between_calls_count: wait.between_count,
            between_calls_ns: wait.between_ns,
            min_ns: wait.shortest_ns,
            max_ns: wait.longest_ns,
            first_line: wait.first_line,
            slowest_line: wait.longest_line,
            histogram: wait.histogram.as_deref().map(encoded),
        }
    }
}

impl ExecutionsOutcome {
    fn of(executions: &Executions) -> Self {
        Self {
            count: executions.count,
            sum_ns: executions.elapsed_ns,
            histogram: executions.histogram.as_deref().map(encoded),
            slowest: executions.slowest.as_ref().map(|slowest| SlowestOutcome {
                elapsed_ns: slowest.elapsed_ns,
                rows: slowest.rows,
                line: slowest.line,
                binds: lossy(&slowest.binds),
                binds_line: slowest.binds_line,
            }),
        }
    }
}

impl PlanOutcome {
    fn of(plan: &Plan) -> Self {
        let known = |figure: i64| (figure >= 0).then_some(figure);
        let row_source = |line: &PlanLine| RowSourceOutcome {
            id: line.id,
            parent: line.parent,
            position: line.position,
            object: line.object,
            operation: line.operation.clone(),
            rows: line.figures.rows,
            consistent_reads: known(line.figures.consistent_reads),
            physical_reads: known(line.figures.physical_reads),
            physical_writes: known(line.figures.physical_writes),
            starts: known(line.figures.starts),
            time_ns: known(line.figures.time_ns),
            cost: known(line.cost),
            bytes: known(line.bytes),
            cardinality: known(line.cardinality),
        };
        Self {
            plan_hash: plan.plan_hash,
            count: plan.count,
            line: plan.first_line,
            row_sources: plan.lines.iter().map(row_source).collect(),
        }
    }
}
