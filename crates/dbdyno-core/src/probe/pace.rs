//! When snapshots are taken: at a mean period, at instants that no periodic process can keep in step with.
//!
//! What it costs to wake up, thread CPU in microseconds, least of nine runs of 100 to 300 wake-ups, on a busy
//! virtual machine of 2 CPUs (Linux 6.18, Firecracker under PVM; eight other builds and test runs beside it):
//!
//! | how | SCHED_FIFO, 1 ms | short turns, 1 ms | usual, 1 ms | SCHED_FIFO, 0.1 ms | usual, 0.1 ms |
//! |---|---|---|---|---|---|
//! | clock_nanosleep, absolute | 8.2 to 10.6 | 8.8 | 9.5 to 13 | 4.9 to 5.8 | 4.9 to 6.0 |
//! | clock_nanosleep, relative | 10.8 | 8.2 | 8.7 | | |
//! | timerfd armed each time, read | 10.2 | 13.5 | 7.7 | | |
//! | timerfd, periodic (no jitter) | 9.9 to 14.5 | 10.9 | 9.3 to 12.5 | 4.8 to 5.8 | 5.2 to 6.4 |
//! | epoll_pwait2 | 10.5 | 12.1 | 9.5 | | |
//! | ppoll | 9.5 | 11.8 | 10.7 | | |
//! | futex with a timeout | 10.2 | 11.7 | 10.4 | | |
//!
//! The same an hour later, with sixteen runnable tasks beside it in place of ten: absolute, 14.8 to 18.5 as
//! SCHED_FIFO and 20 to 24 with the usual class at 1 ms, 8.4 and 9.6 at 0.1 ms.
//!
//! Neither the call nor the scheduling class nor one fixed CPU makes a difference beyond that of two runs of one
//! row. Its parts when they are warm are small: arming a timer 0.9, two switches 1.5; what costs is to come back to
//! cold caches, which is why ten times as many wake-ups cost half as much each. A sweep of 100 backends with its
//! wake-up within 8 us, as one would like to have it, is therefore out of reach on this machine at 1 kHz, whatever
//! the sweep costs: the wake-up alone takes more; at 10 kHz it is a matter of how busy the caches are.
//!
//! So there is nothing to choose but punctuality: late by 10 us in the median and 16 in one of ten as SCHED_FIFO, by
//! 62 (of which 50 are the timer's slack) and 70 with the usual class, where one of a hundred comes 3 to 5 ms late
//! behind the server's turns.

use std::mem::MaybeUninit;
use std::ptr;

/// A series of absolute deadlines, each half to one and a half periods after the last.
pub struct Pace {
    period_ns: u64,
    next_ns: u64,
    random: u64,
}

impl Pace {
    /// Deadlines from now on.
    pub fn new(period_ns: u64) -> Self {
        Pace { period_ns, next_ns: now_ns(libc::CLOCK_MONOTONIC), random: 0x9e37_79b9_7f4a_7c15 }
    }

    /// Another mean period from the next deadline on.
    pub fn change_to(&mut self, period_ns: u64) {
        self.period_ns = period_ns;
    }

    /// Sleep until the next deadline, and say when it is then. Deadlines that a delay has passed over are dropped,
    /// not made up for: snapshots in a row would be one snapshot counted often.
    pub fn sleep(&mut self) -> u64 {
        self.next_ns = self.advance(now_ns(libc::CLOCK_MONOTONIC));
        let deadline = libc::timespec {
            tv_sec: (self.next_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (self.next_ns % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: `deadline` is a valid time; no remainder is asked for.
        unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &deadline, ptr::null_mut()) };
        now_ns(libc::CLOCK_MONOTONIC)
    }

    fn advance(&mut self, now_ns: u64) -> u64 {
        let step = self.period_ns / 2 + self.random() % self.period_ns;
        let next = self.next_ns + step;
        if next < now_ns { now_ns + step } else { next }
    }

    /// xorshift64 (Marsaglia 2003): enough to be out of step, and the same in each trial.
    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}

/// Let the calling thread wake up on time although the server keeps all CPUs busy.
///
/// A sampler that has to wait for a CPU gets one when a backend goes to sleep, and then sees just that.
/// Measured with two spinning processes beside eight backends on two CPUs: runnable in 17 % of the
/// snapshots against 29 % by the clocks, with real-time priority 34 % against 33 %, for 4 us more a
/// wake-up. That needs root or CAP_SYS_NICE; anyone may ask for short turns, which the scheduler of
/// Linux 6.12 and later grants sooner (nine of ten wake-ups within 0.09 ms instead of 0.7), and older
/// ones ignore.
pub fn be_punctual() {
    let real_time = libc::sched_param { sched_priority: 1 };
    // SAFETY: concerns the calling thread only (id 0); `real_time` outlives the call.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &real_time) } == -1 {
        ask_for_short_turns(100_000);
    }
}

fn ask_for_short_turns(turn_ns: u64) {
    // SAFETY: all fields are integers, for which zero is valid and, for the policy, means the usual one.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    attributes.size = size_of::<libc::sched_attr>() as u32;
    attributes.sched_runtime = turn_ns;
    // SAFETY: concerns the calling thread only; the size is in the structure. A refusal changes nothing.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}

/// A clock of the kernel.
pub fn now_ns(clock: libc::clockid_t) -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the kernel fills `time`; the clocks used here exist on every Linux.
    let time = unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_keep_the_mean_period_and_vary() {
        let mut pace = Pace { period_ns: 1000, next_ns: 0, random: 88172645463325252 };
        let steps: Vec<u64> = (0..10_000)
            .map(|_| {
                let next = pace.advance(0);
                next - std::mem::replace(&mut pace.next_ns, next)
            })
            .collect();
        assert!(steps.iter().all(|step| (500..1500).contains(step)));
        let mean = steps.iter().sum::<u64>() / 10_000;
        assert!((990..1010).contains(&mean), "{mean}");
    }

    #[test]
    fn deadlines_passed_over_are_dropped() {
        let mut pace = Pace { period_ns: 1000, next_ns: 0, random: 1 };
        assert!((500..1500).contains(&pace.advance(100)));
        assert!((1_000_500..1_001_500).contains(&pace.advance(1_000_000)));
    }
}
