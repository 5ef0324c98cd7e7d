//! The times of one trial, fixed when all clients are connected.

/// Absolute times on CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The load starts.
    pub load_start_ns: u64,
    /// The first counted unit may start.
    pub start_ns: u64,
    /// No counted unit starts from here on.
    pub end_ns: u64,
    /// Counted units are waited for until here.
    pub drain_end_ns: u64,
}

impl Window {
    /// The window of a trial whose load starts at `load_start_ns`.
    pub(super) fn new(load_start_ns: u64, warm_up_ns: u64, window_ns: u64, drain_limit_ns: u64) -> Self {
        let start_ns = load_start_ns.saturating_add(warm_up_ns);
        let end_ns = start_ns.saturating_add(window_ns);
        Self { load_start_ns, start_ns, end_ns, drain_end_ns: end_ns.saturating_add(drain_limit_ns) }
    }

    /// Whether a unit with this intended start, or an event at this time, belongs to the window.
    pub(super) fn contains(&self, time_ns: u64) -> bool {
        (self.start_ns..self.end_ns).contains(&time_ns)
    }

    /// How much of an interval lies in the window.
    pub(super) fn overlap_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        to_ns.min(self.end_ns).saturating_sub(from_ns.max(self.start_ns))
    }

    /// Its length.
    pub(super) fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_clipped_at_both_edges() {
        let window = Window::new(0, 100, 50, 10);
        assert_eq!((100, 150, 160), (window.start_ns, window.end_ns, window.drain_end_ns));
        assert_eq!(10, window.overlap_ns(90, 110));
        assert_eq!(5, window.overlap_ns(145, 170));
        assert_eq!(0, window.overlap_ns(150, 170));
        assert_eq!(50, window.overlap_ns(0, 1000));
        assert!(window.contains(100) && !window.contains(150));
    }
}
