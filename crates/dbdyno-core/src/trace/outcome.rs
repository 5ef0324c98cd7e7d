//! From the accounts of a file to JSON (docs/architecture.md, "Traces").

use std::collections::BTreeMap;

use serde::Serialize;

use super::events::Events;
use super::ledger::Ledger;
use super::notes::Noticed;
use super::objects::Target;
use super::plans::Plan;
use super::reader::State;
use super::record::CallKind;
use super::rows::{Executions, Row};
use super::scope::Scope;
use super::session::{Session, Transactions};
use super::sql_text;
use super::statements::{Statement, StatementKind};
use super::sums::{CallSums, WaitSums, encoded};

/// One file.
#[derive(Debug, Serialize)]
pub(super) struct FileOutcome {
    pub file: String,
    /// As they lie on disk, and as text.
    pub bytes: u64,
    pub text_bytes: u64,
    pub compression: &'static str,
    /// Why it ended before its end.
    pub broken: Option<String>,
    lines: u64,
    version: Option<String>,
    time_unit: &'static str,
    /// Before 12c the clock of c has steps of a millisecond and more.
    cpu_clock_is_coarse: Option<bool>,
    header: Vec<HeaderLine>,
    records: BTreeMap<&'static str, u64>,
    notes: Vec<NoteOutcome>,
    unknown_lines: UnknownOutcome,
    statements: Vec<StatementOutcome>,
    scopes: Vec<ScopeOutcome>,
}

#[derive(Debug, Serialize)]
struct HeaderLine {
    line: u64,
    text: String,
}

#[derive(Debug, Serialize)]
struct NoteOutcome {
    code: &'static str,
    count: u64,
    line: u64,
}

#[derive(Debug, Serialize)]
struct UnknownOutcome {
    count: u64,
    shapes: Vec<ShapeOutcome>,
    others: u64,
}

#[derive(Debug, Serialize)]
struct ShapeOutcome {
    shape: String,
    count: u64,
    line: u64,
}

#[derive(Debug, Serialize)]
struct StatementOutcome {
    statement: u32,
    kind: &'static str,
    cursor: Option<u64>,
    sql_id: Option<String>,
    /// We have computed it from the text.
    sql_id_is_computed: bool,
    hash_value: Option<i64>,
    structure: String,
    text: String,
    text_bytes: u64,
    command: i64,
    user: i64,
    line: u64,
}

