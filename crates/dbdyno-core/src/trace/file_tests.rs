//! Files as they lie on disk: compressed, broken off, several at a time; and real traces, where there are some.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::testing::{assert_adds_up, notes_of};
use super::{Board, profile};
use crate::error::CoreError;

const CALL: &str = "EXEC #1:c=20,e=40,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=7,tim=";

/// A directory of this test's own, removed with it.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dbdyno-trace-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).expect("room");
        path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn profiled(files: &[PathBuf], threads: usize) -> Result<Vec<Value>, CoreError> {
    let spec = serde_json::json!({"files": files, "threads": threads}).to_string();
    let outcome: Value = serde_json::from_str(&profile(&spec, &Board::default())?).expect("JSON");
    Ok(outcome["files"].as_array().expect("files").clone())
}

fn calls(count: usize) -> Vec<u8> {
    (0..count).flat_map(|call| format!("{CALL}{}\n", 1_000_000 + 100 * call).into_bytes()).collect()
}

fn packed(text: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).expect("a Vec");
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(text).expect("a Vec");
    let zstd = zstd::encode_all(text, 1).expect("a Vec");
    [
        ("gzip", gzip.finish().expect("a Vec")),
        ("bzip2", bzip2.finish().expect("a Vec")),
        ("xz", XZ.to_vec()),
        ("zstd", zstd),
    ]
}

/// `calls(3)` by xz's own library.
#[rustfmt::skip]
const XZ: &[u8] = &[0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00, 0x04, 0xE6, 0xD6, 0xB4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2F, 0xE5, 0xA3, 0xE0, 0x00, 0xD4, 0x00, 0x44, 0x5D, 0x00, 0x22, 0x96, 0x04, 0xAC, 0x75, 0x0C, 0x17, 0x2D, 0x96, 0x15, 0x4A, 0x79, 0xA9, 0xAC, 0xD8, 0x32, 0xC5, 0xF4, 0x44, 0xA6, 0x3E, 0xDA, 0xE7, 0x83, 0x6F, 0xB2, 0x85, 0x21, 0xAD, 0x9E, 0x85, 0x9B, 0x08, 0xA6, 0x93, 0xC9, 0x8B, 0x9F, 0x82, 0x6C, 0x44, 0x0A, 0x2C, 0x19, 0xC4, 0x05, 0xD7, 0x22, 0x99, 0xCB, 0xB3, 0x02, 0x99, 0x3D, 0x67, 0xCF, 0xC3, 0x6C, 0xEA, 0xFC, 0x71, 0x06, 0xF6, 0x63, 0xF9, 0xCF, 0x73, 0x00, 0x00, 0xD0, 0x8C, 0xA4, 0xE9, 0x1C, 0xA4, 0x27, 0x64, 0x00, 0x01, 0x60, 0xD5, 0x01, 0x00, 0x00, 0x00, 0xCB, 0x4C, 0x08, 0x32, 0xB1, 0xC4, 0x67, 0xFB, 0x02, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5A];

#[test]
fn the_content_tells_how_a_file_is_compressed() {
    let directory = Directory::new("packed");
    let text = calls(3);
    for (name, bytes) in packed(&text) {
        // Two of them one behind the other are one file.
        let files = [directory.write("once", &bytes), directory.write("twice", &[&bytes[..], &bytes].concat())];
        let outcomes = profiled(&files, 2).expect("traces");
        for (outcome, times) in outcomes.iter().zip([1, 2]) {
            let figures = ["bytes", "text_bytes", "lines"].map(|key| outcome[key].as_u64().expect("a number"));
            assert_eq!([bytes.len() as u64 * times, text.len() as u64 * times, 3 * times], figures, "{name}");
            assert_eq!(
                (name, Some(3 * times)),
                (outcome["compression"].as_str().expect("a name"), outcome["records"]["calls"].as_u64())
            );
            assert_adds_up(outcome);
        }
    }
}

