//! What one sweep over a server's PGPROCs costs the reader, by route and number of slots: CPU time of this thread.
//!
//! ```text
//! cargo run --release --example sweep_cost -- POSTMASTER_PID
//! ```
//!
//! A sweep copies the span of so many neighbouring slots where the route copies, and loads process id and wait event of
//! each. Waking up for it is not in it. Each figure is the least of several rounds: what else a machine does can only
//! add to it. Routes that this user cannot take are left out, with the reason.

use std::hint::black_box;

use dbdyno_core::probe::{Layout, Route, RouteRequest, SharedMemory, open_server};

const SLOTS: [usize; 4] = [1, 8, 32, 100];
const ROUNDS: usize = 20;
const SWEEPS_PER_ROUND: u32 = 500;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let postmaster_pid = std::env::args().nth(1).ok_or("usage: sweep_cost POSTMASTER_PID")?.parse()?;
    println!("{:<12}{}", "us a sweep", SLOTS.map(|slots| format!("{slots:>10}")).concat());
    for route in Route::OVER_MEMORY {
        match open_server(postmaster_pid, RouteRequest::Only(route), None) {
            Ok((mut memory, layout)) => {
                let costs = SLOTS.map(|slots| format!("{:>10.3}", least_us(&mut memory, &layout, slots)));
                println!("{:<12}{}", route.to_string(), costs.concat());
            }
            Err(cause) => println!("{cause}"),
        }
    }
    Ok(())
}

fn least_us(memory: &mut SharedMemory, layout: &Layout, slots: usize) -> f64 {
    let slots = slots.min(layout.processes.slots);
    memory.watch(&[layout.processes.span(0, slots - 1)]).expect("it lies in the shared memory");
    let rounds = (0..ROUNDS).map(|_| {
        let began_ns = cpu_ns();
        (0..SWEEPS_PER_ROUND).for_each(|_| sweep(memory, layout, slots));
        cpu_ns() - began_ns
    });
    rounds.min().expect("there are rounds") as f64 / f64::from(SWEEPS_PER_ROUND) / 1e3
}

fn sweep(memory: &mut SharedMemory, layout: &Layout, slots: usize) {
    memory.refresh().expect("the server runs");
    for slot in 0..slots {
        black_box(memory.u32(layout.processes.pid_address(slot)));
        black_box(memory.u32(layout.processes.wait_address(slot)));
    }
}

fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills `time`; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
