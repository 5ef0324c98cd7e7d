//! A workload, ready to run: parsed scripts and their statements, and which script comes next.

use crate::error::{CoreError, Result};
use crate::script::{Command, Random, Script, Symbols, Value, VariableId, parse};

use super::session::initial_variables;
use super::spec::{QueryMode, ScriptSpec, TrialSpec};
use super::statement::PlannedStatement;

/// All scripts, and their statements numbered through.
#[derive(Debug)]
pub(super) struct Plan {
    pub mode: QueryMode,
    /// Row limit of each Execute.
    pub fetch_rows: Option<u32>,
    pub symbols: Symbols,
    pub scripts: Vec<PlannedScript>,
    pub statements: Vec<PlannedStatement>,
    total_weight: u64,
}

/// One script with its place among all.
#[derive(Debug)]
pub(super) struct PlannedScript {
    pub script: Script,
    pub first_statement: usize,
    weight: u64,
}

impl Plan {
    /// Parses the scripts of a spec.
    pub(super) fn new(spec: &TrialSpec) -> Result<Self> {
        let mut symbols = Symbols::default();
        let mut plan = Self {
            mode: spec.mode,
            fetch_rows: spec.fetch_rows,
            symbols: Symbols::default(),
            scripts: Vec::new(),
            statements: Vec::new(),
            total_weight: spec.scripts.iter().map(|script| u64::from(script.weight)).sum(),
        };
        for script in &spec.scripts {
            plan.add(script, &mut symbols)?;
        }
        plan.symbols = symbols;
        plan.check_quoted_variables(&initial_variables(spec, &plan, 0))?;
        Ok(plan)
    }

    fn add(&mut self, spec: &ScriptSpec, symbols: &mut Symbols) -> Result<()> {
        let script = parse(&spec.name, &spec.text, symbols)
            .map_err(|error| CoreError::new("script_syntax", error.to_string()))?;
        if script.uses_pipeline && self.mode == QueryMode::Simple {
            let message = format!("script {}: \\startpipeline needs mode extended or prepared, not simple", spec.name);
            return Err(CoreError::new("spec_invalid", message));
        }
        let first_statement = self.statements.len();
        for (index, statement) in script.statements.iter().enumerate() {
            self.statements.push(PlannedStatement::new(statement, first_statement + index, self.fetch_rows));
        }
        self.scripts.push(PlannedScript { script, first_statement, weight: u64::from(spec.weight) });
        Ok(())
    }

    /// Whether a statement has completed only with ReadyForQuery: several results may come in mode simple, and
    /// behind a row limit Sync is sent when the last rows have come.
    pub(super) fn completes_when_ready(&self) -> bool {
        self.mode == QueryMode::Simple || self.fetch_rows.is_some()
    }

    /// A parameter cannot stand within quotes: there, the modes other than simple would send the variable's
    /// name instead of its value. A name that nothing gives a value is no variable (`'{"a":true}'`).
    fn check_quoted_variables(&self, initial: &[Value]) -> Result<()> {
        if self.mode == QueryMode::Simple {
            return Ok(());
        }
        let commands = || self.scripts.iter().flat_map(|planned| &planned.script.commands);
        let sets = |id| commands().any(|command| matches!(command, Command::Set { variable, .. } if *variable == id));
        for planned in &self.scripts {
            for statement in &planned.script.statements {
                let is_set = |id: &VariableId| initial[id.0 as usize] != Value::Unset || sets(*id);
                if let Some(id) = statement.quoted_variables().into_iter().find(is_set) {
                    let (script, line, name) = (&planned.script.name, statement.line, self.symbols.name(id));
                    let message = format!(
                        "{script}:{line}: :{name} stands within quotes, where only mode simple replaces it; write '...' || :{name}"
                    );
                    return Err(CoreError::new("script_syntax", message));
                }
            }
        }
        Ok(())
    }

    /// In the order of the spec.
    pub(super) fn script_names(&self) -> Vec<String> {
        self.scripts.iter().map(|planned| planned.script.name.clone()).collect()
    }

    /// Draws a script by weight; a workload of one draws nothing.
    pub(super) fn choose(&self, random: &mut Random) -> usize {
        if self.scripts.len() == 1 {
            return 0;
        }
        let mut point = random.next_u64() % self.total_weight;
        for (index, script) in self.scripts.iter().enumerate() {
            match point.checked_sub(script.weight) {
                Some(rest) => point = rest,
                None => return index,
            }
        }
        unreachable!("the point lies below the sum of the weights")
    }

