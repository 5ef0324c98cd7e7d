//! `\if` blocks become jumps, and the mistakes that every way through a script meets are found
//! before it runs: unbalanced blocks, pipelines opened twice or never closed.

use super::types::Command;

// The mistakes with a pipeline that the branches of a `\if` can hide until the script runs.
pub(crate) const PIPELINE_TWICE: &str = "\\startpipeline inside a pipeline: \\endpipeline must come first";
pub(crate) const SYNC_OUTSIDE: &str = "\\syncpipeline outside a pipeline: \\startpipeline must come first";
pub(crate) const END_OUTSIDE: &str = "\\endpipeline outside a pipeline: \\startpipeline must come first";
pub(crate) const PIPELINE_LEFT_OPEN: &str = "\\startpipeline without matching \\endpipeline";
/// Behind the name of the meta-command.
pub(crate) const CAPTURE_IN_PIPELINE: &str = "is not allowed in a pipeline: its result comes only with \\endpipeline";

/// What is wrong with a block or pipeline command, without its place.
pub(super) type Misplaced = &'static str;

/// A `\if` without its `\endif` so far.
#[derive(Debug)]
struct Block {
    start: usize,
    /// The `JumpUnless` that skips the branch being read; none behind `\else`.
    skip: Option<usize>,
    /// The `Jump`s behind finished branches, which lead to the block's end.
    exits: Vec<usize>,
    pipeline_at_start: Pipeline,
    pipeline_at_exits: Pipeline,
}

/// In which states a pipeline can be at some point of a script: of the branches of a `\if` one
/// may open it and another not, and only running the script tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pipeline {
    may_be_open: bool,
    may_be_closed: bool,
}

impl Pipeline {
    const OPEN: Self = Self { may_be_open: true, may_be_closed: false };
    const CLOSED: Self = Self { may_be_open: false, may_be_closed: true };
    const NOWHERE: Self = Self { may_be_open: false, may_be_closed: false };

    fn or(self, other: Self) -> Self {
        Self {
            may_be_open: self.may_be_open || other.may_be_open,
            may_be_closed: self.may_be_closed || other.may_be_closed,
        }
    }
}

/// Follows the commands of a script in the order in which they are written.
#[derive(Debug)]
pub(super) struct Flow {
    blocks: Vec<Block>,
    pipeline: Pipeline,
}

impl Flow {
    pub(super) fn new() -> Self {
        Self { blocks: Vec::new(), pipeline: Pipeline::CLOSED }
    }

    /// `\if`, written at `start`; its `JumpUnless` is the last command.
    pub(super) fn open_block(&mut self, start: usize, commands: &[Command]) {
        self.blocks.push(Block {
            start,
            skip: Some(commands.len() - 1),
            exits: Vec::new(),
            pipeline_at_start: self.pipeline,
            pipeline_at_exits: Pipeline::NOWHERE,
        });
    }

    /// `\elif` or `\else` (`name`): ends the branch before it.
    pub(super) fn next_branch(&mut self, name: &str, commands: &mut Vec<Command>) -> Result<(), String> {
        let block = self.blocks.last_mut().ok_or_else(|| format!("\\{name} without matching \\if"))?;
        let skip = block.skip.take().ok_or_else(|| format!("\\{name} after \\else"))?;
        block.exits.push(commands.len());
        commands.push(Command::Jump(0));
        set_target(commands, skip);
        block.pipeline_at_exits = block.pipeline_at_exits.or(self.pipeline);
        self.pipeline = block.pipeline_at_start;
        Ok(())
    }

    /// `\elif`'s own condition: its `JumpUnless` is the last command.
    pub(super) fn set_condition(&mut self, commands: &[Command]) {
        if let Some(block) = self.blocks.last_mut() {
            block.skip = Some(commands.len() - 1);
        }
    }

    /// `\endif`.
    pub(super) fn close_block(&mut self, commands: &mut [Command]) -> Result<(), Misplaced> {
        let block = self.blocks.pop().ok_or("\\endif without matching \\if")?;
        self.pipeline = self.pipeline.or(block.pipeline_at_exits);
        if block.skip.is_some() {
            self.pipeline = self.pipeline.or(block.pipeline_at_start);
        }
        for jump in block.exits.into_iter().chain(block.skip) {
            set_target(commands, jump);
        }
        Ok(())
    }

