//! Random calls within calls, with waits, think time and lost time, written as a trace in a random dialect and read
//! back: the accounts are what the generator has spent, to the microsecond (before 9i: to the centisecond).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::Value;

use super::testing::{assert_adds_up, notes_of, outcome_of};

/// What a session does, one after the other.
#[derive(Clone, Debug)]
enum Step {
    Cpu(u64),
    /// Neither CPU nor a wait.
    Lost(u64),
    Wait {
        event: usize,
        elapsed: u64,
    },
    Call {
        kind: usize,
        statement: usize,
        steps: Vec<Step>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Dialect {
    V8,
    V9,
    V10,
    V11,
    V19,
}

impl Dialect {
    fn header(self) -> &'static str {
        match self {
            Self::V8 => "Oracle8i Enterprise Edition Release 8.1.7.0.0 - Production",
            Self::V9 => "Oracle9i Enterprise Edition Release 9.2.0.1.0 - Production",
            Self::V10 => "Oracle Database 10g Enterprise Edition Release 10.2.0.3.0 - Production",
            Self::V11 => "Oracle Database 11g Enterprise Edition Release 11.2.0.3.0 - 64bit Production",
            Self::V19 => "Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production\nVersion 19.3.0.0.0",
        }
    }

    fn unit_ns(self) -> i64 {
        if self == Self::V8 { 10_000_000 } else { 1_000 }
    }

    fn waits_have_moments(self) -> bool {
        self >= Self::V10
    }
}

const STATEMENTS: usize = 4;
/// Work, then what lies between calls.
const WORK: [&str; 3] = ["db file sequential read", "latch: shared pool", "enq: TX - row lock contention"];
const BETWEEN: [&str; 3] = ["SQL*Net message from client", "SQL*Net message to client", "PL/SQL lock timer"];

/// What was spent, in the dialect's unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Truth {
    begin: u64,
    latest: u64,
    cpu: u64,
    lost_within: u64,
    /// (event, sum, as far as it was between calls).
    waits: BTreeMap<&'static str, (u64, u64)>,
    /// By statement: calls, own CPU, own elapsed.
    own: BTreeMap<usize, (u64, u64, u64)>,
    /// (caller, called): calls.
    edges: BTreeMap<(Option<usize>, usize), u64>,
}

/// One session's lines and what they have to add up to.
struct Writer {
    dialect: Dialect,
    lines: Vec<String>,
    now: u64,
    truth: Truth,
}

impl Writer {
    fn of(dialect: Dialect, begin: u64, depth: usize, steps: &[Step]) -> (Vec<String>, Truth) {
        let truth = Truth { begin, latest: begin, ..Truth::default() };
        let mut writer = Self { dialect, lines: Vec::new(), now: begin, truth };
        for statement in 0..STATEMENTS {
            writer.parsing(statement, depth);
        }
        for step in steps {
            match step {
                Step::Cpu(time) | Step::Lost(time) => writer.now += time,
                Step::Wait { event, elapsed } => writer.wait(0, BETWEEN[*event], *elapsed, true),
                Step::Call { kind, statement, steps } => {
                    writer.call(None, *kind, *statement, depth, steps);
                }
            }
        }
        (writer.lines, writer.truth)
    }

    fn parsing(&mut self, statement: usize, depth: usize) {
        let text = text_of(statement);
        let id = if self.dialect >= Dialect::V11 { " sqlid='50vxqdkj4zu1w'" } else { "" };
        let line = format!(
            "PARSING IN CURSOR #{} len={} dep={depth} uid=0 oct=3 lid=0 tim={} hv=27 ad='66'{id}",
            statement + 1,
            text.len(),
            self.now
        );
        self.lines.push(format!("=====================\n{line}\n{text}\nEND OF STMT"));
    }

