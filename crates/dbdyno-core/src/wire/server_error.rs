//! The server's ErrorResponse, taken apart only when one arrives.

/// What the server said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerError {
    /// `ERROR`, `FATAL` or `PANIC`, never translated.
    pub severity: String,
    /// Five characters.
    pub sqlstate: String,
    /// The primary message.
    pub message: String,
    /// More about it, if the server has more to say.
    pub detail: Option<String>,
}

impl ServerError {
    /// Reads the fields of an ErrorResponse body; unknown ones are passed over.
    #[must_use]
    pub fn parse(body: &[u8]) -> Self {
        let mut error = Self::default();
        for field in body.split(|byte| *byte == 0) {
            let Some((kind, text)) = field.split_first() else { break };
            let text = String::from_utf8_lossy(text).into_owned();
            match kind {
                b'V' => error.severity = text,
                b'S' if error.severity.is_empty() => error.severity = text,
                b'C' => error.sqlstate = text,
                b'M' => error.message = text,
                b'D' => error.detail = Some(text),
                _ => {}
            }
        }
        error
    }

    /// Whether the server ends the session with it.
    #[must_use]
    pub fn ends_session(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }

    /// Whether the same unit of work may succeed when tried again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.sqlstate.as_str(), SERIALIZATION_FAILURE | DEADLOCK_DETECTED)
    }
}

/// SQLSTATE of a serialization failure.
pub const SERIALIZATION_FAILURE: &str = "40001";
/// SQLSTATE of a deadlock.
pub const DEADLOCK_DETECTED: &str = "40P01";

impl std::fmt::Display for ServerError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "SQLSTATE {}: {}", self.sqlstate, self.message)?;
        match &self.detail {
            Some(detail) => write!(formatter, " ({detail})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_any_order() {
        let body = b"SFEHLER\0VERROR\0C40001\0Mcould not serialize access\0Dmore\0Fx.c\0\0";
        let error = ServerError::parse(body);
        assert_eq!("ERROR", error.severity);
        assert!(error.is_retryable());
        assert_eq!("SQLSTATE 40001: could not serialize access (more)", error.to_string());
    }
}
