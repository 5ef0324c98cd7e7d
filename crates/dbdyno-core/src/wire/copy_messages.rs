//! The messages of a COPY to the client, and the pieces of its data where they lie in what was read.
//!
//! ```text
//!  one read   ...ata] 'd' [ data ] 'd' [ data ] 'd' [ da...
//!  pieces       ^^^         ^^^^         ^^^^         ^^    nothing is copied; a message may come in several
//! ```

use super::server_error::ServerError;

const HEADER_BYTES: usize = 5;

/// What lies between one read and the next.
#[derive(Debug)]
pub(super) struct CopyMessages {
    columns: usize,
    has_begun: bool,
    /// Of the CopyData under way, so many bytes are still to come.
    data_left: usize,
    /// Any other message, or the head of one, as far as it has come.
    other: Vec<u8>,
}

/// How a COPY ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CopyEnd {
    /// The server is ready for the next query.
    Complete,
    /// The server refused to begin or to go on.
    Failed(ServerError),
    /// The statement was something else.
    Unexpected(String),
}

impl CopyMessages {
    /// Of a statement that has just been sent.
    pub(super) fn new(columns: usize) -> Self {
        Self { columns, has_begun: false, data_left: 0, other: Vec::new() }
    }

    /// Hands each piece of data in `bytes`, what one read brought, to `data`; Some when the COPY is over.
    #[inline]
    pub(super) fn take<E>(
        &mut self,
        mut bytes: &[u8],
        data: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Option<CopyEnd>, E> {
        while !bytes.is_empty() {
            if self.data_left > 0 {
                let (piece, rest) = bytes.split_at(self.data_left.min(bytes.len()));
                self.data_left -= piece.len();
                bytes = rest;
                data(piece)?;
            } else if let (true, [b'd', a, b, c, d, rest @ ..]) = (self.other.is_empty(), bytes) {
                self.data_left = data_bytes([*a, *b, *c, *d]);
                bytes = rest;
            } else {
                let end;
                (end, bytes) = self.take_other(bytes);
                if end.is_some() {
                    return Ok(end);
                }
            }
        }
        Ok(None)
    }

    /// A message that is not data, or whose head is cut: collected until it is whole.
    fn take_other<'a>(&mut self, bytes: &'a [u8]) -> (Option<CopyEnd>, &'a [u8]) {
        let wanted = match self.other.first_chunk::<HEADER_BYTES>() {
            None => HEADER_BYTES,
            Some([_, length @ ..]) => HEADER_BYTES + data_bytes(*length),
        };
        let (piece, rest) = bytes.split_at((wanted - self.other.len()).min(bytes.len()));
        self.other.extend_from_slice(piece);
        let Some([tag, length @ ..]) = self.other.first_chunk::<HEADER_BYTES>() else { return (None, rest) };
        if *tag == b'd' {
            self.data_left = data_bytes(*length);
            self.other.clear();
            return (None, rest);
        }
        if self.other.len() < HEADER_BYTES + data_bytes(*length) {
            return (None, rest);
        }
        let body = &self.other[HEADER_BYTES..];
        let end = match tag {
            b'H' => {
                self.has_begun = true;
                wrong_format(body, self.columns).map(CopyEnd::Unexpected)
            }
            b'E' => Some(CopyEnd::Failed(ServerError::parse(body))),
            b'Z' if self.has_begun => Some(CopyEnd::Complete),
            b'Z' => Some(CopyEnd::Unexpected("it is no COPY ... TO STDOUT".to_owned())),
            // CopyDone, CommandComplete, and what a server may say at any time.
            _ => None,
        };
        self.other.clear();
        (end, rest)
    }
}

/// What is wrong with a CopyOutResponse: the format of all, the number of columns, the format of each.
fn wrong_format(body: &[u8], columns: usize) -> Option<String> {
    const BINARY: u8 = 1;
    match body {
        [BINARY, high, low, ..] => {
            let sent = usize::from(u16::from_be_bytes([*high, *low]));
            (sent != columns).then(|| format!("it sends {sent} columns where {columns} are expected"))
        }
        _ => Some("its format is not binary".to_owned()),
    }
}

/// A message's length counts itself, but not its type.
fn data_bytes(length: [u8; 4]) -> usize {
    (u32::from_be_bytes(length) as usize).saturating_sub(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::encode::message;

    fn stream(messages: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        messages.iter().for_each(|(tag, body)| message(&mut bytes, *tag, |out| out.extend_from_slice(body)));
        bytes
    }

    const TWO_BINARY: (u8, &[u8]) = (b'H', &[1, 0, 2, 0, 1, 0, 1]);

    /// The data behind one another, and how it ended, when the stream comes in these reads.
    fn collected(reads: &[&[u8]]) -> (Vec<u8>, Option<CopyEnd>) {
        let (mut messages, mut data) = (CopyMessages::new(2), Vec::new());
        let mut end = None;
        for read in reads {
            let mut keep = |piece: &[u8]| -> Result<(), ()> {
                data.extend_from_slice(piece);
                Ok(())
            };
            end = end.or(messages.take(read, &mut keep).expect("keeping cannot fail"));
        }
        (data, end)
    }

    #[test]
    fn any_two_cuts_give_the_same_data_and_end() {
        let whole = stream(&[
            TWO_BINARY,
            (b'd', b"head"),
            (b'N', b"notice"),
            (b'd', b""),
            (b'd', b"row"),
            (b'c', b""),
            (b'Z', b"I"),
        ]);
        for first in 0..=whole.len() {
            for second in first..=whole.len() {
                let reads = [&whole[..first], &whole[first..second], &whole[second..]];
                assert_eq!((b"headrow".to_vec(), Some(CopyEnd::Complete)), collected(&reads), "{first} {second}");
            }
        }
    }

    #[test]
    fn a_server_error_ends_it_wherever_it_is_cut() {
        let whole = stream(&[TWO_BINARY, (b'd', b"row"), (b'E', b"SERROR\0C57014\0Mcanceled\0\0")]);
        for cut in 0..=whole.len() {
            let (data, end) = collected(&[&whole[..cut], &whole[cut..]]);
            let Some(CopyEnd::Failed(error)) = end else { panic!("{cut}: {end:?}") };
            assert_eq!((b"row".as_slice(), "57014"), (data.as_slice(), error.sqlstate.as_str()), "{cut}");
        }
    }

    #[test]
    fn only_a_binary_copy_of_so_many_columns_is_taken() {
        let refused = [
            (stream(&[(b'H', &[1, 0, 3, 0, 1, 0, 1, 0, 1])]), "it sends 3 columns where 2 are expected"),
            (stream(&[(b'H', &[0, 0, 2, 0, 0, 0, 0])]), "its format is not binary"),
            (stream(&[(b'D', &[0, 0]), (b'C', b"SELECT 1\0"), (b'Z', b"I")]), "it is no COPY ... TO STDOUT"),
        ];
        for (bytes, why) in refused {
            assert_eq!(Some(CopyEnd::Unexpected(why.to_owned())), collected(&[&bytes]).1);
        }
    }

    #[test]
    fn whoever_takes_the_data_may_refuse_it() {
        let mut refuse = |_: &[u8]| Err("refused");
        assert_eq!(Err("refused"), CopyMessages::new(1).take(&stream(&[(b'd', b"row")]), &mut refuse));
    }
}
