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

use dbdyno_core::load::{Observer, Phase, PhaseCell, WaitsSpec};
use dbdyno_core::probe::{ProbeOutcome, attach, session_pids};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [postmaster_pid, seconds, options @ ..] = arguments.as_slice() else {
        return Err("usage: waits POSTMASTER_PID SECONDS [ROUTE [PERIOD_US]]".into());
    };
    let spec = WaitsSpec {
        route: options.first().cloned().unwrap_or("auto".to_owned()),
        postmaster_pid: Some(postmaster_pid.parse()?),
        period_ns: options.get(1).map_or(Ok(1000), |text| text.parse::<u64>())? * 1000,
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
    phases.iter().for_each(|cell| cell.set(Phase::InUnit));
    let probe = attach(spec, sessions, phases, None)?;
    let cpu_ns = |probe: &dyn Observer| -> u64 {
        (0..sessions.len()).filter_map(|client| probe.read_clocks(client)).map(|clocks| clocks.cpu_ns).sum()
    };
    let cpu_ns_at_start = cpu_ns(&probe);
    let started = Instant::now();
    probe.start(None);
    std::thread::sleep(Duration::from_secs(1));
    let backends_cpu_ns = cpu_ns(&probe).saturating_sub(cpu_ns_at_start);
    let elapsed = started.elapsed();
    Ok((probe.finish(), elapsed, backends_cpu_ns))
}

fn print((outcome, elapsed, backends_cpu_ns): (ProbeOutcome, Duration, u64)) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for client in &outcome.clients {
        client.asleep_in_unit.iter().for_each(|(event, count)| *counts.entry(event).or_default() += count);
        *counts.entry("asleep without a wait event").or_default() += client.asleep_in_unit_no_wait_event;
        *counts.entry("on a CPU or in line for one").or_default() +=
            client.running_in_unit + client.running_between_units;
    }
    let total = counts.values().sum::<u64>().max(1) as f64;
    let percent_of_a_cpu = |ns: u64| ns as f64 / elapsed.as_nanos() as f64 * 100.0;
    println!(
        "\nroute {}, {} sweeps, sampler {:.2} % of a CPU, {:.1} us a sweep; sessions {:.1} % of a CPU{}",
        outcome.route,
        outcome.sweeps,
        percent_of_a_cpu(outcome.sampler_cpu_ns),
        outcome.sampler_cpu_ns as f64 / outcome.sweeps.max(1) as f64 / 1e3,
        percent_of_a_cpu(backends_cpu_ns),
        outcome.note.map_or(String::new(), |note| format!(" ({note})")),
    );
    let mut rows: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (event, count) in rows {
        println!("{:>7.2} %  {event}", count as f64 / total * 100.0);
    }
    for process in &outcome.background {
        let waits: Vec<_> =
            process.waits_ns.iter().map(|(event, ns)| format!("{event} {:.0} %", percent_of_a_cpu(*ns))).collect();
        println!("  {:<28} CPU {:.1} %, {}", process.backend_type, percent_of_a_cpu(process.cpu_ns), waits.join(", "));
    }
}
