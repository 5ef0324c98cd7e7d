//! What one client would send in its first unit of work, found without a server: statements to ask the planner about.
//!
//! A value that only a server could give (`\gset`, `\aset`) is unknown, and so is what follows from it.

use serde::Serialize;

use super::spec::QueryMode;
use super::streams::{Purpose, default_seed, streams};
use crate::error::{CoreError, Result};
use crate::script::{Command, Piece, Random, Script, Statement, Symbols, Value, VariableId, parse};

/// A statement of a script, with values where they are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampledStatement {
    /// First line in the script.
    pub line: u32,
    /// As written.
    pub text: String,
    /// With literals for its variables; none where a value is unknown or the statement lies in a branch not taken.
    pub sql: Option<String>,
    /// With `$1`, `$2`, ... for its variables.
    pub parameterised: String,
    /// How many of them there are.
    pub parameters: usize,
}

/// The statements of a script in the order in which they are written.
///
/// A literal is what the query mode would make of the value: in simple mode the bare text, in the others a quoted one,
/// whose type the server infers from its place, as it does for a parameter.
///
/// # Errors
///
/// `script_syntax`, with the place.
pub fn sample_statements(
    name: &str,
    text: &str,
    variables: &[(String, String)],
    seed: u64,
    mode: QueryMode,
) -> Result<Vec<SampledStatement>> {
    let mut symbols = Symbols::default();
    let script = parse(name, text, &mut symbols).map_err(|error| CoreError::new("script_syntax", error.to_string()))?;
    let mut client = SampledClient::new(variables, seed, &symbols);
    let taken = client.walk(&script, mode, &symbols);
    Ok(script.statements.into_iter().zip(taken).map(|(statement, sql)| sampled(statement, sql)).collect())
}

fn sampled(statement: Statement, sql: Option<String>) -> SampledStatement {
    SampledStatement {
        line: statement.line,
        text: statement.text,
        sql,
        parameterised: statement.parameterised,
        parameters: statement.parameters.len(),
    }
}

/// The first client of a trial, without a connection. A variable without a value is unknown.
struct SampledClient {
    variables: Vec<Value>,
    random: Random,
}

impl SampledClient {
    fn new(variables: &[(String, String)], seed: u64, symbols: &Symbols) -> Self {
        let random = streams(seed, Purpose::Values, 0..1).remove(0);
        let mut client = Self { variables: vec![Value::Unset; symbols.len()], random };
        client.set_named(symbols, "client_id", Value::Integer(0));
        client.set_named(symbols, "random_seed", Value::Integer(seed as i64));
        client.set_named(symbols, "default_seed", Value::Integer(default_seed(seed)));
        for (name, text) in variables {
            client.set_named(symbols, name, Value::from_text(text));
        }
        client
    }

    fn set_named(&mut self, symbols: &Symbols, name: &str, value: Value) {
        if let Some(id) = symbols.find(name) {
            self.variables[id.0 as usize] = value;
        }
    }

    /// Goes through the commands once; the SQL of each statement that was met with all its values known.
    fn walk(&mut self, script: &Script, mode: QueryMode, symbols: &Symbols) -> Vec<Option<String>> {
        let mut met = vec![None; script.statements.len()];
        let mut next = 0;
        while let Some(command) = script.commands.get(next) {
            next += 1;
            match command {
                Command::Sql(index) => {
                    let statement = &script.statements[*index];
                    met[*index] = self.sql(statement, mode, symbols);
                    if let Some(capture) = &statement.capture {
                        self.forget(&capture.prefix, symbols);
                    }
                }
                Command::Set { variable, expression, .. } => {
                    let value = expression.evaluate(&self.variables, &mut self.random).unwrap_or(Value::Unset);
                    self.variables[variable.0 as usize] = value;
                }
                // A condition that is unknown counts as false, like one that fails.
                Command::JumpUnless { expression, target, .. } => {
                    let holds = expression.is_true(&self.variables, &mut self.random).unwrap_or(false);
                    next = if holds { next } else { *target };
                }
                Command::Jump(target) => next = *target,
                Command::Sleep { .. }
                | Command::StartPipeline { .. }
                | Command::SyncPipeline { .. }
                | Command::EndPipeline { .. } => {}
            }
        }
        met
    }

