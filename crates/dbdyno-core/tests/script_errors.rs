//! Wrong scripts, and what each is told: place, what was seen, what to do, on one line.

use dbdyno_core::script::{Symbols, parse};

#[rustfmt::skip]
const MISTAKES: [(&str, &str); 70] = [
    // Scripts as a whole
    ("", "1:1: empty script: it holds no SQL and no meta-command"),
    ("-- nothing here\n/* nor here */\n\\\n", "1:1: empty script: it holds no SQL and no meta-command"),
    ("SELECT 1;\nSELECT '\0';", "2:9: the script contains a NUL byte, which SQL cannot hold"),
    // SQL
    ("SELECT 1;\nSELECT 'a\n;\n", "2:8: string is never closed"),
    ("SELECT E'it\\';\n", "1:8: string is never closed"),
    ("SELECT \"a;\n", "1:8: quoted name is never closed"),
    ("SELECT 1; /* a /* b */ ;\n", "1:11: comment is never closed"),
    ("SELECT $a$ $b$;\n", "1:8: dollar-quoted string is never closed"),
    ("SELECT f(a, (b);\nSELECT 2;\n", "1:9: parenthesis is never closed"),
    ("SELECT (1\n\\gset\n", "1:8: parenthesis is never closed"),
    // Names of meta-commands
    ("\\sett x 1\n", "1:2: unknown meta-command \\sett; did you mean set?"),
    ("SELECT 1 \\gst\n", "1:11: unknown meta-command \\gst; did you mean gset?"),
    ("\\startpipelin\n", "1:2: unknown meta-command \\startpipelin; did you mean startpipeline?"),
    ("SELECT 1;\n\\echo hello\n", "2:2: unknown meta-command \\echo"),
    ("\\if(true)\n", "1:2: unknown meta-command \\if(true)"),
    ("\\shell date\n", "1:2: \\shell is refused: a shell started inside the measured loop would be what is measured; compute the value with \\set or in SQL"),
    ("\\setshell x date\n", "1:2: \\setshell is refused: a shell started inside the measured loop would be what is measured; compute the value with \\set or in SQL"),
    // Variables
    ("\\set\n", "1:5: \\set needs a variable name and an expression"),
    ("\\set 1x 2\n", "1:6: invalid variable name \"1x\": use letters, digits and _, no digit first"),
    ("\\set a-b 2\n", "1:6: invalid variable name \"a-b\": use letters, digits and _, no digit first"),
    ("\\set x :1y\n", "1:8: invalid variable name \"1y\": it must not begin with a digit"),
    ("\\set x : y\n", "1:8: a variable's name must follow ':'"),
    // Expressions
    ("\\set x\n", "1:7: syntax error: expected a value, found the end of the line"),
    ("\\set x 1 +\n", "1:11: syntax error: expected a value, found the end of the line"),
    ("\\set x 1 + * 2\n", "1:12: syntax error: expected a value, found '*'"),
    ("\\set x 1 2\n", "1:10: syntax error: expected an operator or the end of the line, found 2"),
    ("\\set x (1 + 2\n", "1:14: syntax error: expected ')', found the end of the line"),
    ("\\set x 1)\n", "1:9: syntax error: expected an operator or the end of the line, found ')'"),
    ("\\set x 1 < 2 < 3\n", "1:14: syntax error: expected AND, OR or parentheses between comparisons, found '<'"),
    ("\\set x 1 == 1\n", "1:11: syntax error: expected a value, found '='"),
    ("\\set x 'text'\n", "1:8: unexpected character '\\''"),
    ("\\set x 1 ! 2\n", "1:10: unexpected character '!'"),
    ("\\set x 1; SELECT 1;\n", "1:9: unexpected character ';'"),
    ("\\set x 1 \\\n  + \\\n  ) 2\n", "3:3: syntax error: expected a value, found ')'"),
    ("\\set x 100000000000000000000\n", "1:8: bigint constant overflow: 100000000000000000000"),
    ("\\set x 9223372036854775808\n", "1:8: bigint constant overflow: 9223372036854775808"),
    ("\\set x 1 - 9223372036854775808\n", "1:12: bigint constant overflow: 9223372036854775808"),
    ("\\set x 1.0E309\n", "1:8: double constant overflow: 1.0E309"),
    ("\\set x 1e-400\n", "1:8: double constant overflow: 1e-400"),
    ("\\set x 1 is 2\n", "1:13: syntax error: expected NULL, TRUE or FALSE behind IS, found 2"),
    ("\\set x case 1 when 1 then 2 end\n", "1:13: syntax error: expected WHEN, found 1"),
    ("\\set x case when 1 else 2 end\n", "1:20: syntax error: expected THEN, found ELSE"),
    ("\\set x case when 1 then 2\n", "1:26: syntax error: expected END, found the end of the line"),
    ("\\set \u{e9} 1 +\n", "1:11: syntax error: expected a value, found the end of the line"),
    // Functions
    ("\\set x randm(1, 2)\n", "1:8: unknown function \"randm\"; did you mean random?"),
    ("\\set x random_zipf(1, 2, 3)\n", "1:8: unknown function \"random_zipf\"; did you mean random_zipfian?"),
    ("\\set x now()\n", "1:8: unknown function \"now\"; did you mean pow?"),
    ("\\set x scale\n", "1:8: unknown function \"scale\""),
    ("\\set x random\n", "1:14: syntax error: expected '(', found the end of the line"),
    ("\\set x random(1)\n", "1:8: random takes 2 arguments, not 1"),
    ("\\set x random(1 2)\n", "1:17: syntax error: expected ',' or ')', found 2"),
    ("\\set x random(1, )\n", "1:18: syntax error: expected a value, found ')'"),
    ("\\set x pi(1)\n", "1:8: pi takes 0 arguments, not 1"),
    ("\\set x sqrt()\n", "1:8: sqrt takes 1 argument, not 0"),
    ("\\set x least()\n", "1:8: least takes 1 to 16 arguments, not 0"),
    ("\\set x greatest(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)\n", "1:8: greatest takes 1 to 16 arguments, not 17"),
    ("\\set x hash(1, 2, 3)\n", "1:8: hash takes 1 or 2 arguments, not 3"),
    ("\\set x permute(1)\n", "1:8: permute takes 2 or 3 arguments, not 1"),
    // Blocks
    ("SELECT 1;\n\\if true\nSELECT 2;\n", "2:1: \\if without matching \\endif"),
    ("\\elif true\n", "1:1: \\elif without matching \\if"),
    ("\\else\n", "1:1: \\else without matching \\if"),
    ("\\if true\n\\endif\n\\endif\n", "3:1: \\endif without matching \\if"),
    ("\\if true\n\\else\n\\elif false\n\\endif\n", "3:1: \\elif after \\else"),
    ("\\if true\n\\else\n  \\else\n\\endif\n", "3:3: \\else after \\else"),
    ("\\if true\n\\else true\n\\endif\n", "2:7: unexpected argument \"true\" of \\else"),
    // Captures
    ("\\gset\n", "1:1: \\gset must follow an SQL command"),
    ("SELECT 1 \\gset\n\\aset\n", "2:1: \\aset must follow an SQL command"),
    ("SELECT 1;\n\\set x 1\n\\gset\n", "3:1: \\gset must follow an SQL command"),
    ("SELECT 1 \\gset 1st_\n", "1:16: invalid prefix \"1st_\": use letters, digits and _, no digit first"),
    ("SELECT 1 \\gset a b\n", "1:18: unexpected argument \"b\" of \\gset"),
];

