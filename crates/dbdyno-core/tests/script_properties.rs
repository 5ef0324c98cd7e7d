//! What holds for every text, seed and range.

use std::collections::HashSet;

use dbdyno_core::script::{Command, Piece, Random, Symbols, Value, parse};
use proptest::prelude::*;

/// Pieces of the language in any order reach deeper into the parser than any characters do.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "\\set x ",
        "\\if ",
        "\\elif ",
        "\\else",
        "\\endif",
        "\\gset",
        "\\aset p",
        "\\sleep ",
        "\\startpipeline",
        "\\syncpipeline",
        "\\endpipeline",
        "\\;",
        "\\:",
        "\\\n",
        "\n",
        " ",
        ";",
        "'",
        "\"",
        "$$",
        "$a$",
        "E'",
        "/*",
        "*/",
        "--",
        "(",
        ")",
        ":v",
        "::",
        ":",
        ",",
        "1",
        "2.5e",
        "9223372036854775808",
        "-",
        "+",
        "~",
        "<=",
        "is ",
        "not ",
        "null ",
        "case ",
        "when ",
        "then ",
        "end ",
        "random(",
        "least(",
        "hash(1",
        "SELECT ",
        "CREATE ",
        "FUNCTION ",
        "BEGIN ",
        "é",
        "\u{1F600}",
        "\r",
        "\t",
        "\\",
    ]);
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

fn evaluate(expression: &str, variables: &[(&str, Value)], random: &mut Random) -> Value {
    let mut symbols = Symbols::default();
    let script = parse("x.sql", &format!("\\set x {expression}\n"), &mut symbols).expect(expression);
    let mut values = vec![Value::Unset; symbols.len()];
    for (name, value) in variables {
        if let Some(id) = symbols.find(name) {
            values[id.0 as usize] = value.clone();
        }
    }
    let Command::Set { expression, .. } = &script.commands[0] else { panic!("not a \\set") };
    expression.evaluate(&values, random).expect("a value")
}

fn permuted(value: i64, size: i64, seed: i64) -> i64 {
    let variables = [("v", Value::Integer(value)), ("n", Value::Integer(size)), ("s", Value::Integer(seed))];
    match evaluate("permute(:v, :n, :s)", &variables, &mut Random::from_seed(0)) {
        Value::Integer(image) => image,
        other => panic!("{other:?} is no integer"),
    }
}

proptest! {
    #[test]
    fn any_text_parses_or_is_told_why_on_one_line(text in prop_oneof![any::<String>(), words()]) {
        if let Err(error) = parse("x.sql", &text, &mut Symbols::default()) {
            prop_assert!(!error.to_string().contains('\n'), "{error}");
            prop_assert!(error.line >= 1 && error.line as usize <= text.matches('\n').count() + 1);
            let line = text.split('\n').nth(error.line as usize - 1).expect("the line exists");
            prop_assert!(error.column >= 1 && error.column as usize <= line.chars().count() + 1);
        }
    }

    #[test]
    fn any_bytes_parse_or_are_told_why(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse("x.sql", &String::from_utf8_lossy(&bytes), &mut Symbols::default());
    }

    #[test]
    fn jumps_lead_forward_and_stay_in_the_script(text in words()) {
        let Ok(script) = parse("x.sql", &text, &mut Symbols::default()) else { return Ok(()) };
        for (index, command) in script.commands.iter().enumerate() {
            if let Command::Jump(target) | Command::JumpUnless { target, .. } = command {
                prop_assert!((index + 1..=script.commands.len()).contains(target));
            }
        }
    }

    #[test]
    fn pieces_spell_the_text(text in words()) {
        let mut symbols = Symbols::default();
        let Ok(script) = parse("x.sql", &text, &mut symbols) else { return Ok(()) };
        for statement in &script.statements {
            let spelled: String = statement.pieces.iter().map(|piece| match piece {
                Piece::Literal(literal) => literal.clone(),
                Piece::Variable(id) => format!(":{}", symbols.name(*id)),
            }).collect();
            prop_assert_eq!(&spelled, &statement.text);
            let variables = statement.pieces.iter().filter(|piece| matches!(piece, Piece::Variable(_))).count();
            prop_assert_eq!(statement.quoted_variables().len() + statement.parameters.len(), variables);
        }
    }

    #[test]
    fn permute_is_a_bijection(size in 1_i64..300, seed: i64) {
        let images: HashSet<i64> = (0..size).map(|value| permuted(value, size, seed)).collect();
        prop_assert_eq!(images.len() as i64, size);
        prop_assert!(images.iter().all(|image| (0..size).contains(image)));
    }

    #[test]
    fn permute_stays_below_any_size(value: i64, size in 1..=i64::MAX, seed: i64) {
        prop_assert!((0..size).contains(&permuted(value, size, seed)));
    }

    #[test]
    fn random_numbers_stay_in_their_range(
        seed: u64,
        low in -i64::MAX / 2..i64::MAX / 2,
        width in 0..i64::MAX / 2,
        parameter in 2.0..100.0_f64,
    ) {
        let high = low + width;
        let mut random = Random::from_seed(seed);
        let draws = [
            random.uniform(low, high),
            random.gaussian(low, high, parameter),
            random.exponential(low, high, parameter),
            random.zipfian(low, high, parameter),
        ];
        for draw in draws {
            prop_assert!((low..=high).contains(&draw.expect("a valid range")));
        }
        prop_assert!((0.0..1.0).contains(&random.next_f64()));
        prop_assert!(random.exponential_gap() >= 0.0);
    }

    #[test]
    fn a_clone_continues_with_the_same_values(seed: u64) {
        let mut random = Random::from_seed(seed);
        random.next_u64();
        let mut again = random.clone();
        for _ in 0..10 {
            prop_assert_eq!(random.uniform(-5000, 5000), again.uniform(-5000, 5000));
        }
    }

    #[test]
    fn integers_survive_text_and_back(integer: i64) {
        let mut text = Vec::new();
        Value::Integer(integer).write_text(&mut text);
        prop_assert_eq!(String::from_utf8(text).expect("ASCII"), integer.to_string());
        prop_assert_eq!(Value::from_text(&integer.to_string()), Value::Integer(integer));
    }

    #[test]
    fn doubles_keep_fifteen_digits_through_text(double in any::<f64>().prop_filter("finite", |d| d.is_finite())) {
        let mut text = Vec::new();
        Value::Double(double).write_text(&mut text);
        let read: f64 = String::from_utf8(text).expect("ASCII").parse().expect("a number");
        // The largest doubles may round up to infinity.
        prop_assert!(read == double || ((read - double) / double).abs() < 1e-14 || double.abs() > 1.797e308);
    }
}
