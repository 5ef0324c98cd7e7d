//! A file's first contents: pages that no device can compress or take for one another, each with a header that says
//! which page of which file it is, so that a read-back can tell a page that was never written from one that was.
//!
//! ```text
//! page (4096 bytes): | seed (8) | byte offset (8) | numbers drawn from both ............ |
//! ```

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::buffers::Buffers;
use crate::script::Random;

const PAGE_BYTES: usize = 4096;
/// Of one write.
const CHUNK_BYTES: usize = 1 << 20;

/// Writes `bytes` (a multiple of the page), then flushes. Returns the bytes written, fewer where `stop` ended it.
pub(super) fn fill(file: &File, bytes: u64, seed: u64, stop: &AtomicBool) -> io::Result<u64> {
    let mut buffers = Buffers::new(1, CHUNK_BYTES, seed);
    let mut written = 0;
    while written < bytes && !stop.load(Ordering::Relaxed) {
        let count = CHUNK_BYTES.min((bytes - written) as usize);
        let chunk = &mut buffers.get_mut(0)[..count];
        for (number, page) in chunk.chunks_exact_mut(PAGE_BYTES).enumerate() {
            write_page(page, seed, written + (number * PAGE_BYTES) as u64);
        }
        file.write_all_at(chunk, written)?;
        written += count as u64;
    }
    file.sync_all()?;
    Ok(written)
}

/// How many of these pages hold what was written there.
pub(super) fn verify(file: &File, offsets: &[u64], seed: u64) -> io::Result<u64> {
    let mut buffers = Buffers::new(2, PAGE_BYTES, 0);
    let mut right = 0;
    for &offset in offsets {
        file.read_exact_at(buffers.get_mut(0), offset)?;
        write_page(buffers.get_mut(1), seed, offset);
        let (found, expected) = buffers.all_mut().split_at(PAGE_BYTES);
        right += u64::from(found == expected);
    }
    Ok(right)
}

fn write_page(page: &mut [u8], seed: u64, offset: u64) {
    page[..8].copy_from_slice(&seed.to_le_bytes());
    page[8..16].copy_from_slice(&offset.to_le_bytes());
    let mut random = Random::from_seed(seed ^ offset);
    for word in page[16..].chunks_exact_mut(8) {
        word.copy_from_slice(&random.next_u64().to_le_bytes());
    }
}
