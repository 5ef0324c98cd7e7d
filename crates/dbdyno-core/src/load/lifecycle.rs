//! A unit of work from its start to its end, through tries and failures, and what comes behind it.

use super::client::{Failed, Restore, State, Unit};
use super::execute::Progress;
use super::phase_cell::EndedUnit;
use super::plan::Plan;
use super::record::{Failure, Fate, UnitTimes};
use super::span::{Edge, Stage};
use super::spec::ArrivalSpec;
use super::worker::Worker;
use crate::clock;
use crate::error::{CoreError, Result};
use crate::wire::{DEADLOCK_DETECTED, SERIALIZATION_FAILURE, ServerError};

impl Worker<'_> {
    /// Starts a unit; `due_ns` is when it could and should have started.
    pub(super) fn begin_unit(&mut self, index: usize, intended_ns: u64, due_ns: u64, now_ns: u64) {
        let client = &mut self.clients[index];
        let counted = client.would_count(intended_ns, &self.shared.window);
        client.unit = Unit {
            times: UnitTimes { intended_ns, start_ns: now_ns, end_ns: now_ns },
            script: self.shared.plan.choose(&mut client.choice),
            counted,
            tries: 1,
            command: 0,
        };
        if let Some(restore) = &mut client.restore {
            restore.variables.clone_from(&client.variables);
            restore.random.clone_from(&client.random);
        } else if self.shared.spec.max_tries > 1 {
            client.restore = Some(Restore { variables: client.variables.clone(), random: client.random.clone() });
        }
        if counted {
            client.span.start_ns.get_or_insert(now_ns);
            client.span.last_think_time_ns = None;
            self.record.counted_unit_started(now_ns, now_ns.saturating_sub(due_ns));
            self.shared.phases[client.number].begin_unit();
        }
    }

    /// Goes on with a client's unit, and with the units behind it, until the client has to wait.
    pub(super) fn drive(&mut self, index: usize, now_ns: u64) -> Result<()> {
        let mut now_ns = now_ns;
        loop {
            let waited_for_nothing = now_ns == self.clients[index].unit.times.start_ns;
            if self.execute(index, now_ns)? == Progress::Waiting {
                return Ok(());
            }
            if waited_for_nothing {
                // A unit without SQL: it takes its own time, and others get their turn behind it.
                now_ns = clock::now_ns();
            }
            self.end_unit(index, now_ns, Fate::Successful);
            if !self.next_unit(index, now_ns, waited_for_nothing)? {
                return Ok(());
            }
        }
    }

    /// The server has answered all that a client sent.
    pub(super) fn answered(&mut self, index: usize, now_ns: u64) -> Result<()> {
        let client = &mut self.clients[index];
        match client.state {
            State::AwaitingPrepare | State::AwaitingResult if client.failed.is_some() => self.end_try(index, now_ns),
            State::AwaitingPrepare | State::AwaitingResult => self.drive(index, now_ns),
            State::AwaitingRollback => self.after_rollback(index, now_ns),
            _ => Ok(()),
        }
    }

    /// An error ended the try: the transaction is rolled back first, if there is one.
    fn end_try(&mut self, index: usize, now_ns: u64) -> Result<()> {
        let client = &mut self.clients[index];
        client.pipeline = None;
        let failed = client.failed.as_ref().expect("only called behind an error");
        if !failed.error.is_retryable() && !self.shared.spec.continue_on_error {
            return Err(sql_error(self.shared.plan, failed));
        }
        if client.in_transaction {
            client.write_rollback();
            return self.send_and_wait(index, State::AwaitingRollback).map(|_| ());
        }
        self.after_rollback(index, now_ns)
    }

    fn after_rollback(&mut self, index: usize, now_ns: u64) -> Result<()> {
        let client = &mut self.clients[index];
        let error = client.failed.take().expect("only called behind an error").error;
        if error.is_retryable() && client.unit.tries < self.shared.spec.max_tries && !self.winding_down {
            client.unit.tries += 1;
            client.unit.command = 0;
            if let Some(restore) = &client.restore {
                client.variables.clone_from(&restore.variables);
                client.random.clone_from(&restore.random);
            }
            return self.drive(index, now_ns);
        }
        self.end_unit(index, now_ns, Fate::Failed(class_of(&error)));
        match self.next_unit(index, now_ns, false)? {
            true => self.drive(index, now_ns),
            false => Ok(()),
        }
    }

    fn end_unit(&mut self, index: usize, now_ns: u64, fate: Fate) {
        let client = &mut self.clients[index];
        client.state = State::Idle;
        client.available_since_ns = now_ns;
        client.unit.times.end_ns = now_ns;
        let unit = &client.unit;
        self.record.unit_ended(&unit.times, fate);
        if let Some(live) = &mut self.live {
            live.unit_ended(unit.script, now_ns - unit.times.intended_ns, fate == Fate::Successful);
        }
        if !unit.counted || client.span.stage != Stage::Open {
            return;
        }
        let unit = *unit;
        self.record.counted_unit_ended(unit.script, &unit.times, fate, unit.tries);
        client.span.last_end_ns = now_ns;
        client.span.successful += u64::from(fate == Fate::Successful);
        self.shared.phases[client.number].end_unit(|| EndedUnit { times: unit.times, script: unit.script });
    }

    /// What a client between units does next; true: its next unit has begun. With `later` it goes
    /// through a timer even if it is due now.
    fn next_unit(&mut self, index: usize, now_ns: u64, later: bool) -> Result<bool> {
        if self.winding_down {
            return Ok(false);
        }
        let ArrivalSpec::Closed(think_time) = self.shared.spec.arrival else {
            return self.next_open_unit(index, now_ns, later);
        };
        let client = &mut self.clients[index];
        let think_time_ns = think_time.draw_ns(&mut client.thinking);
        if client.span.stage == Stage::Open {
            client.span.last_think_time_ns = Some(think_time_ns);
        }
        let intended_ns = now_ns.saturating_add(think_time_ns);
        // Without a ticket left the next counted unit is never.
        let next_ns = if self.shared.tickets.are_gone() { u64::MAX } else { intended_ns };
        if let Some(edge) = client.span.edge(next_ns, &self.shared.window) {
            self.begin_settling(index, edge, intended_ns, now_ns)?;
            return Ok(false);
        }
        if think_time_ns == 0 && !later {
            return self.begin_next_unit(index, intended_ns, now_ns);
        }
        self.think_until(index, intended_ns);
        Ok(false)
    }

    /// Starts the next unit of a closed loop's client; false: it would be counted and there is no ticket left,
    /// so that the client has reached its closing edge instead.
    pub(super) fn begin_next_unit(&mut self, index: usize, intended_ns: u64, now_ns: u64) -> Result<bool> {
        if self.clients[index].would_count(intended_ns, &self.shared.window) && !self.shared.tickets.take() {
            self.begin_settling(index, Edge::Closing, intended_ns, now_ns)?;
            return Ok(false);
        }
        self.begin_unit(index, intended_ns, intended_ns, now_ns);
        Ok(true)
    }

    /// Lets a client start a unit at this time.
    pub(super) fn think_until(&mut self, index: usize, intended_ns: u64) {
        self.clients[index].state = State::Thinking { intended_ns };
        self.set_timer(intended_ns, index);
    }

    /// The drain limit is reached: what this client still does has failed.
    pub(super) fn give_up_client(&mut self, index: usize, now_ns: u64) {
        let client = &mut self.clients[index];
        if client.state.is_in_unit() && client.unit.counted {
            client.unit.times.end_ns = now_ns;
            let unit = client.unit;
            self.record.counted_unit_ended(unit.script, &unit.times, Fate::Failed(Failure::Unfinished), unit.tries);
            client.span.last_end_ns = now_ns;
            self.shared.phases[client.number].end_unit(|| EndedUnit { times: unit.times, script: unit.script });
        }
        client.span.closing = self.shared.observer.read_clocks(client.number);
        client.span.closing_counters = self.shared.observer.read_counters(client.number);
        self.leave_span(index, now_ns);
        self.mark_closed(index);
    }
}

fn sql_error(plan: &Plan, failed: &Failed) -> CoreError {
    let place = failed.statement.map(|statement| plan.place_of(statement)).unwrap_or_default();
    CoreError::new("sql_error", format!("{place}: {}", failed.error))
}

fn class_of(error: &ServerError) -> Failure {
    match error.sqlstate.as_str() {
        SERIALIZATION_FAILURE => Failure::Serialization,
        DEADLOCK_DETECTED => Failure::Deadlock,
        _ => Failure::Other,
    }
}
