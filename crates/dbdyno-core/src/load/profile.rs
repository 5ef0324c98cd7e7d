//! The profile's identity: where the response time of the counted units went.
//!
//! ```text
//! one backend over its span:  span = CPU + run queue + asleep            from exact clocks
//! asleep, divided by snapshots that found it asleep:
//!     in a unit, by wait event       -> waits, but Client:* -> client and network
//!     in a unit, without one         -> asleep without a wait event
//!     between units                  -> no part of any response time
//! on or in line for a CPU between units, by snapshots   -> taken off the run queue: a backend that has
//!     replied and waits for a CPU to come to rest on delays nobody
//! unaccounted = response times - all parts                               signed
//! ```
//!
//! A sampler cannot help to disturb what it looks at: on the CPU where it wakes up, something stops. With one
//! client that plays ping-pong with its backend within tens of microseconds, it can find the backend woken
//! again nearly every time, although by the clocks it slept half of the time (measured in one of ten trials
//! of 100 ms). The wait event of a backend that was woken and has not run since is still that of its sleep;
//! so where the clocks prove that sleep was missed, snapshots of woken backends divide it too.
//!
//! Snapshots only divide the time asleep, they are never added to CPU: a wait event stays set while its
//! backend is runnable again. Without the clocks (another host) snapshots divide the whole span, and
//! what they found without an event is CPU or anything else: it stays unaccounted.

use std::collections::BTreeMap;

use super::outcome::Profile;
use super::span::Span;
use crate::probe::ClientSnapshots;

/// What one client contributes.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientTimes {
    pub span_ns: u64,
    /// CPU and run queue.
    pub clocks_ns: Option<(u64, u64)>,
    pub snapshots: ClientSnapshots,
}

impl ClientTimes {
    /// None for a client without counted units.
    pub(super) fn new(span: &Span, snapshots: ClientSnapshots) -> Option<Self> {
        let span_ns = span.end_ns.saturating_sub(span.start_ns?);
        Some(Self { span_ns, clocks_ns: span.clocks_ns(), snapshots })
    }
}

/// Sleep was missed if it was seen less than a quarter as often as the clocks say: chance does not do that in the
/// hundreds of snapshots of a trial.
const MISSED_SLEEP_FACTOR: u128 = 4;

/// Waits for the client to send or to take something.
const CLIENT_EVENTS: [&str; 2] = ["Client:ClientRead", "Client:ClientWrite"];

/// Adds up the parts of all clients; `unaccounted_ns` is what makes them sum to `response_ns` exactly.
pub(super) fn profile(response_ns: u64, queue_ns: u64, clients: &[ClientTimes]) -> Profile {
    let have_clocks = !clients.is_empty() && clients.iter().all(|client| client.clocks_ns.is_some());
    let pooled = pool(clients);
    let mut profile = Profile { queue_ns, total_ns: response_ns, ..Profile::default() };
    let (mut cpu_ns, mut run_queue_ns) = (0, 0);
    for client in clients {
        let divided_ns = match client.clocks_ns.filter(|_| have_clocks) {
            Some((cpu, run_queue)) => {
                cpu_ns += cpu;
                run_queue_ns += run_queue - run_queue_between_units_ns(cpu, run_queue, &client.snapshots);
                client.span_ns.saturating_sub(cpu + run_queue)
            }
            None => client.span_ns,
        };
        let own = if have_clocks {
            with_missed_sleep(&client.snapshots, divided_ns, client.span_ns)
        } else {
            client.snapshots.clone()
        };
        let snapshots = if seen(&own, have_clocks) > 0 { &own } else { &pooled };
        divide(&mut profile, divided_ns, snapshots, seen(snapshots, have_clocks));
        profile.snapshots_asleep += asleep(&client.snapshots);
    }
    profile.cpu_ns = have_clocks.then_some(cpu_ns);
    profile.run_queue_ns = have_clocks.then_some(run_queue_ns);
    profile.unaccounted_ns = response_ns as i64 - explained_ns(&profile) as i64;
    profile
}

/// All parts but unaccounted.
fn explained_ns(profile: &Profile) -> u64 {
    profile.queue_ns
        + profile.cpu_ns.unwrap_or(0)
        + profile.run_queue_ns.unwrap_or(0)
        + profile.waits_ns.values().sum::<u64>()
        + profile.asleep_no_wait_event_ns
        + profile.client_and_network_ns
}

