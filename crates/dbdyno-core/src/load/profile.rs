//! The profile's identity: where the response time of the counted units went.
//!
//! ```text
//! one backend over its span:  span = CPU + run queue + asleep            from exact clocks; in a virtual machine
//!                             CPU holds what the host took meanwhile     from the host's ticks, by CPU time
//! asleep, divided by the snapshots that are sleep, seen x asleep / looked of each event:
//!     in a unit, by wait event       -> waits, but Client:* -> client and network
//!     in a unit, without one         -> asleep without a wait event
//!     between units                  -> no part of any response time
//! on or in line for a CPU between units, by snapshots   -> taken off the run queue: a backend that has
//!     replied and waits for a CPU to come to rest on delays nobody
//! unaccounted = response times - all parts                               signed
//! ```
//!
//! Snapshots only divide the time asleep, they are never added to CPU: a wait event stays set while its
//! backend is runnable again. Without the clocks (another host) snapshots divide the whole span, and
//! what they found without an event is CPU or anything else: it stays unaccounted.

use super::estimates::{Estimates, pool};
use super::outcome::Profile;
use super::span::Span;
use crate::probe::{AsleepRates, ClientCounts};

/// What one client contributes.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientTimes {
    pub span_ns: u64,
    /// CPU and run queue.
    pub clocks_ns: Option<(u64, u64)>,
    pub counts: ClientCounts,
}

impl ClientTimes {
    /// None for a client without counted units.
    pub(super) fn new(span: &Span, counts: ClientCounts) -> Option<Self> {
        let span_ns = span.end_ns.saturating_sub(span.start_ns?);
        Some(Self { span_ns, clocks_ns: span.clocks_ns(), counts })
    }

    /// What the host took at this rate; there is no more than the span has room for.
    fn stolen_ns(&self, per_cpu_time: f64) -> u64 {
        let stolen_ns = |(cpu_ns, _)| (cpu_ns as f64 * per_cpu_time) as u64;
        self.clocks_ns.map_or(0, stolen_ns).min(self.asleep_ns().unwrap_or(0))
    }

    fn add_cpu_ns(&mut self, ns: u64) {
        if let Some((cpu_ns, _)) = &mut self.clocks_ns {
            *cpu_ns += ns;
        }
    }

    /// CPU and run queue took the rest.
    fn asleep_ns(&self) -> Option<u64> {
        self.clocks_ns.map(|(cpu_ns, run_queue_ns)| self.span_ns.saturating_sub(cpu_ns + run_queue_ns))
    }
}

/// Waits for the client to send or to take something.
const CLIENT_EVENTS: [&str; 2] = ["Client:ClientRead", "Client:ClientWrite"];

/// What the units took, as the driver knows it, and what the host took of each unit of CPU time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whole {
    pub response_ns: u64,
    pub queue_ns: u64,
    pub stolen_per_cpu_time: f64,
}

/// Adds up the parts of all clients, whose events have these names; `unaccounted_ns` is what makes the parts sum to
/// the response time exactly.
pub(super) fn profile(whole: Whole, mut clients: Vec<ClientTimes>, events: &[String]) -> Profile {
    let have_clocks = !clients.is_empty() && clients.iter().all(|client| client.clocks_ns.is_some());
    let rates = AsleepRates::of(clients.iter().map(|client| &client.counts));
    let estimates: Vec<Estimates> = clients.iter().map(|client| Estimates::new(&client.counts, &rates)).collect();
    let mut profile = Profile { queue_ns: whole.queue_ns, total_ns: whole.response_ns, ..Profile::default() };
    profile.snapshots_asleep = estimates.iter().map(Estimates::asleep).sum::<f64>().round() as u64;
    if have_clocks {
        let run_queue_ns =
            clients.iter().zip(&estimates).map(|(client, own)| own.run_queue_in_unit_ns(client.clocks_ns)).sum();
        profile.run_queue_ns = Some(run_queue_ns);
        profile.stolen_ns = Some(add_stolen(&mut clients, whole, run_queue_ns));
        profile.cpu_ns = Some(cpu_ns(&clients));
    }
    divide_sleep(&mut profile, &clients, estimates, events);
    profile.unaccounted_ns = whole.response_ns as i64 - explained_ns(&profile) as i64;
    profile
}

