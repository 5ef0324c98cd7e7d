//! When snapshots are taken: at a mean period, at instants that no periodic process can keep in step with.

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

    /// Sleep until the next deadline. After a delay of ten periods the lost ones are not made up for.
    pub fn sleep(&mut self) {
        self.next_ns = self.advance(now_ns(libc::CLOCK_MONOTONIC));
        let deadline = libc::timespec {
            tv_sec: (self.next_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (self.next_ns % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: `deadline` is a valid time; no remainder is asked for.
        unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &deadline, ptr::null_mut()) };
    }

    fn advance(&mut self, now_ns: u64) -> u64 {
        let step = self.period_ns / 2 + self.random() % self.period_ns.max(1);
        let next = self.next_ns + step;
        if next + 10 * self.period_ns < now_ns { now_ns + step } else { next }
    }

    /// xorshift64 (Marsaglia 2003): enough to be out of step, and the same in each trial.
    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
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
    fn a_long_delay_is_not_made_up_for() {
        let mut pace = Pace { period_ns: 1000, next_ns: 0, random: 1 };
        assert!((1_000_500..1_001_500).contains(&pace.advance(1_000_000)));
        assert!(pace.advance(5_000) < 1500);
    }
}