    /// CPU and elapsed, with those of recursive calls.
    fn call(
        &mut self,
        caller: Option<usize>,
        kind: usize,
        statement: usize,
        depth: usize,
        steps: &[Step],
    ) -> (u64, u64) {
        let (begin, mut own_cpu, mut below) = (self.now, 0, (0, 0));
        for step in steps {
            match step {
                Step::Cpu(time) => {
                    own_cpu += time;
                    self.now += time;
                }
                Step::Lost(time) => {
                    self.truth.lost_within += time;
                    self.now += time;
                }
                Step::Wait { event, elapsed } => self.wait(statement + 1, WORK[*event], *elapsed, false),
                Step::Call { kind, statement: called, steps } => {
                    let (cpu, elapsed) = self.call(Some(statement), *kind, *called, depth + 1, steps);
                    below = (below.0 + cpu, below.1 + elapsed);
                }
            }
        }
        let (cpu, elapsed) = (own_cpu + below.0, self.now - begin);
        let own = self.truth.own.entry(statement).or_default();
        *own = (own.0 + 1, own.1 + own_cpu, own.2 + elapsed - below.1);
        *self.truth.edges.entry((caller, statement)).or_default() += 1;
        self.truth.cpu += own_cpu;
        self.tell(self.now);
        let (cursor, now) = (statement + 1, self.now);
        let plan = if self.dialect >= Dialect::V11 { ",plh=7" } else { "" };
        self.lines.push(match ["PARSE", "EXEC", "FETCH", "CLOSE"][kind] {
            "CLOSE" if self.dialect >= Dialect::V11 => {
                format!("CLOSE #{cursor}:c={cpu},e={elapsed},dep={depth},type=1,tim={now}")
            }
            "CLOSE" => {
                format!("UNMAP #{cursor}:c={cpu},e={elapsed},p=0,cr=0,cu=0,mis=0,r=0,dep={depth},og=4,tim={now}")
            }
            name => {
                format!("{name} #{cursor}:c={cpu},e={elapsed},p=0,cr=1,cu=0,mis=0,r=1,dep={depth},og=4{plan},tim={now}")
            }
        });
        (cpu, elapsed)
    }

    fn wait(&mut self, cursor: usize, event: &'static str, elapsed: u64, is_between: bool) {
        self.now += elapsed;
        let sums = self.truth.waits.entry(event).or_default();
        *sums = (sums.0 + elapsed, sums.1 + if is_between { elapsed } else { 0 });
        let mut line = format!("WAIT #{cursor}: nam='{event}' ela= {elapsed} ");
        if self.dialect.waits_have_moments() {
            self.tell(self.now);
            write!(line, "driver id=14 #bytes=1 p3=0 obj#=-1 tim={}", self.now).expect("a String");
        } else {
            line += "p1=1 p2=2 p3=1";
        }
        self.lines.push(line);
    }

    fn tell(&mut self, now: u64) {
        self.truth.latest = self.truth.latest.max(now);
    }
}

fn text_of(statement: usize) -> String {
    format!("select {} from t{statement}", "x".repeat(statement + 1))
}

fn step() -> impl Strategy<Value = Step> {
    let simple = prop_oneof![
        (1u64..500).prop_map(Step::Cpu),
        (1u64..500).prop_map(Step::Lost),
        (0usize..3, 1u64..2_000).prop_map(|(event, elapsed)| Step::Wait { event, elapsed }),
    ];
    simple.prop_recursive(8, 60, 6, call_of)
}

fn call_of(inner: impl Strategy<Value = Step> + 'static) -> impl Strategy<Value = Step> {
    (0usize..4, 0usize..STATEMENTS, prop::collection::vec(inner, 0..6))
        .prop_map(|(kind, statement, steps)| Step::Call { kind, statement, steps })
}

fn dialect() -> impl Strategy<Value = Dialect> {
    prop::sample::select(vec![Dialect::V8, Dialect::V9, Dialect::V10, Dialect::V11, Dialect::V19])
}

/// Where waits tell no moment, what comes before the first and after the last call is an estimate: calls enclose it.
fn enclosed(dialect: Dialect, mut steps: Vec<Step>) -> Vec<Step> {
    if !dialect.waits_have_moments() {
        let call = Step::Call { kind: 1, statement: 0, steps: vec![Step::Cpu(1)] };
        steps.insert(0, call.clone());
        steps.push(call);
    }
    steps
}

