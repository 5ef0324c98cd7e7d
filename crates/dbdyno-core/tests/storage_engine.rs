//! The storage engine on devices whose truth is known, and on real files.

use std::sync::atomic::AtomicBool;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dbdyno_core::storage::{Bench, CellOutcome};
use dbdyno_core::tally::Distribution;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde_json::{Value, json};

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// Servers that take 100 us each for every I/O, with these laws besides.
fn device(servers: u64, law: Value) -> Bench {
    let mut whole = json!({
        "servers": servers, "modes": [{"share": 1.0, "median_ns": 100_000.0, "sigma": 0.0}], "host_ns": 0,
        "bytes_per_s": null, "cache": null, "bucket": null, "zeros": null, "drift": null, "flush": null, "seed": 1,
    });
    law.as_object().expect("an object").iter().for_each(|(key, value)| whole[key] = value.clone());
    Bench::open(&json!({"programmed": whole}).to_string()).expect("a valid law")
}

fn cell(load: Value, more: Value) -> String {
    let mut whole = json!({
        "load": load, "write_share": 0.0, "order": "random", "io_bytes": 8192, "first_byte": 0,
        "span_bytes": 1_u64 << 30, "settle_ns": 0, "window_ns": S, "series_step_ns": 100 * MS, "seed": 7,
    });
    more.as_object().expect("an object").iter().for_each(|(key, value)| whole[key] = value.clone());
    whole.to_string()
}

fn closed(depth: u64) -> Value {
    json!({"kind": "closed", "depth": depth})
}

fn run(bench: &Bench, cell: &str) -> CellOutcome {
    bench.run(cell, &AtomicBool::new(false)).expect("the cell runs")
}

fn quantile(times: &Distribution, quantile: f64) -> u64 {
    let bytes = STANDARD.decode(&times.histogram).expect("base64");
    let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).expect("an HDR histogram");
    histogram.value_at_quantile(quantile)
}

fn rounded(value: f64) -> u64 {
    value.round() as u64
}

#[test]
fn a_queue_that_is_full_takes_as_long_as_its_servers_say() {
    let bench = device(4, json!({}));
    let found: Vec<_> = [1, 4, 16]
        .map(|depth| run(&bench, &cell(closed(depth), json!({}))))
        .iter()
        .map(|outcome| (outcome.reads, rounded(outcome.response_time.sum_ns as f64 / outcome.reads as f64)))
        .collect();
    assert_eq!(vec![(9_999, 100_000), (39_996, 100_000), (39_996, 399_940)], found);
}

#[test]
fn littles_law_holds_by_the_area_under_the_number_in_flight() {
    let bench = device(4, json!({"modes": [{"share": 1.0, "median_ns": 100_000.0, "sigma": 0.5}]}));
    let outcome = run(&bench, &cell(closed(16), json!({"settle_ns": 100 * MS})));
    let by_law = outcome.response_time.sum_ns as f64 / S as f64;
    assert!((outcome.concurrency - 16.0).abs() < 1e-3, "{}", outcome.concurrency);
    assert!((by_law / outcome.concurrency - 1.0).abs() < 0.01, "{by_law}");
}

#[test]
fn a_stall_shows_as_all_the_ios_that_it_delayed() {
    let stall = json!({"stalls": [{"at_ns": 2 * S, "for_ns": S}]});
    let window = json!({"window_ns": 5 * S});
    let open = json!({"kind": "open", "per_s": 1000.0, "depth": 64});
    let outcome = run(&device(8, stall.clone()), &cell(open, window.clone()));
    let late = outcome.heat.iter().filter(|cell| cell.1 >= 8 * 50 - 50).map(|cell| cell.2).sum::<u64>();
    // 10 ms and more: of a second's worth of arrivals all but the last hundredth.
    assert!((900..1100).contains(&late), "{late} late of {}", outcome.reads);
    assert!(quantile(&outcome.response_time, 0.9) > 400 * MS);
    assert!(quantile(&outcome.service_time.expect("an open loop"), 0.5) < MS);
    // A closed loop of one would have shown a single one.
    let outcome = run(&device(8, stall), &cell(closed(1), window));
    assert_eq!(1, outcome.heat.iter().filter(|cell| cell.1 >= 8 * 50 - 50).map(|cell| cell.2).sum::<u64>());
}

#[test]
fn a_bucket_lets_its_burst_through_and_then_its_rate() {
    let bucket = json!({"bucket": {"burst_bytes": 8192.0 * 10_000.0, "bytes_per_s": 8192.0 * 5_000.0}});
    let outcome = run(&device(4, bucket), &cell(closed(16), json!({"window_ns": 2 * S})));
    let ios = &outcome.series.ios;
    // 40,000 a second less 5,000 that come in meanwhile empty 10,000 in 0.286 s.
    assert_eq!([4000, 4000], [ios[0].next_multiple_of(100), ios[1].next_multiple_of(100)]);
    assert_eq!(500, ios[10].next_multiple_of(10));
    assert!((19_900..20_100).contains(&outcome.reads), "{}", outcome.reads);
}

