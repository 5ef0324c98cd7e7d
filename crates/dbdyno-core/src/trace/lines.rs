//! From pieces of any size to lines: what a piece holds whole is handed on where it lies, only a line that lies in two
//! pieces is put together.

use memchr::memchr;

/// What is kept of a line; SQL is longer only in one statement's text, of which no more is kept, either.
pub(super) const LINE_BYTES_MAX: usize = 64 * 1024;

/// A line without its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// From 1.
    pub number: u64,
    pub text: &'a [u8],
    /// It ended with a carriage return, which belongs to the end of the line, or to a statement's text.
    pub has_return: bool,
    /// It was longer.
    pub is_cut: bool,
    /// The file ends in it.
    pub is_unfinished: bool,
}

/// Where pieces become lines.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    number: u64,
    /// The beginning of a line whose end has not come.
    begun: Vec<u8>,
    begun_is_cut: bool,
}

impl Cutter {
    /// How many lines there were.
    pub(super) fn lines(&self) -> u64 {
        self.number
    }

    /// All lines that end in this piece.
    pub(super) fn take(&mut self, mut piece: &[u8], mut each: impl FnMut(Line<'_>)) {
        if !self.begun.is_empty() || self.begun_is_cut {
            let Some(end) = memchr(b'\n', piece) else { return self.keep(piece) };
            self.keep(&piece[..end]);
            piece = &piece[end + 1..];
            self.hand_on(false, &mut each);
        }
        while let Some(end) = memchr(b'\n', piece) {
            self.number += 1;
            let (text, is_cut) = shortened(&piece[..end]);
            let (text, has_return) = without_return(text);
            each(Line { number: self.number, text, has_return, is_cut, is_unfinished: false });
            piece = &piece[end + 1..];
        }
        self.keep(piece);
    }

    /// The last line, where it has no end.
    pub(super) fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.begun.is_empty() {
            self.hand_on(true, &mut each);
        }
    }

    fn keep(&mut self, part: &[u8]) {
        let room = LINE_BYTES_MAX - self.begun.len();
        self.begun_is_cut |= part.len() > room;
        self.begun.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn hand_on(&mut self, is_unfinished: bool, each: &mut impl FnMut(Line<'_>)) {
        self.number += 1;
        let (number, is_cut) = (self.number, self.begun_is_cut);
        let (text, has_return) = without_return(&self.begun);
        each(Line { number, text, has_return, is_cut, is_unfinished });
        self.begun.clear();
        self.begun_is_cut = false;
    }
}

fn shortened(text: &[u8]) -> (&[u8], bool) {
    (&text[..text.len().min(LINE_BYTES_MAX)], text.len() > LINE_BYTES_MAX)
}

fn without_return(text: &[u8]) -> (&[u8], bool) {
    text.strip_suffix(b"\r").map_or((text, false), |text| (text, true))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines_of(pieces: &[&[u8]]) -> Vec<(u64, Vec<u8>, bool, bool)> {
        let mut lines = Vec::new();
        let mut cutter = Cutter::default();
        let mut keep = |line: Line<'_>| lines.push((line.number, line.text.to_vec(), line.is_cut, line.is_unfinished));
        pieces.iter().for_each(|piece| cutter.take(piece, &mut keep));
        cutter.finish(&mut keep);
        assert_eq!(cutter.lines(), lines.len() as u64);
        lines
    }

    #[test]
    fn returns_and_missing_ends_are_no_part_of_a_line() {
        let line = |number, text: &str, is_unfinished| (number, text.as_bytes().to_vec(), false, is_unfinished);
        assert_eq!(vec![line(1, "a", false), line(2, "", false), line(3, "b", true)], lines_of(&[b"a\r\n\nb"]));
        assert_eq!(vec![line(1, "ab", false)], lines_of(&[b"a", b"b\r", b"\n"]));
    }

    #[test]
    fn a_long_line_is_cut_wherever_its_pieces_end() {
        let long = vec![b'x'; LINE_BYTES_MAX + 7];
        for at in [0, 5, LINE_BYTES_MAX, LINE_BYTES_MAX + 3, long.len()] {
            let (first, second) = long.split_at(at);
            let lines = lines_of(&[first, second, b"\ny\n"]);
            assert_eq!((1, LINE_BYTES_MAX, true), (lines[0].0, lines[0].1.len(), lines[0].2), "{at}");
            assert_eq!((2, b"y".to_vec(), false, false), lines[1]);
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[ab\r\n]{0,60}", cuts in prop::collection::vec(0usize..60, 0..5)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            let begins = std::iter::once(0).chain(cuts.iter().copied());
            let ends = cuts.iter().copied().chain([text.len()]);
            let pieces: Vec<&[u8]> = begins.zip(ends).map(|(begin, end)| &text.as_bytes()[begin..end]).collect();
            prop_assert_eq!(lines_of(&[text.as_bytes()]), lines_of(&pieces));
        }
    }
}
