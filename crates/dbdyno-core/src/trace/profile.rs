//! Files to outcomes: each on a thread, as many at a time as asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::{Deserialize, Serialize};

use super::board::Board;
use super::input;
use super::notes::Note;
use super::outcome::FileOutcome;
use super::reader::Reader;
use crate::error::{CoreError, Result};

/// What is asked (docs/architecture.md, "Traces").
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TraceSpec {
    files: Vec<PathBuf>,
    /// Files read at a time.
    threads: usize,
}

#[derive(Debug, Serialize)]
struct TraceOutcome {
    format: u32,
    files: Vec<FileOutcome>,
}

/// Reads traces and returns their accounts as JSON (docs/architecture.md, "Traces"), in the order of the files.
///
/// # Errors
/// `spec_invalid`; `bad_file` for one that cannot be opened; `interrupted` after `board.request_stop`. What is wrong
/// inside a file is a note of its outcome, and the rest is counted.
pub fn profile(spec_json: &str, board: &Board) -> Result<String> {
    let spec: TraceSpec =
        serde_json::from_str(spec_json).map_err(|error| CoreError::new("spec_invalid", format!("spec: {error}")))?;
    if spec.files.is_empty() || spec.threads == 0 {
        return Err(CoreError::new("spec_invalid", "files, threads: give one at least"));
    }
    let bytes_of = |path: &PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
    board.begin(spec.files.len() as u64, spec.files.iter().map(bytes_of).sum());
    let files = profile_all(&spec, board)?;
    text_of(TraceOutcome { format: 1, files })
}

/// The same of one trace that lies in memory, which needs no file.
///
/// # Errors
/// None that we know of.
pub fn profile_bytes(trace: &[u8]) -> Result<String> {
    let mut reader = Reader::new();
    reader.take(trace);
    let (state, lines) = reader.finish();
    let mut file = FileOutcome::of("memory".to_owned(), &state, lines);
    (file.bytes, file.text_bytes) = (trace.len() as u64, trace.len() as u64);
    text_of(TraceOutcome { format: 1, files: vec![file] })
}

fn text_of(outcome: TraceOutcome) -> Result<String> {
    serde_json::to_string(&outcome).map_err(|error| CoreError::new("io", format!("outcome: {error}")))
}

/// The next file goes to whichever thread is free; the first error in the order of the files is that of all.
fn profile_all(spec: &TraceSpec, board: &Board) -> Result<Vec<FileOutcome>> {
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Option<Result<FileOutcome>>>> = spec.files.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some(path) = spec.files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = profile_file(path, board);
            let place = spec.files.iter().position(|each| std::ptr::eq(each, path)).expect("one of them");
            *outcomes[place].lock().expect("no thread panics") = Some(outcome);
            board.add_file();
        }
    };
    thread::scope(|scope| {
        for _ in 1..spec.threads.min(spec.files.len()) {
            scope.spawn(work);
        }
        work();
    });
    let taken = |outcome: Mutex<Option<Result<FileOutcome>>>| outcome.into_inner().expect("no thread panics");
    outcomes.into_iter().map(|outcome| taken(outcome).expect("all files have been read")).collect()
}

fn profile_file(path: &Path, board: &Board) -> Result<FileOutcome> {
    let mut reader = Reader::new();
    let input = input::read(path, board, |piece| {
        reader.take(piece);
        !board.is_stopped()
    })?;
    if board.is_stopped() {
        return Err(CoreError::new("interrupted", "reading was interrupted; nothing was kept"));
    }
    let (mut state, lines) = reader.finish();
    let notes = &mut state.ledger.notes;
    if input.broken.is_some() {
        notes.add(Note::InputBroken, lines);
    }
    if state.ledger.calls + state.ledger.waits == 0 {
        notes.add(Note::NotATrace, 0);
    }
    let mut outcome = FileOutcome::of(path.display().to_string(), &state, lines);
    (outcome.bytes, outcome.text_bytes) = (input.bytes, input.text_bytes);
    (outcome.compression, outcome.broken) = (input.compression.name(), input.broken);
    Ok(outcome)
}