#[test]
fn what_fits_into_the_cache_is_fast_and_what_does_not_is_so_in_part() {
    let cache = json!({"cache": {"bytes": 64_u64 << 20, "median_ns": 10_000.0, "sigma": 0.0}});
    let bench = device(1, cache);
    let mean_ns = |span_bytes: u64| {
        let outcome = run(&bench, &cell(closed(1), json!({"span_bytes": span_bytes, "settle_ns": 8 * S})));
        outcome.response_time.sum_ns / outcome.reads
    };
    assert_eq!([10_000, 10_000], [1 << 20, 32 << 20].map(mean_ns));
    let of_double = mean_ns(128 << 20);
    assert!((50_000..60_000).contains(&of_double), "{of_double}");
}

#[test]
fn pages_that_were_never_written_are_told_apart() {
    let zeros = json!({"zeros": {"from_byte": 1_u64 << 29, "median_ns": 5_000.0}});
    let outcome = run(&device(1, zeros), &cell(closed(1), json!({"look_for_zeros": true})));
    let zero = outcome.zero_response_time.expect("looked for");
    assert_eq!(5_000, zero.sum_ns / zero.count);
    assert!((0.45..0.55).contains(&(zero.count as f64 / outcome.reads as f64)));
}

#[test]
fn a_stall_is_the_longest_silence_however_many_wait() {
    let law = json!({"stalls": [{"at_ns": 300 * MS, "for_ns": 400 * MS}]});
    for (load, most_ns) in [(closed(16), 401 * MS), (json!({"kind": "open", "per_s": 50.0, "depth": 64}), 460 * MS)] {
        let outcome = run(&device(4, law.clone()), &cell(load, json!({})));
        let silence_ns = outcome.longest_silence_ns;
        assert!((340 * MS..=most_ns).contains(&silence_ns), "{silence_ns}");
        assert!((900 * MS..=S + MS).contains(&outcome.elapsed_ns), "{}", outcome.elapsed_ns);
    }
    // Where nothing is asked for nobody is silent.
    let rare = cell(json!({"kind": "open", "per_s": 5.0, "depth": 64}), json!({}));
    assert_eq!(100_000, run(&device(4, json!({})), &rare).longest_silence_ns);
}

#[test]
fn reads_beside_writes_have_times_of_their_own() {
    let outcome = run(&device(4, json!({})), &cell(closed(4), json!({"write_share": 0.25})));
    let reads = outcome.read_response_time.expect("there are writes");
    assert_eq!(outcome.reads, reads.count);
    assert_eq!(outcome.reads, outcome.heat.iter().map(|cell| cell.2).sum::<u64>());
    assert!((0.2..0.3).contains(&(outcome.writes as f64 / (outcome.reads + outcome.writes) as f64)));
    assert!(run(&device(4, json!({})), &cell(closed(4), json!({}))).read_response_time.is_none());
}

#[test]
fn the_last_io_of_a_limited_cell_is_the_last() {
    let load = json!({"kind": "closed", "depth": 8, "most_ios": 100});
    assert_eq!(100, run(&device(4, json!({})), &cell(load, json!({}))).reads_in_all);
}

#[test]
fn one_flush_serves_all_that_wait() {
    let bench = device(1, json!({"flush": {"median_ns": 100_000.0, "sigma": 0.0, "times": {"fsync": 1.5}}}));
    let flushed = |method: &str, writers: u64| {
        let flushes = json!({"method": method, "writers": writers, "io_bytes": 8192, "commits": 50, "first_byte": 0,
                             "span_bytes": 16 << 20});
        let outcome = bench.flush(&flushes.to_string()).expect("a law of flushes");
        (outcome.times_ns.len(), outcome.elapsed_ns, outcome.flushes)
    };
    assert_eq!((50, 5_000_000, 50), flushed("fdatasync", 1));
    assert_eq!((50, 7_500_000, 50), flushed("fsync", 1));
    // The first flush serves one writer and the next the seven others, and so on.
    assert_eq!((400, 10_000_000, 100), flushed("fdatasync", 8));
}

/// A file of random pages that is gone with the test.
struct OnDisk {
    path: std::path::PathBuf,
}

impl OnDisk {
    fn new(name: &str, bytes: u64) -> Self {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::File::create(&path).expect("a new file");
        let found = Self { path };
        assert_eq!(bytes, found.open("threads", false).fill(bytes, 5, &AtomicBool::new(false)).expect("filled"));
        found
    }

    fn open(&self, engine: &str, direct: bool) -> Bench {
        let file = json!({"path": self.path, "direct": direct, "write": true, "engine": engine});
        Bench::open(&json!({"file": file}).to_string()).expect("the file opens")
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).expect("ours");
    }
}

