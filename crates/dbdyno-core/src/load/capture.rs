//! `\gset` and `\aset`: from result columns to variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::script::{Capture, Symbols, Value, VariableId};
use crate::wire::{Columns, RowDescription};

/// Where the columns of a result go; shared, because it is looked up for each execution.
pub(super) type ColumnTargets = Arc<[ColumnTarget]>;

/// Where one column goes.
#[derive(Debug)]
pub(super) struct ColumnTarget {
    /// Of the variable: the capture's prefix and the column's name.
    name: String,
    /// None where no script mentions it.
    variable: Option<VariableId>,
}

/// Finds the variables of the columns.
pub(super) fn targets(capture: &Capture, description: &RowDescription, symbols: &Symbols) -> ColumnTargets {
    let target = |column: &String| {
        let name = format!("{}{column}", capture.prefix);
        ColumnTarget { variable: symbols.find(&name), name }
    };
    description.names.iter().map(target).collect()
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

    /// The row that was taken last, by variable; empty before any.
    pub(super) fn last(&self) -> BTreeMap<String, Option<String>> {
        let text = |value: &Value| match value {
            Value::Null => None,
            value => {
                let mut written = Vec::new();
                value.write_text(&mut written);
                Some(String::from_utf8_lossy(&written).into_owned())
            }
        };
        self.targets.iter().zip(&self.values).map(|(target, value)| (target.name.clone(), text(value))).collect()
    }

    fn assign(&mut self, variables: &mut [Value]) {
        for (target, value) in self.targets.iter().zip(&self.values) {
            if let Some(id) = target.variable {
                variables[id.0 as usize] = value.clone();
            }
        }
    }
}
