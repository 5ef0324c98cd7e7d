//! Runs one trial spec against a server and prints the outcome: for development and benchmarks.
//!
//! ```text
//! drive SPEC.json        the password, if one is needed, in PGPASSWORD
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: drive SPEC.json");
        return ExitCode::from(2);
    };
    let spec = match std::fs::read_to_string(&path) {
        Ok(spec) => spec,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    let password = std::env::var("PGPASSWORD").ok();
    match dbdyno_core::load::run_trial(&spec, password.as_deref()) {
        Ok(outcome) => {
            println!("{outcome}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", error.code);
            ExitCode::FAILURE
        }
    }
}
