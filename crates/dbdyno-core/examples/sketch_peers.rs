//! CPU nanoseconds a value of the HLL sketch of the crate `datasketches`, and of ours in every form that this
//! processor can run, as JSON; `benches/sketch_vs_peers.py` sets them beside other peers on the same array.
//!
//!     cargo run --release --example sketch_peers -- integers FILE
//!     cargo run --release --example sketch_peers -- texts FILE BYTES_OF_A_TEXT

use datasketches::hash::value::raw_bytes;
use datasketches::hll::{HllSketch, HllType};
use dbdyno_core::sketch::{Instructions, Precision, buffers};

/// 2^14 registers of a byte, as ours.
const LG_K: u8 = 14;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let bytes = std::fs::read(&arguments[1]).expect("a file");
    let figures = match arguments[0].as_str() {
        "integers" => of_integers(&buffers::numbers(&bytes).expect("whole numbers")),
        _ => of_texts(&bytes, arguments[2].parse().expect("a number of bytes")),
    };
    println!("{}", serde_json::json!(figures));
}

type Figures = serde_json::Map<String, serde_json::Value>;

fn of_integers(values: &[u64]) -> Figures {
    let theirs = || {
        let mut sketch = HllSketch::new(LG_K, HllType::Hll8).expect("a size of theirs");
        values.iter().for_each(|value| sketch.update(*value));
        sketch.estimate()
    };
    let ours = || buffers::of_integers(Precision::default(), 0, values).sketch().estimate().distinct;
    figures(values.len(), theirs, ours)
}

fn of_texts(texts: &[u8], width: usize) -> Figures {
    let ends: Vec<u64> = (1..=texts.len() / width).map(|text| (text * width) as u64).collect();
    let theirs = || {
        let mut sketch = HllSketch::new(LG_K, HllType::Hll8).expect("a size of theirs");
        texts.chunks_exact(width).for_each(|text| sketch.update(raw_bytes::from_slice(text)));
        sketch.estimate()
    };
    let ours =
        || buffers::of_texts(Precision::default(), 0, texts, &ends).expect("in order").sketch().estimate().distinct;
    figures(ends.len(), theirs, ours)
}

fn figures(values: usize, theirs: impl Fn() -> f64, ours: impl Fn() -> f64) -> Figures {
    let mut figures = Figures::new();
    figures.insert("datasketches".into(), timed(values, &theirs));
    for form in [Instructions::Portable, Instructions::Avx2, Instructions::Avx512] {
        if form.use_at_most() == form {
            figures.insert(format!("{form:?}").to_lowercase(), timed(values, &ours));
        }
    }
    figures
}

/// Nanoseconds a value, and the estimate.
fn timed(values: usize, count: &impl Fn() -> f64) -> serde_json::Value {
    let began_ns = thread_cpu_ns();
    let found = count();
    serde_json::json!([(thread_cpu_ns() - began_ns) as f64 / values as f64, found])
}

fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a time of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
