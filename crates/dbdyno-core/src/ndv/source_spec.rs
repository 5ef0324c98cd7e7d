//! What is asked of a scan of files, or of a stream of Arrow arrays, as JSON.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::error::{CoreError, Result};
use crate::sketch::Precision;

/// One pass over rows that come to us (docs/architecture.md, "Distinct counts").
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceSpec {
    /// Where a stream is given, there are none.
    pub files: Option<IgnoredAny>,
    /// By their names, in this order; None: all.
    pub columns: Option<Vec<String>>,
    #[serde(default)]
    pub groups: Vec<NamedGroup>,
    precision: u8,
    pub seed: u64,
    /// 0: nobody knows.
    #[serde(default)]
    pub rows_expected: u64,
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
        if let Some(group) = spec.groups.iter().find(|group| group.columns.is_empty()) {
            return Err(CoreError::new("spec_invalid", format!("group {:?}: it has no columns", group.name)));
        }
        Ok(spec)
    }

    pub(super) fn precision(&self) -> Precision {
        Precision::try_from(self.precision).expect("checked when parsed")
    }
}
