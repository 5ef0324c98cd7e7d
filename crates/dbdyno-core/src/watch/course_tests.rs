//! Sweeps to steps, exactly, on a server and a clock of our own.

use std::sync::Arc;

use super::fake::{Bench, FakeHost, FakeProcess, active, idle};
use super::roster::Roster;
use super::sweep::Finding;

const RING: usize = 1000;

fn process(pid: i32, activity: super::source::Activity) -> FakeProcess {
    FakeProcess { pid, activity, ..FakeProcess::default() }
}

/// (process, state, event, seen) of a step.
fn seen(step: &super::outcome::Step) -> Vec<(usize, Option<&'static str>, usize, u64)> {
    step.cells.iter().map(|&(process, _, state, event, seen, _, _)| (process, state, event, seen)).collect()
}

#[test]
fn every_snapshot_is_in_one_cell_and_looks_find_the_state() {
    let mut bench = Bench::new(3, RING, vec![]);
    bench.set(0, process(10, active(5)));
    bench.set(2, FakeProcess { runnable: true, ..process(20, active(0)) });
    bench.sweep(4);
    bench.set(0, process(10, idle(6)));
    bench.sweep(3);
    let collected = bench.finish();
    let [step] = &collected.steps[..] else { panic!("one step") };
    let query = || Some("7".to_owned());
    // The first snapshot of a process is before its files are open, so it is not looked at.
    let expected = vec![
        (0, query(), Some("active"), 1, 4, 3, 3),
        (0, query(), Some("idle"), 2, 3, 3, 3),
        (1, query(), Some("active"), 0, 7, 6, 0),
    ];
    assert_eq!((7, expected), (step.sweeps, step.cells.clone()));
    assert_eq!(["", "E:5", "E:6"], collected.events[..]);
    // Active in event 5 from the first snapshot to the first of something else: 4 periods of a millisecond;
    // what an idle session does and having no event are no waits.
    assert_eq!(vec![(1, 66, 1)], step.episodes);
}

#[test]
fn a_stretch_over_a_cut_counts_in_both_steps_and_is_one_episode() {
    let mut bench = Bench::new(1, RING, vec![]);
    bench.set(0, process(10, active(5)));
    bench.sweep(4);
    assert!(bench.end_step());
    bench.sweep(7);
    bench.set(0, process(10, active(0)));
    bench.sweep(1);
    let collected = bench.finish();
    let [first, second] = &collected.steps[..] else { panic!("two steps") };
    assert_eq!((4, 8), (first.sweeps, second.sweeps));
    assert_eq!(vec![(0, Some("active"), 1, 4)], seen(first));
    assert_eq!(vec![(0, Some("active"), 0, 1), (0, Some("active"), 1, 7)], seen(second));
    assert_eq!((4_000_000, 4_000_000, 12_000_000), (first.to_ns, second.from_ns, second.to_ns));
    assert!(first.episodes.is_empty(), "it goes on");
    // 1 ms to 12 ms, 10^7.04 ns.
    assert_eq!(vec![(1, 70, 1)], second.episodes);
}

#[test]
fn what_ends_exactly_at_a_cut_is_an_episode_of_its_own() {
    let mut bench = Bench::new(1, RING, vec![]);
    bench.set(0, process(10, active(5)));
    bench.sweep(4);
    assert!(bench.end_step());
    bench.set(0, process(10, active(9)));
    bench.sweep(2);
    let collected = bench.finish();
    // Event 5 from 1 to 5 ms, event 9 from 5 to the end at 6 ms, where it counts as far as it has come.
    assert_eq!(vec![(1, 66, 1), (2, 60, 1)], collected.steps[1].episodes);
}

#[test]
fn processes_come_and_go_and_their_last_clocks_stand() {
    let mut bench = Bench::new(2, RING, vec![]);
    let worker = FakeProcess { cpu_ns: 1_000, run_queue_ns: 50, switches: 3, ..process(30, active(5)) };
    bench.set(0, process(10, active(5)));
    bench.set(1, worker);
    bench.sweep(2);
    bench.set(1, FakeProcess { cpu_ns: 1_900, run_queue_ns: 70, switches: 8, ..worker });
    bench.sweep(1);
    assert!(bench.end_step());
    bench.set(1, process(40, active(5)));
    bench.sweep(1);
    bench.set(1, FakeProcess::default());
    bench.sweep(1);
    let collected = bench.finish();
    let told: Vec<_> = collected.processes.iter().map(|seen| (seen.pid, seen.first_ns, seen.last_ns)).collect();
    let ms = 1_000_000;
    assert_eq!(vec![(10, ms, 5 * ms), (30, ms, 4 * ms), (40, 4 * ms, 5 * ms)], told);
    let worker = &collected.processes[1];
    assert_eq!(("parallel worker", Some(10)), (worker.backend_type.as_str(), worker.leader_pid));
    // Its clocks count from its birth, which was between two sweeps.
    assert_eq!((Some(1_900), Some(70), Some(5)), (worker.cpu_ns, worker.run_queue_ns, worker.voluntary_switches));
    assert_eq!(("unknown", None), (collected.processes[2].backend_type.as_str(), collected.processes[2].leader_pid));
    assert_eq!(vec![(1, Some(1_900), Some(70))], collected.steps[0].clocks);
    assert!(collected.steps[1].clocks.is_empty());
    assert_eq!(vec![(0, Some("active"), 1, 2), (2, Some("active"), 1, 1)], seen(&collected.steps[1]));
}

