//! Walking through a script: from one command to the next, until the client has to wait.

use std::iter;

use super::client::State;
use super::spec::QueryMode;
use super::worker::Worker;
use crate::error::{CoreError, Result};
use crate::script::{
    CAPTURE_IN_PIPELINE, Command, END_OUTSIDE, EvaluationError, Expression, PIPELINE_LEFT_OPEN, PIPELINE_TWICE, Random,
    SYNC_OUTSIDE, SleepDuration, Value,
};

/// Why the walk stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// For the server or a timer.
    Waiting,
    /// Behind the last command.
    AtEnd,
}

impl Worker<'_> {
    /// Goes on with the unit in progress.
    pub(super) fn execute(&mut self, index: usize, now_ns: u64) -> Result<Progress> {
        let plan = self.shared.plan;
        loop {
            let client = &mut self.clients[index];
            let script = &plan.scripts[client.unit.script].script;
            let Some(command) = script.commands.get(client.unit.command) else { return self.end_script(index) };
            if client.pipeline.is_some() && client.failed.is_some() {
                return self.end_pipeline(index);
            }
            client.unit.command += 1;
            match command {
                Command::Sql(statement) => {
                    let statement = plan.scripts[client.unit.script].first_statement + statement;
                    if let Some(progress) = self.send_statement(index, statement, now_ns)? {
                        return Ok(progress);
                    }
                }
                Command::Set { variable, expression, line } => {
                    let value = self.evaluate(index, *line, expression, Expression::evaluate)?;
                    self.clients[index].variables[variable.0 as usize] = value;
                }
                Command::JumpUnless { expression, target, line } => {
                    if !self.evaluate(index, *line, expression, Expression::is_true)? {
                        self.clients[index].unit.command = *target;
                    }
                }
                Command::Jump(target) => client.unit.command = *target,
                Command::Sleep { duration, unit_ns, line } => {
                    let sleep_ns = self.sleep_ns(index, duration, *unit_ns, *line)?;
                    self.clients[index].state = State::Sleeping;
                    self.shared.phases[self.clients[index].number].enter_statement(None);
                    self.set_timer(now_ns.saturating_add(sleep_ns), index);
                    return Ok(Progress::Waiting);
                }
                Command::StartPipeline { line } => {
                    if let Some(progress) = self.start_pipeline(index, *line)? {
                        return Ok(progress);
                    }
                }
                Command::SyncPipeline { line } => {
                    self.check_pipeline(index, true, *line, SYNC_OUTSIDE)?;
                    self.clients[index].write_sync();
                    self.flush(index)?;
                }
                Command::EndPipeline { line } => {
                    self.check_pipeline(index, true, *line, END_OUTSIDE)?;
                    return self.end_pipeline(index);
                }
            }
        }
    }

    /// Sends a statement and waits, unless it is in a pipeline. A statement that is not prepared yet on
    /// this connection is prepared first: then the same command is met again.
    fn send_statement(&mut self, index: usize, statement: usize, now_ns: u64) -> Result<Option<Progress>> {
        let plan = self.shared.plan;
        let client = &mut self.clients[index];
        if let (Some(_), Some(capture)) = (client.pipeline, &plan.statements[statement].capture) {
            return Err(self.script_error(index, capture.line, &format!("\\{} {CAPTURE_IN_PIPELINE}", capture.name())));
        }
        if plan.mode == QueryMode::Prepared {
            if client.prepared[statement].is_none() {
                client.unit.command -= 1;
                client.write_prepare(plan, iter::once(statement));
                return self.send_and_wait(index, State::AwaitingPrepare).map(Some);
            }
            if plan.statements[statement].capture.is_some() {
                client.expect_prepared_columns(statement);
            }
        }
        client.write_statement(plan, statement, now_ns);
        if client.pipeline.is_some() {
            return Ok(None);
        }
        self.shared.phases[client.number].enter_statement(Some(statement));
        match (plan.mode, plan.fetch_rows) {
            (QueryMode::Simple, _) => {}
            (_, Some(_)) => client.begin_fetching(),
            (_, None) => client.write_sync(),
        }
        self.send_and_wait(index, State::AwaitingResult).map(Some)
    }

    /// All statements of a pipeline are prepared before it starts, in one round trip: preparing needs an
    /// answer, and a pipeline does not wait for any.
    fn start_pipeline(&mut self, index: usize, line: u32) -> Result<Option<Progress>> {
        self.check_pipeline(index, false, line, PIPELINE_TWICE)?;
        let plan = self.shared.plan;
        if let Some(rows) = plan.fetch_rows {
            let what =
                format!("\\startpipeline cannot be used with fetch_rows ({rows}): a pipeline does not wait for rows");
            return Err(self.script_error(index, line, &what));
        }
        let client = &mut self.clients[index];
        if plan.mode == QueryMode::Prepared {
            let mut missing: Vec<usize> = plan
                .pipeline_statements(client.unit.script, client.unit.command)
                .filter(|statement| client.prepared[*statement].is_none())
                .collect();
            missing.sort_unstable();
            missing.dedup();
            if !missing.is_empty() {
                client.unit.command -= 1;
                client.write_prepare(plan, missing.into_iter());
                return self.send_and_wait(index, State::AwaitingPrepare).map(Some);
            }
        }
        client.pipeline = Some(line);
        Ok(None)
    }

    /// The branches of an `\if` decide whether a pipeline is open: only here can it be checked.
    fn check_pipeline(&self, index: usize, open: bool, line: u32, mistake: &str) -> Result<()> {
        match self.clients[index].pipeline.is_some() == open {
            true => Ok(()),
            false => Err(self.script_error(index, line, mistake)),
        }
    }

    /// Sends what the pipeline holds and waits for all its answers.
    fn end_pipeline(&mut self, index: usize) -> Result<Progress> {
        let client = &mut self.clients[index];
        client.pipeline = None;
        // Which of its statements the server works on is not known here.
        self.shared.phases[client.number].enter_statement(None);
        if client.unsynced {
            client.write_sync();
        }
        if client.is_answered() {
            // Nothing is owed: an empty pipeline, or every answer came during a \sleep in it.
            client.write_sync();
        }
        self.send_and_wait(index, State::AwaitingResult)
    }

    /// A script that ends within a pipeline or a transaction would hand it on to the next unit: then neither
    /// would be what it says. pgbench refuses both likewise.
    fn end_script(&self, index: usize) -> Result<Progress> {
        let client = &self.clients[index];
        if let Some(line) = client.pipeline {
            return Err(self.script_error(index, line, PIPELINE_LEFT_OPEN));
        }
        if client.in_transaction {
            let place = self.shared.plan.place_of_last_statement(client.unit.script);
            let message = format!("{place}: the script ends in a transaction that it began; end it with COMMIT");
            return Err(CoreError::new("script_runtime", message));
        }
        Ok(Progress::AtEnd)
    }

    /// Sends what is queued; the client goes on when the server has answered.
    pub(super) fn send_and_wait(&mut self, index: usize, state: State) -> Result<Progress> {
        self.clients[index].state = state;
        self.flush(index)?;
        Ok(Progress::Waiting)
    }

    fn evaluate<T>(
        &mut self,
        index: usize,
        line: u32,
        expression: &Expression,
        evaluate: impl Fn(&Expression, &[Value], &mut Random) -> Result<T, EvaluationError>,
    ) -> Result<T> {
        let client = &mut self.clients[index];
        evaluate(expression, &client.variables, &mut client.random)
            .map_err(|error| self.runtime_error(index, line, &error))
    }

    fn sleep_ns(&self, index: usize, duration: &SleepDuration, unit_ns: u64, line: u32) -> Result<u64> {
        let sleep = duration.nanoseconds(unit_ns, &self.clients[index].variables);
        sleep.map_err(|error| self.runtime_error(index, line, &error))
    }

    fn runtime_error(&self, index: usize, line: u32, error: &EvaluationError) -> CoreError {
        self.script_error(index, line, &error.describe(&self.shared.plan.symbols))
    }

    fn script_error(&self, index: usize, line: u32, what: &str) -> CoreError {
        let name = &self.shared.plan.scripts[self.clients[index].unit.script].script.name;
        CoreError::new("script_runtime", format!("{name}:{line}: {what}"))
    }
}
