//! How fast traces are read: writes one of a realistic mix of lines (level 12: waits and binds), reads it nine times,
//! and prints as JSON the least CPU seconds of the thread that parses and accounts, of the whole process, and the
//! peak of its memory.
//!
//!     cargo run --release --example trace_speed -- MEGABYTES [FILE]
//!
//! The file is written to FILE (default: the temporary directory) and removed afterwards.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use dbdyno_core::trace::{Board, profile};

const READS: usize = 9;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let megabytes: u64 = arguments.first().and_then(|count| count.parse().ok()).expect("a number of megabytes");
    let path = arguments.get(1).map_or_else(|| std::env::temp_dir().join("dbdyno_trace_speed.trc"), PathBuf::from);
    let (bytes, lines) = write_trace(&path, megabytes * 1_000_000).expect("room for the file");
    let spec = serde_json::json!({"files": [&path], "threads": 1}).to_string();
    let read = || {
        let began_ns = [libc::CLOCK_THREAD_CPUTIME_ID, libc::CLOCK_PROCESS_CPUTIME_ID].map(clock_ns);
        let outcome = profile(&spec, &Board::default()).expect("a trace");
        assert!(outcome.len() > 1000, "the outcome says something");
        let ended_ns = [libc::CLOCK_THREAD_CPUTIME_ID, libc::CLOCK_PROCESS_CPUTIME_ID].map(clock_ns);
        [0, 1].map(|clock| (ended_ns[clock] - began_ns[clock]) as f64 / 1e9)
    };
    let reads: Vec<[f64; 2]> = (0..READS).map(|_| read()).collect();
    std::fs::remove_file(&path).expect("ours");
    let least = |clock: usize| reads.iter().map(|read| read[clock]).fold(f64::INFINITY, f64::min);
    let figures = serde_json::json!({
        "bytes": bytes,
        "lines": lines,
        "thread_cpu_s": least(0),
        "process_cpu_s": least(1),
        "mb_per_thread_cpu_s": bytes as f64 / 1e6 / least(0),
        "peak_memory_mb": peak_memory_kb() as f64 / 1e3,
    });
    println!("{figures}");
}

/// What transactions of an order-entry application leave, with some recursive calls and now and then a new statement.
struct Session {
    out: String,
    tim: u64,
    state: u64,
    parsed: u64,
}

const CURSORS: u64 = 40;
const HEADER: &str = "Trace file /u01/app/oracle/diag/rdbms/orcl/orcl/trace/orcl_ora_4711.trc
Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production
Version 19.3.0.0.0
Instance name: orcl
Unix process pid: 4711, image: oracle@db1

*** 2026-11-20T09:57:07.703476+00:00 (PDB1(3))
*** SESSION ID:(504.46635) 2026-11-20T09:57:07.703508+00:00

";

