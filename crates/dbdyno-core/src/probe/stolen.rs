//! What a hypervisor took from the host's CPUs.
//!
//! A task's own clock in `/proc/PID/schedstat` stands still while the CPU that it runs on is taken away, so that time
//! is neither its CPU nor its run queue, and would pass for sleep. Measured on a virtual machine: over 2 s each, a task
//! that only spins was short of 0.5 to 18 % in schedstat, and the gaps that it saw itself came to the same within 5 %.
//! perf's task-clock counts on through it, but a clock on each backend costs at every switch
//! (benches/task_clock_cost.py: 2.1 % of the throughput of 64 clients of select-only).
//!
//! The kernel adds the time up for the whole host: `steal` in the first line of `/proc/stat`, in ticks of 10 ms. It is
//! taken from whoever runs, so of each backend in proportion to its CPU time.

use std::fs;

/// Sums over all CPUs since the host was started, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTicks {
    /// Somebody ran.
    busy: u64,
    /// Somebody would have run.
    stolen: u64,
}

impl HostTicks {
    /// Now; `None` where the kernel does not tell.
    pub fn now() -> Option<Self> {
        Self::of_stat(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Stolen time for each unit of CPU time since `before`.
    pub fn stolen_per_cpu_time(&self, before: &HostTicks) -> f64 {
        let busy = self.busy.saturating_sub(before.busy);
        let stolen = self.stolen.saturating_sub(before.stolen);
        if busy == 0 { 0.0 } else { stolen as f64 / busy as f64 }
    }

    /// `cpu user nice system idle iowait irq softirq steal guest guest_nice` (proc_stat(5)); guests are in user and
    /// nice.
    fn of_stat(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
        let [user, nice, system, _idle, _io_wait, irq, soft_irq, stolen] = *ticks.first_chunk()?;
        Some(HostTicks { busy: user + nice + system + irq + soft_irq, stolen })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_read() {
        let text = "cpu  100 10 20 5000 7 3 4 60 99 98\ncpu0 1 2 3\n";
        assert_eq!(Some(HostTicks { busy: 137, stolen: 60 }), HostTicks::of_stat(text));
        assert_eq!(None, HostTicks::of_stat("cpu  100 10 20 5000 7 3 4\n"));
        assert_eq!(None, HostTicks::of_stat(""));
        assert!(HostTicks::now().is_some_and(|now| now.busy > 0));
    }

    #[test]
    fn stolen_time_goes_by_cpu_time() {
        let before = HostTicks { busy: 100, stolen: 10 };
        let share = |busy, stolen| HostTicks { busy, stolen }.stolen_per_cpu_time(&before);
        assert_eq!((0.05, 0.0, 0.0), (share(300, 20), share(300, 10), share(100, 15)));
    }
}