#[test]
fn the_clocks_of_those_who_are_there_count_from_the_beginning_of_the_watch() {
    let bench = Bench::new(1, RING, vec![]);
    let session = FakeProcess { cpu_ns: 5_000, run_queue_ns: 50, ..process(10, active(5)) };
    bench.set(0, session);
    let mut roster = Roster::new(FakeHost(Arc::clone(&bench.server)), 1, vec![]);
    roster.muster([10, 11].into_iter());
    bench.set(0, FakeProcess { cpu_ns: 6_000, ..session });
    roster.begin();
    bench.set(0, FakeProcess { cpu_ns: 6_700, ..session });
    assert!(matches!(roster.arrive(0, 10, 7), Finding::Readable(_)));
    roster.read_clocks();
    assert_eq!(vec![(0, Some(700), Some(0))], roster.take_step());
    assert_eq!(7, roster.seen_since(0, 9)[0].first_ns);
}

#[test]
fn our_own_sessions_are_not_watched() {
    let mut bench = Bench::new(2, RING, vec![10]);
    bench.set(0, process(10, active(5)));
    bench.set(1, process(20, active(5)));
    bench.sweep(3);
    let collected = bench.finish();
    assert_eq!(vec![20], collected.processes.iter().map(|seen| seen.pid).collect::<Vec<_>>());
    assert_eq!(vec![(0, Some("active"), 1, 3)], seen(&collected.steps[0]));
}

#[test]
fn a_process_that_is_gone_when_it_is_asked_counts_all_the_same() {
    let mut bench = Bench::new(1, RING, vec![]);
    bench.set(0, process(10, active(5)));
    bench.sweep_alone();
    bench.set(0, FakeProcess::default());
    bench.sweep_alone();
    let collected = bench.finish();
    assert_eq!(("unknown", None), (collected.processes[0].backend_type.as_str(), collected.processes[0].clock));
    assert_eq!(vec![(0, Some("active"), 1, 1)], seen(&collected.steps[0]));
    assert_eq!(1, collected.without_clock);
}

#[test]
fn a_full_ring_loses_snapshots_but_says_how_many_and_a_step_waits_for_room() {
    let mut bench = Bench::new(1, 4, vec![]);
    for event in 1..=10 {
        bench.set(0, process(10, active(event)));
        bench.sweep_alone();
    }
    // The arrival and three stretches fill the ring, six are lost, the last is still under way.
    assert_eq!(6, bench.sweeper.lost_snapshots());
    assert!(!bench.end_step(), "the ring was full when the step was to end");
    bench.sweep(1);
    let collected = bench.finish();
    let [step] = &collected.steps[..] else { panic!("one step") };
    assert_eq!((11, 11_000_000), (step.sweeps, step.to_ns));
    assert_eq!(5, step.cells.iter().map(|cell| cell.4).sum::<u64>(), "three stretches and two of the last");
}

#[test]
fn a_live_step_brings_what_is_new_in_the_tables() {
    let mut bench = Bench::new(2, RING, vec![]);
    bench.set(0, process(10, active(5)));
    bench.sweep(2);
    bench.end_step();
    let first: serde_json::Value = serde_json::from_str(&bench.collector.live_step().unwrap()).unwrap();
    bench.set(1, process(30, active(6)));
    bench.sweep(2);
    bench.end_step();
    let second: serde_json::Value = serde_json::from_str(&bench.collector.live_step().unwrap()).unwrap();
    assert_eq!(("E:5", 1), (first["events"][0].as_str().unwrap(), first["events"].as_array().unwrap().len()));
    assert_eq!(10, first["processes"][0]["pid"]);
    assert_eq!((1, "E:6"), (second["step"].as_u64().unwrap(), second["events"][0].as_str().unwrap()));
    assert_eq!(
        (30, 1),
        (second["processes"][0]["pid"].as_i64().unwrap(), second["processes"].as_array().unwrap().len())
    );
    assert_eq!(second["cells"], serde_json::json!([[0, "7", "active", 1, 2, 2, 2], [1, "7", "active", 2, 2, 1, 1]]));
}

#[test]
fn a_server_that_threw_its_processes_away_is_told_from_one_that_lost_some() {
    let mut bench = Bench::new(2, RING, vec![]);
    assert!(!bench.collector.all_are_gone(), "nobody was there");
    bench.set(0, process(10, active(5)));
    bench.set(1, process(30, active(5)));
    bench.sweep(1);
    bench.set(1, FakeProcess::default());
    assert!(!bench.collector.all_are_gone());
    bench.set(0, FakeProcess::default());
    assert!(bench.collector.all_are_gone(), "dead, and nobody has cleared their entries");
}
