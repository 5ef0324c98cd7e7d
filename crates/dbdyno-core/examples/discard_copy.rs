//! The rate of a COPY that is read and thrown away: what `benches/ndv_scan.py` compares a scan with.
//!
//!     cargo run --release --package dbdyno-core --example discard_copy -- '{"host": ...}' COLUMNS SQL
//!
//! Prints `{"bytes", "elapsed_ns", "cpu_ns"}`, from sending the statement to the end of its answer.

use std::time::Instant;

use dbdyno_core::wire::{Connection, CopyProgress, Target};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("target, columns, statement");
    let target: Target = serde_json::from_str(&next()).expect("a target");
    let columns = next().parse().expect("a number of columns");
    let mut connection = Connection::connect(&target, None).expect("a server");
    let started = (Instant::now(), cpu_ns());
    let mut copy = connection.copy_out(&next(), columns).expect("a connection");
    let mut bytes = 0;
    loop {
        match copy.read(|_| Ok(())).expect("a COPY in binary format") {
            CopyProgress::Bytes(length) => bytes += length,
            CopyProgress::Silence => {}
            CopyProgress::Complete(length) => break bytes += length,
        }
    }
    let (elapsed_ns, cpu_ns) = (started.0.elapsed().as_nanos(), cpu_ns() - started.1);
    println!("{{\"bytes\": {bytes}, \"elapsed_ns\": {elapsed_ns}, \"cpu_ns\": {cpu_ns}}}");
}

fn cpu_ns() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
