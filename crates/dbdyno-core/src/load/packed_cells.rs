//! The cells of a trial as one text. As lists of numbers they were three quarters of a trial's record, and reading
//! and walking them took longer than everything else that is done with ten thousand trials.
//!
//! ```text
//! base64( zlib( n u32 | m u32
//!   chunk u16 x n | bin u16 x n | rows u16 x n | event u16 x m
//!   units u64 x n | response_ns u64 x n | queue_ns u64 x n | cpu_step_ns u64 x n | run_queue_step_ns u64 x n
//!   seen u64 x m | looked u64 x m | asleep u64 x m ) )
//! ```
//!
//! n cells; m rows of snapshots, those of the first cell first: a cell has `rows` of them. Little-endian.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::{Serialize, Serializer};

use super::outcome::{CellOutcome, SnapshotsOutcome};

/// For `serialize_with`; no cells are an empty text.
pub(super) fn serialize<S: Serializer>(cells: &[CellOutcome], serializer: S) -> Result<S::Ok, S::Error> {
    if cells.is_empty() { "".serialize(serializer) } else { packed(cells).serialize(serializer) }
}

fn packed(cells: &[CellOutcome]) -> String {
    let rows: Vec<&SnapshotsOutcome> = cells.iter().flat_map(|cell| &cell.7).collect();
    let mut bytes = Vec::with_capacity(8 + cells.len() * 46 + rows.len() * 26);
    for count in [cells.len(), rows.len()] {
        bytes.extend((count as u32).to_le_bytes());
    }
    let small: [fn(&CellOutcome) -> usize; 3] = [|cell| cell.0, |cell| cell.1, |cell| cell.7.len()];
    for column in small {
        bytes.extend(cells.iter().flat_map(|cell| (column(cell) as u16).to_le_bytes()));
    }
    bytes.extend(rows.iter().flat_map(|row| (row.0 as u16).to_le_bytes()));
    let sums: [fn(&CellOutcome) -> u64; 5] =
        [|cell| cell.2, |cell| cell.3, |cell| cell.4, |cell| cell.5, |cell| cell.6];
    for column in sums {
        bytes.extend(cells.iter().flat_map(|cell| column(cell).to_le_bytes()));
    }
    let counts: [fn(&SnapshotsOutcome) -> u64; 3] = [|row| row.1, |row| row.2, |row| row.3];
    for column in counts {
        bytes.extend(rows.iter().flat_map(|row| column(row).to_le_bytes()));
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&bytes).expect("a Vec takes every write");
    STANDARD.encode(encoder.finish().expect("a Vec takes every write"))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;

    use super::*;

    #[test]
    fn columns_follow_one_another() {
        let snapshots = vec![SnapshotsOutcome(0, 3, 1, 0), SnapshotsOutcome(2, 9, 1, 1)];
        let cells = [
            CellOutcome(0, 301, 12, 13_000_000, 5, 90_000, 4_000, snapshots),
            CellOutcome(1, 7, 1, 2, 3, 4, 5, vec![]),
        ];
        let compressed = STANDARD.decode(packed(&cells)).expect("base64");
        let mut bytes = Vec::new();
        ZlibDecoder::new(compressed.as_slice()).read_to_end(&mut bytes).expect("zlib");
        let (head, rest) = bytes.split_at(8);
        let (small, large) = rest.split_at(2 * (3 * 2 + 2));
        assert_eq!([2, 0, 0, 0, 2, 0, 0, 0], head);
        let small: Vec<u16> = small.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
        assert_eq!(vec![0, 1, 301, 7, 2, 0, 0, 2], small);
        let large: Vec<u64> =
            large.chunks_exact(8).map(|eight| u64::from_le_bytes(eight.try_into().expect("eight"))).collect();
        assert_eq!(vec![12, 1, 13_000_000, 2, 5, 3, 90_000, 4, 4_000, 5, 3, 9, 1, 1, 0, 1], large);
    }
}
