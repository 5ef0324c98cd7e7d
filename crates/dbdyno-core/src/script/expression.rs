//! The grammar of expressions: precedence climbing over the tokens of one line.
//!
//! From loosest to tightest, as in pgbench and (nearly) PostgreSQL:
//!
//! ```text
//! OR
//! AND
//! NOT
//! IS  ISNULL  NOTNULL
//! <  >  =  <=  >=  <>             not associative: a < b < c is an error
//! |  #  &  <<  >>  and prefix ~
//! +  -
//! *  /  %
//! prefix + and -
//! ```

use std::sync::Arc;

use super::error::ScriptError;
use super::evaluate::fold_constant;
use super::function::{ARGUMENTS_MAX, Arity, FUNCTIONS, Function};
use super::source::Source;
use super::suggestion::did_you_mean;
use super::token::{Token, Tokens};
use super::types::{Expression, Symbols, Value};

const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const IS: u8 = 4;
const COMPARISON: u8 = 5;
const BITWISE: u8 = 6;
const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const SIGN: u8 = 9;

/// Bounds on the recursion of parsing and on the height of the tree, so that no script can
/// exhaust the stack. Far above what anyone writes by hand.
const NESTING_MAX: usize = 100;
const CALLS_MAX: usize = 1000;

/// Parses the expression at `offset`, to the end of its line. Returns it with the offset behind it.
pub(super) fn parse_expression(
    source: &Source<'_>,
    offset: usize,
    symbols: &mut Symbols,
) -> Result<(Expression, usize), ScriptError> {
    let mut parser = Parser::new(source, offset, symbols)?;
    let expression = parser.expression(0)?;
    if parser.token != Token::End {
        return Err(parser.syntax_error("an operator or the end of the line"));
    }
    Ok((expression, parser.tokens.offset()))
}

struct Parser<'a> {
    source: &'a Source<'a>,
    tokens: Tokens<'a>,
    token: Token<'a>,
    token_start: usize,
    symbols: &'a mut Symbols,
    nesting: usize,
    calls: usize,
}

impl<'a> Parser<'a> {
    fn new(source: &'a Source<'a>, offset: usize, symbols: &'a mut Symbols) -> Result<Self, ScriptError> {
        let mut tokens = Tokens::new(source, offset);
        let (token, token_start) = tokens.next()?;
        Ok(Self { source, tokens, token, token_start, symbols, nesting: 0, calls: 0 })
    }

    fn advance(&mut self) -> Result<(), ScriptError> {
        (self.token, self.token_start) = self.tokens.next()?;
        Ok(())
    }

    /// Steps over `token` if it is the next one.
    fn accept(&mut self, token: Token<'static>) -> Result<bool, ScriptError> {
        let found = self.token == token;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, token: Token<'static>) -> Result<(), ScriptError> {
        if self.accept(token)? { Ok(()) } else { Err(self.syntax_error(&described(token))) }
    }

    fn syntax_error(&self, expected: &str) -> ScriptError {
        let message = format!("syntax error: expected {expected}, found {}", described(self.token));
        self.source.error(self.token_start, message)
    }

