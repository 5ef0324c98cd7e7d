//! From what the threads and the probe measured to the outcome.

use super::cells::{cells, episodes, of_events};
use super::observer::BackendCounters;
use super::outcome::{Driver, Exposure, Outcome, Profile, ScriptOutcome, StatementOutcome};
use super::plan::{Plan, PlannedScript};
use super::process_memory;
use super::profile::{ClientTimes, Whole, profile};
use super::record::Record;
use super::span::Span;
use super::spec::{ArrivalSpec, TrialSpec};
use super::window::Window;
use super::worker::WorkerReport;
use crate::probe::{BINS_PER_DECADE, EventSnapshots, ProbeOutcome, Swept, UnitCells};
use crate::stacks::StacksOutcome;

/// Everything that a trial left behind.
pub(super) struct Measured {
    pub started_at_ns: u64,
    pub window: Window,
    /// By thread; clients in order.
    pub reports: Vec<WorkerReport>,
    /// Fixed work: units that nobody started.
    pub skipped: u64,
    pub exposure: Exposure,
    /// What the stack recorder saw.
    pub stacks: Option<StacksOutcome>,
    pub probe: ProbeOutcome,
}

/// The outcome.
pub(super) fn assemble(spec: &TrialSpec, plan: &Plan, measured: Measured) -> Outcome {
    let Measured { started_at_ns, window, reports, skipped, exposure, stacks, mut probe } = measured;
    let spans: Vec<Span> = reports.iter().flat_map(|report| report.spans.iter().copied()).collect();
    let cpu_ns: Vec<u64> = reports.iter().map(|report| report.cpu_ns).collect();
    let captured = reports.first().map(|report| report.captured.clone()).unwrap_or_default();
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
        throughput_per_s: throughput_per_s(spec, &spans, &window, times.elapsed_ns),
        mean_in_flight: ratio(record.in_flight_ns as f64, times.metered_ns),
        response_time: response.to_distribution(),
        service_time: service.to_distribution(),
        queue_time: queue.to_distribution(),
        scripts: plan
            .scripts
            .iter()
            .enumerate()
            .map(|(index, script)| script_outcome(script, index, &record, seen_units(&probe)))
            .collect(),
        captured,
        series: record.series.clone(),
        profile: profile_of(&mut record, &spans, &mut probe),
        background: probe.background,
        driver: driver(&cpu_ns, times.metered_ns, &record),
        exposure,
        stacks,
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
    records.for_each(|record| merged.merge(record));
    merged
}

/// Closed loop without think time: each client's units over its own span, because the last one ends behind the
/// window. Open loop and fixed work: all units over the time they took.
fn throughput_per_s(spec: &TrialSpec, spans: &[Span], window: &Window, elapsed_ns: u64) -> f64 {
    let successful: u64 = spans.iter().map(|span| span.successful).sum();
    match spec.arrival {
        ArrivalSpec::Closed(think_time) if spec.fixed_units.is_none() && think_time.is_none() => {
            let rate = |span: &Span| Some(ratio(span.successful as f64 * 1e9, span.last_end_ns - span.start_ns?));
            spans.iter().filter_map(rate).sum()
        }
        ArrivalSpec::Closed(think_time) if spec.fixed_units.is_none() => {
            let cycles_ns = spans.iter().map(|span| span.cycles_ns(think_time.mean_ns())).sum::<Option<u64>>();
            match cycles_ns {
                Some(cycles_ns) => spans.len() as f64 * ratio(successful as f64 * 1e9, cycles_ns),
                None => ratio(successful as f64 * 1e9, window.length_ns()),
            }
        }
        _ => ratio(successful as f64 * 1e9, elapsed_ns),
    }
}