fn cpu_ns(clients: &[ClientTimes]) -> u64 {
    clients.iter().filter_map(|client| client.clocks_ns).map(|(cpu_ns, _)| cpu_ns).sum()
}

/// Adds to each client's CPU time what the host took, and gives the sum.
///
/// It fills no more of the response times than the clocks leave: the host's ticks also count the time in which a CPU
/// that had nothing to do waited to be woken, which nobody's CPU time is short of, and beside clients that think most
/// of it can be of that kind.
fn add_stolen(clients: &mut [ClientTimes], whole: Whole, run_queue_ns: u64) -> u64 {
    let taken_ns = |client: &ClientTimes| client.stolen_ns(whole.stolen_per_cpu_time);
    let all_ns: u64 = clients.iter().map(taken_ns).sum();
    let room_ns = whole.response_ns.saturating_sub(whole.queue_ns + cpu_ns(clients) + run_queue_ns);
    let share = (room_ns as f64 / all_ns.max(1) as f64).min(1.0);
    let mut added_ns = 0;
    for client in clients {
        let ns = (taken_ns(client) as f64 * share) as u64;
        client.add_cpu_ns(ns);
        added_ns += ns;
    }
    added_ns
}

/// Gives the events their shares of the time asleep, or of the whole span where no clock tells CPU from sleep.
fn divide_sleep(profile: &mut Profile, clients: &[ClientTimes], estimates: Vec<Estimates>, events: &[String]) {
    let have_clocks = profile.cpu_ns.is_some();
    let pooled = pool(&estimates);
    for (client, own) in clients.iter().zip(estimates) {
        match client.asleep_ns() {
            Some(asleep_ns) if have_clocks => {
                let own = own.with_missed_sleep(&client.counts, asleep_ns, client.span_ns);
                let dividing = if own.asleep() > 0.0 { &own } else { &pooled };
                divide(profile, asleep_ns, dividing, dividing.asleep(), events);
            }
            _ => {
                let dividing = if own.all() > 0.0 { &own } else { &pooled };
                divide(profile, client.span_ns, dividing, dividing.all(), events);
            }
        }
    }
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
fn divide(profile: &mut Profile, time_ns: u64, estimates: &Estimates, all: f64, events: &[String]) {
    if all <= 0.0 {
        return;
    }
    for (event, &count) in estimates.asleep_in_unit.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        let name = events.get(event).map_or("", String::as_str);
        let part = match name {
            "" => &mut profile.asleep_no_wait_event_ns,
            _ if CLIENT_EVENTS.contains(&name) => &mut profile.client_and_network_ns,
            _ => profile.waits_ns.entry(name.to_owned()).or_default(),
        };
        // Rounded down, so that the parts cannot sum to more than there is.
        *part += (time_ns as f64 * (count / all)) as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::probe::Snapshots;
    use crate::script::Random;

    const NAMES: [&str; 4] = ["", "IO:WalSync", "Client:ClientRead", "Client:ClientWrite"];

    fn names() -> Vec<String> {
        NAMES.map(str::to_owned).to_vec()
    }

    /// (event, seen, looked, asleep) in units; at rest between them.
    fn counts(in_unit: &[(usize, u64, u64, u64)], at_rest: u64) -> ClientCounts {
        let mut counts = ClientCounts { at_rest, ..ClientCounts::default() };
        for &(event, seen, looked, asleep) in in_unit {
            counts.in_unit.add(event, Snapshots { seen, looked, asleep });
        }
        counts
    }

    fn client(span_ns: u64, clocks_ns: Option<(u64, u64)>, counts: ClientCounts) -> ClientTimes {
        ClientTimes { span_ns, clocks_ns, counts }
    }

    fn of(response_ns: u64, queue_ns: u64, clients: &[ClientTimes]) -> Profile {
        profile(Whole { response_ns, queue_ns, stolen_per_cpu_time: 0.0 }, clients.to_vec(), &names())
    }

    fn parts_ns(profile: &Profile) -> i64 {
        explained_ns(profile) as i64 + profile.unaccounted_ns
    }

    #[test]
    fn snapshots_divide_the_time_asleep() {
        // 10 asleep: the running ones say nothing, the clocks know it better.
        let in_unit = [(1, 5, 5, 5), (2, 2, 2, 2), (0, 91, 91, 1)];
        let profile = of(1090, 200, &[client(1000, Some((300, 100)), counts(&in_unit, 2))]);
        assert_eq!((Some(300), Some(100)), (profile.cpu_ns, profile.run_queue_ns));
        assert_eq!(BTreeMap::from([("IO:WalSync".to_owned(), 300)]), profile.waits_ns);
        assert_eq!((120, 60), (profile.client_and_network_ns, profile.asleep_no_wait_event_ns));
        assert_eq!(1090 - 200 - 300 - 100 - 300 - 120 - 60, profile.unaccounted_ns);
        assert_eq!(10, profile.snapshots_asleep);
    }

    #[test]
    fn what_was_seen_counts_by_what_was_found_where_it_was_looked_at() {
        // 80 seen in the flush, of which half of the looks slept, and 40 reading, of which all did.
        let in_unit = [(1, 80, 10, 5), (2, 40, 2, 2), (0, 1000, 50, 0)];
        let profile = of(1000, 0, &[client(1000, Some((800, 100)), counts(&in_unit, 0))]);
        assert_eq!((50, 50), (profile.waits_ns["IO:WalSync"], profile.client_and_network_ns));
    }

    #[test]
    fn sleep_that_the_sampler_kept_missing_is_divided_by_what_woken_backends_waited_for() {
        let in_unit = [(0, 60, 60, 0), (2, 30, 30, 0), (1, 10, 10, 0)];
        let profile = of(1000, 0, &[client(1000, Some((400, 200)), counts(&in_unit, 0))]);
        assert_eq!(
            (300, 100, 0),
            (profile.client_and_network_ns, profile.waits_ns["IO:WalSync"], profile.unaccounted_ns)
        );
    }

    #[test]
    fn sleep_that_was_seen_is_not_mixed_with_anything() {
        let in_unit = [(1, 40, 40, 40), (2, 60, 60, 0)];
        let profile = of(1000, 0, &[client(1000, Some((400, 200)), counts(&in_unit, 0))]);
        assert_eq!((400, 0), (profile.waits_ns["IO:WalSync"], profile.client_and_network_ns));
    }

    #[test]
    fn in_line_for_a_cpu_after_the_reply_is_no_part_of_the_response() {
        let mut counts = counts(&[(0, 60, 60, 0)], 10);
        counts.between_units = Snapshots { seen: 20, looked: 5, asleep: 0 };
        // A quarter of 400 on or in line for a CPU, all of it in line.
        let profile = of(300, 0, &[client(1000, Some((300, 100)), counts)]);
        assert_eq!((Some(300), Some(0), 0), (profile.cpu_ns, profile.run_queue_ns, profile.unaccounted_ns));
    }

    fn beside_a_thief(response_ns: u64, client: ClientTimes) -> Profile {
        profile(Whole { response_ns, queue_ns: 0, stolen_per_cpu_time: 0.05 }, vec![client], &names())
    }

    #[test]
    fn what_the_host_took_is_cpu_and_not_sleep() {
        let reading = counts(&[(2, 1, 1, 1)], 0);
        let profile = beside_a_thief(1000, client(1000, Some((800, 100)), reading.clone()));
        assert_eq!((Some(840), Some(40), 60), (profile.cpu_ns, profile.stolen_ns, profile.client_and_network_ns));
        let full = beside_a_thief(1000, client(1000, Some((890, 100)), reading.clone()));
        assert_eq!((Some(900), Some(10), 0), (full.cpu_ns, full.stolen_ns, full.unaccounted_ns));
        assert_eq!(None, beside_a_thief(1000, client(1000, None, reading)).stolen_ns);
    }

    #[test]
    fn what_the_host_took_fills_no_more_of_the_units_than_the_clocks_leave() {
        // Half of the span is think time, which has room for all 20.
        let profile = beside_a_thief(515, client(1000, Some((400, 100)), counts(&[(0, 5, 5, 0)], 5)));
        assert_eq!((Some(415), Some(15), 0), (profile.cpu_ns, profile.stolen_ns, profile.unaccounted_ns));
        let over = beside_a_thief(490, client(1000, Some((400, 100)), counts(&[(0, 5, 5, 0)], 5)));
        assert_eq!((Some(400), Some(0), -10), (over.cpu_ns, over.stolen_ns, over.unaccounted_ns));
    }

    #[test]
    fn without_clocks_what_has_no_event_stays_unaccounted() {
        let in_unit = [(1, 6, 6, 6), (3, 1, 1, 1), (0, 3, 3, 0)];
        let profile = of(1000, 0, &[client(1000, None, counts(&in_unit, 0))]);
        assert_eq!((None, None), (profile.cpu_ns, profile.run_queue_ns));
        assert_eq!(
            (600, 100, 300),
            (profile.waits_ns["IO:WalSync"], profile.client_and_network_ns, profile.unaccounted_ns)
        );
    }

    #[test]
    fn a_client_that_no_snapshot_found_asleep_is_divided_like_the_others() {
        let clocks_ns = Some((0, 0));
        let seen = client(1000, clocks_ns, counts(&[(1, 1, 1, 1)], 0));
        let unseen = client(500, clocks_ns, ClientCounts::default());
        assert_eq!(1500, of(1500, 0, &[seen, unseen]).waits_ns["IO:WalSync"]);
    }

    #[test]
    fn more_cpu_than_span_shows_as_negative_remainder() {
        assert_eq!(-10, of(100, 0, &[client(100, Some((110, 0)), ClientCounts::default())]).unaccounted_ns);
    }

    #[test]
    fn clients_without_counted_units_have_no_times() {
        assert!(ClientTimes::new(&Span::default(), ClientCounts::default()).is_none());
        assert_eq!(0, of(0, 0, &[]).unaccounted_ns);
    }

    /// One client whose backend is asleep in the flush for 30 % of its time, woken in it for 10 %, asleep without an
    /// event for 5 % and running for 55 %; one snapshot in `every` has a state.
    fn planted(random: &mut Random, snapshots: u64, every: u64) -> ClientTimes {
        let mut counts = ClientCounts::default();
        for number in 0..snapshots {
            let (event, asleep) = match random.next_u64() % 100 {
                0..30 => (1, true),
                30..40 => (1, false),
                40..45 => (0, true),
                _ => (0, false),
            };
            counts.in_unit.add(event, Snapshots::one(number.is_multiple_of(every).then_some(asleep)));
        }
        client(1_000_000, Some((550_000, 100_000)), counts)
    }

    /// The estimate is unbiased at any rate of looks, also where a client has two of them: the mean of 400 trials of
    /// 8 clients is within 1 % of what was planted (30/35 of the time asleep; its own standard error is 0.1 %).
    #[test]
    fn double_sampling_divides_the_time_asleep_without_bias() {
        let mut random = Random::from_seed(7);
        for every in [1, 10, 100, 500] {
            let mut sum = 0.0;
            for _ in 0..400 {
                let clients: Vec<_> = (0..8).map(|_| planted(&mut random, 1000, every)).collect();
                sum += of(8_000_000, 0, &clients).waits_ns["IO:WalSync"] as f64;
            }
            let share = sum / 400.0 / (8.0 * 350_000.0);
            let tolerance = if every == 500 { 0.02 } else { 0.01 };
            assert!((share / (30.0 / 35.0) - 1.0).abs() < tolerance, "one look in {every}: {share}");
        }
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
                .map(|(span_ns, clocks_ns, [a, b, c, d, e])| {
                    let in_unit = [(1, a, a / 2, a / 3), (2, b, b, b), (0, c + d, c / 2, d.min(c / 2))];
                    client(span_ns, clocks_ns, counts(&in_unit, e))
                })
                .collect();
            let profile = of(response_ns, queue_ns, &clients);
            prop_assert_eq!(response_ns as i64, parts_ns(&profile));
            prop_assert_eq!(response_ns, profile.total_ns);
            let asleep_ns: u64 = clients.iter().map(|client| client.asleep_ns().unwrap_or(client.span_ns)).sum();
            let spans_ns: u64 = clients.iter().map(|client| client.span_ns).sum();
            let divided_ns = profile.waits_ns.values().sum::<u64>()
                + profile.asleep_no_wait_event_ns
                + profile.client_and_network_ns;
            let limit_ns = if profile.cpu_ns.is_some() { asleep_ns } else { spans_ns };
            prop_assert!(divided_ns <= limit_ns, "{divided_ns} of {limit_ns}");
        }
    }
}