fn assert_scope(scope: &Value, statements: &Value, dialect: Dialect, truth: &Truth) {
    let unit_ns = dialect.unit_ns();
    let ns = |time: u64| time as i64 * unit_ns;
    let number = |value: &Value| value.as_i64().expect("a number");
    let profile = &scope["profile_ns"];
    assert_eq!(ns(truth.latest - truth.begin), number(&scope["duration_ns"]));
    assert_eq!(ns(truth.cpu), number(&profile["cpu"]));
    assert_eq!(ns(truth.lost_within), number(&profile["unaccounted_within_calls"]));
    let waits: BTreeMap<&str, (i64, i64)> = scope["waits"]
        .as_array()
        .expect("waits")
        .iter()
        .map(|wait| {
            (wait["event"].as_str().expect("a name"), (number(&wait["sum_ns"]), number(&wait["between_calls_ns"])))
        })
        .collect();
    let expected: BTreeMap<&str, (i64, i64)> =
        truth.waits.iter().map(|(event, (sum, between))| (*event, (ns(*sum), ns(*between)))).collect();
    assert_eq!(expected, waits);
    let place = |id: &Value| {
        let text = statements[id.as_u64().expect("a place") as usize]["text"].as_str().expect("a text");
        (0..STATEMENTS).find(|statement| text_of(*statement) == text)
    };
    let mut own = BTreeMap::new();
    for row in scope["statements"].as_array().expect("rows") {
        let calls: Vec<&Value> = row["calls"].as_object().expect("calls").values().collect();
        let sum = |key: &str| calls.iter().map(|calls| number(&calls[key])).sum::<i64>();
        if let Some(statement) = place(&row["statement"]).filter(|_| !calls.is_empty()) {
            own.insert(statement, (sum("count"), sum("own_cpu_ns"), sum("own_elapsed_ns")));
        }
    }
    let expected: BTreeMap<usize, (i64, i64, i64)> = truth
        .own
        .iter()
        .map(|(statement, (count, cpu, elapsed))| (*statement, (*count as i64, ns(*cpu), ns(*elapsed))))
        .collect();
    assert_eq!(expected, own);
    let edges: BTreeMap<(Option<usize>, usize), u64> = scope["call_tree"]
        .as_array()
        .expect("edges")
        .iter()
        .map(|edge| {
            (
                (place_of(&edge["caller"], &place), place(&edge["called"]).expect("one")),
                edge["count"].as_u64().expect("a count"),
            )
        })
        .collect();
    assert_eq!(truth.edges, edges);
}

fn place_of(caller: &Value, place: &impl Fn(&Value) -> Option<usize>) -> Option<usize> {
    if caller.is_null() { None } else { place(caller) }
}

fn written(dialect: Dialect, lines: &[String], has_returns: bool) -> String {
    let text = format!("/u01/app/x_ora_1.trc\n{}\n\n{}\n", dialect.header(), lines.join("\n"));
    if has_returns { text.replace('\n', "\r\n") } else { text }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_accounts_are_what_was_spent(
        dialect in dialect(),
        steps in prop::collection::vec(step(), 1..12),
        is_job_slave in any::<bool>(),
        has_returns in any::<bool>(),
    ) {
        // A job slave has no call of depth 0.
        let depth = usize::from(is_job_slave);
        let (lines, truth) = Writer::of(dialect, 1_000_000, depth, &enclosed(dialect, steps));
        let outcome = outcome_of(written(dialect, &lines, has_returns).as_bytes());
        assert_adds_up(&outcome);
        prop_assert!(notes_of(&outcome).is_empty(), "{}", outcome["notes"]);
        assert_scope(&outcome["scopes"][0], &outcome["statements"], dialect, &truth);
    }

    #[test]
    fn each_session_of_a_merged_file_is_accounted_for_by_itself(
        first in prop::collection::vec(step(), 1..8),
        second in prop::collection::vec(step(), 1..8),
        turns in prop::collection::vec((any::<bool>(), 1usize..4), 0..40),
    ) {
        let dialect = Dialect::V11;
        let mut sessions = [(first, 1_000_000, 11), (second, 1_000_100, 12)].map(|(steps, begin, process)| {
            let (lines, truth) = Writer::of(dialect, begin, 0, &steps);
            (process, lines.into_iter().collect::<std::collections::VecDeque<_>>(), truth)
        });
        let mut merged = Vec::new();
        let rest = [(false, usize::MAX), (true, usize::MAX)];
        for (is_second, count) in turns.into_iter().chain(rest) {
            let (process, lines, _) = &mut sessions[usize::from(is_second)];
            if !lines.is_empty() {
                merged.push(format!("*** [ Unix process pid: {process} ]"));
                let count = count.min(lines.len());
                merged.extend(lines.drain(..count));
            }
        }
        let outcome = outcome_of(written(dialect, &merged, false).as_bytes());
        assert_adds_up(&outcome);
        let scopes = outcome["scopes"].as_array().expect("scopes");
        prop_assert_eq!(3, scopes.len());
        for (process, _, truth) in &sessions {
            let scope = scopes.iter().find(|scope| scope["process"].as_u64() == Some(*process)).expect("a scope");
            assert_scope(scope, &outcome["statements"], dialect, truth);
        }
    }
}
