//! The backslash commands: one line each, longer where a backslash ends it.

use super::error::ScriptError;
use super::expression::parse_expression;
use super::source::{Source, continuation_length, is_space, is_variable_name, skip_space};
use super::suggestion::did_you_mean;
use super::types::{Expression, SleepDuration, Symbols, VariableId};

/// One of them, checked by itself but not yet against its neighbours.
#[derive(Debug)]
pub(super) enum MetaCommand {
    Set { variable: VariableId, expression: Expression },
    If(Expression),
    ElseIf(Expression),
    Else,
    EndIf,
    Sleep { duration: SleepDuration, unit_ns: u64 },
    Capture { prefix: String, all_queries: bool },
    StartPipeline,
    SyncPipeline,
    EndPipeline,
}

const NAMES: [&str; 12] = [
    "set",
    "if",
    "elif",
    "else",
    "endif",
    "sleep",
    "gset",
    "aset",
    "startpipeline",
    "syncpipeline",
    "endpipeline",
    "shell",
];

const NO_SHELL: &str = "is refused: a shell started inside the measured loop would be what is measured; \
    compute the value with \\set or in SQL";

/// Reads the command whose name begins at or behind `offset`. Returns it, nothing for a lone
/// backslash, and the offset where the script goes on.
pub(super) fn read_meta(
    source: &Source<'_>,
    offset: usize,
    symbols: &mut Symbols,
) -> Result<(Option<MetaCommand>, usize), ScriptError> {
    let mut words = Words { source, offset };
    let Some(name) = words.next() else { return Ok((None, words.offset)) };
    let lower = name.text.to_ascii_lowercase();
    let command = match lower.as_str() {
        "set" => return set(&mut words, symbols),
        "if" => return condition(&words, symbols, MetaCommand::If),
        "elif" => return condition(&words, symbols, MetaCommand::ElseIf),
        "else" => MetaCommand::Else,
        "endif" => MetaCommand::EndIf,
        "sleep" => sleep(&mut words, symbols)?,
        "gset" => capture(&mut words, false)?,
        "aset" => capture(&mut words, true)?,
        "startpipeline" => MetaCommand::StartPipeline,
        "syncpipeline" => MetaCommand::SyncPipeline,
        "endpipeline" => MetaCommand::EndPipeline,
        "shell" | "setshell" => return Err(source.error(name.start, format!("\\{lower} {NO_SHELL}"))),
        _ => return Err(unknown(source, &name)),
    };
    words.end_of(&lower)?;
    Ok((Some(command), words.offset))
}

fn unknown(source: &Source<'_>, name: &Word<'_>) -> ScriptError {
    let suggestion = did_you_mean(name.text, NAMES.into_iter());
    let shown = name.text.escape_debug();
    source.error(name.start, format!("unknown meta-command \\{shown}{suggestion}"))
}

fn set(words: &mut Words<'_>, symbols: &mut Symbols) -> Result<(Option<MetaCommand>, usize), ScriptError> {
    let name = words.required("\\set needs a variable name and an expression")?;
    if !is_variable_name(name.text) {
        let message = format!("invalid variable name {:?}: use letters, digits and _, no digit first", name.text);
        return Err(words.source.error(name.start, message));
    }
    let variable = symbols.intern(name.text);
    let (expression, end) = parse_expression(words.source, words.offset, symbols)?;
    Ok((Some(MetaCommand::Set { variable, expression }), end))
}

fn condition(
    words: &Words<'_>,
    symbols: &mut Symbols,
    command: impl Fn(Expression) -> MetaCommand,
) -> Result<(Option<MetaCommand>, usize), ScriptError> {
    let (expression, end) = parse_expression(words.source, words.offset, symbols)?;
    Ok((Some(command(expression)), end))
}

fn capture(words: &mut Words<'_>, all_queries: bool) -> Result<MetaCommand, ScriptError> {
    let prefix = match words.next() {
        Some(word) if is_variable_name(word.text) => word.text.to_owned(),
        Some(word) => {
            let message = format!("invalid prefix {:?}: use letters, digits and _, no digit first", word.text);
            return Err(words.source.error(word.start, message));
        }
        None => String::new(),
    };
    Ok(MetaCommand::Capture { prefix, all_queries })
}

/// `\sleep 10 ms`, `\sleep 10ms`, `\sleep :delay us`; seconds without a unit.
fn sleep(words: &mut Words<'_>, symbols: &mut Symbols) -> Result<MetaCommand, ScriptError> {
    let source = words.source;
    let first = words.required("\\sleep needs a number or :variable")?;
    if let Some(name) = first.text.strip_prefix(':') {
        if !is_variable_name(name) {
            return Err(source.error(first.start, format!("invalid variable name {name:?} in \\sleep")));
        }
        let duration = SleepDuration::Variable(symbols.intern(name));
        return Ok(MetaCommand::Sleep { duration, unit_ns: unit_ns(source, words.next())? });
    }
    let signed = usize::from(first.text.starts_with(['+', '-']));
    let digits = first.text[signed..].bytes().take_while(u8::is_ascii_digit).count();
    let (number, glued) = first.text.split_at(signed + digits);
    let glued = (!glued.is_empty()).then_some(Word { text: glued, start: first.start + number.len() });
    let second = if glued.is_some() { glued } else { words.next() };
    let Ok(number) = number.parse() else {
        let message = format!("invalid sleep time {:?}: it must be a 64-bit integer or :variable", first.text);
        return Err(source.error(first.start, message));
    };
    Ok(MetaCommand::Sleep { duration: SleepDuration::Constant(number), unit_ns: unit_ns(source, second)? })
}

fn unit_ns(source: &Source<'_>, unit: Option<Word<'_>>) -> Result<u64, ScriptError> {
    let Some(unit) = unit else { return Ok(1_000_000_000) };
    match unit.text.to_ascii_lowercase().as_str() {
        "us" => Ok(1_000),
        "ms" => Ok(1_000_000),
        "s" => Ok(1_000_000_000),
        _ => Err(source.error(unit.start, format!("unrecognized time unit {:?}: it must be us, ms or s", unit.text))),
    }
}

/// A word of a meta-command's line.
#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    text: &'a str,
    start: usize,
}

/// The words from `offset` to the end of the line.
struct Words<'a> {
    source: &'a Source<'a>,
    offset: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<Word<'a>> {
        let text = self.source.text;
        let start = skip_space(text, self.offset);
        let is_part = |at: usize, byte: u8| byte != b'\n' && !is_space(byte) && continuation_length(text, at).is_none();
        let length = text.bytes().enumerate().skip(start).take_while(|&(at, byte)| is_part(at, byte)).count();
        self.offset = start + length;
        (length > 0).then(|| Word { text: &text[start..start + length], start })
    }

    fn required(&mut self, message: &str) -> Result<Word<'a>, ScriptError> {
        self.next().ok_or_else(|| self.source.error(self.offset, message))
    }

    fn end_of(&mut self, command: &str) -> Result<(), ScriptError> {
        match self.next() {
            None => Ok(()),
            Some(word) => {
                let message = format!("unexpected argument {:?} of \\{command}", word.text);
                Err(self.source.error(word.start, message))
            }
        }
    }
}
