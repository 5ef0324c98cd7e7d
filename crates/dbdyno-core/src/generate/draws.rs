//! Random numbers of one row: a counter put through a mixer, so that no row needs the one before it.
//!
//! The mixer and the step are those of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014). A row's counter starts at a mixed value of its own; two rows of a table overlap with a
//! probability of rows^2 x draws / 2^64, which nobody will meet.

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The draws of one row, in order.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    counter: u64,
}

impl Draws {
    /// Those of row `row` in `stream` under `seed`.
    pub(super) fn of_row(seed: u64, stream: u64, row: u64) -> Self {
        let table = mixed(mixed(seed.wrapping_add(STEP)).wrapping_add(stream.wrapping_mul(STEP)));
        Self { counter: mixed(table.wrapping_add(row.wrapping_mul(STEP))) }
    }

    /// 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(STEP);
        mixed(self.counter)
    }

    /// 0 to `count` - 1, each equally likely but for a bias of at most count / 2^64.
    pub(super) fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(count)) >> 64) as u64
    }

    /// `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 draws.
    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// 0 to `count` - 1, the first most often: the density falls in a straight line to zero.
    pub(super) fn falling(&mut self, count: u64) -> u64 {
        self.below(count).min(self.below(count))
    }

    /// 1 to `count`, nearly as Zipf has it with exponent 1: every octave (1, 2 to 3, 4 to 7, ...) is equally likely,
    /// and so is every value within its octave. Integers only, where a true Zipf draw takes powers.
    pub(super) fn zipf(&mut self, count: u64) -> u64 {
        let octaves = u64::from(count.ilog2()) + 1;
        let low = 1 << self.below(octaves);
        self.between(low, count.min(2 * low - 1))
    }

    /// One of `choices`.
    pub(super) fn choice<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// The first of `choices` whose share, in percent, covers the draw; the shares add up to 100.
    pub(super) fn weighted<T: Copy>(&mut self, choices: &[(u64, T)]) -> T {
        let mut draw = self.below(100);
        for &(share, value) in choices {
            if draw < share {
                return value;
            }
            draw -= share;
        }
        unreachable!("the shares add up to 100")
    }
}

fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 100_000;

    fn shares(values: usize, mut draw: impl FnMut(&mut Draws) -> u64) -> Vec<f64> {
        let mut counts = vec![0_u32; values];
        for row in 0..DRAWS {
            counts[draw(&mut Draws::of_row(1, 1, row as u64)) as usize] += 1;
        }
        counts.into_iter().map(|count| f64::from(count) / DRAWS as f64).collect()
    }

    /// 100,000 draws: five standard errors of a share are at most 0.008.
    fn assert_near(shares: &[f64], expected: &[f64]) {
        for (share, expected) in shares.iter().zip(expected) {
            assert!((share - expected).abs() < 0.008, "{shares:?}");
        }
    }

    #[test]
    fn first_draws_of_neighbouring_rows_have_the_shares_of_their_distribution() {
        assert_near(&shares(4, |draws| draws.below(4)), &[0.25; 4]);
        assert_near(&shares(4, |draws| draws.falling(4)), &[7.0 / 16.0, 5.0 / 16.0, 3.0 / 16.0, 1.0 / 16.0]);
        let zipf = [0.0, 1.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0];
        assert_near(&shares(7, |draws| draws.zipf(6)), &zipf);
        assert_near(&shares(2, |draws| draws.weighted(&[(30, 0), (70, 1)])), &[0.3, 0.7]);
    }

    #[test]
    fn seed_stream_and_row_each_change_the_draws() {
        let first = |seed, stream, row| Draws::of_row(seed, stream, row).bits();
        let seen = [first(1, 1, 0), first(2, 1, 0), first(1, 2, 0), first(1, 1, 1)];
        for (index, value) in seen.iter().enumerate() {
            assert!(!seen[..index].contains(value), "{seen:?}");
        }
    }
}
