//! From what the threads and the probe measured to the outcome.

use super::outcome::{Driver, Exposure, Outcome, Profile, ScriptOutcome, StatementOutcome};
use super::plan::{Plan, PlannedScript};
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
    pub exposure: Exposure,
    pub probe: ProbeOutcome,
}

/// The outcome.
pub(super) fn assemble(spec: &TrialSpec, plan: &Plan, measured: Measured) -> Outcome {
    let Measured { started_at_ns, window, reports, exposure, probe } = measured;
    let driver = driver(&reports, &window);
    let spans: Vec<Span> = reports.iter().flat_map(|report| report.spans.iter().copied()).collect();
    let record = merged(reports);
    let (response, service, queue) = record.totals();
    let elapsed_ns = window.end_ns.max(record.last_end_ns) - window.start_ns;
    Outcome {
        started_at_ns,
        window_ns: window.length_ns(),
        elapsed_ns,
        units: record.units,
        throughput_per_s: throughput_per_s(spec, &spans, elapsed_ns),
        mean_in_flight: record.in_flight_ns as f64 / window.length_ns() as f64,
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
        driver: Driver { lateness_ns: record.lateness(), ..driver },
        exposure,
    }
}

fn merged(reports: Vec<WorkerReport>) -> Record {
    let mut records = reports.into_iter().map(|report| report.record);
    let mut merged = records.next().expect("there is at least one thread");
    records.for_each(|record| merged.merge(&record));
    merged
}

/// Closed loop: each client's units over its own span, because the last one ends behind the window; a
/// think time belongs to each unit, the last one too. Open loop: all units over the time they took.
fn throughput_per_s(spec: &TrialSpec, spans: &[Span], elapsed_ns: u64) -> f64 {
    let successful = |span: &Span| span.successful as f64;
    let ArrivalSpec::Closed { think_time_ns } = spec.arrival else {
        return spans.iter().map(successful).sum::<f64>() / (elapsed_ns as f64 / 1e9);
    };
    let rate = |span: &Span| {
        let length_ns = span.last_end_ns.saturating_sub(span.start_ns?) + think_time_ns;
        (length_ns > 0).then(|| successful(span) / (length_ns as f64 / 1e9))
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

fn driver(reports: &[WorkerReport], window: &Window) -> Driver {
    let busiest_ns = reports.iter().map(|report| report.cpu_ns).max().unwrap_or(0);
    Driver {
        cpu_ns: reports.iter().map(|report| report.cpu_ns).sum(),
        threads: reports.len(),
        busiest_thread_share: busiest_ns as f64 / window.length_ns() as f64,
        ..Driver::default()
    }
}
