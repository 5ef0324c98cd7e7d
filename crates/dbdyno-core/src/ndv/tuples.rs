//! COPY's binary format: a header, rows, a trailer, and every one of them may come in pieces.
//!
//! ```text
//! "PGCOPY\n\377\r\n\0"  flags (4)  length (4) of what follows, that
//! count (2) [length (4)  value]...          a row; length -1: NULL
//! -1 (2)                                    the end
//! ```
//!
//! The server puts a row into a message, and messages into as many packets as it likes; what stands between may cut
//! messages anew. A row that lies together is handed on where it lies, any other is put together first.

use crate::error::{CoreError, Result};
use crate::wire::Columns;

const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
const HEADER_BYTES: usize = SIGNATURE.len() + 8;
/// A reader that does not know one of these flags cannot read what follows.
const CRITICAL_FLAGS: u32 = 0xFFFF_0000;
const END: i16 = -1;

/// What lies between one piece of a stream and the next.
#[derive(Debug)]
pub(super) struct Tuples {
    columns: i16,
    stage: Stage,
    /// The head of what has not come whole: the header, or a row.
    carry: Vec<u8>,
    walk: Walk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Header,
    Rows,
    Ended,
}

impl Tuples {
    /// A stream of rows of so many columns.
    pub(super) fn new(columns: usize) -> Self {
        let columns = i16::try_from(columns).expect("a table has at most 1,600");
        Self { columns, stage: Stage::Header, carry: Vec::new(), walk: Walk::default() }
    }

    /// Hands each row that is whole with this piece to `row`.
    ///
    /// # Errors
    /// `scan_failed` where the stream is none of this format; those of `row`.
    #[inline]
    pub(super) fn take(&mut self, mut piece: &[u8], row: &mut impl FnMut(Columns<'_>) -> Result<()>) -> Result<()> {
        while !piece.is_empty() {
            piece = match row_bytes(piece, self.columns) {
                Some(end) if self.stage == Stage::Rows && self.carry.is_empty() => {
                    row(Columns::new(&piece[..end]))?;
                    &piece[end..]
                }
                _ => self.take_carried(piece, row)?,
            };
        }
        Ok(())
    }

    /// The stream is over; an error if its end has not come.
    pub(super) fn finish(&self) -> Result<()> {
        match self.stage {
            Stage::Ended => Ok(()),
            _ => Err(malformed("it ends before its trailer")),
        }
    }

    /// Adds to the carry what belongs to it, and hands it on when it is whole; what is left of the piece.
    fn take_carried<'a>(
        &mut self,
        piece: &'a [u8],
        row: &mut impl FnMut(Columns<'_>) -> Result<()>,
    ) -> Result<&'a [u8]> {
        let wanted = match self.stage {
            Stage::Header => self.header_bytes()?,
            Stage::Rows => self.walk.wanted(),
            Stage::Ended => return Err(malformed("it goes on after its trailer")),
        };
        let (more, rest) = piece.split_at((wanted - self.carry.len()).min(piece.len()));
        self.carry.extend_from_slice(more);
        match self.stage {
            Stage::Header if self.carry.len() == self.header_bytes()? => self.stage = Stage::Rows,
            Stage::Header => return Ok(rest),
            _ => match self.walk.end_in(&self.carry, self.columns)? {
                Reached::Wanted(_) => return Ok(rest),
                Reached::End(end) => row(Columns::new(&self.carry[..end]))?,
                Reached::Trailer(_) => self.stage = Stage::Ended,
            },
        }
        self.carry.clear();
        self.carry.shrink_to(CARRY_KEPT_BYTES);
        self.walk = Walk::default();
        Ok(rest)
    }

    /// As far as it is known.
    fn header_bytes(&self) -> Result<usize> {
        let Some(header) = self.carry.first_chunk::<HEADER_BYTES>() else { return Ok(HEADER_BYTES) };
        let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if !header.starts_with(SIGNATURE) {
            return Err(malformed("it does not begin with COPY's signature"));
        }
        if word(SIGNATURE.len()) & CRITICAL_FLAGS != 0 {
            return Err(malformed("its header has flags that are not known"));
        }
        Ok(HEADER_BYTES + word(SIGNATURE.len() + 4) as usize)
    }
}

