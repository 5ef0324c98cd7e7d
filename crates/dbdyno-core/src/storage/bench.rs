//! A file or a programmed device, opened once for many cells.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use serde::de::DeserializeOwned;

use super::outcome::{CellOutcome, FlushOutcome};
use super::programmed::Programmed;
use super::ring::Ring;
use super::spec::{Cell, Engine, Flushes, Load, Place};
use super::{cell, fill, flush, programmed_flush};
use crate::error::{CoreError, Result};

/// What cells run on.
#[derive(Debug)]
pub struct Bench {
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    File { path: PathBuf, file: File, engine: Engine },
    Programmed(Box<Mutex<Programmed>>),
}

impl Bench {
    /// Opens what the JSON text says ([`Place`]).
    ///
    /// # Errors
    /// `spec_invalid`; `io` where the file cannot be opened so, or is none; `no_io_uring` where it was asked for and
    /// the kernel does not let us.
    pub fn open(place: &str) -> Result<Self> {
        let storage = match parsed(place, "place")? {
            Place::Programmed(law) => {
                law.check().map_err(|why| CoreError::new("spec_invalid", why))?;
                Storage::Programmed(Box::new(Mutex::new(Programmed::new(*law))))
            }
            Place::File { path, direct, write, engine } => {
                let file = opened(&path, direct, write).map_err(|error| failed(&path, &error))?;
                let engine = chosen(engine, &file)?;
                Storage::File { path, file, engine }
            }
        };
        Ok(Self { storage })
    }

    /// `io_uring`, `threads`, `null` or `programmed`: what cells go by.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        match &self.storage {
            Storage::File { engine, .. } => engine.name(),
            Storage::Programmed(_) => "programmed",
        }
    }

    /// Runs a [`Cell`], given as JSON; `stop` ends it early.
    ///
    /// # Errors
    /// `spec_invalid`, and `io` with the first I/O that failed.
    pub fn run(&self, cell: &str, stop: &AtomicBool) -> Result<CellOutcome> {
        let cell: Cell = parsed(cell, "cell")?;
        check(&cell)?;
        match &self.storage {
            Storage::Programmed(device) => {
                let mut device = device.lock().expect("no holder of the lock panics");
                cell::on_programmed(&mut device, &cell, stop)
                    .map_err(|error| failed(Path::new("programmed device"), &error))
            }
            Storage::File { path, file, engine } => {
                cell::on_file(file.as_fd(), *engine, &cell, stop).map_err(|error| failed(path, &error))
            }
        }
    }

    /// Runs [`Flushes`], given as JSON.
    ///
    /// # Errors
    /// `spec_invalid`, also for a programmed device without a law of flushes; `io`.
    pub fn flush(&self, flushes: &str) -> Result<FlushOutcome> {
        let asked: Flushes = parsed(flushes, "flushes")?;
        if asked.writers == 0 || asked.commits == 0 || asked.io_bytes == 0 {
            return Err(CoreError::new("spec_invalid", "flushes: writers, commits and io_bytes must be at least 1"));
        }
        match &self.storage {
            Storage::Programmed(device) => {
                let mut device = device.lock().expect("no holder of the lock panics");
                programmed_flush::flush(&mut device, &asked)
                    .ok_or_else(|| CoreError::new("spec_invalid", "flush: this device has no law of flushes"))
            }
            Storage::File { path, .. } => flush::flush(path, &asked).map_err(|error| failed(path, &error)),
        }
    }

    /// Fills the file's first bytes with pages that are all different, and flushes them; returns how many bytes.
    ///
    /// # Errors
    /// `io`. A programmed device is full as it is.
    pub fn fill(&self, bytes: u64, seed: u64, stop: &AtomicBool) -> Result<u64> {
        match &self.storage {
            Storage::Programmed(_) => Ok(bytes),
            Storage::File { path, file, .. } => {
                fill::fill(file, bytes, seed, stop).map_err(|error| failed(path, &error))
            }
        }
    }

    /// How many of these pages still hold what [`Bench::fill`] put there.
    ///
    /// # Errors
    /// `io`.
    pub fn verify(&self, offsets: &[u64], seed: u64) -> Result<u64> {
        match &self.storage {
            Storage::Programmed(_) => Ok(offsets.len() as u64),
            Storage::File { path, file, .. } => fill::verify(file, offsets, seed).map_err(|error| failed(path, &error)),
        }
    }
}

/// Looked at before it is opened, since opening some devices does something, and again, since it may have changed.
fn opened(path: &Path, direct: bool, write: bool) -> io::Result<File> {
    let regular = |is_file: bool| is_file.then_some(()).ok_or_else(|| io::Error::other("is no regular file"));
    regular(std::fs::metadata(path)?.is_file())?;
    let flags = if direct { libc::O_DIRECT } else { 0 };
    let file = OpenOptions::new().read(true).write(write).custom_flags(flags).open(path)?;
    regular(file.metadata()?.is_file())?;
    Ok(file)
}

/// io_uring where it was asked for and is let, tried once and for all.
fn chosen(asked: Engine, file: &File) -> Result<Engine> {
    if !matches!(asked, Engine::Auto | Engine::IoUring) {
        return Ok(asked);
    }
    match (Ring::new(file.as_fd(), 1, 4096, 0), asked) {
        (Ok(_), _) => Ok(Engine::IoUring),
        (Err(_), Engine::Auto) => Ok(Engine::Threads),
        (Err(error), _) => Err(CoreError::new("no_io_uring", format!("io_uring: {error}; use threads"))),
    }
}

fn check(cell: &Cell) -> Result<()> {
    let refused = |why: String| Err(CoreError::new("spec_invalid", format!("cell: {why}")));
    let depth = cell.load.depth();
    match cell.load {
        // The number of registered buffers has an end at 2^14, and so have threads.
        _ if !(1..=4096).contains(&depth) => refused(format!("depth {depth}: give 1 to 4096")),
        Load::Open { per_s, .. } if per_s.is_nan() || per_s <= 0.0 => {
            refused(format!("per_s {per_s}: give more than 0"))
        }
        _ if cell.io_bytes == 0 || u64::from(cell.io_bytes) > cell.span_bytes => {
            refused(format!("io_bytes {}: give 1 to span_bytes ({})", cell.io_bytes, cell.span_bytes))
        }
        _ if cell.window_ns == 0 || cell.series_step_ns == 0 => refused("window_ns and series_step_ns: 0".to_owned()),
        _ => Ok(()),
    }
}

fn parsed<T: DeserializeOwned>(text: &str, what: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| CoreError::new("spec_invalid", format!("{what}: {error}")))
}

fn failed(path: &Path, error: &io::Error) -> CoreError {
    CoreError::new("io", format!("{}: {error}", path.display()))
}
