//! A client's span: from the start of its first counted unit to the end of its last, with the clocks of
//! its backend read at both edges.
//!
//! ```text
//! Unopened --(settled, next unit may be counted)--> Open --(no more counted units, settled)--> Closed
//!     `-----------------(no counted unit fell to this client)-----------------------------------^
//! ```

use super::observer::{BackendClocks, BackendCounters};
use super::window::Window;

/// How far a client has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// Warm-up.
    #[default]
    Unopened,
    /// Counted units may start.
    Open,
    /// Cool-down.
    Closed,
}

/// Which edge a client has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// Before the first counted unit.
    Opening,
    /// Behind the last one.
    Closing,
    /// Both at once: there was no counted unit.
    Missed,
}

/// What the profile and the throughput need of one client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub stage: Stage,
    /// Start of the first counted unit; None if there was none.
    pub start_ns: Option<u64>,
    /// When the client stopped to be observed: behind the last counted unit.
    pub end_ns: u64,
    /// End of the last counted unit.
    pub last_end_ns: u64,
    /// Counted units that ended well.
    pub successful: u64,
    /// Think time drawn behind the last counted unit; None while one is in progress.
    pub last_think_time_ns: Option<u64>,
    pub opening: Option<BackendClocks>,
    pub closing: Option<BackendClocks>,
    pub opening_counters: Option<BackendCounters>,
    pub closing_counters: Option<BackendCounters>,
}

impl Span {
    /// The edge that a client between units stands at, given the intended start of its next unit.
    pub(super) fn edge(&self, next_intended_ns: u64, window: &Window) -> Option<Edge> {
        match self.stage {
            Stage::Unopened if next_intended_ns >= window.end_ns => Some(Edge::Missed),
            Stage::Unopened if next_intended_ns >= window.start_ns => Some(Edge::Opening),
            Stage::Open if next_intended_ns >= window.end_ns => Some(Edge::Closing),
            _ => None,
        }
    }

    /// With think times: the span and the pause behind its last unit, so that it ends where a unit would start; None
    /// where the window saw no unit of this client.
    ///
    /// Such an end is a stopping time, so the sum of many spans over the sum of their units is the mean length of a
    /// cycle (Wald's identity). The mean of the clients' own rates is not: units over a time that varies are biased
    /// upwards where a client does few of them (measured: 17 % with six units a client).
    pub(super) fn cycles_ns(&self, mean_think_time_ns: u64) -> Option<u64> {
        let last_think_time_ns = self.last_think_time_ns.unwrap_or(mean_think_time_ns);
        Some(self.last_end_ns.saturating_sub(self.start_ns?) + last_think_time_ns)
    }

    /// What the kernel counted about the backend within the span.
    pub(super) fn counters(&self) -> Option<BackendCounters> {
        let (opening, closing) = (self.opening_counters?, self.closing_counters?);
        let delays_ns = opening.block_io_delay_ns.zip(closing.block_io_delay_ns);
        Some(BackendCounters {
            voluntary_switches: closing.voluntary_switches.saturating_sub(opening.voluntary_switches),
            involuntary_switches: closing.involuntary_switches.saturating_sub(opening.involuntary_switches),
            block_io_delay_ns: delays_ns.map(|(opening, closing)| closing.saturating_sub(opening)),
        })
    }

    /// CPU and run-queue time of the backend within the span.
    pub(super) fn clocks_ns(&self) -> Option<(u64, u64)> {
        let (opening, closing) = (self.opening?, self.closing?);
        let cpu_ns = closing.cpu_ns.saturating_sub(opening.cpu_ns);
        Some((cpu_ns, closing.run_queue_ns.saturating_sub(opening.run_queue_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_edge_is_met_once() {
        let window = Window::new(0, 100, 100, 0);
        let mut span = Span::default();
        assert_eq!(None, span.edge(99, &window));
        assert_eq!(Some(Edge::Opening), span.edge(100, &window));
        assert_eq!(Some(Edge::Missed), span.edge(200, &window));
        span.stage = Stage::Open;
        assert_eq!(None, span.edge(199, &window));
        assert_eq!(Some(Edge::Closing), span.edge(200, &window));
        span.stage = Stage::Closed;
        assert_eq!(None, span.edge(300, &window));
    }
}
