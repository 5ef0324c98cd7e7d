//! The pages that ANALYZE would look at, and the rows of a scan that lie on them.
//!
//! ANALYZE takes 300 x target pages at random, or all where there are no more, by Knuth's algorithm S. Which page a
//! row lies on does not come with it; a scan goes in physical order, and rows are taken to lie evenly on the pages.
//! The draws are those of the page's number, so that connections that read different pages draw one sample of them.

use std::ops::Range;

use crate::script::Random;

/// A walk through the pages of one part of a table.
#[derive(Clone, Debug)]
pub(super) struct PageChoice {
    /// Of the whole table.
    pages: u64,
    wanted: u64,
    wanted_left: u64,
    random: Random,
    rows_per_page: f64,
    /// The page that the walk has come to, and where the part's own pages end.
    page: u64,
    end: u64,
    /// Of this part.
    pages_walked: u64,
    is_chosen: bool,
    /// The first row of the next page, counted in the part.
    next_row: u64,
}

impl PageChoice {
    /// `wanted` of all `pages` of a table, for the part of it that has the pages `part`. Without pages, or without
    /// rows to expect, every row is chosen.
    pub(super) fn new(pages: u64, wanted: u64, part: Range<u64>, rows_expected: u64, mut random: Random) -> Self {
        let wanted = wanted.min(pages);
        let is_needless = wanted == pages || rows_expected == 0;
        let mut wanted_left = wanted;
        if !is_needless {
            for page in 0..part.start {
                wanted_left -= u64::from(below(&mut random, pages - page) < wanted_left);
            }
        }
        let rows_per_page = if is_needless { 0.0 } else { rows_expected as f64 / pages as f64 };
        Self {
            pages,
            wanted,
            wanted_left,
            random,
            rows_per_page,
            page: part.start,
            end: part.end.min(pages),
            pages_walked: 0,
            is_chosen: is_needless,
            next_row: if is_needless { u64::MAX } else { 0 },
        }
    }

    /// Calls `chosen` with each run of chosen rows among the next `rows`, which begin with `first_row` of the part;
    /// runs are counted from there.
    pub(super) fn take(&mut self, first_row: u64, rows: usize, mut chosen: impl FnMut(Range<usize>)) {
        let end = first_row + rows as u64;
        let mut row = first_row;
        while row < end {
            if row >= self.next_row {
                self.turn();
                continue;
            }
            let until = end.min(self.next_row);
            if self.is_chosen {
                chosen((row - first_row) as usize..(until - first_row) as usize);
            }
            row = until;
        }
    }

    /// The next page.
    fn turn(&mut self) {
        if self.page == self.end {
            // More rows came than were expected: they lie on pages that nobody has counted, a row at least on each.
            self.is_chosen = self.random.next_f64() * (self.pages as f64) < self.wanted as f64;
            self.next_row += self.rows_per_page.round().max(1.0) as u64;
            return;
        }
        self.is_chosen = below(&mut self.random, self.pages - self.page) < self.wanted_left;
        self.wanted_left -= u64::from(self.is_chosen);
        self.page += 1;
        self.pages_walked += 1;
        self.next_row = (self.pages_walked as f64 * self.rows_per_page).round() as u64;
    }
}

/// 0 to `count` - 1, each equally likely but for a bias of at most count / 2^64.
pub(super) fn below(random: &mut Random, count: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(count)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The rows chosen of a part, read in blocks of this size.
    fn rows(mut choice: PageChoice, rows: u64, block: usize) -> Vec<u64> {
        let mut found = Vec::new();
        for first in (0..rows).step_by(block) {
            let size = block.min((rows - first) as usize);
            choice.take(first, size, |range| found.extend(range.map(|row| first + row as u64)));
        }
        found
    }

    fn random() -> Random {
        Random::from_seed(11)
    }

    #[test]
    fn so_many_pages_are_chosen_with_all_their_rows() {
        let found = rows(PageChoice::new(1000, 300, 0..1000, 7000, random()), 7000, 64);
        let pages: BTreeSet<u64> = found.iter().map(|row| row / 7).collect();
        assert_eq!((300, 2100), (pages.len(), found.len()));
        let halves = pages.iter().filter(|page| **page < 500).count();
        assert!((120..180).contains(&halves), "{halves}");
    }

    #[test]
    fn blocks_and_parts_change_nothing() {
        let whole = rows(PageChoice::new(1000, 300, 0..1000, 7000, random()), 7000, 64);
        assert_eq!(whole, rows(PageChoice::new(1000, 300, 0..1000, 7000, random()), 7000, 1000));
        let mut parts = rows(PageChoice::new(1000, 300, 0..300, 7000, random()), 2100, 64);
        let second = rows(PageChoice::new(1000, 300, 300..1000, 7000, random()), 4900, 64);
        parts.extend(second.iter().map(|row| 2100 + row));
        assert_eq!(whole, parts);
    }

    #[test]
    fn where_all_pages_are_wanted_or_unknown_all_rows_are_chosen() {
        for (pages, wanted, rows_expected) in [(1000, 1000, 10), (1000, 5000, 10), (0, 300, 10), (1000, 300, 0)] {
            let found = rows(PageChoice::new(pages, wanted, 0..pages, rows_expected, random()), 50, 8);
            assert_eq!((0..50).collect::<Vec<u64>>(), found, "{pages} {wanted} {rows_expected}");
        }
    }

    #[test]
    fn rows_beyond_the_expectation_are_chosen_as_often_as_others() {
        let found = rows(PageChoice::new(1000, 300, 0..1000, 7000, random()), 70_000, 64);
        let beyond = found.iter().filter(|row| **row >= 7000).count() as f64 / 63_000.0;
        assert!((beyond - 0.3).abs() < 0.03, "{beyond}");
    }

    #[test]
    fn pages_may_hold_less_than_a_row() {
        let found = rows(PageChoice::new(1000, 300, 0..1000, 100, random()), 100, 64);
        assert!((10..60).contains(&found.len()), "{}", found.len());
    }
}
