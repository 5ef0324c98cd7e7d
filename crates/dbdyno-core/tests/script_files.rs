//! Every script of `tests/scripts` parses. What they compute and send is compared with pgbench's in
//! `tests/server/test_against_pgbench.py`.

use std::path::PathBuf;

use dbdyno_core::script::{Symbols, parse};

fn scripts() -> Vec<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/scripts");
    let entries = std::fs::read_dir(directory).expect("tests/scripts exists");
    entries.map(|entry| entry.expect("readable").path()).collect()
}

#[test]
fn every_script_parses() {
    let paths = scripts();
    assert!(paths.len() >= 40, "only {} scripts found", paths.len());
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a script is UTF-8");
        let name = path.file_name().expect("a file").to_string_lossy();
        let script = parse(&name, &text, &mut Symbols::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(script.uses_pipeline, name.starts_with("pipeline"), "{name}");
        assert!(!script.commands.is_empty(), "{name}");
    }
}
