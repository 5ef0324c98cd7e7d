//! A file of sketches, believed only if all of it holds.

use super::super::{BottomK, Column, EXACT_LIMIT, HashId, Precision, Sketch, hash};
use super::{CHECKSUM_BYTES, FORMAT, HEADER_BYTES, KEPT_HASHES, KEPT_REGISTERS, MAGIC, StoredColumn};
use crate::error::{CoreError, Result};

/// The columns of a file.
///
/// # Errors
/// `sketch_file`: not such a file, of another format, cut off, damaged, or with a content that none can have.
pub fn read(file: &[u8]) -> Result<Vec<StoredColumn>> {
    let mut rest = Rest { bytes: checked_body(file)? };
    let columns = u32::from_le_bytes(file[12..16].try_into().expect("four bytes"));
    let columns: Result<Vec<StoredColumn>> = (0..columns).map(|_| rest.column()).collect();
    match rest.bytes.len() {
        0 => columns,
        more => columns.and(Err(invalid(format!("{more} bytes behind the last column")))),
    }
}

/// What lies between header and checksum.
fn checked_body(file: &[u8]) -> Result<&[u8]> {
    let Some(header) = file.get(..HEADER_BYTES) else {
        return Err(match MAGIC.starts_with(&file[..file.len().min(MAGIC.len())]) {
            true => refused(format!("cut off after {} bytes; copy it again", file.len())),
            false => no_sketch_file(),
        });
    };
    if header[..8] != MAGIC {
        return Err(no_sketch_file());
    }
    let format = u32::from_le_bytes(header[8..12].try_into().expect("four bytes"));
    if format != FORMAT {
        return Err(refused(format!("format {format}: this dbdyno reads format {FORMAT}; take the one that wrote it")));
    }
    let length = u64::from_le_bytes(header[16..24].try_into().expect("eight bytes"));
    let found = file.len() as u64;
    if found < length {
        return Err(refused(format!("cut off after {found} of {length} bytes; copy it again")));
    }
    if found > length || file.len() < HEADER_BYTES + CHECKSUM_BYTES {
        return Err(refused(format!("damaged: it says that it has {length} bytes and has {found}; copy it again")));
    }
    let (content, checksum) = file.split_at(file.len() - CHECKSUM_BYTES);
    if hash::bytes(0, content).to_le_bytes() != checksum {
        return Err(refused("damaged: its checksum does not hold; copy it again".into()));
    }
    Ok(&content[HEADER_BYTES..])
}

fn refused(message: String) -> CoreError {
    CoreError::new("sketch_file", message)
}

fn no_sketch_file() -> CoreError {
    refused("not a file of sketches; `dbdyno ndv` writes them".into())
}

fn invalid(what: String) -> CoreError {
    refused(format!("invalid: {what}; it was not written by dbdyno"))
}

/// What is not read yet.
struct Rest<'a> {
    bytes: &'a [u8],
}

impl<'a> Rest<'a> {
    fn column(&mut self) -> Result<StoredColumn> {
        let [hash_id, precision, kept, zero] = self.array()?;
        let [name_bytes, type_bytes] = [self.count()?, self.count()?];
        let [seed, rows, nulls] = [self.number()?, self.number()?, self.number()?];
        let [kept_hashes, sampled_hashes] = [self.count()?, self.count()?];
        let name = self.text(name_bytes)?;
        let type_name = self.text(type_bytes)?;
        let of_column = |what: &str| invalid(format!("column {name:?} has {what}"));
        let precision = Precision::try_from(precision).map_err(|error| of_column(&error.message))?;
        let hash_id = HashId::of_number(hash_id).ok_or_else(|| of_column(&format!("hash {hash_id}")))?;
        if zero != 0 || nulls > rows {
            return Err(of_column(&format!("{nulls} nulls in {rows} rows and {zero} where 0 should be")));
        }
        let column = match (kept, kept_hashes, sampled_hashes) {
            (KEPT_HASHES, 0..=EXACT_LIMIT, 0) => {
                let mut sketch = Sketch::new(precision);
                sketch.add_hashes(&self.hashes(kept_hashes)?);
                Column::from_parts(sketch, None)
            }
            (KEPT_REGISTERS, 0, 0 | BottomK::SIZE) => {
                let registers = self.take(precision.registers())?;
                let sketch = Sketch::from_registers(precision, registers).map_err(|error| of_column(&error.message))?;
                let sampled = self.hashes(sampled_hashes)?;
                Column::from_parts(sketch, (!sampled.is_empty()).then(|| BottomK::of(&sampled)))
            }
            _ => {
                return Err(of_column(&format!(
                    "{kept_hashes} kept and {sampled_hashes} sampled hashes of kind {kept}"
                )));
            }
        };
        Ok(StoredColumn { name, type_name, hash_id, seed, rows, nulls, column })
    }

    /// That many hashes, ascending.
    fn hashes(&mut self, count: usize) -> Result<Vec<u64>> {
        let bytes = self.take(count * 8)?;
        let hashes: Vec<u64> =
            bytes.chunks_exact(8).map(|eight| u64::from_le_bytes(eight.try_into().expect("eight"))).collect();
        match hashes.is_sorted_by(|first, second| first < second) {
            true => Ok(hashes),
            false => Err(invalid("hashes out of order".into())),
        }
    }

    fn text(&mut self, bytes: usize) -> Result<String> {
        let text = std::str::from_utf8(self.take(bytes)?).map_err(|_| invalid("a name that is not UTF-8".into()))?;
        Ok(text.to_owned())
    }

