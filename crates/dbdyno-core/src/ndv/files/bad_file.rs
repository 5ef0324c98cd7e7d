//! What is said of a file that cannot be counted.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::error::CoreError;

/// The file, and what is wrong with it.
pub(super) fn bad_file(path: &Path, what: impl Display) -> CoreError {
    CoreError::new("bad_file", format!("{}: {what}", path.display()))
}

/// The file that the system does not let us read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> CoreError {
    match error.kind() {
        io::ErrorKind::NotFound => bad_file(path, "there is no such file"),
        _ => bad_file(path, format_args!("it cannot be read: {error}")),
    }
}