    pub(super) fn start_pipeline(&mut self) -> Result<(), Misplaced> {
        let was = std::mem::replace(&mut self.pipeline, Pipeline::OPEN);
        if was.may_be_closed { Ok(()) } else { Err(PIPELINE_TWICE) }
    }

    pub(super) fn sync_pipeline(&mut self) -> Result<(), Misplaced> {
        let was = std::mem::replace(&mut self.pipeline, Pipeline::OPEN);
        if was.may_be_open { Ok(()) } else { Err(SYNC_OUTSIDE) }
    }

    pub(super) fn end_pipeline(&mut self) -> Result<(), Misplaced> {
        let was = std::mem::replace(&mut self.pipeline, Pipeline::CLOSED);
        if was.may_be_open { Ok(()) } else { Err(END_OUTSIDE) }
    }

    /// `\gset` and `\aset` need their result at once, a pipeline delivers it at its end.
    pub(super) fn allows_capture(&self) -> bool {
        self.pipeline.may_be_closed
    }

    /// The end of the script: where the innermost open block starts, if there is one.
    pub(super) fn open_block_start(&self) -> Option<usize> {
        self.blocks.last().map(|block| block.start)
    }

    /// The end of the script: whether every way leads out of the pipeline.
    pub(super) fn leaves_pipeline_open(&self) -> bool {
        !self.pipeline.may_be_closed
    }
}

/// Lets the jump at `index` lead to the command that is written next.
fn set_target(commands: &mut [Command], index: usize) {
    let next = commands.len();
    match &mut commands[index] {
        Command::JumpUnless { target, .. } | Command::Jump(target) => *target = next,
        other => unreachable!("{other:?} is no jump"),
    }
}

#[cfg(test)]
mod tests {
    use crate::script::{Command, Symbols, parse};

    /// Which statements run when the conditions have the given values in the order in which they are met.
    fn run(text: &str, conditions: &[bool]) -> Vec<usize> {
        let script = parse("x.sql", text, &mut Symbols::default()).unwrap();
        let mut conditions = conditions.iter();
        let (mut sent, mut next) = (Vec::new(), 0);
        while let Some(command) = script.commands.get(next) {
            next += 1;
            match command {
                Command::Sql(index) => sent.push(*index),
                Command::Jump(target) => next = *target,
                Command::JumpUnless { target, .. } if !conditions.next().unwrap() => next = *target,
                _ => {}
            }
        }
        assert_eq!(conditions.next(), None, "a condition was not met");
        sent
    }

    #[test]
    fn one_branch_of_a_block_runs() {
        let text = "\\if :a\nSELECT 0;\n\\elif :b\nSELECT 1;\n\\else\nSELECT 2;\n\\endif\nSELECT 3;";
        assert_eq!(run(text, &[true]), [0, 3]);
        assert_eq!(run(text, &[false, true]), [1, 3]);
        assert_eq!(run(text, &[false, false]), [2, 3]);
    }

    #[test]
    fn blocks_nest_and_may_be_empty() {
        let text = "\\if :a\n\\if :b\nSELECT 0;\n\\else\nSELECT 1;\n\\endif\n\\elif :c\n\\else\nSELECT 2;\n\\endif";
        assert_eq!(run(text, &[true, true]), [0]);
        assert_eq!(run(text, &[true, false]), [1]);
        assert_eq!(run(text, &[false, true]), [] as [usize; 0]);
        assert_eq!(run(text, &[false, false]), [2]);
    }

    #[test]
    fn a_pipeline_may_depend_on_a_condition() {
        let conditional = "\\if :a\n\\startpipeline\n\\endif\nSELECT 1;\n\\if :a\n\\endpipeline\n\\endif\n";
        assert!(parse("x.sql", conditional, &mut Symbols::default()).is_ok());
        let in_one_branch =
            "\\if :a\n\\startpipeline\n\\else\n\\endif\nSELECT 1 \\gset\n\\if :a\n\\endpipeline\n\\endif\n";
        assert!(parse("x.sql", in_one_branch, &mut Symbols::default()).is_ok());
    }
}
