//! One client: its connection, its variables, what it sends and what the server still owes it.

use std::collections::VecDeque;

use super::capture::{Captured, ColumnTargets};
use super::fetch::Fetch;
use super::plan::Plan;
use super::record::{Rows, UnitTimes};
use super::span::{Edge, Span, Stage};
use super::spec::QueryMode;
use super::window::Window;
use crate::script::{Random, Value};
use crate::wire::{Connection, Remainder, ServerError, encode};

/// What a client is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Between units, waiting for an arrival or for ever.
    Idle,
    /// Between units until a timer: think time.
    Thinking { intended_ns: u64 },
    /// Between units until its backend sleeps, so that the kernel's clocks are exact.
    Settling { edge: Edge, since_ns: u64, intended_ns: u64 },
    /// In a unit, until a timer: `\sleep`.
    Sleeping,
    /// In a unit: statements are being prepared.
    AwaitingPrepare,
    /// In a unit: a statement or a pipeline is being executed.
    AwaitingResult,
    /// In a unit that failed: the transaction is being rolled back.
    AwaitingRollback,
}

impl State {
    /// Whether a unit of work is in progress.
    pub(super) fn is_in_unit(self) -> bool {
        matches!(self, Self::Sleeping | Self::AwaitingPrepare | Self::AwaitingResult | Self::AwaitingRollback)
    }
}

/// The unit in progress, or the last one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unit {
    pub times: UnitTimes,
    pub script: usize,
    pub counted: bool,
    pub tries: u32,
    /// Index of the next command.
    pub command: usize,
}

/// What Describe said about a prepared statement.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub binary_results: bool,
    pub targets: ColumnTargets,
}

/// A statement that was sent and has not completed.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub statement: usize,
    pub sent_ns: u64,
    /// How many Syncs were sent before it: an error takes all statements up to the next Sync with it.
    pub segment: u64,
    pub captures: bool,
}

/// The error that ended a try, and the statement that met it.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub error: ServerError,
    pub statement: Option<usize>,
}

/// Variables and random state at the start of a unit, for another try.
#[derive(Debug)]
pub(super) struct Restore {
    pub variables: Vec<Value>,
    pub random: Random,
}

/// One client.
pub(super) struct Client {
    /// Among all clients of the trial.
    pub number: usize,
    pub connection: Connection,
    pub remainder: Remainder,
    pub state: State,
    pub unit: Unit,
    pub variables: Vec<Value>,
    /// Of the scripts' random functions.
    pub random: Random,
    /// Of the choice of scripts.
    pub choice: Random,
    /// Of the think times.
    pub thinking: Random,
    pub restore: Option<Restore>,
    /// By statement; None before its first use on this connection.
    pub prepared: Vec<Option<Prepared>>,
    /// The line of the `\startpipeline` whose pipeline is open.
    pub pipeline: Option<u32>,
    /// Whether messages were queued since the last Sync.
    pub unsynced: bool,
    pub failed: Option<Failed>,
    pub in_transaction: bool,
    pub span: Span,
    pub available_since_ns: u64,
    /// Whether the last write had to wait.
    pub write_blocked: bool,
    pub(super) preparing: VecDeque<usize>,
    pub(super) in_flight: VecDeque<InFlight>,
    pub(super) captured: Captured,
    pub(super) fetch: Fetch,
    /// Whether the result in flight came in more than one portion.
    pub(super) was_suspended: bool,
    pub(super) rows: Rows,
    pub(super) syncs_sent: u64,
    pub(super) syncs_answered: u64,
}

impl Client {
    /// A client that has done nothing yet.
    pub(super) fn new(
        number: usize,
        connection: Connection,
        plan: &Plan,
        variables: Vec<Value>,
        [random, choice, thinking]: [Random; 3],
    ) -> Self {
        Self {
            number,
            connection,
            remainder: Remainder::default(),
            state: State::Idle,
            unit: Unit::default(),
            variables,
            random,
            choice,
            thinking,
            restore: None,
            prepared: vec![None; plan.statements.len()],
            pipeline: None,
            unsynced: false,
            failed: None,
            in_transaction: false,
            span: Span::default(),
            available_since_ns: 0,
            write_blocked: false,
            preparing: VecDeque::new(),
            in_flight: VecDeque::with_capacity(16),
            captured: Captured::default(),
            fetch: Fetch::None,
            was_suspended: false,
            rows: Rows::default(),
            syncs_sent: 0,
            syncs_answered: 0,
        }
    }

    /// Whether a unit with this intended start would be counted.
    pub(super) fn would_count(&self, intended_ns: u64, window: &Window) -> bool {
        self.span.stage == Stage::Open && window.contains(intended_ns)
    }

    /// Queues the preparation of these statements and a Sync.
    pub(super) fn write_prepare(&mut self, plan: &Plan, statements: impl Iterator<Item = usize>) {
        for statement in statements {
            self.connection.outgoing().extend_from_slice(&plan.statements[statement].prepare);
            self.preparing.push_back(statement);
        }
        self.write_sync();
    }

    /// Queues one execution of a statement; without the Sync or Flush that the extended protocol needs.
    pub(super) fn write_statement(&mut self, plan: &Plan, statement: usize, now_ns: u64) {
        let planned = &plan.statements[statement];
        let captures = planned.capture.is_some();
        if captures {
            self.captured.clear();
        }
        self.in_flight.push_back(InFlight { statement, sent_ns: now_ns, segment: self.syncs_sent, captures });
        let out = self.connection.outgoing();
        match plan.mode {
            QueryMode::Simple => {
                planned.write_simple(out, &self.variables, &plan.symbols);
                self.syncs_sent += 1;
                return;
            }
            QueryMode::Extended => planned.write_extended(out, &self.variables),
            QueryMode::Prepared => {
                let binary = self.prepared[statement].as_ref().is_some_and(|prepared| prepared.binary_results);
                planned.write_prepared(out, &self.variables, binary);
            }
        }
        self.unsynced = true;
    }

    /// Queues a Sync: the server answers it with ReadyForQuery.
    pub(super) fn write_sync(&mut self) {
        encode::sync(self.connection.outgoing());
        self.syncs_sent += 1;
        self.unsynced = false;
    }

    /// Queues a rollback of the transaction in progress.
    pub(super) fn write_rollback(&mut self) {
        encode::query(self.connection.outgoing(), "ROLLBACK");
        self.syncs_sent += 1;
    }

    /// Whether the server has answered everything.
    pub(super) fn is_answered(&self) -> bool {
        self.syncs_sent == self.syncs_answered && self.fetch == Fetch::None
    }

    /// Before a prepared statement with `\gset` is executed: its columns were described when it was prepared.
    pub(super) fn expect_prepared_columns(&mut self, statement: usize) {
        if let Some(prepared) = &self.prepared[statement] {
            self.captured.targets.clone_from(&prepared.targets);
        }
    }
}
