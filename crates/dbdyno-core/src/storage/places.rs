//! Where the next I/O goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::spec::{Cell, Order};
use crate::script::Random;

/// The places of one thread's I/Os. Threads that share a sequence share its counter.
#[derive(Clone, Debug)]
pub(super) struct Places {
    order: Order,
    first_byte: u64,
    io_bytes: u64,
    /// I/Os that fit into the span.
    count: u64,
    write_share: f64,
    next: Arc<AtomicU64>,
    random: Random,
}

impl Places {
    pub(super) fn new(cell: &Cell, random: Random) -> Self {
        let io_bytes = u64::from(cell.io_bytes);
        Self {
            order: cell.order,
            first_byte: cell.first_byte,
            io_bytes,
            count: (cell.span_bytes / io_bytes).max(1),
            write_share: cell.write_share,
            next: Arc::default(),
            random,
        }
    }

    /// Another thread's: it draws its own numbers and shares the sequence.
    pub(super) fn for_thread(&self, random: Random) -> Self {
        Self { random, ..self.clone() }
    }

    /// (offset, is a write).
    pub(super) fn next(&mut self) -> (u64, bool) {
        let place = match self.order {
            // The high half of the product: uniform up to one part in 2^64 / count.
            Order::Random => ((u128::from(self.random.next_u64()) * u128::from(self.count)) >> 64) as u64,
            Order::Sequential => self.next.fetch_add(1, Ordering::Relaxed) % self.count,
        };
        let write = match self.write_share {
            0.0 => false,
            share => self.random.next_f64() < share,
        };
        (self.first_byte + place * self.io_bytes, write)
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::Load;
    use super::*;

    fn cell(order: Order, write_share: f64) -> Cell {
        Cell {
            load: Load::Closed { depth: 1, most_ios: None },
            write_share,
            order,
            io_bytes: 8192,
            first_byte: 16_384,
            span_bytes: 4 * 8192 + 5000,
            settle_ns: 0,
            window_ns: 1,
            series_step_ns: 1,
            seed: 1,
            look_for_zeros: false,
            flush_every_ns: 0,
        }
    }

    #[test]
    fn a_sequence_goes_through_the_span_and_round_again() {
        let mut first = Places::new(&cell(Order::Sequential, 0.0), Random::from_seed(1));
        let mut second = first.for_thread(Random::from_seed(2));
        let seen: Vec<_> = (0..3).flat_map(|_| [first.next().0, second.next().0]).collect();
        assert_eq!(vec![16_384, 24_576, 32_768, 40_960, 16_384, 24_576], seen);
    }

    #[test]
    fn chance_reaches_every_place_that_fits_and_no_other() {
        let mut places = Places::new(&cell(Order::Random, 0.25), Random::from_seed(1));
        let drawn: Vec<_> = (0..4000).map(|_| places.next()).collect();
        let mut counts = [0_u32; 4];
        drawn.iter().for_each(|(offset, _)| counts[((offset - 16_384) / 8192) as usize] += 1);
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
        let writes = drawn.iter().filter(|(_, write)| *write).count();
        assert!((900..1100).contains(&writes), "{writes}");
    }
}
