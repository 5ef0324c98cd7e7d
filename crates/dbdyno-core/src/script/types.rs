//! What a parsed script is. Parsing builds it, the load engine walks it; nothing changes it in between.

use std::sync::Arc;

/// Index of a variable in a client's table. One `Symbols` table serves all scripts of a workload,
/// because a client's variables outlive the unit of work that set them (as in pgbench).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VariableId(pub u32);

/// The names behind `VariableId`.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    names: Vec<String>,
}

impl Symbols {
    /// The id of `name`, added if it is new.
    pub fn intern(&mut self, name: &str) -> VariableId {
        if let Some(id) = self.find(name) {
            return id;
        }
        self.names.push(name.to_owned());
        VariableId((self.names.len() - 1) as u32)
    }

    /// The id of `name`, if any script or the workload mentions it.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<VariableId> {
        self.names.iter().position(|known| known == name).map(|index| VariableId(index as u32))
    }

    /// The name of `id`.
    #[must_use]
    pub fn name(&self, id: VariableId) -> &str {
        &self.names[id.0 as usize]
    }

    /// How many variables there are: the length of a client's table.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no variable was ever mentioned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The value of a variable, with pgbench's types. `Text` is what `\gset`, `-D` and the workload set:
/// it is read as a number, boolean or NULL only when an expression needs one.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Never set.
    Unset,
    /// SQL NULL.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// 64-bit integer.
    Integer(i64),
    /// Double precision.
    Double(f64),
    /// Not yet interpreted.
    Text(Arc<str>),
}

/// One script: a name for reports and a flat list of commands. `\if` blocks are resolved to jumps.
#[derive(Clone, Debug)]
pub struct Script {
    /// File name, or the name of a built-in.
    pub name: String,
    /// What a client does, in order; execution ends behind the last one.
    pub commands: Vec<Command>,
    /// The distinct SQL statements, referred to by `Command::Sql`.
    pub statements: Vec<Statement>,
    /// Whether the script has a pipeline: such a script cannot run in simple mode.
    pub uses_pipeline: bool,
}

/// One step of a script.
#[derive(Clone, Debug)]
pub enum Command {
    /// Send `Script::statements[index]` and, outside a pipeline, wait for its result.
    Sql(usize),
    /// `\set variable expression`.
    Set {
        /// What is set.
        variable: VariableId,
        /// To what.
        expression: Expression,
        /// Line of the script, for messages at run time.
        line: u32,
    },
    /// `\sleep duration`: the client is idle inside its unit of work.
    Sleep {
        /// Number or variable.
        duration: SleepDuration,
        /// Nanoseconds in one of its units (s, ms, us).
        unit_ns: u64,
        /// Line of the script.
        line: u32,
    },
    /// `\if` or `\elif`: go on with the next command if the expression is true, else at `target`.
    JumpUnless {
        /// The condition.
        expression: Expression,
        /// Index into `Script::commands`.
        target: usize,
        /// Line of the script.
        line: u32,
    },
    /// End of a taken branch: go on at this index.
    Jump(usize),
    /// `\startpipeline`.
    StartPipeline {
        /// Line of the script.
        line: u32,
    },
    /// `\syncpipeline`.
    SyncPipeline {
        /// Line of the script.
        line: u32,
    },
    /// `\endpipeline`.
    EndPipeline {
        /// Line of the script.
        line: u32,
    },
}

/// The operand of `\sleep`.
#[derive(Clone, Debug)]
pub enum SleepDuration {
    /// `\sleep 10 ms`.
    Constant(i64),
    /// `\sleep :delay ms`.
    Variable(VariableId),
}

/// One SQL command of a script (several statements where the script joins them with `\;`).
#[derive(Clone, Debug)]
pub struct Statement {
    /// First line in the script.
    pub line: u32,
    /// As written, for reports.
    pub text: String,
    /// For simple mode: literal text and variables, in order.
    pub pieces: Vec<Piece>,
    /// For extended and prepared mode: the text with `$1`, `$2`, ... in place of variables.
    pub parameterised: String,
    /// What `$1`, `$2`, ... stand for; one that is unset is NULL.
    pub parameters: Vec<VariableId>,
    /// `\gset` or `\aset` behind it.
    pub capture: Option<Capture>,
}

/// A part of a statement's text.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Sent as it stands.
    Literal(String),
    /// Replaced by the variable's value; one that is unset stays `:name`.
    Variable(VariableId),
}

/// Where a result goes. Column names are known only at run time, so the ids of `prefix + column`
/// are interned when the first result arrives.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// Put before each column's name.
    pub prefix: String,
    /// `\aset`: the last row of each of several queries; `\gset`: exactly one row of the last one.
    pub all_queries: bool,
    /// Line of the `\gset`.
    pub line: u32,
}

impl Capture {
    /// Of its meta-command.
    #[must_use]
    pub fn name(&self) -> &'static str {
        if self.all_queries { "aset" } else { "gset" }
    }
}

/// A `\set` or `\if` expression, ready to evaluate.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A literal.
    Constant(Value),
    /// A variable.
    Variable(VariableId),
    /// An operator, function, `CASE` or cast.
    Call {
        /// Which.
        function: Function,
        /// Its operands.
        arguments: Vec<Expression>,
    },
}

pub use super::function::Function;
