//! The variables of a SQL command: found once, so that sending it copies pieces and looks nothing up.
//!
//! pgbench replaces `:name` wherever it stands, in strings and comments as well. In simple mode
//! scripts rely on that (`'user :id'`), so it is done here too, except in comments. As a parameter a
//! variable is only possible in code: `$1` within a string is no parameter, and pgbench's own
//! extended mode fails on it; here the string is sent as it stands, and `quoted_variables` names
//! the variables that it therefore does not show.

use super::source::{name_end, starts_name};
use super::sql::{Segment, SegmentKind};
use super::types::{Piece, Statement, Symbols, VariableId};

impl Statement {
    /// The variables within quotes: replaced in simple mode, plain text in the other modes. One of
    /// them that has a value means that the modes would send different commands; one that has none
    /// is no variable at all, as in `'{"a":true}'`.
    #[must_use]
    pub fn quoted_variables(&self) -> Vec<VariableId> {
        // Both lists are in the order of the text, so what is no parameter is left over.
        let mut parameters = self.parameters.iter().peekable();
        let mut quoted = Vec::new();
        for piece in &self.pieces {
            let Piece::Variable(variable) = piece else { continue };
            if parameters.next_if_eq(&variable).is_none() {
                quoted.push(*variable);
            }
        }
        quoted
    }
}

/// A command's text in the forms in which it is sent.
#[derive(Debug, Default)]
pub(super) struct Substituted {
    pub(super) text: String,
    pub(super) pieces: Vec<Piece>,
    pub(super) parameterised: String,
    pub(super) parameters: Vec<VariableId>,
}

/// Finds the variables in `segments`; space at the end is dropped.
pub(super) fn substitute(segments: &[Segment], symbols: &mut Symbols) -> Substituted {
    let mut result = Substituted::default();
    let count = segments.iter().rposition(|segment| !segment.text.trim().is_empty()).map_or(0, |last| last + 1);
    for (index, segment) in segments[..count].iter().enumerate() {
        let is_last = index + 1 == count;
        let text = if is_last { segment.text.trim_end() } else { &segment.text };
        result.text.push_str(text);
        match segment.kind {
            SegmentKind::Comment => result.literal(text),
            SegmentKind::Quoted | SegmentKind::Code => result.with_variables(text, segment.kind, symbols),
        }
    }
    result
}

impl Substituted {
    fn literal(&mut self, text: &str) {
        self.parameterised.push_str(text);
        self.literal_piece(text);
    }

    fn literal_piece(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Literal(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Literal(text.to_owned())),
        }
    }

    fn with_variables(&mut self, text: &str, kind: SegmentKind, symbols: &mut Symbols) {
        let mut done = 0;
        while let Some((start, end)) = next_variable(text, done) {
            self.literal(&text[done..start]);
            let variable = symbols.intern(&text[start + 1..end]);
            self.pieces.push(Piece::Variable(variable));
            if kind == SegmentKind::Code {
                self.parameters.push(variable);
                self.parameterised.push_str(&format!("${}", self.parameters.len()));
            } else {
                self.parameterised.push_str(&text[start..end]);
            }
            done = end;
        }
        self.literal(&text[done..]);
    }
}

/// The next `:name` from `offset` on. Behind `::` stands a type, not a variable.
fn next_variable(text: &str, mut offset: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    loop {
        let start = offset + text[offset..].find(':')?;
        match bytes.get(start + 1) {
            Some(&byte) if starts_name(byte) => return Some((start, name_end(text, start + 1))),
            _ => offset = start + bytes[start..].iter().take_while(|&&byte| byte == b':').count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::script::{Piece, Statement, Symbols, parse};

    fn statement(text: &str, symbols: &mut Symbols) -> Statement {
        parse("x.sql", text, symbols).unwrap().statements.remove(0)
    }

    #[test]
    fn each_occurrence_is_a_parameter_of_its_own() {
        let mut symbols = Symbols::default();
        let statement = statement("SELECT :a,:b, :a+:a::int8, x[:a::int:2], y:=:é;", &mut symbols);
        assert_eq!(statement.parameterised, "SELECT $1,$2, $3+$4::int8, x[$5::int:2], y:=$6;");
        let names: Vec<&str> = statement.parameters.iter().map(|id| symbols.name(*id)).collect();
        assert_eq!(names, ["a", "b", "a", "a", "a", "é"]);
        assert_eq!(statement.quoted_variables(), []);
    }

    #[test]
    fn in_strings_variables_are_replaced_only_in_simple_mode() {
        let mut symbols = Symbols::default();
        let statement = statement("SELECT ':a', :a, '{\"k\":b}', '12:30' /* :c */;", &mut symbols);
        assert_eq!(statement.parameterised, "SELECT ':a', $1, '{\"k\":b}', '12:30' /* :c */;");
        let (a, b) = (symbols.find("a").unwrap(), symbols.find("b").unwrap());
        let literal = |text: &str| Piece::Literal(text.to_owned());
        let pieces = [
            literal("SELECT '"),
            Piece::Variable(a),
            literal("', "),
            Piece::Variable(a),
            literal(", '{\"k\""),
            Piece::Variable(b),
            literal("}', '12:30' /* :c */;"),
        ];
        assert_eq!(statement.pieces, pieces);
        assert_eq!(statement.quoted_variables(), [a, b]);
        assert_eq!(symbols.find("c"), None);
    }

    #[test]
    fn space_at_the_end_is_dropped() {
        let statement = statement("SELECT 1 -- one \n \n\\gset", &mut Symbols::default());
        assert_eq!(statement.text, "SELECT 1 -- one");
    }
}
