//! The clocks of the load and the storage engine, in nanoseconds.

/// CLOCK_MONOTONIC: all times inside a trial. 28 to 67 ns a reading here, so one per event, not more.
pub(crate) fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread.
pub(crate) fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CLOCK_REALTIME, for the date of a trial.
pub(crate) fn date_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing; these clocks exist on every Linux, so the call cannot fail.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sleeps until this time of `now_ns`. The last stretch is spun: a sleeping thread wakes up some 60 us late, which
/// would be added to whatever begins then.
pub(crate) fn sleep_until(deadline_ns: u64) {
    const SPUN_NS: u64 = 80_000;
    if let Some(wake_ns) = deadline_ns.checked_sub(SPUN_NS)
        && wake_ns > now_ns()
    {
        let wake =
            libc::timespec { tv_sec: (wake_ns / 1_000_000_000) as i64, tv_nsec: (wake_ns % 1_000_000_000) as i64 };
        // SAFETY: `wake` is valid for reading. A signal may end the sleep early; the spinning below makes up for it.
        unsafe {
            libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const wake, std::ptr::null_mut())
        };
    }
    while now_ns() < deadline_ns {
        std::hint::spin_loop();
    }
}
