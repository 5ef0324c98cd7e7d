//! Commits on a real file, as a write-ahead log makes them durable: a commit is so many bytes behind the last one, and
//! of the writers that wait one writes and flushes what all of them have left (group commit).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Condvar, Mutex};

use super::buffers::Buffers;
use super::outcome::FlushOutcome;
use super::spec::{Flushes, Method};
use crate::clock;

/// The log: how far it was handed in, and how far it is durable, in commits since its beginning.
#[derive(Debug, Default)]
struct Log {
    handed_in: u64,
    durable: u64,
    somebody_flushes: bool,
    flushes: u64,
    failed: Option<i32>,
}

struct Writers<'a> {
    file: File,
    asked: &'a Flushes,
    log: Mutex<Log>,
    flushed: Condvar,
}

/// Runs the commits of all writers.
///
/// # Errors
/// The first write or flush that failed.
pub(super) fn flush(path: &Path, asked: &Flushes) -> io::Result<FlushOutcome> {
    let flags = match asked.method {
        Method::Fdatasync | Method::Fsync => 0,
        Method::OpenDatasync => libc::O_DSYNC,
        Method::OpenSync => libc::O_SYNC,
    };
    let file = OpenOptions::new().write(true).custom_flags(flags).open(path)?;
    let writers = Writers { file, asked, log: Mutex::default(), flushed: Condvar::new() };
    let began_ns = clock::now_ns();
    let times: Vec<io::Result<Vec<u64>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..asked.writers).map(|_| scope.spawn(|| writers.commits())).collect();
        threads.into_iter().map(|thread| thread.join().expect("a writer does not panic")).collect()
    });
    let elapsed_ns = clock::now_ns() - began_ns;
    let times_ns = times.into_iter().collect::<io::Result<Vec<_>>>()?.concat();
    let flushes = writers.log.into_inner().expect("no writer panicked").flushes;
    Ok(FlushOutcome { times_ns, elapsed_ns, flushes })
}

impl Writers<'_> {
    /// One writer's commits, and how long each took.
    fn commits(&self) -> io::Result<Vec<u64>> {
        let room = self.asked.io_bytes as usize * self.asked.writers;
        let mut buffers = Buffers::new(1, room, clock::now_ns());
        let mut times_ns = Vec::with_capacity(self.asked.commits);
        for _ in 0..self.asked.commits {
            let began_ns = clock::now_ns();
            self.commit(buffers.get_mut(0))?;
            let took_ns = clock::now_ns() - began_ns;
            let planted_ns = took_ns * u64::from(self.asked.slowed_per_mille) / 1000;
            clock::sleep_until(clock::now_ns() + planted_ns);
            times_ns.push(took_ns + planted_ns);
        }
        Ok(times_ns)
    }

    fn commit(&self, buffer: &mut [u8]) -> io::Result<()> {
        let mut log = self.log.lock().expect("no writer panics with the lock");
        log.handed_in += 1;
        let mine = log.handed_in;
        while log.durable < mine {
            if let Some(number) = log.failed {
                return Err(io::Error::from_raw_os_error(number));
            }
            if log.somebody_flushes {
                log = self.flushed.wait(log).expect("no writer panics with the lock");
                continue;
            }
            log.somebody_flushes = true;
            let (from, until) = (log.durable, log.handed_in);
            drop(log);
            let written = self.write(buffer, from, until);
            log = self.log.lock().expect("no writer panics with the lock");
            log.somebody_flushes = false;
            match written {
                Ok(()) => (log.durable, log.flushes) = (until, log.flushes + 1),
                Err(error) => log.failed = Some(error.raw_os_error().unwrap_or(libc::EIO)),
            }
            self.flushed.notify_all();
        }
        Ok(())
    }

    /// Commits `from..until`, in one write, or two where the log begins anew between them.
    fn write(&self, buffer: &[u8], from: u64, until: u64) -> io::Result<()> {
        let each = u64::from(self.asked.io_bytes);
        let round = (self.asked.span_bytes / each).max(1);
        let mut next = from;
        while next < until {
            let place = next % round;
            let count = (until - next).min(round - place);
            let bytes = &buffer[..(count * each) as usize];
            self.file.write_all_at(bytes, self.asked.first_byte + place * each)?;
            next += count;
        }
        match self.asked.method {
            Method::Fdatasync => self.file.sync_data(),
            Method::Fsync => self.file.sync_all(),
            Method::OpenDatasync | Method::OpenSync => Ok(()),
        }
    }
}
