//! The server's RowDescription: the names of the columns, and whether they can come in binary.

/// What is known of a statement's result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowDescription {
    /// Column names, in order.
    pub names: Vec<String>,
    /// Whether every column's type is one whose binary output is known to exist.
    pub all_binary: bool,
}

/// Types with a binary output function, by their fixed OIDs in pg_type: bool, bytea, "char", name,
/// int8, int2, int4, text, oid, json, float4, float8, bpchar, varchar, date, time, timestamp,
/// timestamptz, interval, timetz, numeric, uuid, jsonb.
const BINARY_TYPES: [u32; 23] = [
    16, 17, 18, 19, 20, 21, 23, 25, 26, 114, 700, 701, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950, 3802,
];

impl RowDescription {
    /// Reads the body of a RowDescription; None if it is cut short.
    #[must_use]
    pub fn parse(body: &[u8]) -> Option<Self> {
        let (count, mut rest) = body.split_first_chunk()?;
        let mut description = Self { names: Vec::new(), all_binary: true };
        for _ in 0..u16::from_be_bytes(*count) {
            let end = rest.iter().position(|byte| *byte == 0)?;
            description.names.push(String::from_utf8_lossy(&rest[..end]).into_owned());
            // Behind the name: table oid (4), column (2), type oid (4), size (2), modifier (4), format (2).
            let fixed = rest.get(end + 1..end + 19)?;
            let type_oid = u32::from_be_bytes([fixed[6], fixed[7], fixed[8], fixed[9]]);
            description.all_binary &= BINARY_TYPES.contains(&type_oid);
            rest = &rest[end + 19..];
        }
        Some(description)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, type_oid: u32) -> Vec<u8> {
        let fixed = [&[0; 6][..], &type_oid.to_be_bytes(), &[0; 8]].concat();
        [name.as_bytes(), &[0], &fixed].concat()
    }

    #[test]
    fn binary_only_if_every_type_is_known() {
        let body = [&[0, 2][..], &column("abalance", 23), &column("filler", 1042)].concat();
        let description = RowDescription::parse(&body).expect("complete");
        assert_eq!(vec!["abalance", "filler"], description.names);
        assert!(description.all_binary);
        let body = [&[0, 2][..], &column("a", 23), &column("unknown", 99_999)].concat();
        assert!(!RowDescription::parse(&body).expect("complete").all_binary);
    }

    #[test]
    fn a_cut_message_is_refused() {
        assert_eq!(None, RowDescription::parse(&[0, 1, b'a']));
    }
}
