//! What is asked of a scan, as JSON.

use serde::Deserialize;

use super::canonical::Decoder;
use crate::error::{CoreError, Result};
use crate::sketch::{HashId, InteropKind, Precision};
use crate::wire::Target;

/// One pass over a table or a query (docs/architecture.md, "Distinct counts").
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScanSpec {
    pub target: Target,
    /// A connection each.
    pub parts: Vec<PartSpec>,
    pub columns: Vec<ColumnSpec>,
    #[serde(default)]
    pub groups: Vec<GroupSpec>,
    precision: u8,
    pub seed: u64,
    /// With which the server hashed the columns whose decoder is `hashed`.
    pub server_seed: u64,
    /// In all parts together; 0: nobody knows.
    pub rows_expected: u64,
    /// The statistics targets for which ANALYZE's sample is drawn.
    #[serde(default)]
    pub sample_targets: Vec<u32>,
    pub memory_limit_bytes: u64,
}

/// The pages of one connection.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartSpec {
    /// The first begins a transaction.
    pub begin_sql: Vec<String>,
    pub copy_sql: String,
    pub first_page: u64,
    /// 0 where there are none, as of a view.
    pub pages: u64,
}

/// One column of the SELECT list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnSpec {
    pub name: String,
    #[serde(rename = "type")]
    pub type_name: String,
    pub decoder: Decoder,
    /// Sketches for others that are to be made of it.
    #[serde(default)]
    pub interop: Vec<String>,
}

/// Columns that are counted together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupSpec {
    pub name: String,
    /// By their places in `columns`.
    pub columns: Vec<usize>,
}

impl ScanSpec {
    /// Reads and checks it; parts come in the order of their pages.
    ///
    /// # Errors
    /// `spec_invalid`.
    pub(super) fn parse(json: &str) -> Result<Self> {
        let invalid = |what: String| Err(CoreError::new("spec_invalid", what));
        let mut spec: Self =
            serde_json::from_str(json).map_err(|error| CoreError::new("spec_invalid", format!("spec: {error}")))?;
        Precision::try_from(spec.precision)?;
        if spec.parts.is_empty() || spec.columns.is_empty() {
            return invalid("parts, columns: give one of each at least".to_owned());
        }
        if spec.parts.len() > 1 && spec.parts.iter().any(|part| part.begin_sql.is_empty()) {
            return invalid("begin_sql: several parts share a snapshot; begin a transaction in each".to_owned());
        }
        let columns = spec.columns.len();
        if let Some(group) = spec.groups.iter().find(|group| group.columns.iter().any(|column| *column >= columns)) {
            return invalid(format!("group {:?}: {:?}; there are {columns} columns", group.name, group.columns));
        }
        for column in &spec.columns {
            if !InteropKind::of_names(&column.interop)?.is_empty() && !column.decoder.gives_known_bytes() {
                let ColumnSpec { name, decoder, .. } = column;
                return invalid(format!("interop: {name}: of what {decoder:?} gives there is no sketch for others"));
            }
        }
        if spec.sample_targets.contains(&0) {
            return invalid("sample_targets: 0; a statistics target goes from 1 to 10000".to_owned());
        }
        spec.parts.sort_by_key(|part| part.first_page);
        Ok(spec)
    }

    pub(super) fn precision(&self) -> Precision {
        Precision::try_from(self.precision).expect("checked when parsed")
    }

    /// Those of the whole table.
    pub(super) fn pages(&self) -> u64 {
        self.parts.iter().map(|part| part.pages).sum()
    }

    /// The types of a group's columns. A column that the server hashed says so: its hashes are in those of the group.
    pub(super) fn types_of(&self, group: &GroupSpec) -> String {
        let of_column = |column: &usize| {
            let ColumnSpec { type_name, .. } = &self.columns[*column];
            match self.columns[*column].hash_id() {
                HashId::Dbdyno1 => type_name.clone(),
                hash_id => format!("{type_name} by {}", hash_id.name()),
            }
        };
        group.columns.iter().map(of_column).collect::<Vec<_>>().join(", ")
    }

    /// As many as the part has of the pages.
    pub(super) fn rows_expected_of(&self, part: &PartSpec) -> f64 {
        match self.pages() {
            0 => self.rows_expected as f64 / self.parts.len() as f64,
            pages => self.rows_expected as f64 * part.pages as f64 / pages as f64,
        }
    }
}

impl ColumnSpec {
    /// Sketches for others, each once.
    pub(super) fn interop_kinds(&self) -> Vec<InteropKind> {
        InteropKind::of_names(&self.interop).expect("checked when parsed")
    }

    /// Who hashes it.
    pub(super) fn hash_id(&self) -> HashId {
        match self.decoder {
            Decoder::Hashed => HashId::PostgresExtended,
            _ => HashId::Dbdyno1,
        }
    }
}
