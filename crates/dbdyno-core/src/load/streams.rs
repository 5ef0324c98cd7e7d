//! All random streams of a trial, from one seed.
//!
//! A client's stream depends on the seed and the client's number only, so that the same client meets
//! the same parameters in every arm, however many clients, threads or scripts there are.
//! The first stream of each family is derived from the seed as pgbench does it.

use crate::script::Random;

/// What a stream is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// The random functions of a client's scripts; the values of `pgbench --random-seed`.
    Values = 0,
    /// Which script a client runs next.
    Choice = 1,
    /// The gaps between a thread's arrivals.
    Arrivals = 2,
    /// How long a client thinks; apart from Values, so that scripts draw the same with and without.
    ThinkTimes = 3,
}

/// The streams of the numbers `range`, for one purpose.
pub(super) fn streams(seed: u64, purpose: Purpose, range: std::ops::Range<usize>) -> Vec<Random> {
    // An odd multiplier (the golden ratio in 64 bits) keeps the families' seeds apart; Values keeps the seed.
    let mut base = Random::from_seed(seed ^ (purpose as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    (0..range.end).map(|_| base.derive()).skip(range.start).collect()
}

/// The value of `:default_seed`, for all clients. pgbench draws it behind the streams of its clients; here it is
/// what pgbench has with one client, because the number of clients shall not change what a script hashes.
pub(super) fn default_seed(seed: u64) -> i64 {
    let mut base = Random::from_seed(seed);
    let _first_client = base.derive();
    base.next_u64() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_stream_depends_on_seed_and_number_only() {
        let all = streams(42, Purpose::Values, 0..8);
        assert_eq!(all[5..8], streams(42, Purpose::Values, 5..8));
        assert_ne!(all[0], all[1]);
        assert_ne!(all[0], streams(43, Purpose::Values, 0..1)[0]);
        assert_ne!(all[0], streams(42, Purpose::Choice, 0..1)[0]);
    }
}
