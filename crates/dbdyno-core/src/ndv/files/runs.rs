//! Parquet's numbers of few bits: definition levels, and indices into a dictionary.
//!
//! ```text
//! header: a varint      even: header / 2 times the value that follows, in whole bytes
//!                       odd:  header / 2 times eight values, bit by bit, the first in the least bits
//! ```

/// A stream of them is not what it should be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// A stream of numbers of so many bits.
#[derive(Clone, Debug)]
pub(super) struct Runs<'a> {
    bytes: &'a [u8],
    width: u32,
    run: Run<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Run<'a> {
    Same { value: u32, left: usize },
    Packed { bytes: &'a [u8], next: usize, left: usize },
}

/// What lies together.
pub(super) enum Piece<'a> {
    /// One value, several times.
    Same(u32, usize),
    /// Values, each once.
    Each(&'a [u32]),
}

/// Values that are unpacked at a time.
pub(super) const PIECE_MAX: usize = 256;

impl<'a> Runs<'a> {
    /// Of at most 32 bits.
    pub(super) fn new(bytes: &'a [u8], width: u32) -> Result<Self, Broken> {
        if width > u32::BITS {
            return Err(Broken);
        }
        Ok(Self { bytes, width, run: Run::Same { value: 0, left: 0 } })
    }

    /// The next numbers, `most` at most and one at least.
    pub(super) fn next<'b>(&mut self, most: usize, room: &'b mut [u32; PIECE_MAX]) -> Result<Piece<'b>, Broken> {
        self.fill()?;
        match &mut self.run {
            Run::Same { value, left } => {
                let count = most.min(*left);
                *left -= count;
                Ok(Piece::Same(*value, count))
            }
            Run::Packed { bytes, next, left } => {
                let count = most.min(*left).min(PIECE_MAX);
                unpack(bytes, self.width, *next, &mut room[..count]);
                *next += count;
                *left -= count;
                Ok(Piece::Each(&room[..count]))
            }
        }
    }

    /// How many of the next numbers, of one bit each, are 1.
    pub(super) fn ones(&mut self, mut count: usize) -> Result<usize, Broken> {
        let mut ones = 0;
        while count > 0 {
            self.fill()?;
            let taken = match &mut self.run {
                Run::Same { value, left } => {
                    let taken = count.min(*left);
                    *left -= taken;
                    ones += taken * *value as usize;
                    taken
                }
                Run::Packed { bytes, next, left } => {
                    let taken = count.min(*left);
                    ones += ones_between(bytes, *next, *next + taken);
                    *next += taken;
                    *left -= taken;
                    taken
                }
            };
            count -= taken;
        }
        Ok(ones)
    }

    /// Begins the next run if the last one is over.
    fn fill(&mut self) -> Result<(), Broken> {
        while let Run::Same { left: 0, .. } | Run::Packed { left: 0, .. } = self.run {
            let header = self.varint()?;
            let length = usize::try_from(header >> 1).map_err(|_| Broken)?;
            if header & 1 == 0 {
                let bytes = self.take(self.width.div_ceil(8) as usize)?;
                let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
                if self.width < u32::BITS && value >> self.width != 0 {
                    return Err(Broken);
                }
                self.run = Run::Same { value, left: length };
            } else {
                // The last run of a page may be cut off behind its last value.
                let wanted = length.checked_mul(self.width as usize).ok_or(Broken)?;
                let bytes = self.take(wanted.min(self.bytes.len()))?;
                self.run = match self.width {
                    0 => Run::Same { value: 0, left: length.checked_mul(8).ok_or(Broken)? },
                    width => Run::Packed { bytes, next: 0, left: bytes.len() * 8 / width as usize },
                };
            }
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, Broken> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Broken)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Broken)?;
        self.bytes = rest;
        Ok(taken)
    }
}

