//! What the sessions of a PostgreSQL server on this host wait for, second by second.
//!
//! ```text
//! cargo run --release --example waits -- POSTMASTER_PID SECONDS [ROUTE [PERIOD_US]]
//! ```
//!
//! No connection to the server is made. Sessions that are there at the start are watched; each is taken
//! to be in a unit of work all the time, so idle ones show as `Client:ClientRead`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dbdyno_core::load::{Observer, PhaseCell, WaitsSpec};
use dbdyno_core::probe::{AsleepRates, ProbeOutcome, Timeline, attach, session_pids};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [postmaster_pid, seconds, options @ ..] = arguments.as_slice() else {
        return Err("usage: waits POSTMASTER_PID SECONDS [ROUTE [PERIOD_US]]".into());
    };
    let spec = WaitsSpec {
        route: options.first().cloned().unwrap_or("auto".to_owned()),
        postmaster_pid: Some(postmaster_pid.parse()?),
        period_ns: options.get(1).map(|text| text.parse::<u64>().map(|period_us| period_us * 1000)).transpose()?,
        budget: 0.01,
    };
    let sessions = session_pids(postmaster_pid.parse()?)?;
    println!("{} sessions", sessions.len());
    for _ in 0..seconds.parse()? {
        print(watch_for_a_second(&spec, &sessions)?);
    }
    Ok(())
}

fn watch_for_a_second(
    spec: &WaitsSpec,
    sessions: &[i32],
) -> Result<(ProbeOutcome, Duration, u64), dbdyno_core::CoreError> {
    let phases: Arc<[PhaseCell]> = sessions.iter().map(|_| PhaseCell::default()).collect();
    phases.iter().for_each(PhaseCell::begin_unit);
    let probe = attach(spec, sessions, phases, None)?;
    let cpu_ns = |probe: &dyn Observer| -> u64 {
        (0..sessions.len()).filter_map(|client| probe.read_clocks(client)).map(|clocks| clocks.cpu_ns).sum()
    };
    let cpu_ns_at_start = cpu_ns(&probe);
    let started = Instant::now();
    probe.start(Timeline { start_ns: 0, chunk_ns: 1 << 40, step_ns: 1 << 40 }, None);
    std::thread::sleep(Duration::from_secs(1));
    let backends_cpu_ns = cpu_ns(&probe).saturating_sub(cpu_ns_at_start);
    let elapsed = started.elapsed();
    Ok((probe.finish(), elapsed, backends_cpu_ns))
}

fn print((outcome, elapsed, backends_cpu_ns): (ProbeOutcome, Duration, u64)) {
    let Some(swept) = &outcome.swept else { return };
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    let rates = AsleepRates::of(&swept.closed.clients);
    for client in &swept.closed.clients {
        for (event, snapshots) in client.in_unit.iter() {
            let asleep = snapshots.seen as f64 * rates.of_event(event, snapshots);
            let name = if event == 0 { "asleep without a wait event" } else { &outcome.events[event] };
            *counts.entry(name).or_default() += asleep;
            *counts.entry("on a CPU or in line for one").or_default() += snapshots.seen as f64 - asleep;
        }
    }
    let total = counts.values().sum::<f64>().max(1.0);
    let percent_of_a_cpu = |ns: u64| ns as f64 / elapsed.as_nanos() as f64 * 100.0;
    let cost = outcome.sampler_cost;
    println!(
        "\nroute {}, {} sweeps, sampler {:.2} % of a CPU, {:.1} us a sweep; sessions {:.1} % of a CPU{}",
        outcome.route,
        swept.sweeps,
        cost.cpu_ns as f64 / cost.elapsed_ns.max(1) as f64 * 100.0,
        cost.cpu_ns as f64 / cost.wake_ups.max(1) as f64 / 1e3,
        percent_of_a_cpu(backends_cpu_ns),
        outcome.note.as_ref().map_or(String::new(), |note| format!(" ({note})")),
    );
    let mut rows: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0.0).collect();
    rows.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    for (event, count) in rows {
        println!("{:>7.2} %  {event}", count / total * 100.0);
    }
    for process in &outcome.background {
        let waits: Vec<_> =
            process.waits_ns.iter().map(|(event, ns)| format!("{event} {:.0} %", percent_of_a_cpu(*ns))).collect();
        println!("  {:<28} CPU {:.1} %, {}", process.backend_type, percent_of_a_cpu(process.cpu_ns), waits.join(", "));
    }
}