#[derive(Debug, Serialize)]
struct ScopeOutcome {
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
struct WaitOutcome {
    event: String,
    class: &'static str,
    count: u64,
    sum_ns: i64,
    between_calls_count: u64,
    between_calls_ns: i64,
    min_ns: i64,
    max_ns: i64,
    first_line: u64,
    slowest_line: u64,
    histogram: Option<String>,
}

#[derive(Debug, Serialize)]
struct RowOutcome {
    statement: u32,
    depth_min: Option<usize>,
    depth_max: usize,
    calls: BTreeMap<&'static str, CallOutcome>,
    waits: Vec<WaitOutcome>,
    plans: Vec<PlanOutcome>,
    executions: ExecutionsOutcome,
}

#[derive(Debug, Serialize)]
struct CallOutcome {
    count: u64,
    cpu_ns: i64,
    elapsed_ns: i64,
    own_cpu_ns: i64,
    own_elapsed_ns: i64,
    physical_reads: i64,
    consistent_reads: i64,
    current_reads: i64,
    own_physical_reads: i64,
    own_consistent_reads: i64,
    own_current_reads: i64,
    misses: i64,
    rows: i64,
    first_line: u64,
    slowest_ns: i64,
    slowest_line: u64,
}

#[derive(Debug, Serialize)]
struct ExecutionsOutcome {
    count: u64,
    sum_ns: i64,
    histogram: Option<String>,
    slowest: Option<SlowestOutcome>,
}

#[derive(Debug, Serialize)]
struct SlowestOutcome {
    elapsed_ns: i64,
    rows: i64,
    line: u64,
    binds: String,
    binds_line: u64,
}

#[derive(Debug, Serialize)]
struct PlanOutcome {
    plan_hash: u64,
    count: u64,
    line: u64,
    row_sources: Vec<RowSourceOutcome>,
}

#[derive(Debug, Serialize)]
struct RowSourceOutcome {
    id: i64,
    parent: i64,
    position: i64,
    object: i64,
    operation: String,
    rows: i64,
    consistent_reads: Option<i64>,
    physical_reads: Option<i64>,
    physical_writes: Option<i64>,
    starts: Option<i64>,
    time_ns: Option<i64>,
    cost: Option<i64>,
    bytes: Option<i64>,
    cardinality: Option<i64>,
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

impl FileOutcome {
    /// Of a file that has been read to its end.
    pub(super) fn of(file: String, state: &State, lines: u64) -> Self {
        let ledger = &state.ledger;
        let records = BTreeMap::from([
            ("calls", ledger.calls),
            ("waits", ledger.waits),
            ("text_lines", state.text_lines),
            ("bind_lines", state.bind_lines),
        ]);
        let version = state.header.version.clone();
        let major = version.as_deref().and_then(|version| version.split('.').next()?.parse::<u32>().ok());
        Self {
            file,
            bytes: 0,
            text_bytes: 0,
            compression: "none",
            broken: None,
            lines,
            version,
            time_unit: state.unit.name(),
            cpu_clock_is_coarse: major.map(|major| major < 12),
            header: state
                .header
                .lines
                .iter()
                .map(|(line, text)| HeaderLine { line: *line, text: text.clone() })
                .collect(),
            records,
            notes: ledger
                .notes
                .all
                .iter()
                .map(|(note, Noticed { count, line })| NoteOutcome { code: note.code(), count: *count, line: *line })
                .collect(),
            unknown_lines: UnknownOutcome {
                count: state.unknown.count(),
                shapes: state
                    .unknown
                    .shapes
                    .iter()
                    .map(|(shape, noticed)| ShapeOutcome {
                        shape: lossy(shape),
                        count: noticed.count,
                        line: noticed.line,
                    })
                    .collect(),
                others: state.unknown.others,
            },
            statements: (0_u32..)
                .zip(&ledger.statements.all)
                .map(|(id, statement)| StatementOutcome::of(id, statement))
                .collect(),
            scopes: scopes(ledger),
        }
    }
}

/// The file; and each session, where there are several.
fn scopes(ledger: &Ledger) -> Vec<ScopeOutcome> {
    let used: Vec<usize> =
        (0..ledger.sessions.all.len()).filter(|id| !ledger.sessions.all[*id].is_untouched()).collect();
    let only = match used[..] {
        [only] => Some(&ledger.sessions.all[only]),
        _ => None,
    };
    let mut scopes = vec![ScopeOutcome::of("file", &Scope::of(ledger, |_| true), only, &ledger.events)];
    if used.len() > 1 {
        let of_session = |id: &usize| {
            let session = Some(&ledger.sessions.all[*id]);
            ScopeOutcome::of("session", &Scope::of(ledger, |other| other == *id), session, &ledger.events)
        };
        scopes.extend(used.iter().map(of_session));
    }
    scopes
}

impl ScopeOutcome {
    fn of(name: &'static str, scope: &Scope<'_>, session: Option<&Session>, events: &Events) -> Self {
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

impl StatementOutcome {
    fn of(id: u32, statement: &Statement) -> Self {
        let (kind, cursor) = match statement.kind {
            StatementKind::Text => ("statement", None),
            StatementKind::Variants => ("variants", None),
            StatementKind::NotInTrace(cursor) => ("not_in_trace", Some(cursor)),
            StatementKind::NoCursor => ("no_cursor", None),
            StatementKind::Others => ("others", None),
        };
        let is_whole = !statement.text.is_empty()
            && statement.text.len() as u64 == statement.text_bytes
            && statement.text_bytes as i64 == statement.stated_bytes;
        let computed = (statement.sql_id.is_none() && is_whole).then(|| sql_text::sql_id(&statement.text));
        Self {
            statement: id,
            kind,
            cursor,
            sql_id_is_computed: computed.is_some(),
            sql_id: statement.sql_id.clone().or(computed),
            hash_value: statement.hash_value,
            structure: format!("{:016x}", statement.structure),
            text: lossy(&statement.text),
            text_bytes: statement.text_bytes,
            command: statement.command,
            user: statement.user,
            line: statement.first_line,
        }
    }
}

impl RowOutcome {
    fn of(row: &Row, events: &Events) -> Self {
        let calls = CallKind::ALL.into_iter().filter(|kind| row.calls[*kind as usize].count > 0);
        Self {
            statement: row.statement,
            depth_min: (row.depth_min != usize::MAX).then_some(row.depth_min),
            depth_max: row.depth_max,
            calls: calls.map(|kind| (kind.name(), CallOutcome::of(&row.calls[kind as usize]))).collect(),
            waits: row.waits.iter().map(|wait| WaitOutcome::of(wait, events)).collect(),
            plans: row.plans.iter().map(PlanOutcome::of).collect(),
            executions: ExecutionsOutcome::of(&row.executions),
        }
    }
}

impl CallOutcome {
    fn of(sums: &CallSums) -> Self {
        Self {
            count: sums.count,
            cpu_ns: sums.all.cpu_ns,
            elapsed_ns: sums.all.elapsed_ns,
            own_cpu_ns: sums.own.cpu_ns,
            own_elapsed_ns: sums.own.elapsed_ns,
            physical_reads: sums.all.physical_reads,
            consistent_reads: sums.all.consistent_reads,
            current_reads: sums.all.current_reads,
            own_physical_reads: sums.own.physical_reads,
            own_consistent_reads: sums.own.consistent_reads,
            own_current_reads: sums.own.current_reads,
            misses: sums.misses,
            rows: sums.rows,
            first_line: sums.first_line,
            slowest_ns: sums.slowest_ns,
            slowest_line: sums.slowest_line,
        }
    }
}

impl WaitOutcome {
    fn of(wait: &WaitSums, events: &Events) -> Self {
        let event = &events.all[wait.event as usize];
        Self {
            event: lossy(&event.name),
            class: event.class.name(),
            count: wait.count,
            sum_ns: wait.elapsed_ns,
            between_calls_count: wait.between_count,
            between_calls_ns: wait.between_ns,
            min_ns: wait.shortest_ns,
            max_ns: wait.longest_ns,
            first_line: wait.first_line,
            slowest_line: wait.longest_line,
            histogram: wait.histogram.as_deref().map(encoded),
        }
    }
}

impl ExecutionsOutcome {
    fn of(executions: &Executions) -> Self {
        Self {
            count: executions.count,
            sum_ns: executions.elapsed_ns,
            histogram: executions.histogram.as_deref().map(encoded),
            slowest: executions.slowest.as_ref().map(|slowest| SlowestOutcome {
                elapsed_ns: slowest.elapsed_ns,
                rows: slowest.rows,
                line: slowest.line,
                binds: lossy(&slowest.binds),
                binds_line: slowest.binds_line,
            }),
        }
    }
}

impl PlanOutcome {
    fn of(plan: &Plan) -> Self {
        let known = |figure: i64| (figure >= 0).then_some(figure);
        let row_source = |line: &super::plans::PlanLine| RowSourceOutcome {
            id: line.id,
            parent: line.parent,
            position: line.position,
            object: line.object,
            operation: line.operation.clone(),
            rows: line.figures.rows,
            consistent_reads: known(line.figures.consistent_reads),
            physical_reads: known(line.figures.physical_reads),
            physical_writes: known(line.figures.physical_writes),
            starts: known(line.figures.starts),
            time_ns: known(line.figures.time_ns),
            cost: known(line.cost),
            bytes: known(line.bytes),
            cardinality: known(line.cardinality),
        };
        Self {
            plan_hash: plan.plan_hash,
            count: plan.count,
            line: plan.first_line,
            row_sources: plan.lines.iter().map(row_source).collect(),
        }
    }
}

impl TransactionsOutcome {
    fn of(transactions: &Transactions) -> Self {
        let Transactions { commits, rollbacks, read_only, first_line, last_line } = *transactions;
        Self { commits, rollbacks, read_only, first_line, last_line }
    }
}

/// Traces are in the database's character set; what is not UTF-8 is shown as such.
fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
