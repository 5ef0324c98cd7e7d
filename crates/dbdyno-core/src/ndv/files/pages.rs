//! One column of a row group, page by page.
//!
//! ```text
//! page of a dictionary --> entries, each hashed once, none of them counted yet
//! page of data: levels --> how many of the next rows have a value
//!               indices -> entries that come for the first time are counted, the others need no second look
//!               values --> hashed where they lie, after a writer gave its dictionary up
//! ```

use arrow_buffer::Buffer;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};

use super::super::counter::Counter;
use super::super::live::Board;
use super::super::marks::BLOCK_ROWS;
use super::page_values::{Missing, Plain, Rest};
use super::runs::{Broken, PIECE_MAX, Piece, Runs};
use crate::error::CoreError;

/// Why a column cannot be counted to its end.
pub(super) enum Failure {
    /// What is wrong with the file.
    Bad(String),
    Stopped(CoreError),
}

impl From<Broken> for Failure {
    fn from(_: Broken) -> Self {
        Self::Bad("a page's levels or indices are broken".to_owned())
    }
}

impl From<Missing> for Failure {
    fn from(_: Missing) -> Self {
        Self::Bad("a page has fewer values than it says".to_owned())
    }
}

/// The dictionary of a column chunk.
#[derive(Default)]
struct Entries {
    hashes: Vec<u64>,
    seen: Vec<bool>,
    unseen: usize,
}

/// The values of a page of data.
enum Values<'a> {
    Indices(Runs<'a>),
    Plain(Rest),
}

/// Whether such pages are read here.
#[expect(deprecated, reason = "files list it for the levels that they do not have")]
pub(super) fn are_known(mut encodings: impl Iterator<Item = Encoding>) -> bool {
    // The last two are those of levels.
    encodings.all(|encoding| {
        matches!(
            encoding,
            Encoding::PLAIN
                | Encoding::PLAIN_DICTIONARY
                | Encoding::RLE_DICTIONARY
                | Encoding::RLE
                | Encoding::BIT_PACKED
        )
    })
}

/// Counts all values that the pages have.
pub(super) fn count(
    pages: &mut dyn PageReader,
    is_nullable: bool,
    plain: &mut Plain,
    counter: &mut Counter,
    board: &Board,
) -> Result<(), Failure> {
    let mut entries = Entries::default();
    while let Some(page) = pages.get_next_page().map_err(|error| Failure::Bad(error.to_string()))? {
        if let Page::DictionaryPage { buf, num_values, .. } = page {
            entries = Entries::new(buf.into(), num_values as usize, plain)?;
            continue;
        }
        let (levels, values) = split(&page, is_nullable)?;
        let rows = page.num_values() as usize;
        let mut levels = match is_nullable {
            true => Some(Runs::new(&levels, 1)?),
            false => None,
        };
        let present = match &levels {
            Some(levels) => levels.clone().ones(rows)?,
            None => rows,
        };
        let mut values = match page.encoding() {
            Encoding::PLAIN => Values::Plain(plain.values(values, present)?),
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY if present == 0 => {
                Values::Indices(Runs::new(&[], 0)?)
            }
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => {
                let (width, indices) = values.split_first().ok_or(Broken)?;
                Values::Indices(Runs::new(indices, u32::from(*width))?)
            }
            other => return Err(Failure::Bad(format!("a page has values in the encoding {other}"))),
        };
        let mut rows_left = rows;
        while rows_left > 0 {
            board.check().map_err(Failure::Stopped)?;
            let block = counter.room().min(rows_left);
            let present = match &mut levels {
                Some(levels) => levels.ones(block)?,
                None => block,
            };
            let mut hashes = [0; BLOCK_ROWS];
            let count = match &mut values {
                Values::Plain(rest) => {
                    plain.hash(rest, &mut hashes[..present])?;
                    present
                }
                Values::Indices(indices) => entries.see(indices, present, &mut hashes)?,
            };
            counter.add_values(block, block - present, &hashes[..count]);
            rows_left -= block;
        }
    }
    Ok(())
}

impl Entries {
    fn new(bytes: Buffer, count: usize, plain: &mut Plain) -> Result<Self, Failure> {
        let mut rest = plain.values(bytes, count)?;
        let mut hashes = Vec::new();
        while hashes.len() < count {
            let begin = hashes.len();
            // The number of entries may be wrong: room is made as they come.
            hashes.resize(count.min(begin + BLOCK_ROWS), 0);
            plain.hash(&mut rest, &mut hashes[begin..])?;
        }
        Ok(Self { seen: vec![false; count], unseen: count, hashes })
    }

    /// The hashes of those that the next indices name for the first time, and how many these are.
    fn see(&mut self, indices: &mut Runs<'_>, mut count: usize, hashes: &mut [u64]) -> Result<usize, Broken> {
        let mut found = 0;
        let mut room = [0; PIECE_MAX];
        // When all of them were seen, only the number of values matters, and levels have that.
        while count > 0 && self.unseen > 0 {
            let before = found;
            match indices.next(count, &mut room)? {
                Piece::Same(index, times) => {
                    found += usize::from(self.is_new(index)?.inspect(|hash| hashes[before] = *hash).is_some());
                    count -= times;
                }
                Piece::Each(each) => {
                    for index in each {
                        if let Some(hash) = self.is_new(*index)? {
                            hashes[found] = hash;
                            found += 1;
                        }
                    }
                    count -= each.len();
                }
            }
        }
        match count == 0 || !self.hashes.is_empty() {
            true => Ok(found),
            false => Err(Broken),
        }
    }

    #[inline]
    fn is_new(&mut self, index: u32) -> Result<Option<u64>, Broken> {
        let index = index as usize;
        let seen = self.seen.get_mut(index).ok_or(Broken)?;
        if *seen {
            return Ok(None);
        }
        *seen = true;
        self.unseen -= 1;
        Ok(Some(self.hashes[index]))
    }
}

/// The definition levels and the values of a page of data.
fn split(page: &Page, is_nullable: bool) -> Result<(Buffer, Buffer), Failure> {
    let cut = || Failure::Bad("a page ends within its levels".to_owned());
    let bytes = Buffer::from(page.buffer().clone());
    match page {
        Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
            let (of_lists, of_nulls) = (*rep_levels_byte_len as usize, *def_levels_byte_len as usize);
            let values = of_lists.checked_add(of_nulls).filter(|end| *end <= bytes.len()).ok_or_else(cut)?;
            Ok((bytes.slice_with_length(of_lists, of_nulls), bytes.slice(values)))
        }
        Page::DataPage { def_level_encoding, .. } if is_nullable => {
            if *def_level_encoding != Encoding::RLE {
                return Err(Failure::Bad(format!("a page has levels in the old encoding {def_level_encoding}")));
            }
            let (length, behind) = bytes.split_first_chunk().ok_or_else(cut)?;
            let length = u32::from_le_bytes(*length) as usize;
            if length > behind.len() {
                return Err(cut());
            }
            Ok((bytes.slice_with_length(4, length), bytes.slice(4 + length)))
        }
        _ => Ok((Buffer::from(&[][..]), bytes)),
    }
}