#[test]
fn what_comes_before_the_end_of_a_broken_file_is_counted() {
    let directory = Directory::new("broken");
    let text = calls(200_000);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&text).expect("a Vec");
    let gzip = gzip.finish().expect("a Vec");
    let outcome = &profiled(&[directory.write("half.gz", &gzip[..gzip.len() / 2])], 1).expect("a trace")[0];
    let counted = outcome["records"]["calls"].as_u64().expect("a number");
    assert!((50_000..150_000).contains(&counted), "{counted}");
    assert!(notes_of(outcome).contains(&"input_broken"), "{}", outcome["notes"]);
    assert!(outcome["broken"].as_str().is_some_and(|broken| broken.starts_with("gzip: ")), "{}", outcome["broken"]);
    for (name, bytes) in packed(&calls(3)) {
        let outcome = &profiled(&[directory.write(name, &bytes[..bytes.len() - 5])], 1).expect("a trace")[0];
        assert!(notes_of(outcome).contains(&"input_broken"), "{name}: {outcome}");
    }
}

#[test]
fn files_come_back_in_their_order_and_a_missing_one_is_named() {
    let directory = Directory::new("several");
    let files: Vec<PathBuf> =
        (1..8).map(|count| directory.write(&format!("{count}.trc"), &calls(count * 1_000))).collect();
    let counts: Vec<u64> = profiled(&files, 3)
        .expect("traces")
        .iter()
        .map(|outcome| outcome["records"]["calls"].as_u64().expect("a number"))
        .collect();
    assert_eq!((1..8).map(|count| count * 1_000).collect::<Vec<u64>>(), counts);
    let missing = profiled(&[files[0].clone(), directory.0.join("none.trc")], 2).expect_err("there is none");
    assert_eq!(("bad_file", true), (missing.code, missing.message.ends_with("none.trc: there is no such file")));
    let not_one = &profiled(&[directory.write("empty", b"")], 1).expect("a file")[0];
    assert_eq!(vec!["not_a_trace"], notes_of(not_one));
}

#[test]
fn a_wish_to_stop_ends_the_reading() {
    let directory = Directory::new("stopped");
    let board = Board::default();
    board.request_stop();
    let spec = serde_json::json!({"files": [directory.write("a.trc", &calls(10))], "threads": 1}).to_string();
    assert_eq!("interrupted", profile(&spec, &board).expect_err("stopped").code);
}

/// File, process, and in microseconds its duration, CPU, waits, unaccounted time and the part of it within calls: found
/// by another program, which decides by the moments alone which call contains which.
const REAL: [(&str, u64, [i64; 5]); 4] = [
    ("ora122_rac_ora_9850.trc", 9850, [5_512_752, 87_387, 5_114_964, 310_401, 216_458]),
    ("ora122_rac_ora_9854.trc", 9854, [5_501_002, 29_858, 5_369_709, 101_435, 8_608]),
    ("ora122_rac_trcsess_main.trc", 9850, [5_512_752, 87_387, 5_114_964, 310_401, 216_458]),
    ("ora122_rac_trcsess_main.trc", 9854, [5_501_002, 29_858, 5_369_709, 101_435, 8_608]),
];

#[test]
fn real_traces_add_up() {
    let Some(directory) = std::env::var_os("DBDYNO_TRACES") else {
        eprintln!("left out: real traces (DBDYNO_TRACES=directory)");
        return;
    };
    for (name, process, figures) in REAL {
        let outcome = &profiled(&[Path::new(&directory).join(name)], 1).expect("a trace")[0];
        assert_adds_up(outcome);
        assert_eq!(0, outcome["unknown_lines"]["count"].as_u64().expect("a number"), "{name}");
        let notes = notes_of(outcome);
        assert!(notes.is_empty() || notes == ["sessions_overlap"], "{name}: {notes:?}");
        let scopes = outcome["scopes"].as_array().expect("scopes");
        let scope = scopes.iter().find(|scope| scope["process"].as_u64() == Some(process)).expect("a scope");
        let profile = &scope["profile_ns"];
        let us = |value: &Value| value.as_i64().expect("a number") / 1_000;
        let waits = profile["waits"].as_object().expect("waits").values().map(us).sum();
        let within = us(&profile["unaccounted_within_calls"]);
        let read = [us(&scope["duration_ns"]), us(&profile["cpu"]), waits, us(&profile["unaccounted"]), within];
        assert_eq!(figures, read, "{name}");
    }
}
