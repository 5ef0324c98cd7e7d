//! What is asked of a scan of files, or of a stream of Arrow arrays, as JSON.

use std::path::PathBuf;

use serde::Deserialize;

use crate::error::{CoreError, Result};
use crate::sketch::{InteropKind, Precision};

/// One pass over rows that come to us (docs/architecture.md, "Distinct counts").
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceSpec {
    /// Where a stream is given, there are none.
    pub files: Option<FilesSpec>,
    /// By their names, in this order; None: all.
    pub columns: Option<Vec<String>>,
    #[serde(default)]
    pub groups: Vec<NamedGroup>,
    precision: u8,
    pub seed: u64,
    /// Sketches for other programs, by their names.
    #[serde(default)]
    interop: Vec<String>,
    /// 0: nobody knows.
    #[serde(default)]
    pub rows_expected: u64,
}

/// Files that are one table, one behind the other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilesSpec {
    pub paths: Vec<PathBuf>,
    pub format: Format,
    #[serde(default)]
    pub csv: CsvSpec,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    Parquet,
    Csv,
    /// Files and streams.
    Arrow,
}

/// How a CSV file is written.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CsvSpec {
    pub delimiter: char,
    pub quote: char,
    /// Whether the first line has the columns' names; else they are column1, column2, ...
    pub header: bool,
}

impl Default for CsvSpec {
    fn default() -> Self {
        Self { delimiter: ',', quote: '"', header: true }
    }
}

/// Columns that are counted together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamedGroup {
    pub name: String,
    pub columns: Vec<String>,
}

impl SourceSpec {
    /// Reads and checks it.
    ///
    /// # Errors
    /// `spec_invalid`.
    pub(super) fn parse(json: &str) -> Result<Self> {
        let spec: Self =
            serde_json::from_str(json).map_err(|error| CoreError::new("spec_invalid", format!("spec: {error}")))?;
        Precision::try_from(spec.precision)?;
        InteropKind::of_names(&spec.interop)?;
        if let Some(group) = spec.groups.iter().find(|group| group.columns.is_empty()) {
            return Err(CoreError::new("spec_invalid", format!("group {:?}: it has no columns", group.name)));
        }
        Ok(spec)
    }

    pub(super) fn precision(&self) -> Precision {
        Precision::try_from(self.precision).expect("checked when parsed")
    }

    /// Each once.
    pub(super) fn interop(&self) -> Vec<InteropKind> {
        InteropKind::of_names(&self.interop).expect("checked when parsed")
    }
}
