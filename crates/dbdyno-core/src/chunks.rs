//! What is counted in equal chunks of a time whose length need not be known: when the last chunk is full, each two
//! become one, so that there are never more than a fixed number, and nothing is allocated while it is counted.

/// Something that can take in another one of its kind.
pub trait Merge {
    /// Adds everything of the other one, which is left empty.
    fn take(&mut self, other: &mut Self);
}

/// A row of chunks from the start on.
#[derive(Clone, Debug)]
pub struct Chunks<T> {
    chunk_ns: u64,
    parts: Vec<T>,
}

impl<T: Merge + Clone> Chunks<T> {
    /// At first of this length, at most so many (an even number).
    pub fn new(chunk_ns: u64, limit: usize, empty: T) -> Self {
        Self { chunk_ns: chunk_ns.max(1), parts: vec![empty; limit] }
    }

    /// The chunk of a moment so long after the start.
    pub fn at(&mut self, after_start_ns: u64) -> &mut T {
        loop {
            let index = (after_start_ns / self.chunk_ns) as usize;
            if index < self.parts.len() {
                return &mut self.parts[index];
            }
            self.coarsen();
        }
    }

    /// How long one is.
    pub fn chunk_ns(&self) -> u64 {
        self.chunk_ns
    }

    /// All of them, in order; behind the last one used they are empty.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.parts.iter()
    }

    /// Makes them as long as those of another row that began with the same length.
    pub fn coarsen_to(&mut self, chunk_ns: u64) {
        while self.chunk_ns < chunk_ns {
            self.coarsen();
        }
    }

    /// Takes in another row that began with the same length, chunk by chunk.
    pub fn take(&mut self, other: &mut Self) {
        self.coarsen_to(other.chunk_ns);
        other.coarsen_to(self.chunk_ns);
        self.parts.iter_mut().zip(&mut other.parts).for_each(|(mine, theirs)| mine.take(theirs));
    }

    fn coarsen(&mut self) {
        self.chunk_ns *= 2;
        for pair in 0..self.parts.len() / 2 {
            let (before, rest) = self.parts.split_at_mut(2 * pair + 1);
            before[2 * pair].take(&mut rest[0]);
            self.parts.swap(pair, 2 * pair);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Count(u64);

    impl Merge for Count {
        fn take(&mut self, other: &mut Self) {
            self.0 += std::mem::take(&mut other.0);
        }
    }

    fn counts(row: &Chunks<Count>) -> Vec<u64> {
        row.iter().map(|count| count.0).collect()
    }

    #[test]
    fn nothing_is_lost_when_chunks_grow() {
        let mut row = Chunks::new(10, 4, Count(0));
        [5, 15, 25, 35].into_iter().for_each(|time| row.at(time).0 += time);
        row.at(90).0 += 7;
        assert_eq!((40, vec![80, 0, 7, 0]), (row.chunk_ns(), counts(&row)));
    }

    #[test]
    fn rows_are_joined_at_the_coarser_length() {
        let (mut fine, mut coarse) = (Chunks::new(10, 4, Count(0)), Chunks::new(10, 4, Count(0)));
        [1, 11, 21, 31].into_iter().for_each(|time| fine.at(time).0 += 1);
        coarse.at(79).0 += 5;
        fine.take(&mut coarse);
        assert_eq!((20, vec![2, 2, 0, 5]), (fine.chunk_ns(), counts(&fine)));
    }
}