/// A row of up to 1 GB may have come; its room is not kept.
const CARRY_KEPT_BYTES: usize = 64 * 1024;

/// The length of the row with which a piece begins, if all of it is there.
#[inline]
fn row_bytes(piece: &[u8], columns: i16) -> Option<usize> {
    let (count, mut rest) = piece.split_first_chunk()?;
    if i16::from_be_bytes(*count) != columns {
        return None;
    }
    for _ in 0..columns {
        let (length, behind) = rest.split_first_chunk()?;
        rest = match i32::from_be_bytes(*length) {
            -1 => behind,
            length => behind.get(usize::try_from(length).ok()?..)?,
        };
    }
    Some(piece.len() - rest.len())
}

/// A walk over a row from length to length. It goes on where it stopped when more of the row has come.
#[derive(Debug, Default)]
struct Walk {
    fields_left: Option<i16>,
    /// Where the next length lies, or the end; beyond what has come if a value is not whole.
    position: usize,
}

/// How far a walk has come.
#[derive(Debug, PartialEq, Eq)]
enum Reached {
    /// A row ends here.
    End(usize),
    /// A trailer ends here.
    Trailer(usize),
    /// It can go on when so many bytes are there.
    Wanted(usize),
}

impl Walk {
    fn end_in(&mut self, bytes: &[u8], columns: i16) -> Result<Reached> {
        let mut left = match self.fields_left {
            Some(left) => left,
            None => {
                let Some(count) = bytes.first_chunk() else { return Ok(Reached::Wanted(self.wanted())) };
                self.position = count.len();
                match i16::from_be_bytes(*count) {
                    END => return Ok(Reached::Trailer(self.position)),
                    count if count == columns => count,
                    count => return Err(malformed(&format!("a row has {count} columns where {columns} are expected"))),
                }
            }
        };
        let mut position = self.position;
        while left > 0 {
            let Some(length) = bytes.get(position..).and_then(<[u8]>::first_chunk) else { break };
            position += length.len();
            match i32::from_be_bytes(*length) {
                -1 => {}
                length => position += usize::try_from(length).map_err(|_| malformed("a length is negative"))?,
            }
            left -= 1;
        }
        (self.fields_left, self.position) = (Some(left), position);
        match left == 0 && position <= bytes.len() {
            true => Ok(Reached::End(position)),
            false => Ok(Reached::Wanted(self.wanted())),
        }
    }

    /// The bytes of the row that must be there before the walk can go on.
    fn wanted(&self) -> usize {
        match self.fields_left {
            None => size_of::<i16>(),
            Some(0) => self.position,
            Some(_) => self.position + size_of::<i32>(),
        }
    }
}