    /// Operands and operators that bind at least as tightly as `tightness`.
    fn expression(&mut self, tightness: u8) -> Result<Expression, ScriptError> {
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            let message = format!("expression is nested more than {NESTING_MAX} deep");
            return Err(self.source.error(self.token_start, message));
        }
        let mut left = self.operand()?;
        let mut is_comparison = false;
        while let Some(operator) = infix(self.token).filter(|operator| operator.tightness >= tightness) {
            if operator.tightness == COMPARISON && is_comparison {
                return Err(self.syntax_error("AND, OR or parentheses between comparisons"));
            }
            is_comparison = operator.tightness == COMPARISON;
            let start = self.token_start;
            self.advance()?;
            left = match operator.apply {
                Infix::NullTest { negated } => self.is_value(left, Value::Null, negated, start)?,
                Infix::Is => self.is_clause(left, start)?,
                Infix::Function { function, exchanged } => {
                    let right = self.expression(operator.tightness + 1)?;
                    let operands = if exchanged { vec![right, left] } else { vec![left, right] };
                    self.call(function, operands, start)?
                }
            };
        }
        self.nesting -= 1;
        Ok(left)
    }

    /// What stands behind IS: `[NOT] NULL`, `TRUE` or `FALSE`.
    fn is_clause(&mut self, left: Expression, start: usize) -> Result<Expression, ScriptError> {
        let negated = self.accept(Token::Keyword("not"))?;
        let value = match self.token {
            Token::Keyword("null") => Value::Null,
            Token::Keyword("true") => Value::Boolean(true),
            Token::Keyword("false") => Value::Boolean(false),
            _ => return Err(self.syntax_error("NULL, TRUE or FALSE behind IS")),
        };
        self.advance()?;
        self.is_value(left, value, negated, start)
    }

    fn is_value(
        &mut self,
        left: Expression,
        value: Value,
        negated: bool,
        start: usize,
    ) -> Result<Expression, ScriptError> {
        let test = self.call(Function::Is, vec![left, Expression::Constant(value)], start)?;
        if negated { self.call(Function::Not, vec![test], start) } else { Ok(test) }
    }

    /// A literal, variable, call, CASE, parenthesis, or a prefix operator with its operand.
    fn operand(&mut self) -> Result<Expression, ScriptError> {
        let (token, start) = (self.token, self.token_start);
        if matches!(token, Token::End | Token::MinimumMagnitude) {
            return Err(self.operand_error());
        }
        self.advance()?;
        match token {
            Token::Integer(integer) => Ok(Expression::Constant(Value::Integer(integer))),
            Token::Double(double) => Ok(Expression::Constant(Value::Double(double))),
            Token::Keyword("null") => Ok(Expression::Constant(Value::Null)),
            Token::Keyword("true") => Ok(Expression::Constant(Value::Boolean(true))),
            Token::Keyword("false") => Ok(Expression::Constant(Value::Boolean(false))),
            Token::Variable(name) => Ok(Expression::Variable(self.symbols.intern(name))),
            Token::Name(name) => self.function_call(name, start),
            Token::Keyword("case") => self.case(start),
            Token::Keyword("not") => {
                let operand = self.expression(NOT)?;
                self.call(Function::Not, vec![operand], start)
            }
            Token::Sign("(") => {
                let inner = self.expression(0)?;
                self.expect(Token::Sign(")"))?;
                Ok(inner)
            }
            Token::Sign("+") => self.expression(SIGN),
            Token::Sign("-") => self.negation(start),
            Token::Sign("~") => {
                let operand = self.expression(BITWISE + 1)?;
                self.call(Function::BitXor, vec![Expression::Constant(Value::Integer(-1)), operand], start)
            }
            _ => {
                (self.token, self.token_start) = (token, start);
                Err(self.operand_error())
            }
        }
    }

    fn operand_error(&self) -> ScriptError {
        if self.token == Token::MinimumMagnitude {
            return self.source.error(self.token_start, "bigint constant overflow: 9223372036854775808");
        }
        self.syntax_error("a value")
    }

    fn negation(&mut self, start: usize) -> Result<Expression, ScriptError> {
        if self.accept(Token::MinimumMagnitude)? {
            return Ok(Expression::Constant(Value::Integer(i64::MIN)));
        }
        let operand = self.expression(SIGN)?;
        self.call(Function::Subtract, vec![Expression::Constant(Value::Integer(0)), operand], start)
    }

    /// Conditions and values; without ELSE the value is NULL. `case` is already read.
    fn case(&mut self, start: usize) -> Result<Expression, ScriptError> {
        let mut branches = Vec::new();
        self.expect(Token::Keyword("when"))?;
        loop {
            branches.push(self.expression(0)?);
            self.expect(Token::Keyword("then"))?;
            branches.push(self.expression(0)?);
            if !self.accept(Token::Keyword("when"))? {
                break;
            }
        }
        let otherwise =
            if self.accept(Token::Keyword("else"))? { self.expression(0)? } else { Expression::Constant(Value::Null) };
        branches.push(otherwise);
        self.expect(Token::Keyword("end"))?;
        self.call(Function::Case, branches, start)
    }

    /// A function by name; the name is already read.
    fn function_call(&mut self, name: &str, start: usize) -> Result<Expression, ScriptError> {
        let known = FUNCTIONS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
        let Some(&(_, function, arity)) = known else {
            let names = FUNCTIONS.iter().map(|(known, ..)| *known);
            let message = format!("unknown function {name:?}{}", did_you_mean(name, names));
            return Err(self.source.error(start, message));
        };
        self.expect(Token::Sign("("))?;
        let mut operands = self.operand_list()?;
        if let Some(expected) = arity_mistake(arity, operands.len()) {
            let message = format!("{name} takes {expected}, not {}", operands.len());
            return Err(self.source.error(start, message));
        }
        if arity == Arity::ThenSeed(operands.len()) {
            operands.push(Expression::Variable(self.symbols.intern("default_seed")));
        }
        if function == Function::Debug {
            operands.push(Expression::Constant(Value::Text(Arc::from(self.source.place(start)))));
        }
        self.call(function, operands, start)
    }

    /// Operands between commas and the closing parenthesis.
    fn operand_list(&mut self) -> Result<Vec<Expression>, ScriptError> {
        let mut operands = Vec::new();
        if self.accept(Token::Sign(")"))? {
            return Ok(operands);
        }
        loop {
            operands.push(self.expression(0)?);
            if self.accept(Token::Sign(")"))? {
                return Ok(operands);
            }
            if !self.accept(Token::Sign(","))? {
                return Err(self.syntax_error("',' or ')'"));
            }
        }
    }

    /// A call, or its value if that is already known.
    fn call(
        &mut self,
        function: Function,
        arguments: Vec<Expression>,
        start: usize,
    ) -> Result<Expression, ScriptError> {
        self.calls += 1;
        if self.calls > CALLS_MAX {
            let message = format!("expression has more than {CALLS_MAX} operators and function calls");
            return Err(self.source.error(start, message));
        }
        Ok(fold_constant(Expression::Call { function, arguments }))
    }
}

