//! Reading seen from outside.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::clock;

/// Where the readers say how far they are, and are told to end.
#[derive(Debug, Default)]
pub struct Board {
    stop: AtomicBool,
    begun: OnceLock<Begun>,
    /// Of all files, as they lie on disk.
    bytes: AtomicU64,
    files: AtomicU64,
}

#[derive(Debug)]
struct Begun {
    at_ns: u64,
    bytes_expected: u64,
    files_expected: u64,
}

impl Board {
    /// Ends the reading soon; it gives the error `interrupted`.
    pub fn request_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn begin(&self, files_expected: u64, bytes_expected: u64) {
        self.begun.get_or_init(|| Begun { at_ns: clock::now_ns(), bytes_expected, files_expected });
    }

    pub(super) fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn add_file(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
    }

    /// As it is now, as JSON (docs/architecture.md, "Traces"); None before it has begun.
    pub fn text(&self) -> Option<String> {
        let begun = self.begun.get()?;
        let text = serde_json::json!({
            "files": self.files.load(Ordering::Relaxed),
            "files_expected": begun.files_expected,
            "bytes": self.bytes.load(Ordering::Relaxed),
            "bytes_expected": begun.bytes_expected,
            "elapsed_ns": clock::now_ns() - begun.at_ns,
        });
        Some(text.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_readers_add_is_shown_together() {
        let board = Board::default();
        assert_eq!(None, board.text());
        board.begin(2, 300);
        board.add_bytes(100);
        board.add_bytes(20);
        board.add_file();
        let shown: serde_json::Value = serde_json::from_str(&board.text().expect("begun")).expect("JSON");
        let figures = ["files", "files_expected", "bytes", "bytes_expected"].map(|key| shown[key].as_u64());
        assert_eq!([1, 2, 120, 300].map(Some), figures);
    }
}
