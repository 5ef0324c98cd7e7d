//! The server's DataRow, for the few whose contents are wanted.

/// All columns as text.
pub(super) fn text_columns(body: &[u8]) -> Vec<Option<String>> {
    Columns::new(body).map(|column| column.map(|bytes| String::from_utf8_lossy(bytes).into_owned())).collect()
}

/// The column values of a DataRow body; NULL is None.
#[derive(Debug)]
pub struct Columns<'a> {
    rest: &'a [u8],
}

impl<'a> Columns<'a> {
    /// Starts behind the count.
    #[must_use]
    pub fn new(body: &'a [u8]) -> Self {
        Self { rest: body.get(2..).unwrap_or_default() }
    }
}

impl<'a> Iterator for Columns<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = self.rest.split_first_chunk()?;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            self.rest = rest;
            return Some(None);
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        Some(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_with_null_and_empty() {
        let body = b"\0\x03\0\0\0\x0242\xff\xff\xff\xff\0\0\0\0";
        assert_eq!(vec![Some("42".to_owned()), None, Some(String::new())], text_columns(body));
    }
}
