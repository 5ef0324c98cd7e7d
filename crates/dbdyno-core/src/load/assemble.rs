//! From what the threads and the probe measured to the outcome.

use super::outcome::{Driver, Exposure, Outcome, Profile, ScriptOutcome, StatementOutcome};
use super::plan::{Plan, PlannedScript};
use super::process_memory;
use super::profile::{ClientTimes, profile};
use super::record::Record;
use super::span::Span;
use super::spec::{ArrivalSpec, TrialSpec};
use super::window::Window;
use super::worker::WorkerReport;
use crate::probe::ProbeOutcome;

/// Everything that a trial left behind.
pub(super) struct Measured {
    pub started_at_ns: u64,
    pub window: Window,
    /// By thread; clients in order.
    pub reports: Vec<WorkerReport>,
    /// Fixed work: units that nobody started.
    pub skipped: u64,
    pub exposure: Exposure,
    pub probe: ProbeOutcome,
}

/// The outcome.
pub(super) fn assemble(spec: &TrialSpec, plan: &Plan, measured: Measured) -> Outcome {
    let Measured { started_at_ns, window, reports, skipped, exposure, probe } = measured;
    let spans: Vec<Span> = reports.iter().flat_map(|report| report.spans.iter().copied()).collect();
    let cpu_ns: Vec<u64> = reports.iter().map(|report| report.cpu_ns).collect();
    let mut record = merged(reports);
    record.units.skipped += skipped;
    let (response, service, queue) = record.totals();
    let times = Times::new(spec, &window, &record);
    Outcome {
        started_at_ns,
        window_ns: window.length_ns(),
        fixed_units: spec.fixed_units,
        elapsed_ns: times.elapsed_ns,
        units: record.units,
        units_with_warm_up: record.units_with_warm_up,
        throughput_per_s: throughput_per_s(spec, &spans, times.elapsed_ns),
        mean_in_flight: ratio(record.in_flight_ns as f64, times.metered_ns),
        response_time: response.to_distribution(),
        service_time: service.to_distribution(),
        queue_time: queue.to_distribution(),
        scripts: plan
            .scripts
            .iter()
            .enumerate()
            .map(|(index, script)| script_outcome(script, index, &record))
            .collect(),
        series: record.series.clone(),
        profile: profile_of(&record, &spans, &probe),
        background: probe.background,
        driver: driver(&cpu_ns, times.metered_ns, &record),
        exposure,
    }
}

/// Over which times the figures are.
struct Times {
    elapsed_ns: u64,
    /// What the threads' CPU time and the mean in flight are measured over.
    metered_ns: u64,
}

impl Times {
    /// Fixed work: from the start of its first unit to the end of its last one. A window is itself, and lasts
    /// until the last unit that was counted in it has ended.
    fn new(spec: &TrialSpec, window: &Window, record: &Record) -> Self {
        if spec.fixed_units.is_some() {
            let elapsed_ns = record.last_end_ns.saturating_sub(record.first_start_ns);
            return Self { elapsed_ns, metered_ns: elapsed_ns };
        }
        let elapsed_ns = window.end_ns.max(record.last_end_ns) - window.start_ns;
        Self { elapsed_ns, metered_ns: window.length_ns() }
    }
}

/// 0 where there is nothing to divide by: fixed work of which nothing ended.
fn ratio(dividend: f64, divisor_ns: u64) -> f64 {
    if divisor_ns == 0 { 0.0 } else { dividend / divisor_ns as f64 }
}

fn merged(reports: Vec<WorkerReport>) -> Record {
    let mut records = reports.into_iter().map(|report| report.record);
    let mut merged = records.next().expect("there is at least one thread");
    records.for_each(|record| merged.merge(&record));
    merged
}

/// Closed loop: each client's units over its own span, because the last one ends behind the window; a
/// think time belongs to each unit, the last one too: the one that was drawn, because with it the span ends
/// where a unit would start, at a stopping time (Wald's identity). Open loop and fixed work: all units over
/// the time they took.
fn throughput_per_s(spec: &TrialSpec, spans: &[Span], elapsed_ns: u64) -> f64 {
    let successful = |span: &Span| span.successful as f64;
    let think_time = match spec.arrival {
        ArrivalSpec::Closed(think_time) if spec.fixed_units.is_none() => think_time,
        _ => return ratio(spans.iter().map(successful).sum::<f64>() * 1e9, elapsed_ns),
    };
    let rate = |span: &Span| {
        let last_think_time_ns = span.last_think_time_ns.unwrap_or_else(|| think_time.mean_ns());
        let length_ns = span.last_end_ns.saturating_sub(span.start_ns?) + last_think_time_ns;
        Some(ratio(successful(span) * 1e9, length_ns))
    };
    spans.iter().filter_map(rate).sum()
}

fn profile_of(record: &Record, spans: &[Span], probe: &ProbeOutcome) -> Profile {
    let snapshots = |client: usize| probe.clients.get(client).cloned().unwrap_or_default();
    let clients: Vec<ClientTimes> =
        spans.iter().enumerate().filter_map(|(client, span)| ClientTimes::new(span, snapshots(client))).collect();
    let profile = profile(record.ended_response_ns, record.ended_queue_ns, &clients);
    Profile {
        route: probe.route.to_string(),
        note: probe.note.clone(),
        server_clocks: if profile.cpu_ns.is_some() { "schedstat" } else { "none" }.to_owned(),
        snapshots: probe.sweeps,
        sampler_cpu_ns: probe.sampler_cpu_ns,
        ..profile
    }
}

fn script_outcome(planned: &PlannedScript, index: usize, record: &Record) -> ScriptOutcome {
    let script = &record.scripts[index];
    let statements = planned.script.statements.iter().enumerate().map(|(index, statement)| {
        let record = &record.statements[planned.first_statement + index];
        StatementOutcome {
            line: statement.line,
            text: statement.text.clone(),
            rows: record.rows,
            rows_affected: record.rows_affected,
            service_time: record.service.to_distribution(),
        }
    });
    ScriptOutcome {
        name: planned.script.name.clone(),
        successful: script.successful,
        failed: script.failed,
        response_time: script.response.to_distribution(),
        statements: statements.collect(),
    }
}

fn driver(cpu_ns: &[u64], metered_ns: u64, record: &Record) -> Driver {
    let busiest_ns = cpu_ns.iter().copied().max().unwrap_or(0);
    Driver {
        cpu_ns: cpu_ns.iter().sum(),
        threads: cpu_ns.len(),
        busiest_thread_share: ratio(busiest_ns as f64, metered_ns),
        lateness_ns: record.lateness(),
        memory_bytes_max: process_memory::bytes_max(),
    }
}
