//! What CommandComplete says: the command, and for some commands a number of rows.

/// The rows that a command inserted, updated, deleted or merged; None for every other command.
#[must_use]
pub fn rows_affected(body: &[u8]) -> Option<u64> {
    let changes_rows = [b"INSERT ".as_slice(), b"UPDATE ", b"DELETE ", b"MERGE "];
    if !changes_rows.iter().any(|command| body.starts_with(command)) {
        return None;
    }
    // The count is the last word; INSERT has an object id, always 0, before it.
    let digits = body.strip_suffix(b"\0").unwrap_or(body).rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_that_change_rows_count() {
        let counts = [
            (b"INSERT 0 17\0".as_slice(), Some(17)),
            (b"UPDATE 200000\0", Some(200_000)),
            (b"DELETE 0\0", Some(0)),
            (b"MERGE 3\0", Some(3)),
            (b"SELECT 5\0", None),
            (b"MOVE 5\0", None),
            (b"DROP TABLE\0", None),
            (b"", None),
        ];
        for (tag, rows) in counts {
            assert_eq!(rows, rows_affected(tag), "{}", String::from_utf8_lossy(tag));
        }
    }
}
