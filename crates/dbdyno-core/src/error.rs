//! What the core says when it cannot go on: a stable code and one line that names what to do.

/// A failure that the caller can act on. The message never holds a secret and never a line break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CoreError {
    /// Stable, snake_case: `unreachable`, `authentication_failed`, `not_admitted`, `tls`, `unsupported_server`,
    /// `connection_lost`, `script_syntax`, `script_runtime`, `sql_error`, `spec_invalid`, `io`,
    /// `interrupted`, `unknown_generator`, `unknown_table`, `unknown_chunk`, `bad_scale`, `not_watchable`, `trace_refused`,
    /// `scan_failed`, `bad_file`, `sketch_invalid`, `sketch_file`, `sketches_differ`.
    pub code: &'static str,
    /// The key or place, what was seen, what to do.
    pub message: String,
}

impl CoreError {
    /// An error of this code; line breaks in the message become spaces.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let message: String = message.into();
        let message = if message.contains(['\n', '\r']) {
            message.split_whitespace().collect::<Vec<_>>().join(" ")
        } else {
            message
        };
        Self { code, message }
    }
}

/// `Result` with this crate's error.
pub type Result<T, E = CoreError> = std::result::Result<T, E>;
