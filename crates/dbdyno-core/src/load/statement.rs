//! One statement, ready to send: the messages that do not change from one execution to the next are
//! written once; an execution copies them around its parameters.

use crate::script::{Capture, Piece, Statement, Symbols, Value, VariableId};
use crate::wire::encode;

/// One statement and its messages.
#[derive(Debug)]
pub(super) struct PlannedStatement {
    /// Parse and Describe under its name, without Sync.
    pub prepare: Vec<u8>,
    /// What capturing its result needs.
    pub capture: Option<Capture>,
    pieces: Vec<Piece>,
    parameters: Vec<VariableId>,
    /// Parse under no name: extended mode.
    parse_unnamed: Vec<u8>,
    bind_named: Vec<u8>,
    bind_unnamed: Vec<u8>,
    bind_tail_binary: Vec<u8>,
    bind_tail_text: Vec<u8>,
    execute: Vec<u8>,
    describe_portal: Vec<u8>,
}

impl PlannedStatement {
    /// Writes all that can be written beforehand; the number makes its name. `fetch_rows` limits each Execute.
    pub(super) fn new(statement: &Statement, number: usize, fetch_rows: Option<u32>) -> Self {
        let name = format!("s{number}");
        let written = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            out
        };
        Self {
            prepare: written(&|out| {
                encode::parse(out, &name, &statement.parameterised);
                encode::describe_statement(out, &name);
            }),
            capture: statement.capture.clone(),
            pieces: statement.pieces.clone(),
            parameters: statement.parameters.clone(),
            parse_unnamed: written(&|out| encode::parse(out, "", &statement.parameterised)),
            bind_named: encode::bind_head(&name, statement.parameters.len()),
            bind_unnamed: encode::bind_head("", statement.parameters.len()),
            bind_tail_binary: encode::bind_tail(true),
            bind_tail_text: encode::bind_tail(false),
            execute: written(&|out| encode::execute_for(out, fetch_rows.unwrap_or(0))),
            describe_portal: written(&|out| encode::describe_portal(out)),
        }
    }

    /// Appends one execution of the prepared statement, without Sync.
    pub(super) fn write_prepared(&self, out: &mut Vec<u8>, variables: &[Value], binary_results: bool) {
        let tail = if binary_results { &self.bind_tail_binary } else { &self.bind_tail_text };
        self.write_bind(out, &self.bind_named, variables, tail);
        out.extend_from_slice(&self.execute);
    }

    /// Appends parsing and execution, without Sync.
    pub(super) fn write_extended(&self, out: &mut Vec<u8>, variables: &[Value]) {
        out.extend_from_slice(&self.parse_unnamed);
        self.write_bind(out, &self.bind_unnamed, variables, &self.bind_tail_text);
        if self.capture.is_some() {
            out.extend_from_slice(&self.describe_portal);
        }
        out.extend_from_slice(&self.execute);
    }

    /// Appends one more execution of the portal that is open.
    pub(super) fn write_execute(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.execute);
    }

    fn write_bind(&self, out: &mut Vec<u8>, head: &[u8], variables: &[Value], tail: &[u8]) {
        let start = out.len();
        out.extend_from_slice(head);
        for parameter in &self.parameters {
            match &variables[parameter.0 as usize] {
                // As in pgbench: a variable that was never set is NULL here.
                Value::Null | Value::Unset => encode::null_parameter(out),
                value => encode::parameter(out, |out| value.write_text(out)),
            }
        }
        out.extend_from_slice(tail);
        encode::patch_length(out, start + 1);
    }

    /// Appends the whole simple query.
    pub(super) fn write_simple(&self, out: &mut Vec<u8>, variables: &[Value], symbols: &Symbols) {
        encode::message(out, b'Q', |out| {
            for piece in &self.pieces {
                match piece {
                    Piece::Literal(text) => out.extend_from_slice(text.as_bytes()),
                    Piece::Variable(id) => match &variables[id.0 as usize] {
                        // As in pgbench: what was never set stays as it is written.
                        Value::Unset => {
                            out.push(b':');
                            out.extend_from_slice(symbols.name(*id).as_bytes());
                        }
                        value => value.write_text(out),
                    },
                }
            }
            out.push(0);
        });
    }
}
