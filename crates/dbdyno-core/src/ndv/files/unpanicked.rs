//! Readers of files that were made to break them.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use super::super::source_spec::FilesSpec;
use crate::error::{CoreError, Result};

thread_local! {
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

/// Reads; where one of the libraries for a format panics, that is an error of the files, in one line.
pub(super) fn reading<T>(files: &FilesSpec, read: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            if !IS_READING.get() {
                before(panicked);
            }
        }));
    });
    IS_READING.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(read));
    IS_READING.set(false);
    outcome.unwrap_or_else(|cause| {
        let what = cause.downcast_ref::<&str>().copied().or_else(|| cause.downcast_ref::<String>().map(String::as_str));
        let paths: Vec<_> = files.paths.iter().map(|path| path.display().to_string()).collect();
        let message = format!("{}: the file is broken: {}", paths.join(", "), what.unwrap_or("its reader gave up"));
        Err(CoreError::new("bad_file", message))
    })
}