/// Divides a time in proportion to snapshots.
fn divide(profile: &mut Profile, time_ns: u64, snapshots: &ClientSnapshots, all: u64) {
    let share_ns = |count: u64| match all {
        0 => 0,
        _ => (u128::from(time_ns) * u128::from(count) / u128::from(all)) as u64,
    };
    for (event, count) in &snapshots.asleep_in_unit {
        let part = if CLIENT_EVENTS.contains(&event.as_str()) {
            &mut profile.client_and_network_ns
        } else {
            profile.waits_ns.entry(event.clone()).or_default()
        };
        *part += share_ns(*count);
    }
    profile.asleep_no_wait_event_ns += share_ns(snapshots.asleep_in_unit_no_wait_event);
}

/// How much of the run-queue time passed after the reply, by the share of snapshots that found it so.
fn run_queue_between_units_ns(cpu_ns: u64, run_queue_ns: u64, snapshots: &ClientSnapshots) -> u64 {
    let running = snapshots.running_in_unit + snapshots.running_between_units;
    let busy_ns = u128::from(cpu_ns + run_queue_ns);
    let between_ns = busy_ns * u128::from(snapshots.running_between_units) / u128::from(running.max(1));
    run_queue_ns.min(between_ns as u64)
}

/// The snapshots that divide `asleep_ns`: with those of woken backends, if the clocks prove that sleep was missed.
fn with_missed_sleep(snapshots: &ClientSnapshots, asleep_ns: u64, span_ns: u64) -> ClientSnapshots {
    let mut dividing = snapshots.clone();
    let all = asleep(snapshots) + snapshots.running_in_unit + snapshots.running_between_units;
    let expected = u128::from(all) * u128::from(asleep_ns) / u128::from(span_ns.max(1));
    if u128::from(asleep(snapshots)) * MISSED_SLEEP_FACTOR < expected {
        for (event, count) in &snapshots.woken_in_unit {
            *dividing.asleep_in_unit.entry(event.clone()).or_default() += count;
        }
    }
    dividing
}

/// Snapshots that share the divided time.
fn seen(snapshots: &ClientSnapshots, have_clocks: bool) -> u64 {
    asleep(snapshots) + if have_clocks { 0 } else { snapshots.running_in_unit + snapshots.running_between_units }
}

fn asleep(snapshots: &ClientSnapshots) -> u64 {
    let in_unit: u64 = snapshots.asleep_in_unit.values().sum();
    in_unit + snapshots.asleep_in_unit_no_wait_event + snapshots.asleep_between_units
}