    /// The statements between this index of a script's commands and the end of the pipeline.
    pub(super) fn pipeline_statements(&self, script: usize, from: usize) -> impl Iterator<Item = usize> + '_ {
        let planned = &self.scripts[script];
        let inside = planned.script.commands[from..]
            .iter()
            .take_while(|command| !matches!(command, Command::EndPipeline { .. }));
        inside.filter_map(|command| match command {
            Command::Sql(index) => Some(planned.first_statement + index),
            _ => None,
        })
    }

    /// Where a script's last statement stands, for messages.
    pub(super) fn place_of_last_statement(&self, script: usize) -> String {
        let PlannedScript { script, .. } = &self.scripts[script];
        let line = script.statements.last().map_or(1, |statement| statement.line);
        format!("{}:{line}", script.name)
    }

    /// Where a statement stands, for messages.
    pub(super) fn place_of(&self, statement: usize) -> String {
        let planned = self.scripts.iter().rfind(|script| script.first_statement <= statement).expect("of some script");
        let line = planned.script.statements[statement - planned.first_statement].line;
        format!("{}:{line}", planned.script.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(mode: &str, scripts: &[(&str, u32)]) -> Result<Plan> {
        let scripts: Vec<_> = scripts
            .iter()
            .enumerate()
            .map(|(index, (text, weight))| serde_json::json!({"name": format!("{index}.sql"), "text": text, "weight": weight}))
            .collect();
        let spec = serde_json::json!({
            "target": {"host": "/tmp", "port": 1, "user": "u", "dbname": "d"}, "scripts": scripts, "mode": mode,
            "clients": 1, "arrival": {"kind": "closed"}, "seed": 1, "warm_up_ns": 0, "window_ns": 1,
            "waits": {"route": "off"}
        });
        Plan::new(&TrialSpec::parse(&spec.to_string()).expect("valid"))
    }

    #[test]
    fn values_are_substituted_or_bound() {
        let plan = plan("prepared", &[("\\set a 7\nSELECT :a, :b;", 1)]).expect("valid");
        let mut variables = vec![Value::Unset; plan.symbols.len()];
        variables[plan.symbols.find("a").expect("known").0 as usize] = Value::Integer(7);
        let mut out = Vec::new();
        plan.statements[0].write_simple(&mut out, &variables, &plan.symbols);
        assert_eq!(b"SELECT 7, :b;\0", &out[5..]);
        out.clear();
        plan.statements[0].write_prepared(&mut out, &variables, true);
        let bind = b"B\0\0\0\x19\0s0\0\0\0\0\x02\0\0\0\x017\xff\xff\xff\xff\0\x01\0\x01";
        assert_eq!([&bind[..], b"E\0\0\0\x09\0\0\0\0\0"].concat(), out);
    }

    #[test]
    fn scripts_are_drawn_by_weight() {
        let plan = plan("prepared", &[("SELECT 1;", 3), ("SELECT 2;", 0), ("SELECT 3;", 1)]).expect("valid");
        let mut random = Random::from_seed(5);
        let mut drawn = [0; 3];
        (0..4000).for_each(|_| drawn[plan.choose(&mut random)] += 1);
        assert_eq!(0, drawn[1]);
        assert!((2800..3200).contains(&drawn[0]), "{drawn:?}");
    }

    #[test]
    fn mistakes_are_one_line_with_their_place() {
        let error = plan("prepared", &[("SELECT 1;\n\\shell ls\n", 1)]).expect_err("refused");
        assert_eq!("script_syntax", error.code);
        assert!(error.message.starts_with("0.sql:2:"), "{}", error.message);
        let error = plan("simple", &[("\\startpipeline\nSELECT 1;\n\\endpipeline\n", 1)]).expect_err("refused");
        assert_eq!("spec_invalid", error.code);
    }

    #[test]
    fn a_variable_within_quotes_needs_simple_mode() {
        let script = ("\\set id 1\nSELECT '{\"a\":true}', '12:30',\n ':id';", 1);
        assert!(plan("simple", &[script]).is_ok());
        for mode in ["extended", "prepared"] {
            let error = plan(mode, &[script]).expect_err("refused");
            let expected = "0.sql:2: :id stands within quotes, where only mode simple replaces it; write '...' || :id";
            assert_eq!(expected, error.message);
        }
        assert!(plan("prepared", &[("SELECT '{\"a\":true}';", 1)]).is_ok());
        assert!(plan("prepared", &[("SELECT 'of :client_id';", 1)]).is_err());
    }

    #[test]
    fn statements_know_their_place() {
        let plan = plan("prepared", &[("SELECT 1;\nSELECT 2;", 1), ("\n\nSELECT 3;", 1)]).expect("valid");
        assert_eq!(vec!["0.sql:1", "0.sql:2", "1.sql:3"], (0..3).map(|i| plan.place_of(i)).collect::<Vec<_>>());
    }
}