#[rustfmt::skip]
const MISTAKES_IN_SLEEPS_AND_PIPELINES: [(&str, &str); 13] = [
    ("\\sleep\n", "1:7: \\sleep needs a number or :variable"),
    ("\\sleep soon\n", "1:8: invalid sleep time \"soon\": it must be a 64-bit integer or :variable"),
    ("\\sleep 99999999999999999999 us\n", "1:8: invalid sleep time \"99999999999999999999\": it must be a 64-bit integer or :variable"),
    ("\\sleep 10 hours\n", "1:11: unrecognized time unit \"hours\": it must be us, ms or s"),
    ("\\sleep 1.5 s\n", "1:9: unrecognized time unit \".5\": it must be us, ms or s"),
    ("\\sleep 10 ms now\n", "1:14: unexpected argument \"now\" of \\sleep"),
    ("\\sleep :1x\n", "1:8: invalid variable name \"1x\" in \\sleep"),
    ("\\startpipeline\n\\startpipeline\n", "2:1: \\startpipeline inside a pipeline: \\endpipeline must come first"),
    ("\\endpipeline\n", "1:1: \\endpipeline outside a pipeline: \\startpipeline must come first"),
    ("SELECT 1;\n\\syncpipeline\n", "2:1: \\syncpipeline outside a pipeline: \\startpipeline must come first"),
    ("SELECT 1;\n\\startpipeline\nSELECT 2;\n", "2:1: \\startpipeline without matching \\endpipeline"),
    ("\\startpipeline\nSELECT 1 \\gset\n\\endpipeline\n", "2:10: \\gset is not allowed in a pipeline: its result comes only with \\endpipeline"),
    ("\\if true\n\\startpipeline\n\\else\n\\startpipeline\n\\endif\n\\startpipeline\n", "6:1: \\startpipeline inside a pipeline: \\endpipeline must come first"),
];

#[test]
fn each_mistake_is_told_on_one_line() {
    for (text, expected) in MISTAKES.into_iter().chain(MISTAKES_IN_SLEEPS_AND_PIPELINES) {
        let error = parse("x.sql", text, &mut Symbols::default()).expect_err(text);
        assert_eq!(error.to_string(), format!("x.sql:{expected}"), "for {text:?}");
    }
}

#[test]
fn the_number_of_variables_in_a_statement_is_limited() {
    let with = |count: usize| format!("SELECT 1;\nSELECT {};\n", vec![":x"; count].join(", "));
    assert!(parse("x.sql", &with(255), &mut Symbols::default()).is_ok());
    let error = parse("x.sql", &with(256), &mut Symbols::default()).expect_err("256 variables");
    assert_eq!(error.to_string(), "x.sql:2:1: statement has too many variables: 256 (maximum is 255)");
}

#[test]
fn expressions_are_limited_to_what_the_stack_bears() {
    let nested = |depth: usize| format!("\\set x {}1{}\n", "(".repeat(depth), ")".repeat(depth));
    assert!(parse("x.sql", &nested(99), &mut Symbols::default()).is_ok());
    let error = parse("x.sql", &nested(100), &mut Symbols::default()).expect_err("101 levels");
    assert_eq!(error.to_string(), "x.sql:1:108: expression is nested more than 100 deep");

    let chain = |terms: usize| format!("\\set x :y{}\n", " + :y".repeat(terms));
    assert!(parse("x.sql", &chain(1000), &mut Symbols::default()).is_ok());
    let error = parse("x.sql", &chain(1001), &mut Symbols::default()).expect_err("1001 additions");
    assert_eq!(error.message, "expression has more than 1000 operators and function calls");
}