/// An operator behind its left operand.
struct Operator {
    tightness: u8,
    apply: Infix,
}

enum Infix {
    Function { function: Function, exchanged: bool },
    NullTest { negated: bool },
    Is,
}

fn infix(token: Token<'_>) -> Option<Operator> {
    use Function::*;
    let (tightness, function, exchanged) = match token {
        Token::Keyword("or") => (OR, Or, false),
        Token::Keyword("and") => (AND, And, false),
        Token::Keyword("is") => return Some(Operator { tightness: IS, apply: Infix::Is }),
        Token::Keyword("isnull") => return Some(null_test(false)),
        Token::Keyword("notnull") => return Some(null_test(true)),
        Token::Sign("<") => (COMPARISON, Less, false),
        Token::Sign(">") => (COMPARISON, Less, true),
        Token::Sign("<=") => (COMPARISON, LessOrEqual, false),
        Token::Sign(">=") => (COMPARISON, LessOrEqual, true),
        Token::Sign("=") => (COMPARISON, Equal, false),
        Token::Sign("<>") => (COMPARISON, NotEqual, false),
        Token::Sign("|") => (BITWISE, BitOr, false),
        Token::Sign("#") => (BITWISE, BitXor, false),
        Token::Sign("&") => (BITWISE, BitAnd, false),
        Token::Sign("<<") => (BITWISE, ShiftLeft, false),
        Token::Sign(">>") => (BITWISE, ShiftRight, false),
        Token::Sign("+") => (SUM, Add, false),
        Token::Sign("-") => (SUM, Subtract, false),
        Token::Sign("*") => (PRODUCT, Multiply, false),
        Token::Sign("/") => (PRODUCT, Divide, false),
        Token::Sign("%") => (PRODUCT, Modulo, false),
        _ => return None,
    };
    Some(Operator { tightness, apply: Infix::Function { function, exchanged } })
}

fn null_test(negated: bool) -> Operator {
    Operator { tightness: IS, apply: Infix::NullTest { negated } }
}

/// What a function takes, if it does not take `count` operands.
fn arity_mistake(arity: Arity, count: usize) -> Option<String> {
    let (accepted, expected) = match arity {
        Arity::Exactly(1) => (count == 1, "1 argument".to_owned()),
        Arity::Exactly(number) => (count == number, format!("{number} arguments")),
        Arity::AtLeastOne => ((1..=ARGUMENTS_MAX).contains(&count), format!("1 to {ARGUMENTS_MAX} arguments")),
        Arity::ThenSeed(number) => {
            (count == number || count == number + 1, format!("{number} or {} arguments", number + 1))
        }
    };
    (!accepted).then_some(expected)
}

fn described(token: Token<'_>) -> String {
    match token {
        Token::Sign(sign) => format!("'{sign}'"),
        Token::Keyword(keyword) => keyword.to_uppercase(),
        Token::Integer(integer) => integer.to_string(),
        Token::MinimumMagnitude => "9223372036854775808".to_owned(),
        Token::Double(double) => format!("{double:?}"),
        Token::Variable(name) => format!(":{name}"),
        Token::Name(name) => format!("{name:?}"),
        Token::End => "the end of the line".to_owned(),
    }
}
