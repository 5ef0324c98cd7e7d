//! Sketches of columns as a file, format 1. docs/sketch-file.md has the same for others who read it.
//!
//! ```text
//! file    magic 8 (89 44 59 4E 44 56 0D 0A) | format u32 | columns u32 | bytes of the whole file u64
//!         column ... | checksum u64: XXH3-64, seed 0, of all before it
//! column  hash u8 | precision u8 | kept u8 | 0 u8 | bytes of the name u32 | bytes of the type u32
//!         seed u64 | rows u64 | nulls u64 | kept hashes u32 | sampled hashes u32 | name | type
//!         kept = 0: the kept hashes, all there are, u64 each
//!         kept = 1: 2^precision registers, u8 each | the sampled hashes: none, or the 1,024 smallest, u64 each
//! ```
//!
//! Little-endian, nothing aligned; hashes ascending, each once. One content has one form: what is read is written again
//! as the same bytes.

mod counted;
mod documents;
mod merging;
mod reading;

pub use counted::from_server;
pub use documents::{estimates, merged, overlaps};
pub use merging::merge;
pub use reading::read;

use super::{Column, HashId, hash};

/// The first byte is no text, the last two show that nobody converted line ends.
const MAGIC: [u8; 8] = *b"\x89DYNDV\r\n";
const FORMAT: u32 = 1;
const HEADER_BYTES: usize = 24;
const CHECKSUM_BYTES: usize = 8;
const KEPT_HASHES: u8 = 0;
const KEPT_REGISTERS: u8 = 1;

/// A column, or a group of columns, and how its values became hashes.
#[derive(Clone, Debug)]
pub struct StoredColumn {
    /// Of the column; of a group the names of all.
    pub name: String,
    /// The server's or the file's word for it. Columns of different types are not merged.
    pub type_name: String,
    /// How values became hashes.
    pub hash_id: HashId,
    /// With which seed.
    pub seed: u64,
    /// All of them.
    pub rows: u64,
    /// Rows without a value.
    pub nulls: u64,
    /// Its values.
    pub column: Column,
}

/// The file of these columns.
#[must_use]
pub fn write(columns: &[StoredColumn]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(MAGIC);
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend((columns.len() as u32).to_le_bytes());
    bytes.extend([0; 8]);
    columns.iter().for_each(|column| column.write(&mut bytes));
    let length = (bytes.len() + CHECKSUM_BYTES) as u64;
    bytes[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
    bytes.extend(hash::bytes(0, &bytes).to_le_bytes());
    bytes
}

impl StoredColumn {
    fn write(&self, bytes: &mut Vec<u8>) {
        let sketch = self.column.sketch();
        let kept = sketch.exact_hashes();
        let sampled = match &kept {
            Some(_) => Vec::new(),
            None => self.column.smallest().map(|smallest| smallest.hashes()).unwrap_or_default(),
        };
        let kind = if kept.is_some() { KEPT_HASHES } else { KEPT_REGISTERS };
        let kept = kept.unwrap_or_default();
        bytes.extend([self.hash_id as u8, sketch.precision().bits() as u8, kind, 0]);
        bytes.extend((self.name.len() as u32).to_le_bytes());
        bytes.extend((self.type_name.len() as u32).to_le_bytes());
        bytes.extend([self.seed, self.rows, self.nulls].into_iter().flat_map(u64::to_le_bytes));
        bytes.extend((kept.len() as u32).to_le_bytes());
        bytes.extend((sampled.len() as u32).to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes.extend(self.type_name.as_bytes());
        bytes.extend(kept.into_iter().flat_map(u64::to_le_bytes));
        bytes.extend(sketch.registers().unwrap_or_default());
        bytes.extend(sampled.into_iter().flat_map(u64::to_le_bytes));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Precision, Sketch};
    use super::*;

    /// With the values 0 to `values` - 1, once each, and ten rows without.
    pub fn stored(name: &str, bits: u8, values: u64) -> StoredColumn {
        let mut column = Column::new(Precision::try_from(bits).expect("10 to 18"));
        let values: Vec<u64> = (0..values).collect();
        let mut hashes = vec![0; values.len()];
        hash::fixed64(5, &values, &mut hashes);
        column.add_hashes(&hashes);
        StoredColumn {
            name: name.into(),
            type_name: "bigint".into(),
            hash_id: HashId::Dbdyno1,
            seed: 5,
            rows: values.len() as u64 + 10,
            nulls: 10,
            column,
        }
    }

    /// Registers that a server computed.
    pub fn unsampled(name: &str) -> StoredColumn {
        let values: Vec<u8> = (0..1024).map(|register| (register % 7) as u8).collect();
        let sketch = Sketch::from_registers(Precision::LOWEST, values).expect("possible");
        let column = Column::from_parts(sketch, None);
        StoredColumn { hash_id: HashId::PostgresExtended, seed: 0, column, ..stored(name, 10, 0) }
    }

    #[test]
    fn the_bytes_are_those_of_the_documentation() {
        let file = write(&[stored("id", 14, 2), unsampled("größe")]);
        let header: [u8; 24] = [
            &b"\x89DYNDV\r\n"[..],
            &[1, 0, 0, 0],
            &[2, 0, 0, 0],
            &(24 + (44 + 8 + 16) + (44 + 7 + 6 + 1024) + 8_u64).to_le_bytes(),
        ]
        .concat()
        .try_into()
        .expect("24 bytes");
        assert_eq!(header, file[..24]);
        let first = [
            &[1, 14, 0, 0, 2, 0, 0, 0, 6, 0, 0, 0][..],
            &[5, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0],
            &[2, 0, 0, 0, 0, 0, 0, 0],
            b"idbigint",
        ];
        assert_eq!(first.concat(), file[24..76]);
        let second = &file[24 + 68..];
        assert_eq!([2, 10, 1, 0, 7, 0, 0, 0, 6, 0, 0, 0], second[..12]);
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 0], second[44 + 13..44 + 13 + 8]);
        assert_eq!(hash::bytes(0, &file[..file.len() - 8]).to_le_bytes(), file[file.len() - 8..]);
    }
}
