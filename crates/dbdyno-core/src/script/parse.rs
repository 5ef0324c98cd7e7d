//! From a script's text to its commands.

use super::error::ScriptError;
use super::flow::{CAPTURE_IN_PIPELINE, Flow, PIPELINE_LEFT_OPEN};
use super::meta::{MetaCommand, read_meta};
use super::source::Source;
use super::sql::{Ending, SqlCommand, read_sql};
use super::substitute::substitute;
use super::types::{Capture, Command, Script, Statement, Symbols};

/// pgbench's limit on the variables of one SQL command.
const PARAMETERS_MAX: usize = 255;

/// Parses `text`, the content of the file or built-in called `name`. Variables get their ids from
/// `symbols`, which all scripts of a workload share.
///
/// # Errors
///
/// The first mistake, with its place.
pub fn parse(name: &str, text: &str, symbols: &mut Symbols) -> Result<Script, ScriptError> {
    let source = Source::new(name, text);
    if let Some(at) = text.find('\0') {
        return Err(source.error(at, "the script contains a NUL byte, which SQL cannot hold"));
    }
    let mut assembly = Assembly::new(&source, symbols);
    let mut offset = 0;
    loop {
        let sql = read_sql(text, offset)
            .map_err(|unclosed| source.error(unclosed.start, format!("{} is never closed", unclosed.what)))?;
        assembly.add_sql(&sql)?;
        match sql.ending {
            Ending::Text => return assembly.finish(name),
            Ending::Semicolon(next) => offset = next,
            Ending::Backslash(next) => offset = assembly.read_meta(next)?,
        }
    }
}

/// A script on the way.
struct Assembly<'a> {
    source: &'a Source<'a>,
    symbols: &'a mut Symbols,
    commands: Vec<Command>,
    statements: Vec<Statement>,
    flow: Flow,
    uses_pipeline: bool,
    /// Where the last `\startpipeline` is written.
    pipeline_start: usize,
    /// Whether nothing came between the last SQL command and this point, so that `\gset` can refer to it.
    is_behind_sql: bool,
}

impl<'a> Assembly<'a> {
    fn new(source: &'a Source<'a>, symbols: &'a mut Symbols) -> Self {
        Self {
            source,
            symbols,
            commands: Vec::new(),
            statements: Vec::new(),
            flow: Flow::new(),
            uses_pipeline: false,
            pipeline_start: 0,
            is_behind_sql: false,
        }
    }

    fn add_sql(&mut self, sql: &SqlCommand) -> Result<(), ScriptError> {
        if sql.is_blank() {
            return Ok(());
        }
        let substituted = substitute(&sql.segments, self.symbols);
        if substituted.parameters.len() > PARAMETERS_MAX {
            let message = format!(
                "statement has too many variables: {} (maximum is {PARAMETERS_MAX})",
                substituted.parameters.len()
            );
            return Err(self.source.error(sql.start, message));
        }
        self.commands.push(Command::Sql(self.statements.len()));
        self.statements.push(Statement {
            line: self.source.line(sql.start),
            text: substituted.text,
            pieces: substituted.pieces,
            parameterised: substituted.parameterised,
            parameters: substituted.parameters,
            capture: None,
        });
        self.is_behind_sql = true;
        Ok(())
    }

    /// Reads the meta-command behind a backslash; returns where the script goes on.
    fn read_meta(&mut self, behind_backslash: usize) -> Result<usize, ScriptError> {
        let start = behind_backslash - 1;
        let (command, next) = read_meta(self.source, behind_backslash, self.symbols)?;
        let Some(command) = command else { return Ok(next) };
        self.add_meta(command, start).map_err(|message| self.source.error(start, message))?;
        Ok(next)
    }

    fn add_meta(&mut self, command: MetaCommand, start: usize) -> Result<(), String> {
        let line = self.source.line(start);
        if let MetaCommand::Capture { prefix, all_queries } = command {
            return self.capture(Capture { prefix, all_queries, line });
        }
        self.is_behind_sql = false;
        match command {
            MetaCommand::Set { variable, expression } => {
                self.commands.push(Command::Set { variable, expression, line });
            }
            MetaCommand::Sleep { duration, unit_ns } => {
                self.commands.push(Command::Sleep { duration, unit_ns, line });
            }
            MetaCommand::If(expression) => {
                self.commands.push(Command::JumpUnless { expression, target: 0, line });
                self.flow.open_block(start, &self.commands);
            }
            MetaCommand::ElseIf(expression) => {
                self.flow.next_branch("elif", &mut self.commands)?;
                self.commands.push(Command::JumpUnless { expression, target: 0, line });
                self.flow.set_condition(&self.commands);
            }
            MetaCommand::Else => self.flow.next_branch("else", &mut self.commands)?,
            MetaCommand::EndIf => self.flow.close_block(&mut self.commands)?,
            MetaCommand::StartPipeline => {
                self.flow.start_pipeline()?;
                (self.uses_pipeline, self.pipeline_start) = (true, start);
                self.commands.push(Command::StartPipeline { line });
            }
            MetaCommand::SyncPipeline => {
                self.flow.sync_pipeline()?;
                self.commands.push(Command::SyncPipeline { line });
            }
            MetaCommand::EndPipeline => {
                self.flow.end_pipeline()?;
                self.commands.push(Command::EndPipeline { line });
            }
            MetaCommand::Capture { .. } => unreachable!("handled above"),
        }
        Ok(())
    }

