//! One source, compiled for what processors have: every form must make the same of the same values. Alone in its
//! process, because the form is chosen for all of it.

use dbdyno_core::sketch::file::{StoredColumn, write};
use dbdyno_core::sketch::{Column, HashId, Instructions, Precision, hash};

/// The file of a column with all of `values`, in blocks that are not those of the loops.
fn file_of(values: &[u64]) -> Vec<u8> {
    let mut column = Column::new(Precision::LOWEST);
    let mut hashes = vec![0; values.len()];
    hash::fixed64(1, values, &mut hashes);
    hashes.chunks(149).for_each(|block| column.add_hashes(block));
    let (name, type_name) = (String::new(), String::new());
    write(&[StoredColumn { name, type_name, hash_id: HashId::Dbdyno1, seed: 1, rows: u64::MAX, nulls: 0, column }])
}

#[test]
fn every_processor_makes_the_same_file() {
    // Kept hashes; registers of which some are empty; registers of which none is, so that most hashes are passed over.
    for different in [10, 5000, 9000, 300_000] {
        let values: Vec<u64> = (0..300_000).map(|value| value % different).collect();
        Instructions::Portable.use_at_most();
        let portable = file_of(&values);
        for better in [Instructions::Avx2, Instructions::Avx512] {
            let in_use = better.use_at_most();
            assert!(portable == file_of(&values), "{in_use:?}, {different} different values");
        }
    }
}
