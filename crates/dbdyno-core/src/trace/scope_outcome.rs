//! From the accounts of a scope to JSON (docs/architecture.md, "Traces").

use std::collections::BTreeMap;

use serde::Serialize;

use super::events::Events;
use super::objects::Target;
use super::outcome::lossy;
use super::row_outcome::{CallOutcome, RowOutcome, WaitOutcome};
use super::scope::Scope;
use super::session::{Session, Transactions};

/// The file, or one of its sessions.
#[derive(Debug, Serialize)]
pub(super) struct ScopeOutcome {
    scope: &'static str,
    session: Option<String>,
    process: Option<u64>,
    first_mark: Option<MarkOutcome>,
    last_mark: Option<MarkOutcome>,
    attributes: BTreeMap<&'static str, Vec<MarkOutcome>>,
    duration_ns: i64,
    begin_tim_ns: Option<i64>,
    begin_line: u64,
    end_tim_ns: Option<i64>,
    end_line: u64,
    profile_ns: ProfileOutcome,
    calls: BTreeMap<&'static str, u64>,
    waits: Vec<WaitOutcome>,
    statements: Vec<RowOutcome>,
    call_tree: Vec<EdgeOutcome>,
    targets: Vec<TargetOutcome>,
    transactions: TransactionsOutcome,
    lob_calls: Vec<LobOutcome>,
    errors: Vec<ErrorOutcome>,
}

#[derive(Clone, Debug, Serialize)]
struct MarkOutcome {
    text: String,
    line: u64,
}

/// cpu + the sum of waits + unaccounted = duration.
#[derive(Debug, Serialize)]
struct ProfileOutcome {
    cpu: i64,
    waits: BTreeMap<String, i64>,
    unaccounted: i64,
    unaccounted_within_calls: i64,
    unaccounted_between_calls: i64,
}

#[derive(Debug, Serialize)]
struct EdgeOutcome {
    caller: Option<u32>,
    called: u32,
    count: u64,
    cpu_ns: i64,
    elapsed_ns: i64,
    line: u64,
}

#[derive(Debug, Serialize)]
struct TargetOutcome {
    event: String,
    by: &'static str,
    value: Option<i64>,
    count: u64,
    blocks: i64,
    sum_ns: i64,
    max_ns: i64,
    first_line: u64,
    slowest_line: u64,
}

#[derive(Debug, Serialize)]
struct TransactionsOutcome {
    commits: u64,
    rollbacks: u64,
    read_only: u64,
    first_line: u64,
    last_line: u64,
}

#[derive(Debug, Serialize)]
struct LobOutcome {
    operation: String,
    lob_bytes: i64,
    #[serde(flatten)]
    calls: CallOutcome,
}

#[derive(Debug, Serialize)]
struct ErrorOutcome {
    statement: u32,
    code: i64,
    count: u64,
    line: u64,
}

impl ScopeOutcome {
    pub(super) fn of(name: &'static str, scope: &Scope<'_>, session: Option<&Session>, events: &Events) -> Self {
        let split = scope.split();
        let event_name = |event: u32| lossy(&events.all[event as usize].name);
        let has_time = scope.extent.begin_ns != i64::MAX;
        let mark = |mark: &Option<(Box<[u8]>, u64)>| {
            mark.as_ref().map(|(text, line)| MarkOutcome { text: lossy(text), line: *line })
        };
        let mut waits: Vec<WaitOutcome> = scope.waits.values().map(|wait| WaitOutcome::of(wait, events)).collect();
        waits.sort_by_key(|wait| std::cmp::Reverse(wait.sum_ns));
        Self {
            scope: name,
            session: session.and_then(|session| session.key.session.as_deref().map(lossy)),
            process: session.and_then(|session| session.process),
            first_mark: session.and_then(|session| mark(&session.first_mark)),
            last_mark: session.and_then(|session| mark(&session.last_mark)),
            attributes: session.map(attributes).unwrap_or_default(),
            duration_ns: split.duration_ns,
            begin_tim_ns: has_time.then_some(scope.extent.begin_ns),
            begin_line: scope.extent.begin_line,
            end_tim_ns: has_time.then_some(scope.extent.end_ns),
            end_line: scope.extent.end_line,
            profile_ns: ProfileOutcome {
                cpu: split.cpu_ns,
                waits: scope.waits.values().map(|wait| (event_name(wait.event), wait.elapsed_ns)).collect(),
                unaccounted: split.unaccounted_ns,
                unaccounted_within_calls: split.unaccounted_within_calls_ns,
                unaccounted_between_calls: split.unaccounted_ns - split.unaccounted_within_calls_ns,
            },
            calls: scope.calls(),
            waits,
            statements: scope.rows.values().map(|row| RowOutcome::of(row, events)).collect(),
            call_tree: scope
                .edges
                .iter()
                .map(|((caller, called), edge)| EdgeOutcome {
                    caller: *caller,
                    called: *called,
                    count: edge.count,
                    cpu_ns: edge.spent.cpu_ns,
                    elapsed_ns: edge.spent.elapsed_ns,
                    line: edge.first_line,
                })
                .collect(),
            targets: scope
                .targets
                .iter()
                .map(|((event, target), sums)| {
                    let (by, value) = named(*target);
                    TargetOutcome {
                        event: event_name(*event),
                        by,
                        value,
                        count: sums.count,
                        blocks: sums.blocks,
                        sum_ns: sums.elapsed_ns,
                        max_ns: sums.longest_ns,
                        first_line: sums.first_line,
                        slowest_line: sums.longest_line,
                    }
                })
                .collect(),
            transactions: TransactionsOutcome::of(&scope.transactions),
            lob_calls: scope
                .lob_calls
                .iter()
                .map(|(operation, (sums, bytes))| LobOutcome {
                    operation: lossy(operation),
                    lob_bytes: *bytes,
                    calls: CallOutcome::of(sums),
                })
                .collect(),
            errors: scope
                .errors
                .iter()
                .map(|((statement, code), noticed)| ErrorOutcome {
                    statement: *statement,
                    code: *code,
                    count: noticed.count,
                    line: noticed.line,
                })
                .collect(),
        }
    }
}

fn attributes(session: &Session) -> BTreeMap<&'static str, Vec<MarkOutcome>> {
    let mut attributes: BTreeMap<&'static str, Vec<MarkOutcome>> = BTreeMap::new();
    for ((attribute, text), line) in &session.attributes {
        attributes.entry(attribute.name()).or_default().push(MarkOutcome { text: lossy(text), line: *line });
    }
    attributes
}

fn named(target: Target) -> (&'static str, Option<i64>) {
    match target {
        Target::File(file) => ("file", Some(file)),
        Target::Object(object) => ("object", Some(object)),
        Target::RequestBlocks(blocks) => ("request_blocks", Some(blocks)),
        Target::FirstParameter(value) => ("first_parameter", Some(value)),
        Target::Others => ("others", None),
    }
}

impl TransactionsOutcome {
    fn of(transactions: &Transactions) -> Self {
        let Transactions { commits, rollbacks, read_only, first_line, last_line } = *transactions;
        Self { commits, rollbacks, read_only, first_line, last_line }
    }
}
