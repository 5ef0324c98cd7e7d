//! `\gset` and `\aset`: from result columns to variables.

use crate::script::{Capture, Symbols, Value, VariableId};
use crate::wire::{Columns, RowDescription};

/// Where the columns of a result go; None for a name that no script mentions.
pub(super) type ColumnTargets = Vec<Option<VariableId>>;

/// Finds the variables of the columns.
pub(super) fn targets(capture: &Capture, description: &RowDescription, symbols: &Symbols) -> ColumnTargets {
    description.names.iter().map(|name| symbols.find(&format!("{}{name}", capture.prefix))).collect()
}

/// The result that is arriving.
#[derive(Debug, Default)]
pub(super) struct Captured {
    /// Of the result that is arriving, or of the last one.
    pub targets: ColumnTargets,
    values: Vec<Value>,
    rows: u64,
    rows_of_last_result: u64,
}

impl Captured {
    /// Nothing has arrived.
    pub(super) fn clear(&mut self) {
        self.rows = 0;
        self.rows_of_last_result = 0;
    }

    /// A row: the last one counts.
    pub(super) fn row(&mut self, body: &[u8]) {
        self.rows += 1;
        self.values.clear();
        self.values.extend(Columns::new(body).map(|column| match column {
            None => Value::Null,
            Some(bytes) => Value::from_text(&String::from_utf8_lossy(bytes)),
        }));
    }

    /// One query's result is complete: `\aset` takes each of them.
    pub(super) fn end_of_result(&mut self, capture: &Capture, variables: &mut [Value]) {
        self.rows_of_last_result = std::mem::take(&mut self.rows);
        if capture.all_queries && self.rows_of_last_result > 0 {
            self.assign(variables);
        }
    }

    /// The command is complete: `\gset` takes the one row of the last query; any other number of rows
    /// is returned as an error.
    pub(super) fn end_of_command(&mut self, capture: &Capture, variables: &mut [Value]) -> Result<(), u64> {
        if capture.all_queries {
            return Ok(());
        }
        if self.rows_of_last_result != 1 {
            return Err(self.rows_of_last_result);
        }
        self.assign(variables);
        Ok(())
    }

    fn assign(&mut self, variables: &mut [Value]) {
        for (target, value) in self.targets.iter().zip(&self.values) {
            if let Some(id) = target {
                variables[id.0 as usize] = value.clone();
            }
        }
    }
}