fn profile_of(record: &mut Record, spans: &[Span], probe: &mut ProbeOutcome) -> Profile {
    let counts = probe.swept.as_mut().map(|swept| std::mem::take(&mut swept.closed.clients)).unwrap_or_default();
    let counts = |client: usize| counts.get(client).cloned().unwrap_or_default();
    let clients = spans.iter().enumerate().filter_map(|(client, span)| ClientTimes::new(span, counts(client)));
    let whole = Whole {
        response_ns: record.ended_response_ns,
        queue_ns: record.ended_queue_ns,
        stolen_per_cpu_time: probe.stolen_per_cpu_time.unwrap_or(0.0),
    };
    let profile = profile(whole, clients.collect(), &probe.events);
    let (chunk_ns, cells) = cells(&mut record.sums, probe.swept.as_mut().map(|swept| &mut swept.closed.units));
    let swept = probe.swept.as_ref();
    let period_ns = swept.and_then(Swept::period_ns);
    let counters = spans.iter().filter(|span| span.start_ns.is_some()).map(Span::counters);
    let counters: Option<Vec<_>> = counters.collect();
    let sum = |figure: fn(&BackendCounters) -> Option<u64>| counters.as_ref()?.iter().map(figure).sum::<Option<u64>>();
    let block_io_delay_ns = sum(|counters| counters.block_io_delay_ns);
    Profile {
        route: probe.route.to_string(),
        note: probe.note.clone(),
        server_clocks: if profile.cpu_ns.is_some() { "schedstat" } else { "none" }.to_owned(),
        snapshots: swept.map_or(0, |swept| swept.sweeps),
        sampler_cpu_ns: probe.sampler_cost.cpu_ns,
        sampler_cpu_ns_sweeping: probe.sampler_cost.sweeping_cpu_ns,
        sampler_elapsed_ns: probe.sampler_cost.elapsed_ns,
        sampler_wake_ups: probe.sampler_cost.wake_ups,
        period_ns,
        looked: swept.map_or(0, |swept| swept.closed.looked),
        voluntary_switches: sum(|counters| Some(counters.voluntary_switches)),
        involuntary_switches: sum(|counters| Some(counters.involuntary_switches)),
        block_io_delay_ns,
        block_io_note: if block_io_delay_ns.is_some() { None } else { probe.block_io_note.take() },
        chunk_ns,
        bins_per_decade: BINS_PER_DECADE,
        events: probe.events.clone(),
        cells,
        episodes: swept.map(|swept| episodes(&swept.closed.episodes, period_ns)),
        ..profile
    }
}

fn seen_units(probe: &ProbeOutcome) -> Option<&UnitCells> {
    probe.swept.as_ref().map(|swept| &swept.closed.units)
}

fn script_outcome(planned: &PlannedScript, index: usize, record: &Record, seen: Option<&UnitCells>) -> ScriptOutcome {
    let snapshots = |counts: Option<&EventSnapshots>| counts.map(of_events).unwrap_or_default();
    let script = &record.scripts[index];
    let statements = planned.script.statements.iter().enumerate().map(|(index, statement)| {
        let number = planned.first_statement + index;
        let record = &record.statements[number];
        StatementOutcome {
            line: statement.line,
            text: statement.text.clone(),
            rows: record.rows,
            rows_affected: record.rows_affected,
            service_time: record.service.to_distribution(),
            snapshots: snapshots(seen.and_then(|seen| seen.statements.get(number))),
        }
    });
    ScriptOutcome {
        name: planned.script.name.clone(),
        successful: script.successful,
        failed: script.failed,
        response_time: script.response.to_distribution(),
        snapshots: snapshots(seen.and_then(|seen| seen.scripts.get(index))),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Random;

    const MS: u64 = 1_000_000;

    fn spec(arrival: &str) -> TrialSpec {
        let target = r#"{"host": "/tmp", "port": 5432, "user": "u", "dbname": "d"}"#;
        TrialSpec::parse(&format!(
            r#"{{"target": {target}, "scripts": [{{"name": "s", "text": "SELECT 1;"}}], "clients": 1, "seed": 1,
                 "arrival": {arrival}, "warm_up_ns": 0, "window_ns": 1, "waits": {{"route": "off"}}}}"#
        ))
        .expect("valid")
    }

    /// A client that takes 1 ms for a unit and thinks for 29 ms in the mean, seen through a window.
    fn thinking_client(random: &mut Random, window: &Window) -> Span {
        let mut think_ns = || (random.exponential_gap() * 29.0 * MS as f64) as u64;
        let mut start_ns = think_ns();
        let mut span = Span::default();
        while start_ns < window.end_ns {
            let end_ns = start_ns + MS;
            let pause_ns = think_ns();
            if window.contains(start_ns) {
                span.start_ns.get_or_insert(start_ns);
                span.successful += 1;
                span.last_end_ns = end_ns;
                span.last_think_time_ns = Some(pause_ns);
            }
            start_ns = end_ns + pause_ns;
        }
        span
    }

    /// The mean of many trials of 100 clients, as a share of what it must be: 100 clients / 30 ms.
    fn mean_throughput(window_ms: u64) -> f64 {
        let spec = spec(r#"{"kind": "closed", "think_time_ns": 29000000, "think_time_distribution": "exponential"}"#);
        let window = Window::new(0, 300 * MS, window_ms * MS, 0);
        let mut random = Random::from_seed(5);
        let trial = |_| {
            let spans: Vec<Span> = (0..100).map(|_| thinking_client(&mut random, &window)).collect();
            throughput_per_s(&spec, &spans, &window, 0)
        };
        (0..300).map(trial).sum::<f64>() / 300.0 / (100.0 / 0.030)
    }

    /// 300 trials of 100 clients with two units each tell the mean to 0.4 %.
    #[test]
    fn think_times_do_not_bias_the_throughput_whatever_the_window() {
        for window_ms in [10, 60, 150, 600] {
            let share = mean_throughput(window_ms);
            assert!((0.98..1.02).contains(&share), "{window_ms} ms: {share}");
        }
    }
}
