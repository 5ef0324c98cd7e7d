//! Traces that were damaged at random: some lines of every version, then bytes, numbers and lines exchanged, left out,
//! repeated. No input may make the reader panic, hang, or keep more than it has read.
//!
//!     cargo run --release --example trace_fuzz -- INPUTS [SEED]
//!
//! Prints as JSON how many inputs there were, the slowest one and the peak of memory.

use std::time::Instant;

use dbdyno_core::trace::profile_bytes;

/// Of one input of at most some kilobytes; a hang is longer, and so is anything that grows faster than its input.
const SECONDS_MAX: f64 = 5.0;

#[rustfmt::skip]
const LINES: [&str; 34] = [
    "Oracle8i Enterprise Edition Release 8.1.7.0.0 - Production",
    "Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production",
    "Trace file /u01/x_ora_1.trc",
    "Unix process pid: 11, image: oracle@db1",
    "*** 2019-07-09T09:57:07.703476-07:00 (PDB(8))",
    "*** SESSION ID:(5.6) 2019-07-09T09:57:07.703508-07:00",
    "*** SESSION ID:(7.8) 2007-10-9 16:21:08.294",
    "*** MODULE NAME:(SQL*Plus (x)) 2010-01-15 08:21:16.294",
    "*** [ Unix process pid: 9850 ]",
    "APPNAME mod='Module 1' mh=262111370 act='Action 11' ah=810452301",
    "=====================",
    "PARSING IN CURSOR #1 len=24 dep=0 uid=90 oct=3 lid=90 tim=1000100 hv=2343063137 ad='0' sqlid='7h35uxf5uhmm1'\nselect 'it''s', 1.5e-3, q'[x]' /*+ full */ from dual -- x\nEND OF STMT",
    "PARSING IN CURSOR #140472196919200 len=6 dep=2 uid=0 oct=44 lid=0 tim=1000110 hv=1 ad='66'",
    "END OF STMT",
    "PARSE ERROR #3:len=27 dep=1 uid=5 oct=3 lid=5 tim=1000120 err=942\nselect nothing from nowhere",
    "PARSE #1:c=50,e=100,p=0,cr=0,cu=0,mis=1,r=0,dep=0,og=1,plh=7,tim=1000200",
    "EXEC #1:c=20,e=40,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=7,tim=1000300",
    "FETCH #1:c=5,e=60,p=1,cr=2,cu=0,mis=0,r=1,dep=1,og=1,tim=1000370",
    "UNMAP #2:c=0,e=12,p=0,cr=0,cu=0,mis=0,r=0,dep=2,og=4,tim=1000380",
    "SORT UNMAP #2:c=0,e=13,p=0,cr=0,cu=0,mis=0,r=0,dep=3,og=4,tim=1000390",
    "CLOSE #140472196919200:c=1,e=2,dep=0,type=3,tim=1000400",
    "LOBREAD: type=TEMPORARY LOB,bytes=32528,c=99,e=577,p=8,cr=7,cu=1,tim=1000410",
    "LOBGETLEN: c=0,e=21,p=0,cr=1,cu=0,tim=1000420",
    "RPC CALL:FUNCTION F RETURN NUMBER\nRPC BINDS:\nRPC EXEC:c=10000,e=20000",
    "WAIT #1: nam='db file sequential read' ela= 30 file#=1 block#=2 blocks=1 obj#=3 tim=1000430",
    "WAIT #1: nam='db file scattered read' ela= 30 p1=4 p2=9 p3=16",
    "WAIT #0: nam='SQL*Net message from client' ela= 900 driver id=1413697536 #bytes=1 p3=0 obj#=-1 tim=1001300",
    "WAIT #3: nam='enq: TX - row lock contention' ela= 2999 name|mode=1415053318 usn<<16 | slot=3 sequence=9 obj#=73 tim=1001400",
    "BINDS #1:\n\n Bind#0\n  oacdty=02 mxl=22(22) mxlc=00 mal=00 scl=00 pre=00\n  value=\"two\nlines\"",
    " bind 0: dty=2 mxl=22(22) mal=00 scl=00 pre=00 oacflg=03 oacfl2=1 size=24 offset=0\n   bfp=021a4e4c bln=22 avl=02 flg=05\n   value=7",
    "STAT #1 id=1 cnt=14 pid=0 pos=0 obj=6195 op='TABLE ACCESS FULL EMP '",
    "STAT #1 id=2 cnt=1 pid=1 pos=1 obj=0 op='FAST DUAL  (cr=0 pr=0 pw=0 str=1 time=1 us cost=2 size=0 card=1)'",
    "XCTEND rlbk=0, rd_only=0, tim=1001410",
    "ERROR #1:err=1 tim=1001420",
];

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|number| number.parse().expect("a number")).collect();
    let inputs = arguments.first().copied().expect("a number of inputs");
    let mut draws = Draws(arguments.get(1).copied().unwrap_or(1) | 1);
    let (mut slowest_s, mut calls) = (0.0_f64, 0_u64);
    for input in 0..inputs {
        let trace = damaged(&mut draws);
        let began = Instant::now();
        let outcome = profile_bytes(&trace).expect("an outcome");
        let taken_s = began.elapsed().as_secs_f64();
        assert!(taken_s < SECONDS_MAX, "input {input}: {taken_s} s: {}", String::from_utf8_lossy(&trace));
        slowest_s = slowest_s.max(taken_s);
        calls += outcome.matches("own_cpu_ns").count() as u64;
    }
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak").trim().to_owned();
    println!(
        "{}",
        serde_json::json!({"inputs": inputs, "kinds_of_calls_counted": calls, "slowest_s": slowest_s, "peak_memory": peak})
    );
}

/// xorshift64*.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize) % end.max(1)
    }
}

fn damaged(draws: &mut Draws) -> Vec<u8> {
    let mut trace = Vec::new();
    for _ in 0..1 + draws.below(12) {
        trace.extend_from_slice(LINES[draws.below(LINES.len())].as_bytes());
        trace.extend_from_slice([&b"\n"[..], b"\r\n", b"\n\n", b""][draws.below(16).saturating_sub(12)]);
    }
    for _ in 0..draws.below(6) {
        damage(draws, &mut trace);
    }
    trace
}

fn damage(draws: &mut Draws, trace: &mut Vec<u8>) {
    const BYTES: &[u8] = b"0123456789-=#,:;'\"*() \n\r\0\xFFcedrtimx";
    const NUMBERS: [&str; 6] =
        ["18446744073709551615", "-1", "9223372036854775807", "999999999999", "0", "99999999999999999999999"];
    let length = trace.len();
    let at = draws.below(length);
    let end = (at + draws.below(40)).min(length);
    match draws.below(7) {
        0 if at < length => trace[at] = BYTES[draws.below(BYTES.len())],
        1 if at < length => trace[at] = draws.below(256) as u8,
        2 => drop(trace.drain(at..end)),
        3 => trace.truncate(at),
        4 => {
            let repeated = trace[at..end].to_vec();
            trace.splice(at..at, repeated);
        }
        5 => {
            let digits = trace[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            trace.splice(at..at + digits, NUMBERS[draws.below(NUMBERS.len())].bytes());
        }
        _ => {
            let line = LINES[draws.below(LINES.len())].as_bytes();
            trace.splice(at..at, line.iter().copied());
        }
    }
}
