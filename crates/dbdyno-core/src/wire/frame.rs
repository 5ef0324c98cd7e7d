//! Cutting the server's byte stream into messages without copying or allocating.
//!
//! ```text
//!  one buffer per load thread          what a connection keeps between two reads
//! [ carry | just read .............. ]  carry: the head of a message that is not complete yet
//!   '2' 'D' 'C' 'Z' 'D' 'C' 'Z' 'D'-    skip:  bytes of a data row that nobody wants to see
//! ```

/// One message of the server. The body of a data row that is being discarded may be incomplete.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The message's type byte.
    pub tag: u8,
    /// What follows the length.
    pub body: &'a [u8],
}

/// What one connection keeps of its stream between two reads.
#[derive(Debug, Default)]
pub struct Remainder {
    carry: Vec<u8>,
    skip: usize,
}

impl Remainder {
    /// Puts the incomplete head of a message back at the front of `buffer`, grown if it must be, and
    /// returns its length: what is read next belongs behind it.
    pub(super) fn restore(&mut self, buffer: &mut Vec<u8>) -> usize {
        let length = self.carry.len();
        if length > 0 {
            if buffer.len() < 2 * length {
                buffer.resize(2 * length, 0);
            }
            buffer[..length].copy_from_slice(&self.carry);
            self.carry.clear();
        }
        length
    }

    /// Takes back what `restore` gave out, when nothing could be read behind it.
    pub(super) fn keep(&mut self, head: &[u8]) {
        self.carry.extend_from_slice(head);
    }
}

/// A scan over the bytes of one read.
#[derive(Debug)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    position: usize,
}

const HEADER_BYTES: usize = 5;

impl<'a> Frames<'a> {
    /// Starts behind what the connection had left to skip.
    pub fn new(bytes: &'a [u8], remainder: &mut Remainder) -> Self {
        let position = remainder.skip.min(bytes.len());
        remainder.skip -= position;
        Self { bytes, position }
    }

    /// The next message, or None when the rest is not complete: then the connection keeps it.
    /// With `discard_rows` a long data row is given out once, at its head, and never collected.
    pub fn next(&mut self, remainder: &mut Remainder, discard_rows: bool) -> Option<Frame<'a>> {
        let rest = &self.bytes[self.position..];
        if rest.len() < HEADER_BYTES {
            return self.keep(remainder);
        }
        let tag = rest[0];
        let length = u32::from_be_bytes([rest[1], rest[2], rest[3], rest[4]]) as usize;
        let end = 1 + length.max(4);
        if let Some(body) = rest.get(HEADER_BYTES..end) {
            self.position += end;
            return Some(Frame { tag, body });
        }
        if tag == b'D' && discard_rows {
            remainder.skip = end - rest.len();
            self.position = self.bytes.len();
            return Some(Frame { tag, body: &rest[HEADER_BYTES..] });
        }
        self.keep(remainder)
    }

    fn keep(&mut self, remainder: &mut Remainder) -> Option<Frame<'a>> {
        remainder.carry.extend_from_slice(&self.bytes[self.position..]);
        self.position = self.bytes.len();
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag];
        bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    /// Feeds the stream in pieces through a shared buffer, as the readiness loop does.
    fn scan(pieces: &[&[u8]], discard_rows: bool) -> Vec<(u8, usize)> {
        let (mut remainder, mut buffer, mut found) = (Remainder::default(), vec![0; 64], Vec::new());
        for piece in pieces {
            let kept = remainder.restore(&mut buffer);
            if buffer.len() < kept + piece.len() {
                buffer.resize(kept + piece.len(), 0);
            }
            buffer[kept..kept + piece.len()].copy_from_slice(piece);
            let mut frames = Frames::new(&buffer[..kept + piece.len()], &mut remainder);
            while let Some(frame) = frames.next(&mut remainder, discard_rows) {
                found.push((frame.tag, frame.body.len()));
            }
        }
        found
    }

    #[test]
    fn several_messages_in_one_read() {
        let bytes = [message(b'2', b""), message(b'D', b"row"), message(b'Z', b"I")].concat();
        assert_eq!(vec![(b'2', 0), (b'D', 3), (b'Z', 1)], scan(&[&bytes], false));
    }

    #[test]
    fn a_discarded_row_is_counted_once_and_never_collected() {
        let bytes = [message(b'D', &[7; 500]), message(b'Z', b"I")].concat();
        let pieces: Vec<&[u8]> = bytes.chunks(100).collect();
        let found = scan(&pieces, true);
        assert_eq!(vec![b'D', b'Z'], found.iter().map(|(tag, _)| *tag).collect::<Vec<_>>());
    }

    #[test]
    fn a_kept_row_is_given_out_whole() {
        let bytes = [message(b'D', &[7; 500]), message(b'Z', b"I")].concat();
        let pieces: Vec<&[u8]> = bytes.chunks(100).collect();
        assert_eq!(vec![(b'D', 500), (b'Z', 1)], scan(&pieces, false));
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_messages(
            bodies in proptest::collection::vec((0usize..4, 0usize..300), 1..20),
            cut in 1usize..97,
            discard_rows: bool,
        ) {
            let tags = [b'D', b'C', b'T', b'Z'];
            let stream: Vec<u8> = bodies.iter().flat_map(|(tag, length)| message(tags[*tag], &vec![0; *length])).collect();
            let pieces: Vec<&[u8]> = stream.chunks(cut).collect();
            let found = scan(&pieces, discard_rows);
            let expected: Vec<u8> = bodies.iter().map(|(tag, _)| tags[*tag]).collect();
            prop_assert_eq!(expected, found.iter().map(|(tag, _)| *tag).collect::<Vec<_>>());
        }
    }
}