#[test]
fn every_engine_reads_and_writes_a_real_file() {
    let file = OnDisk::new("engines", 4 << 20);
    for engine in ["auto", "threads"] {
        for (depth, write_share) in [(1, 0.0), (8, 0.0), (8, 0.5)] {
            let more = json!({"span_bytes": 4 << 20, "window_ns": 50 * MS, "write_share": write_share});
            let outcome = run(&file.open(engine, false), &cell(closed(depth), more));
            let (ios, time_ns) = (outcome.reads + outcome.writes, outcome.response_time.sum_ns);
            assert!(ios > 100, "{engine}: {ios} at {depth}");
            assert_eq!(ios * 8192, outcome.bytes);
            assert_eq!(write_share > 0.0, outcome.writes > 0);
            let concurrency = time_ns as f64 / (50 * MS) as f64;
            assert!(concurrency <= depth as f64 * 1.05, "{engine}: {concurrency} at {depth}");
            assert!(outcome.cpu_ns > 0);
        }
    }
}

#[test]
fn what_was_filled_is_found_again_and_what_was_not_is_zero() {
    let file = OnDisk::new("filled", 1 << 20);
    std::fs::OpenOptions::new().write(true).open(&file.path).and_then(|file| file.set_len(2 << 20)).expect("longer");
    let bench = file.open("auto", false);
    assert_eq!(3, bench.verify(&[0, 4096, (1 << 20) - 4096, 1 << 20], 5).expect("read"));
    let more = json!({"first_byte": 1 << 20, "span_bytes": 1 << 20, "window_ns": 20 * MS, "look_for_zeros": true});
    let outcome = run(&bench, &cell(closed(4), more));
    assert_eq!(outcome.reads, outcome.zero_response_time.expect("looked for").count);
    let more = json!({"span_bytes": 1 << 20, "window_ns": 20 * MS, "look_for_zeros": true});
    assert_eq!(0, run(&bench, &cell(closed(4), more)).zero_response_time.expect("looked for").count);
}

#[test]
fn an_open_loop_on_a_real_file_keeps_its_rate() {
    let file = OnDisk::new("open-loop", 4 << 20);
    for engine in ["auto", "threads"] {
        let load = json!({"kind": "open", "per_s": 2000.0, "depth": 16});
        let more = json!({"span_bytes": 4 << 20, "window_ns": 500 * MS});
        let outcome = run(&file.open(engine, false), &cell(load, more));
        assert!((850..1150).contains(&outcome.reads), "{engine}: {} of 1000", outcome.reads);
        let (response, service) = (outcome.response_time.sum_ns, outcome.service_time.expect("open").sum_ns);
        assert!(response >= service, "{engine}: {response} < {service}");
    }
}

#[test]
fn a_file_is_flushed_alongside_as_often_as_asked() {
    let file = OnDisk::new("alongside", 4 << 20);
    let more = json!({"span_bytes": 4 << 20, "window_ns": 500 * MS, "write_share": 0.5, "flush_every_ns": 50 * MS});
    let outcome = run(&file.open("auto", false), &cell(closed(2), more));
    // Each begins so long after the last one ended, so slow ones leave room for fewer.
    let slow_ns = outcome.flush_times_ns.iter().sum::<u64>();
    assert!((1..=10).contains(&outcome.flush_times_ns.len()), "{:?}", outcome.flush_times_ns);
    assert!(slow_ns > 0);
}

#[test]
fn commits_on_a_real_file_are_counted_and_shared() {
    let file = OnDisk::new("commits", 1 << 20);
    for method in ["fdatasync", "fsync", "open_datasync", "open_sync"] {
        for writers in [1, 4] {
            let flushes = json!({"method": method, "writers": writers, "io_bytes": 8192, "commits": 10,
                                 "first_byte": 0, "span_bytes": 1 << 20});
            let outcome = file.open("auto", false).flush(&flushes.to_string()).expect("flushes");
            assert_eq!(writers * 10, outcome.times_ns.len());
            assert!(outcome.flushes as usize <= writers * 10, "{method}: {}", outcome.flushes);
        }
    }
}

#[test]
fn mistakes_are_one_line() {
    let refused = |place: Value| Bench::open(&place.to_string()).expect_err("a mistake");
    let missing = refused(json!({"file": {"path": "/nowhere/x", "direct": false, "write": false, "engine": "auto"}}));
    assert_eq!(("io", "/nowhere/x: No such file or directory (os error 2)"), (missing.code, &*missing.message));
    let device = refused(json!({"file": {"path": "/dev/null", "direct": false, "write": true, "engine": "auto"}}));
    assert_eq!(("io", "/dev/null: is no regular file"), (device.code, &*device.message));
    let bench = self::device(1, json!({}));
    let cell = bench.run(&cell(closed(0), json!({})), &AtomicBool::new(false)).expect_err("no depth");
    assert_eq!(("spec_invalid", "cell: depth 0: give 1 to 4096"), (cell.code, &*cell.message));
    assert_eq!("spec_invalid", bench.flush("{}").expect_err("no flushes").code);
}

#[test]
fn a_stop_ends_a_cell_early() {
    let stop = AtomicBool::new(true);
    let outcome = device(1, json!({})).run(&cell(closed(1), json!({})), &stop).expect("nothing went wrong");
    assert_eq!(0, outcome.reads);
}