impl Session {
    /// xorshift64*: the same file every time.
    fn draw(&mut self, below: u64) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % below
    }

    fn transaction(&mut self) {
        for _ in 0..4 + self.draw(6) {
            self.statement();
        }
        let tim = self.pass(30);
        writeln!(self.out, "XCTEND rlbk=0, rd_only=0, tim={tim}").expect("a String");
        self.wait(0, "log file sync", 600, "buffer#=17 sync scn=2342342 p3=0 obj#=-1");
    }

    fn statement(&mut self) {
        let number = self.draw(CURSORS);
        let cursor = 140_472_196_000_000 + number * 8_264;
        if self.draw(12) == 0 {
            self.parse(cursor, number);
        }
        self.binds(cursor);
        if self.draw(5) == 0 {
            self.call("EXEC", cursor + 4, 1, 1);
            self.call("FETCH", cursor + 4, 1, 1);
            self.call("CLOSE", cursor + 4, 1, 0);
        }
        self.call("EXEC", cursor, 0, 0);
        self.wait(cursor, "SQL*Net message to client", 2, "driver id=1413697536 #bytes=1 p3=0 obj#=-1");
        self.wait(cursor, "SQL*Net message from client", 800, "driver id=1413697536 #bytes=1 p3=0 obj#=-1");
        for _ in 0..1 + self.draw(3) {
            for _ in 0..self.draw(3) {
                let (file, block, object) = (self.draw(40) + 1, self.draw(4_000_000), 70_000 + self.draw(300));
                let parameters = format!("file#={file} block#={block} blocks=1 obj#={object}");
                self.wait(cursor, "db file sequential read", 400, &parameters);
            }
            self.call("FETCH", cursor, 0, 15);
        }
        if self.draw(20) == 0 {
            for id in 1..4 {
                let time = self.draw(9_999);
                writeln!(self.out, "STAT #{cursor} id={id} cnt=12 pid={} pos=1 obj={} op='TABLE ACCESS BY INDEX ROWID ORDERS (cr=12 pr=2 pw=0 str=1 time={time} us cost=4 size=160 card=12)'", id - 1, 70_000 + id).expect("a String");
            }
        }
        self.call("CLOSE", cursor, 0, 0);
    }

    fn parse(&mut self, cursor: u64, number: u64) {
        self.parsed += 1;
        let variant = if self.draw(10) == 0 { self.parsed } else { 0 };
        let text = format!(
            "SELECT o.order_id, o.order_date, o.order_mode, i.line_item_id, i.product_id, i.unit_price, i.quantity FROM orders o JOIN order_items i ON i.order_id = o.order_id WHERE o.customer_id = :1 AND o.order_status = {number} AND o.warehouse_id <> {variant}"
        );
        let (length, tim) = (text.len(), self.pass(120));
        writeln!(self.out, "=====================\nPARSING IN CURSOR #{cursor} len={length} dep=0 uid=90 oct=3 lid=90 tim={tim} hv=2723145788 ad='6677d490' sqlid='50vxqdkj4zu1w'\n{text}\nEND OF STMT").expect("a String");
        self.call("PARSE", cursor, 0, 0);
    }

    fn binds(&mut self, cursor: u64) {
        writeln!(self.out, "BINDS #{cursor}:\n").expect("a String");
        for place in 0..1 + self.draw(3) {
            let value = self.draw(1_000_000);
            writeln!(self.out, " Bind#{place}\n  oacdty=02 mxl=22(22) mxlc=00 mal=00 scl=00 pre=00\n  oacflg=00 fl2=1000001 frm=00 csi=00 siz=48 off=0\n  kxsbbbfp=7fc23b65c748  bln=22  avl=04  flg=05\n  value={value}").expect("a String");
        }
    }

    fn call(&mut self, kind: &str, cursor: u64, depth: u64, rows: u64) {
        let (cpu, gets) = (self.draw(300), self.draw(40));
        let elapsed = cpu + self.draw(60);
        let tim = self.pass(elapsed);
        match kind {
            "CLOSE" => writeln!(self.out, "CLOSE #{cursor}:c={},e={},dep={depth},type=1,tim={tim}", cpu / 20, elapsed / 20),
            _ => writeln!(self.out, "{kind} #{cursor}:c={cpu},e={elapsed},p=0,cr={gets},cu=0,mis=0,r={rows},dep={depth},og=1,plh=2239883476,tim={tim}"),
        }
        .expect("a String");
    }

    fn wait(&mut self, cursor: u64, event: &str, usual: u64, parameters: &str) {
        let elapsed = 1 + self.draw(2 * usual);
        let tim = self.pass(elapsed);
        writeln!(self.out, "WAIT #{cursor}: nam='{event}' ela= {elapsed} {parameters} tim={tim}").expect("a String");
    }

    fn pass(&mut self, elapsed: u64) -> u64 {
        self.tim += elapsed + self.draw(20);
        self.tim
    }
}

/// Bytes and lines.
fn write_trace(path: &Path, bytes: u64) -> std::io::Result<(u64, u64)> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut session = Session { out: HEADER.to_owned(), tim: 664_028_734_122, state: 42, parsed: 0 };
    let (mut written, mut lines) = (0, 0);
    while written < bytes {
        session.transaction();
        file.write_all(session.out.as_bytes())?;
        written += session.out.len() as u64;
        lines += session.out.lines().count() as u64;
        session.out.clear();
    }
    file.flush()?;
    Ok((written, lines))
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a time of ours.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn peak_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches("kB").trim().parse().expect("kilobytes")
}
