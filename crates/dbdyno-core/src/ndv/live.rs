//! A running scan seen from outside.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::clock;
use crate::error::{CoreError, Result};

/// Where the connections say how far they are, and are told to end.
#[derive(Debug, Default)]
pub struct Board {
    stop: AtomicBool,
    begun: OnceLock<Begun>,
    rows: AtomicU64,
    bytes: AtomicU64,
}

#[derive(Debug)]
struct Begun {
    at_ns: u64,
    rows_expected: u64,
}

impl Board {
    /// Ends the scan soon: it gives the error `interrupted`, and leaves no session behind.
    pub fn request_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// # Errors
    /// `interrupted`, when somebody wants that.
    pub(super) fn check(&self) -> Result<()> {
        match self.is_stopped() {
            false => Ok(()),
            true => Err(CoreError::new("interrupted", "the scan was interrupted; nothing was kept")),
        }
    }

    /// Rows are about to come; the time of it.
    pub(super) fn begin(&self, rows_expected: u64) -> u64 {
        self.begun.get_or_init(|| Begun { at_ns: clock::now_ns(), rows_expected }).at_ns
    }

    /// So many more have come.
    pub(super) fn add(&self, rows: u64, bytes: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The scan as it is now, as JSON (docs/architecture.md, "Distinct counts"); None before it has begun.
    pub fn text(&self) -> Option<String> {
        let begun = self.begun.get()?;
        let text = serde_json::json!({
            "rows": self.rows.load(Ordering::Relaxed),
            "bytes": self.bytes.load(Ordering::Relaxed),
            "elapsed_ns": clock::now_ns() - begun.at_ns,
            "rows_expected": begun.rows_expected,
        });
        Some(text.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_connections_add_is_shown_together() {
        let board = Board::default();
        assert_eq!(None, board.text());
        board.begin(30);
        board.add(10, 200);
        board.add(5, 100);
        let shown: serde_json::Value = serde_json::from_str(&board.text().expect("begun")).expect("JSON");
        assert_eq!(
            (15, 300, 30),
            (
                shown["rows"].as_u64().expect("a number"),
                shown["bytes"].as_u64().expect("a number"),
                shown["rows_expected"].as_u64().expect("a number"),
            )
        );
    }
}
