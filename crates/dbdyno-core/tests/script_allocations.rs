//! Evaluating an expression allocates nothing, whatever it computes: it happens inside the measured loop.

mod counting;

use counting::allocations;
use dbdyno_core::script::{Command, Random, Symbols, Value, parse};

#[test]
fn evaluating_and_writing_values_allocates_nothing() {
    let expressions = [
        "random(1, 100000 * :scale)",
        "random_zipfian(1, :scale, 1.5) + random_gaussian(1, 100, 3.0) - random_exponential(1, 10, 2)",
        "abs(hash(:id)) % 1000 + permute(:id, 1000)",
        "case when :id > 5 and :id is not null then least(:id, 2.5, :text) else sqrt(:scale) end",
    ];
    let text: String = expressions.iter().map(|expression| format!("\\set x {expression}\n")).collect();
    let mut symbols = Symbols::default();
    let script = parse("x.sql", &text, &mut symbols).expect("the scripts are right");
    let mut variables = vec![Value::Integer(10); symbols.len()];
    variables[symbols.find("text").expect("mentioned").0 as usize] = Value::Text(" 7".into());
    let mut random = Random::from_seed(1);
    let mut out = Vec::with_capacity(1000);

    let before = allocations();
    for command in &script.commands {
        let Command::Set { variable, expression, .. } = command else { panic!("not a \\set") };
        let value = expression.evaluate(&variables, &mut random).expect("a value");
        value.write_text(&mut out);
        variables[variable.0 as usize] = value;
    }
    assert_eq!(allocations() - before, 0);
    assert!(!out.is_empty());
}