/// All clients' snapshots together: stands in for a client that no snapshot found asleep.
fn pool(clients: &[ClientTimes]) -> ClientSnapshots {
    let mut pooled = ClientSnapshots { asleep_in_unit: BTreeMap::new(), ..ClientSnapshots::default() };
    for ClientTimes { snapshots, .. } in clients {
        for (event, count) in &snapshots.asleep_in_unit {
            *pooled.asleep_in_unit.entry(event.clone()).or_default() += count;
        }
        pooled.asleep_in_unit_no_wait_event += snapshots.asleep_in_unit_no_wait_event;
        pooled.asleep_between_units += snapshots.asleep_between_units;
        pooled.running_in_unit += snapshots.running_in_unit;
        pooled.running_between_units += snapshots.running_between_units;
    }
    pooled
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn snapshots(events: &[(&str, u64)], no_event: u64, between: u64, running: u64) -> ClientSnapshots {
        ClientSnapshots {
            asleep_in_unit: events.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            asleep_in_unit_no_wait_event: no_event,
            asleep_between_units: between,
            woken_in_unit: BTreeMap::new(),
            running_in_unit: running,
            running_between_units: 0,
        }
    }

    fn parts_ns(profile: &Profile) -> i64 {
        explained_ns(profile) as i64 + profile.unaccounted_ns
    }

    #[test]
    fn snapshots_divide_the_time_asleep() {
        let client = ClientTimes {
            span_ns: 1000,
            clocks_ns: Some((300, 100)),
            // 10 asleep: the running ones say nothing, the clocks know it better.
            snapshots: snapshots(&[("IO:WalSync", 5), ("Client:ClientRead", 2)], 1, 2, 90),
        };
        let profile = profile(1090, 200, &[client]);
        assert_eq!((Some(300), Some(100)), (profile.cpu_ns, profile.run_queue_ns));
        assert_eq!(BTreeMap::from([("IO:WalSync".to_owned(), 300)]), profile.waits_ns);
        assert_eq!((120, 60), (profile.client_and_network_ns, profile.asleep_no_wait_event_ns));
        assert_eq!(1090 - 200 - 300 - 100 - 300 - 120 - 60, profile.unaccounted_ns);
        assert_eq!(10, profile.snapshots_asleep);
    }

    #[test]
    fn sleep_that_the_sampler_kept_missing_is_divided_by_what_woken_backends_waited_for() {
        let mut missed = snapshots(&[], 0, 0, 100);
        missed.woken_in_unit = BTreeMap::from([("Client:ClientRead".to_owned(), 30), ("IO:WalSync".to_owned(), 10)]);
        let client = ClientTimes { span_ns: 1000, clocks_ns: Some((400, 200)), snapshots: missed };
        let profile = profile(1000, 0, &[client]);
        assert_eq!(
            (300, 100, 0),
            (profile.client_and_network_ns, profile.waits_ns["IO:WalSync"], profile.unaccounted_ns)
        );
    }

    #[test]
    fn sleep_that_was_seen_is_not_mixed_with_anything() {
        let mut seen = snapshots(&[("IO:WalSync", 40)], 0, 0, 60);
        seen.woken_in_unit = BTreeMap::from([("Client:ClientRead".to_owned(), 60)]);
        let client = ClientTimes { span_ns: 1000, clocks_ns: Some((400, 200)), snapshots: seen };
        let profile = profile(1000, 0, &[client]);
        assert_eq!((400, 0), (profile.waits_ns["IO:WalSync"], profile.client_and_network_ns));
    }

    #[test]
    fn in_line_for_a_cpu_after_the_reply_is_no_part_of_the_response() {
        let mut snapshots = snapshots(&[], 0, 10, 60);
        snapshots.running_between_units = 20;
        let client = ClientTimes { span_ns: 1000, clocks_ns: Some((300, 100)), snapshots };
        // A quarter of 400 on or in line for a CPU, all of it in line.
        let profile = profile(300, 0, &[client]);
        assert_eq!((Some(300), Some(0), 0), (profile.cpu_ns, profile.run_queue_ns, profile.unaccounted_ns));
    }

    #[test]
    fn without_clocks_what_has_no_event_stays_unaccounted() {
        let client = ClientTimes {
            span_ns: 1000,
            clocks_ns: None,
            snapshots: snapshots(&[("IO:WalSync", 6), ("Client:ClientWrite", 1)], 0, 0, 3),
        };
        let profile = profile(1000, 0, &[client]);
        assert_eq!((None, None), (profile.cpu_ns, profile.run_queue_ns));
        assert_eq!(
            (600, 100, 300),
            (profile.waits_ns["IO:WalSync"], profile.client_and_network_ns, profile.unaccounted_ns)
        );
    }

    #[test]
    fn a_client_that_no_snapshot_found_asleep_is_divided_like_the_others() {
        let clocks_ns = Some((0, 0));
        let seen = ClientTimes { span_ns: 1000, clocks_ns, snapshots: snapshots(&[("IO:WalSync", 1)], 0, 0, 0) };
        let unseen = ClientTimes { span_ns: 500, clocks_ns, snapshots: ClientSnapshots::default() };
        assert_eq!(1500, profile(1500, 0, &[seen, unseen]).waits_ns["IO:WalSync"]);
    }

    #[test]
    fn more_cpu_than_span_shows_as_negative_remainder() {
        let client = ClientTimes { span_ns: 100, clocks_ns: Some((110, 0)), snapshots: ClientSnapshots::default() };
        assert_eq!(-10, profile(100, 0, &[client]).unaccounted_ns);
    }

    #[test]
    fn clients_without_counted_units_have_no_times() {
        assert!(ClientTimes::new(&Span::default(), ClientSnapshots::default()).is_none());
        assert_eq!(0, profile(0, 0, &[]).unaccounted_ns);
    }

    proptest! {
        #[test]
        fn the_parts_sum_to_the_response_time(
            clients in proptest::collection::vec(
                (0u64..1 << 40, proptest::option::of((0u64..1 << 39, 0u64..1 << 39)), proptest::array::uniform5(0u64..2000)),
                0..8,
            ),
            response_ns in 0u64..1 << 42,
            queue_ns in 0u64..1 << 40,
        ) {
            let clients: Vec<ClientTimes> = clients
                .into_iter()
                .map(|(span_ns, clocks_ns, [a, b, c, d, e])| ClientTimes {
                    span_ns,
                    clocks_ns,
                    snapshots: snapshots(&[("IO:WalSync", a), ("Client:ClientRead", b)], c, d, e),
                })
                .collect();
            let profile = profile(response_ns, queue_ns, &clients);
            prop_assert_eq!(response_ns as i64, parts_ns(&profile));
            prop_assert_eq!(response_ns, profile.total_ns);
        }
    }
}