/// Unpacks values from the one with this number on; all of them lie in the bytes.
fn unpack(bytes: &[u8], width: u32, first: usize, values: &mut [u32]) {
    let (width, mask) = (width as usize, ((1_u64 << width) - 1) as u32);
    for (place, value) in values.iter_mut().enumerate() {
        let bit = (first + place) * width;
        let from = &bytes[bit / 8..];
        let word = match from.first_chunk::<8>() {
            Some(eight) => u64::from_le_bytes(*eight),
            None => from.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        *value = (word >> (bit % 8)) as u32 & mask;
    }
}

/// Bits that are set from one on and before another.
fn ones_between(bytes: &[u8], from: usize, to: usize) -> usize {
    let bits = |byte: usize| {
        let begin = from.saturating_sub(byte * 8).min(8) as u32;
        let end = (to - byte * 8).min(8) as u32;
        let mask = ((1_u32 << end) - 1) & !((1_u32 << begin) - 1);
        (u32::from(bytes[byte]) & mask).count_ones() as usize
    };
    (from / 8..to.div_ceil(8)).map(bits).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn varint(mut value: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    /// Values in runs of these kinds: the same value so often, or groups of eight.
    fn written(runs: &[(bool, Vec<u32>)], width: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (packed, values) in runs {
            if *packed {
                bytes.extend(varint((values.len() / 8) << 1 | 1));
                let mut bits = vec![0; values.len() * width as usize / 8];
                for (place, value) in values.iter().enumerate() {
                    for bit in (0..width as usize).filter(|bit| value >> bit & 1 == 1) {
                        let at = place * width as usize + bit;
                        bits[at / 8] |= 1 << (at % 8);
                    }
                }
                bytes.extend(bits);
            } else {
                bytes.extend(varint(values.len() << 1));
                bytes.extend(&values[0].to_le_bytes()[..width.div_ceil(8) as usize]);
            }
        }
        bytes
    }

    fn read(bytes: &[u8], width: u32, count: usize, most: usize) -> Result<Vec<u32>, Broken> {
        let (mut runs, mut values, mut room) = (Runs::new(bytes, width)?, Vec::new(), [0; PIECE_MAX]);
        while values.len() < count {
            match runs.next(most.min(count - values.len()), &mut room)? {
                Piece::Same(value, times) => values.extend(vec![value; times]),
                Piece::Each(each) => values.extend(each),
            }
        }
        Ok(values)
    }

    fn runs(width: u32) -> impl Strategy<Value = Vec<(bool, Vec<u32>)>> {
        let mask = ((1_u64 << width) - 1) as u32;
        let packed = proptest::collection::vec(any::<u32>().prop_map(move |value| value & mask), 1..50).prop_map(
            |mut values| {
                values.resize(values.len().next_multiple_of(8), 0);
                (true, values)
            },
        );
        let same = (any::<u32>(), 1..100_usize).prop_map(move |(value, times)| (false, vec![value & mask; times]));
        proptest::collection::vec(prop_oneof![packed, same], 1..6)
    }

    proptest! {
        #[test]
        fn numbers_come_out_as_they_went_in(
            (width, runs) in (1u32..=32).prop_flat_map(|width| (Just(width), runs(width))), most in 1usize..300,
        ) {
            let values: Vec<u32> = runs.iter().flat_map(|(_, values)| values.clone()).collect();
            let bytes = written(&runs, width);
            prop_assert_eq!(Ok(values.clone()), read(&bytes, width, values.len(), most));
            prop_assert_eq!(Err(Broken), read(&bytes, width, values.len() + 1, most));
        }

        #[test]
        fn ones_are_counted_piece_by_piece(runs in runs(1), piece in 1usize..70) {
            let values: Vec<u32> = runs.iter().flat_map(|(_, values)| values.clone()).collect();
            let bytes = written(&runs, 1);
            let mut levels = Runs::new(&bytes, 1).expect("a bit");
            for piece in values.chunks(piece) {
                let expected = piece.iter().sum::<u32>() as usize;
                prop_assert_eq!(Ok(expected), levels.ones(piece.len()));
            }
        }

        #[test]
        fn nonsense_is_refused_and_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60), width in 0u32..=33) {
            let _ = read(&bytes, width, 1000, 7);
            let _ = Runs::new(&bytes, width).and_then(|mut levels| levels.ones(1000));
        }
    }
}