    fn capture(&mut self, capture: Capture) -> Result<(), String> {
        let name = capture.name();
        let statement = self.statements.last_mut().filter(|last| self.is_behind_sql && last.capture.is_none());
        let statement = statement.ok_or_else(|| format!("\\{name} must follow an SQL command"))?;
        if !self.flow.allows_capture() {
            return Err(format!("\\{name} {CAPTURE_IN_PIPELINE}"));
        }
        statement.capture = Some(capture);
        Ok(())
    }

    fn finish(self, name: &str) -> Result<Script, ScriptError> {
        if let Some(start) = self.flow.open_block_start() {
            return Err(self.source.error(start, "\\if without matching \\endif"));
        }
        if self.flow.leaves_pipeline_open() {
            return Err(self.source.error(self.pipeline_start, PIPELINE_LEFT_OPEN));
        }
        if self.commands.is_empty() {
            return Err(self.source.error(0, "empty script: it holds no SQL and no meta-command"));
        }
        Ok(Script {
            name: name.to_owned(),
            commands: self.commands,
            statements: self.statements,
            uses_pipeline: self.uses_pipeline,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Piece, SleepDuration, builtin_text};

    #[test]
    fn a_statement_has_pieces_for_simple_mode_and_parameters_for_the_others() {
        let mut symbols = Symbols::default();
        let script = parse("x.sql", "\\set aid 1 + 2\nSELECT :aid, :aid::text;\n", &mut symbols).unwrap();
        let statement = &script.statements[0];
        let aid = symbols.find("aid").unwrap();
        assert_eq!(statement.line, 2);
        assert_eq!(statement.text, "SELECT :aid, :aid::text;");
        assert_eq!(statement.parameterised, "SELECT $1, $2::text;");
        assert_eq!(statement.parameters, [aid, aid]);
        let literal = |text: &str| Piece::Literal(text.to_owned());
        let pieces =
            [literal("SELECT "), Piece::Variable(aid), literal(", "), Piece::Variable(aid), literal("::text;")];
        assert_eq!(statement.pieces, pieces);
    }

    #[test]
    fn the_built_in_workloads_parse() {
        for (name, statements) in [("tpcb-like", 7), ("simple-update", 5), ("select-only", 1)] {
            let script = parse(name, builtin_text(name).unwrap(), &mut Symbols::default()).unwrap();
            assert_eq!(script.statements.len(), statements, "{name}");
        }
        assert_eq!(builtin_text("no-such"), None);
    }

    #[test]
    fn sleeps_take_a_unit_apart_or_glued_and_seconds_without_one() {
        let text = "\\sleep 3\n\\sleep 3 MS\n\\sleep -4us\n\\sleep :x s\n\\sleep +5 \\\n us\n";
        let script = parse("x.sql", text, &mut Symbols::default()).unwrap();
        let sleeps: Vec<(Option<i64>, u64, u32)> = script
            .commands
            .iter()
            .map(|command| match command {
                Command::Sleep { duration: SleepDuration::Constant(units), unit_ns, line } => {
                    (Some(*units), *unit_ns, *line)
                }
                Command::Sleep { duration: SleepDuration::Variable(_), unit_ns, line } => (None, *unit_ns, *line),
                other => panic!("{other:?}"),
            })
            .collect();
        let (microsecond, millisecond, second) = (1_000, 1_000_000, 1_000_000_000);
        let expected = [
            (Some(3), second, 1),
            (Some(3), millisecond, 2),
            (Some(-4), microsecond, 3),
            (None, second, 4),
            (Some(5), microsecond, 5),
        ];
        assert_eq!(sleeps, expected);
    }

    #[test]
    fn a_capture_belongs_to_the_statement_before_it() {
        let text = "SELECT 1 AS a \\gset\nSELECT 2 AS b;\n\n\\GSET x_\nSELECT 3 \\; SELECT 4\n\\aset\nSELECT 5";
        let script = parse("x.sql", text, &mut Symbols::default()).unwrap();
        let captures: Vec<Option<Capture>> = script.statements.into_iter().map(|statement| statement.capture).collect();
        let capture = |prefix: &str, all_queries, line| Some(Capture { prefix: prefix.to_owned(), all_queries, line });
        assert_eq!(captures, [capture("", false, 1), capture("x_", false, 4), capture("", true, 6), None]);
    }

    #[test]
    fn scripts_share_their_variables() {
        let mut symbols = Symbols::default();
        parse("a.sql", "\\set x 1\n\\set y 2\n", &mut symbols).unwrap();
        let script = parse("b.sql", "SELECT :y;", &mut symbols).unwrap();
        assert_eq!(script.statements[0].parameters, [symbols.find("y").unwrap()]);
        assert_eq!(symbols.len(), 2);
    }
}
