//! What it costs a thread to wake up, and nothing else: CPU microseconds by its own clock, at one period.
//!
//! The floor under any sampler: benches/sampler_cost.py runs it beside the load, in place of the sampler.
//!
//!     wake_up_cost PERIOD_US SECONDS

use std::mem::MaybeUninit;
use std::ptr;

fn now_ns(clock: libc::clockid_t) -> i64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the kernel fills `time`.
    let time = unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn sleep_until(due_ns: i64) {
    let due = libc::timespec { tv_sec: due_ns / 1_000_000_000, tv_nsec: due_ns % 1_000_000_000 };
    // SAFETY: `due` outlives the call; with an absolute time nothing is written.
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const due, ptr::null_mut()) };
}

/// As the sampler does it: without it a thread on a busy host waits in line, which is no cost of its own.
fn be_punctual() {
    let real_time = libc::sched_param { sched_priority: 1 };
    // SAFETY: concerns the calling thread only; `real_time` outlives the call. A refusal changes nothing.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const real_time) };
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().ok_or("usage: wake_up_cost PERIOD_US SECONDS");
    let period_ns = argument()?.parse::<i64>()? * 1000;
    let end_ns = now_ns(libc::CLOCK_MONOTONIC) + (argument()?.parse::<f64>()? * 1e9) as i64;
    be_punctual();
    let begun_ns = now_ns(libc::CLOCK_THREAD_CPUTIME_ID);
    let mut due_ns = now_ns(libc::CLOCK_MONOTONIC);
    let mut wake_ups = 0;
    while due_ns < end_ns {
        // Late is late: what was missed is not made up for.
        due_ns = (due_ns + period_ns).max(now_ns(libc::CLOCK_MONOTONIC));
        sleep_until(due_ns);
        wake_ups += 1;
    }
    let cpu_ns = now_ns(libc::CLOCK_THREAD_CPUTIME_ID) - begun_ns;
    println!("{:.2}", cpu_ns as f64 / 1e3 / f64::from(wake_ups));
    Ok(())
}
