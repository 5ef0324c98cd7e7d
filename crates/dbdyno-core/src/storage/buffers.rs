//! Memory for I/O: aligned, and filled with bytes that no device can compress.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use crate::script::Random;

/// Satisfies every device that states an alignment (STATX_DIOALIGN), and is the size of a memory page.
pub(super) const ALIGNMENT: usize = 4096;

/// Equal buffers, one after the other.
#[derive(Debug)]
pub(super) struct Buffers {
    start: NonNull<u8>,
    layout: Layout,
    each: usize,
}

impl Buffers {
    /// `count` of `each` bytes, filled from `seed`.
    pub(super) fn new(count: usize, each: usize, seed: u64) -> Self {
        let layout = Layout::from_size_align(count * each, ALIGNMENT).expect("sizes of I/Os are far from overflow");
        // SAFETY: the layout has a size above zero: there is at least one I/O of at least one byte.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        let mut buffers = Self { start, layout, each };
        let mut random = Random::from_seed(seed);
        for chunk in buffers.all_mut().chunks_mut(8) {
            chunk.copy_from_slice(&random.next_u64().to_le_bytes()[..chunk.len()]);
        }
        buffers
    }

    pub(super) fn count(&self) -> usize {
        self.layout.size() / self.each
    }

    pub(super) fn bytes_each(&self) -> usize {
        self.each
    }

    /// Where one begins; the kernel reads and writes it while an I/O is in flight.
    pub(super) fn pointer(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.count());
        // SAFETY: within the allocation, by the assertion.
        unsafe { self.start.as_ptr().add(slot * self.each) }
    }

    pub(super) fn all_mut(&mut self) -> &mut [u8] {
        // SAFETY: the allocation is as long as its layout says, initialised, and borrowed for as long as the slice.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }

    /// Ends at the first byte that is none, so it costs nothing with real data.
    pub(super) fn is_zero(&mut self, slot: usize) -> bool {
        self.get_mut(slot).iter().all(|byte| *byte == 0)
    }

    pub(super) fn get_mut(&mut self, slot: usize) -> &mut [u8] {
        let each = self.each;
        &mut self.all_mut()[slot * each..(slot + 1) * each]
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and nobody else frees it.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

// SAFETY: the memory is owned, like that of a Vec.
unsafe impl Send for Buffers {}
