//! Readers of files that were made to break them.

use std::cell::RefCell;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Once;

use super::bad_file::{bad_file, unreadable};
use crate::error::Result;

thread_local! {
    /// The file that was opened last, while files are read.
    static OPEN: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// Opens a file; whoever panics now panics over it.
pub(super) fn open(path: &Path) -> Result<File> {
    OPEN.set(Some(path.to_owned()));
    File::open(path).map_err(|error| unreadable(path, &error))
}

/// Reads; where one of the libraries for a format panics, that is an error of the file, in one line.
pub(super) fn reading<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            if OPEN.with_borrow(Option::is_none) {
                before(panicked);
            }
        }));
    });
    let outcome = panic::catch_unwind(AssertUnwindSafe(read));
    let open = OPEN.take();
    outcome.unwrap_or_else(|cause| {
        let Some(path) = open else { panic::resume_unwind(cause) };
        let what = cause.downcast_ref::<&str>().copied().or_else(|| cause.downcast_ref::<String>().map(String::as_str));
        let broken = format!("it is broken: {}", what.unwrap_or("its reader gave up"));
        Err(bad_file(&path, broken))
    })
}
