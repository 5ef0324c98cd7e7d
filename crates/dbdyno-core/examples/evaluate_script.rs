//! Runs a script without a database and shows what it computes and what it would send.
//!
//! ```text
//! evaluate_script [--random-seed N] [-D name=value]... FILE
//! ```
//!
//! One line for each command that is executed: `name=type value` for a `\set`, and for SQL the text
//! of simple mode (`simple "SELECT 5;"`) and of the other modes (`extended "SELECT $1;" ["5"]`),
//! quoted as JSON. The random numbers are those of the first client of
//! `pgbench --random-seed=N`. `\gset` has nothing to read here, and `\sleep` takes no time.

use std::process::ExitCode;

use dbdyno_core::script::{Command, Piece, Random, Script, Statement, Symbols, Value, VariableId, parse};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let options = Options::read(std::env::args().skip(1))?;
    let text = std::fs::read_to_string(&options.file).map_err(|error| format!("{}: {error}", options.file))?;
    let mut symbols = Symbols::default();
    let script = parse(&options.file, &text, &mut symbols).map_err(|error| error.to_string())?;
    let mut client = Client::first(options.random_seed, &mut symbols);
    for (name, value) in &options.definitions {
        client.set(symbols.intern(name), Value::from_text(value));
    }
    client.execute(&script, &symbols)
}

struct Options {
    file: String,
    random_seed: u64,
    definitions: Vec<(String, String)>,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { file: String::new(), random_seed: 0, definitions: Vec::new() };
        while let Some(argument) = arguments.next() {
            if argument != "--random-seed" && argument != "-D" {
                options.file = argument;
                continue;
            }
            let value = arguments.next().ok_or(format!("{argument} needs a value"))?;
            if argument == "-D" {
                let (name, value) = value.split_once('=').ok_or(format!("-D {value}: expected name=value"))?;
                options.definitions.push((name.to_owned(), value.to_owned()));
            } else {
                options.random_seed = value.parse().map_err(|error| format!("--random-seed {value}: {error}"))?;
            }
        }
        Ok(options)
    }
}

/// What a client of the load engine keeps between commands.
struct Client {
    variables: Vec<Value>,
    random: Random,
}

impl Client {
    /// pgbench seeds its clients from one stream, and draws `:default_seed` from it behind them.
    fn first(random_seed: u64, symbols: &mut Symbols) -> Self {
        let mut base = Random::from_seed(random_seed);
        let mut client = Self { variables: Vec::new(), random: base.derive() };
        client.set(symbols.intern("default_seed"), Value::Integer(base.next_u64() as i64));
        client
    }

    fn set(&mut self, variable: VariableId, value: Value) {
        let index = variable.0 as usize;
        if self.variables.len() <= index {
            self.variables.resize(index + 1, Value::Unset);
        }
        self.variables[index] = value;
    }

    fn value(&self, variable: VariableId) -> &Value {
        self.variables.get(variable.0 as usize).unwrap_or(&Value::Unset)
    }

    fn execute(&mut self, script: &Script, symbols: &Symbols) -> Result<(), String> {
        let mut next = 0;
        while let Some(command) = script.commands.get(next) {
            next += 1;
            match command {
                Command::Set { variable, expression, line } => {
                    let value = expression
                        .evaluate(&self.variables, &mut self.random)
                        .map_err(|error| format!("{}:{line}: {}", script.name, error.describe(symbols)))?;
                    println!("{}={}", symbols.name(*variable), typed(&value));
                    self.set(*variable, value);
                }
                Command::JumpUnless { expression, target, line } => {
                    let holds = expression
                        .is_true(&self.variables, &mut self.random)
                        .map_err(|error| format!("{}:{line}: {}", script.name, error.describe(symbols)))?;
                    next = if holds { next } else { *target };
                }
                Command::Jump(target) => next = *target,
                Command::Sql(index) => self.show(&script.statements[*index], symbols),
                Command::Sleep { .. }
                | Command::StartPipeline { .. }
                | Command::SyncPipeline { .. }
                | Command::EndPipeline { .. } => {}
            }
        }
        Ok(())
    }

    fn show(&self, statement: &Statement, symbols: &Symbols) {
        let mut simple = String::new();
        for piece in &statement.pieces {
            match piece {
                Piece::Literal(text) => simple.push_str(text),
                Piece::Variable(variable) if *self.value(*variable) == Value::Unset => {
                    simple.push(':');
                    simple.push_str(symbols.name(*variable));
                }
                Piece::Variable(variable) => simple.push_str(&text_of(self.value(*variable))),
            }
        }
        let parameters: Vec<String> = statement.parameters.iter().map(|id| text_of(self.value(*id))).collect();
        println!("simple {}", serde_json::json!(simple));
        println!("extended {} {}", serde_json::json!(statement.parameterised), serde_json::json!(parameters));
    }
}

fn text_of(value: &Value) -> String {
    let mut text = Vec::new();
    value.write_text(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// As pgbench's `debug()` shows a value.
fn typed(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Boolean(_) => format!("boolean {}", text_of(value)),
        Value::Integer(_) => format!("int {}", text_of(value)),
        Value::Double(_) => format!("double {}", text_of(value)),
        Value::Unset | Value::Text(_) => format!("text {}", text_of(value)),
    }
}