    fn number(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn count(&mut self) -> Result<usize> {
        self.array().map(u32::from_le_bytes).map(|count| count as usize)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N).map(|bytes| bytes.try_into().expect("as many as asked for"))
    }

    /// The next bytes. Nothing is allocated for a length that the file only claims.
    fn take(&mut self, bytes: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.bytes.split_at_checked(bytes).ok_or_else(|| invalid("a column longer than the file".into()))?;
        self.bytes = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{stored, unsampled};
    use super::super::write;
    use super::*;

    fn file() -> Vec<u8> {
        write(&[stored("few", 14, 40), stored("many", 10, 10_000), unsampled("sent"), stored("none", 18, 0)])
    }

    fn message(file: &[u8]) -> String {
        let error = read(file).expect_err("refused");
        assert_eq!("sketch_file", error.code);
        error.message
    }

    /// With the length and the checksum that belong to the content: the work of somebody who means it.
    fn sealed(mut file: Vec<u8>) -> Vec<u8> {
        let length = file.len() as u64;
        file[16..24].copy_from_slice(&length.to_le_bytes());
        let content = file.len() - 8;
        let checksum = hash::bytes(0, &file[..content]).to_le_bytes();
        file[content..].copy_from_slice(&checksum);
        file
    }

    #[test]
    fn what_is_written_is_read_again() {
        let read = read(&file()).expect("our own");
        let names: Vec<_> = read.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(["few", "many", "sent", "none"], names[..]);
        let (few, many, sent) = (&read[0], &read[1], &read[2]);
        assert_eq!(
            ("bigint", HashId::Dbdyno1, 5, 50, 10),
            (&*few.type_name, few.hash_id, few.seed, few.rows, few.nulls)
        );
        assert_eq!(40.0, few.column.sketch().estimate().distinct);
        assert_eq!(stored("", 10, 10_000).column.sketch().registers(), many.column.sketch().registers());
        assert_eq!(BottomK::SIZE, many.column.smallest().expect("kept").hashes().len());
        assert_eq!((HashId::PostgresExtended, true), (sent.hash_id, sent.column.smallest().is_none()));
        assert_eq!(file(), write(&read));
    }

    #[test]
    fn a_reader_says_why_it_refuses() {
        let good = file();
        let with = |place: usize, byte: u8| {
            let mut file = good.clone();
            file[place] = byte;
            file
        };
        assert_eq!("not a file of sketches; `dbdyno ndv` writes them", message(b"PAR1"));
        assert_eq!("not a file of sketches; `dbdyno ndv` writes them", message(&with(7, b'\r')));
        assert_eq!("cut off after 0 bytes; copy it again", message(b""));
        assert_eq!(format!("cut off after 100 of {} bytes; copy it again", good.len()), message(&good[..100]));
        assert_eq!("format 2: this dbdyno reads format 1; take the one that wrote it", message(&with(8, 2)));
        assert_eq!("damaged: its checksum does not hold; copy it again", message(&with(90, 77)));
        let longer = message(&[&good[..], b"\n"].concat());
        assert_eq!(
            format!("damaged: it says that it has {} bytes and has {}; copy it again", good.len(), good.len() + 1),
            longer
        );
        let precision = message(&sealed(with(25, 19)));
        assert_eq!(
            "invalid: column \"few\" has precision 19: it goes from 10 to 18; 14 is usual; it was not written by dbdyno",
            precision
        );
        assert_eq!("invalid: column \"few\" has hash 3; it was not written by dbdyno", message(&sealed(with(24, 3))));
        assert_eq!(
            "invalid: hashes out of order; it was not written by dbdyno",
            message(&sealed(with(24 + 44 + 9 + 7, 255)))
        );
        assert_eq!(
            "invalid: a column longer than the file; it was not written by dbdyno",
            message(&sealed(with(12, 5)))
        );
    }

    #[test]
    fn a_file_cut_off_anywhere_is_refused() {
        let good = file();
        assert!((0..good.len()).all(|length| read(&good[..length]).is_err()));
    }

    #[test]
    fn a_flipped_bit_anywhere_is_refused() {
        let mut file = write(&[stored("few", 14, 40), unsampled("sent")]);
        for place in 0..file.len() * 8 {
            let bit = 1 << (place % 8);
            file[place / 8] ^= bit;
            assert!(read(&file).is_err(), "bit {place}");
            file[place / 8] ^= bit;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn a_sealed_mutation_is_refused_or_the_only_form_of_what_it_says(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            // Half of the changes meet a column's head, where the lengths and kinds are.
            heads in proptest::collection::vec((0usize..68, prop_oneof![0u8..4, any::<u8>()]), 0..3),
            cut in proptest::option::of(any::<prop::sample::Index>()),
        ) {
            let mut file = write(&[stored("few", 14, 40), unsampled("sent")]);
            for (place, byte) in changes {
                let place = place.index(file.len());
                file[place] = byte;
            }
            for (place, byte) in heads {
                file[24 + place] = byte;
            }
            if let Some(cut) = cut {
                file.truncate(32.max(cut.index(file.len())));
            }
            let file = sealed(file);
            if let Ok(columns) = read(&file) {
                prop_assert_eq!(&file, &write(&columns));
                for column in columns {
                    let estimate = column.column.sketch().estimate();
                    prop_assert!(estimate.low.is_finite() && estimate.high.is_finite(), "{:?}", estimate);
                    prop_assert!(estimate.low <= estimate.distinct && estimate.distinct <= estimate.high);
                }
            }
        }
    }
}
