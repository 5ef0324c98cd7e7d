//! A generated row allocates nothing: a chunk is one buffer, however many rows it has.

mod counting;

use counting::allocations;
use dbdyno_core::generate::{chunk, tables};

#[test]
fn a_chunk_is_one_allocation() {
    for generator in ["order-entry", "web-returns"] {
        for size in tables(generator, 1).unwrap() {
            let before = allocations();
            let bytes = chunk(generator, size.table, 1, 1, 0).unwrap();
            assert_eq!(1, allocations() - before, "{}: {} bytes", size.table, bytes.len());
        }
    }
}