fn malformed(what: &str) -> CoreError {
    CoreError::new("scan_failed", format!("the server's COPY is not in the binary format: {what}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Row = Vec<Option<Vec<u8>>>;

    fn header(extension: &[u8]) -> Vec<u8> {
        [SIGNATURE.as_slice(), &[0; 4], &(extension.len() as u32).to_be_bytes(), extension].concat()
    }

    fn encoded(row: &Row) -> Vec<u8> {
        let mut bytes = (row.len() as i16).to_be_bytes().to_vec();
        for value in row {
            bytes.extend(value.as_ref().map_or(-1, |value| value.len() as i32).to_be_bytes());
            bytes.extend(value.iter().flatten());
        }
        bytes
    }

    fn stream(extension: &[u8], rows: &[Row]) -> Vec<u8> {
        let rows: Vec<u8> = rows.iter().flat_map(encoded).collect();
        [header(extension), rows, END.to_be_bytes().to_vec()].concat()
    }

    fn decoded(columns: usize, pieces: &[&[u8]]) -> Result<Vec<Row>> {
        let (mut tuples, mut rows) = (Tuples::new(columns), Vec::new());
        for piece in pieces {
            tuples.take(piece, &mut |row| {
                rows.push(row.map(|value| value.map(<[u8]>::to_vec)).collect());
                Ok(())
            })?;
        }
        tuples.finish().map(|()| rows)
    }

    fn refusal(columns: usize, bytes: &[u8]) -> String {
        let error = decoded(columns, &[bytes]).expect_err("the stream is broken");
        assert_eq!("scan_failed", error.code);
        let what = error.message.strip_prefix("the server's COPY is not in the binary format: ");
        what.expect("the usual beginning").to_owned()
    }

    #[test]
    fn any_two_cuts_give_the_same_rows() {
        let rows = vec![
            vec![Some(b"\0\0\0\x07".to_vec()), None, Some(b"text".to_vec())],
            vec![None, None, None],
            vec![Some(Vec::new()), Some(b"x".to_vec()), Some(vec![b'y'; 20])],
        ];
        let whole = stream(b"more", &rows);
        for first in 0..=whole.len() {
            for second in first..=whole.len() {
                let pieces = [&whole[..first], &whole[first..second], &whole[second..]];
                assert_eq!(Ok(rows.clone()), decoded(3, &pieces), "{first} {second}");
            }
        }
    }

    #[test]
    fn a_table_may_be_empty_and_a_row_without_columns() {
        assert_eq!(Ok(vec![]), decoded(3, &[&stream(b"", &[])]));
        assert_eq!(Ok(vec![vec![], vec![]]), decoded(0, &[&stream(b"", &[vec![], vec![]])]));
    }

    #[test]
    fn what_is_not_of_the_format_is_refused() {
        let good = stream(b"", &[vec![None, None]]);
        let from_header = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            bytes
        };
        assert_eq!("it does not begin with COPY's signature", refusal(2, &from_header(0, b'p')));
        assert_eq!("its header has flags that are not known", refusal(2, &from_header(12, 1)));
        assert_eq!("a row has 2 columns where 3 are expected", refusal(3, &good));
        assert_eq!("it goes on after its trailer", refusal(2, &[good.as_slice(), b"x"].concat()));
        assert_eq!("a length is negative", refusal(1, &[header(b"").as_slice(), b"\0\x01\xff\xff\xff\xfe"].concat()));
        for cut in 0..good.len() {
            assert_eq!("it ends before its trailer", refusal(2, &good[..cut]));
        }
    }

    #[test]
    fn the_room_of_a_long_row_is_given_back() {
        let long = encoded(&vec![Some(vec![1; 1 << 20])]);
        let mut tuples = Tuples::new(1);
        let mut count = 0;
        let mut take = |tuples: &mut Tuples, piece: &[u8]| {
            tuples.take(piece, &mut |_| {
                count += 1;
                Ok(())
            })
        };
        take(&mut tuples, &header(b"")).expect("a header");
        long.chunks(1000).for_each(|piece| take(&mut tuples, piece).expect("a row"));
        assert_eq!((1, true), (count, tuples.carry.capacity() <= CARRY_KEPT_BYTES));
    }

    proptest! {
        #[test]
        fn any_rows_in_any_pieces_come_out(
            columns in 0usize..6,
            values in proptest::collection::vec(proptest::option::of(proptest::collection::vec(any::<u8>(), 0..40)), 0..120),
            cut in 1usize..97,
        ) {
            let rows: Vec<Row> = match columns {
                0 => vec![vec![]; values.len()],
                columns => values.chunks_exact(columns).map(<[_]>::to_vec).collect(),
            };
            let whole = stream(b"", &rows);
            let pieces: Vec<&[u8]> = whole.chunks(cut).collect();
            prop_assert_eq!(Ok(rows), decoded(columns, &pieces));
        }

        #[test]
        fn nonsense_is_an_error_and_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 1usize..50) {
            let whole = [header(b""), bytes].concat();
            let pieces: Vec<&[u8]> = whole.chunks(cut).collect();
            let _ = decoded(2, &pieces);
        }
    }
}