    /// A capture sets variables that only its columns name: with a prefix, some that begin with it.
    fn forget(&mut self, prefix: &str, symbols: &Symbols) {
        if prefix.is_empty() {
            return;
        }
        for (index, value) in self.variables.iter_mut().enumerate() {
            if symbols.name(VariableId(index as u32)).starts_with(prefix) {
                *value = Value::Unset;
            }
        }
    }

    fn sql(&self, statement: &Statement, mode: QueryMode, symbols: &Symbols) -> Option<String> {
        // Both lists are in the order of the text; what is no parameter stands within quotes.
        let mut parameters = statement.parameters.iter().peekable();
        let mut sql = Vec::new();
        for piece in &statement.pieces {
            match piece {
                Piece::Literal(text) => sql.extend_from_slice(text.as_bytes()),
                Piece::Variable(id) => {
                    let value = &self.variables[id.0 as usize];
                    let is_parameter = parameters.next_if_eq(&id).is_some();
                    match (is_parameter, value) {
                        (true, Value::Unset) => return None,
                        (false, Value::Unset) => {
                            sql.push(b':');
                            sql.extend_from_slice(symbols.name(*id).as_bytes());
                        }
                        (true, value) if mode != QueryMode::Simple => write_literal(value, &mut sql),
                        (_, value) => value.write_text(&mut sql),
                    }
                }
            }
        }
        String::from_utf8(sql).ok()
    }
}

fn write_literal(value: &Value, sql: &mut Vec<u8>) {
    if *value == Value::Null {
        return value.write_text(sql);
    }
    let mut text = Vec::new();
    value.write_text(&mut text);
    sql.push(b'\'');
    for byte in text {
        if byte == b'\'' {
            sql.push(byte);
        }
        sql.push(byte);
    }
    sql.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(text: &str, mode: QueryMode) -> Vec<Option<String>> {
        let variables = [("scale".to_owned(), "2".to_owned()), ("name".to_owned(), "O'Neil".to_owned())];
        let statements = sample_statements("x.sql", text, &variables, 42, mode).expect("valid");
        statements.into_iter().map(|statement| statement.sql).collect()
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn a_value_stands_as_the_query_mode_would_send_it() {
        let text = "\\set a 3 * :scale\n\\set n null\nSELECT :a, :name, :n, 'of :scale', '{\"k\":b}';";
        assert_eq!(sql(text, QueryMode::Prepared), [some("SELECT '6', 'O''Neil', NULL, 'of 2', '{\"k\":b}';")]);
        assert_eq!(sql("SELECT :scale, -:name;", QueryMode::Simple), [some("SELECT 2, -O'Neil;")]);
    }

    #[test]
    fn one_seed_draws_one_value_and_it_is_the_load_s() {
        let text = "\\set aid random(1, 1000000)\nSELECT :aid;";
        let mut client = streams(42, Purpose::Values, 0..1).remove(0);
        let drawn = client.uniform(1, 1_000_000).expect("a range");
        assert_eq!(sql(text, QueryMode::Simple), [Some(format!("SELECT {drawn};"))]);
        assert_eq!(sql(text, QueryMode::Simple), sql(text, QueryMode::Simple));
    }

    #[test]
    fn what_a_server_would_give_is_unknown_and_so_is_what_follows() {
        let text = "SELECT 7 AS k \\gset r_\n\\set twice 2 * :r_k\nSELECT :r_k;\nSELECT :twice;\nSELECT :scale;";
        assert_eq!(sql(text, QueryMode::Prepared), [some("SELECT 7 AS k"), None, None, some("SELECT '2';")]);
    }

    #[test]
    fn a_branch_not_taken_has_no_values() {
        let text =
            "\\if :scale > 1\nSELECT 1;\n\\else\nSELECT 2;\n\\endif\n\\if :unknown\nSELECT 3;\n\\endif\nSELECT 4;";
        assert_eq!(sql(text, QueryMode::Prepared), [some("SELECT 1;"), None, None, some("SELECT 4;")]);
    }

    #[test]
    fn parameters_are_numbered_where_values_are_unknown() {
        let statements = sample_statements("x.sql", "\nSELECT :a, :b;", &[], 1, QueryMode::Prepared).expect("valid");
        let expected = SampledStatement {
            line: 2,
            text: "SELECT :a, :b;".to_owned(),
            sql: None,
            parameterised: "SELECT $1, $2;".to_owned(),
            parameters: 2,
        };
        assert_eq!(statements, [expected]);
    }
}
