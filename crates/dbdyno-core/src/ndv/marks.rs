//! Some of a block's rows.

/// Rows in a block: 8 KB of hashes a column, so that those of a few columns and one sketch lie in the first-level cache.
pub(super) const BLOCK_ROWS: usize = 1024;

const WORD_BITS: usize = u64::BITS as usize;

/// A bit a row, and how many of them are set.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    words: [u64; BLOCK_ROWS / WORD_BITS],
    count: usize,
}

impl Marks {
    pub(super) fn none() -> Self {
        Self { words: [0; BLOCK_ROWS / WORD_BITS], count: 0 }
    }

    /// A bit a row, 64 of them a word, the first row the least; bits behind the last row do not count.
    pub(super) fn of_words(words: impl Iterator<Item = u64>, rows: usize) -> Self {
        let mut marks = Self::none();
        for (place, (mark, word)) in marks.words.iter_mut().zip(words).take(rows.div_ceil(WORD_BITS)).enumerate() {
            let behind = WORD_BITS.saturating_sub(rows - place * WORD_BITS);
            *mark = word << behind >> behind;
            marks.count += mark.count_ones() as usize;
        }
        marks
    }

    /// Marks a row that is not marked yet.
    #[inline]
    pub(super) fn set(&mut self, row: usize) {
        self.words[row / WORD_BITS] |= 1 << (row % WORD_BITS);
        self.count += 1;
    }

    #[inline]
    pub(super) fn has(&self, row: usize) -> bool {
        self.words[row / WORD_BITS] >> (row % WORD_BITS) & 1 == 1
    }

    /// Those that are marked.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        let count = if self.count == 0 { 0 } else { BLOCK_ROWS };
        (0..count).filter(|row| self.has(*row))
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn clear(&mut self) {
        if self.count > 0 {
            *self = Self::none();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_words_are_rows_and_those_behind_the_last_row_are_none() {
        for rows in [0, 1, 63, 64, 65, 1000, BLOCK_ROWS] {
            let marks = Marks::of_words(std::iter::repeat(u64::MAX - 1), rows);
            let expected: Vec<usize> = (0..rows).filter(|row| row % 64 != 0).collect();
            assert_eq!((expected.len(), expected), (marks.count(), marks.rows().collect()), "{rows}");
        }
    }
}
