//! One cell from its plan to its outcome, on one thread or on many.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::AtomicBool;

use super::alongside;
use super::arrivals::Arrivals;
use super::blocking::Blocking;
use super::device::Device;
use super::drive::{Load, drive};
use super::null::Null;
use super::outcome::CellOutcome;
use super::places::Places;
use super::programmed::Programmed;
use super::record::{BINS_PER_DECADE, Recorder};
use super::ring::Ring;
use super::spec::{Cell, Engine};
use crate::clock;
use crate::script::Random;
use crate::tally::Tally;

pub(super) fn on_programmed(device: &mut Programmed, cell: &Cell, stop: &AtomicBool) -> io::Result<CellOutcome> {
    let plan = Plan::new(cell, device.now_ns);
    let part = plan.part(cell.load.depth()).run(device, stop)?;
    Ok(plan.outcome("programmed", part))
}

/// On a file, with the flushes that are asked for alongside.
pub(super) fn on_file(file: BorrowedFd<'_>, engine: Engine, cell: &Cell, stop: &AtomicBool) -> io::Result<CellOutcome> {
    let work = || loaded(file, engine, cell, stop);
    let (outcome, flush_times_ns) = alongside::flushed(file, cell.flush_every_ns, work)?;
    Ok(CellOutcome { flush_times_ns, ..outcome })
}

/// io_uring and the null device keep everything in flight from this thread; otherwise each I/O has its own.
fn loaded(file: BorrowedFd<'_>, engine: Engine, cell: &Cell, stop: &AtomicBool) -> io::Result<CellOutcome> {
    let depth = cell.load.depth();
    let part = match engine {
        Engine::Null => {
            let plan = Plan::new(cell, clock::now_ns());
            return Ok(plan.outcome(engine.name(), plan.part(depth).run(&mut Null::default(), stop)?));
        }
        Engine::Threads => return on_threads(file, cell, stop),
        Engine::Auto | Engine::IoUring => {
            let mut ring = Ring::new(file, depth, cell.io_bytes, cell.seed)?;
            let plan = Plan::new(cell, clock::now_ns());
            let part = plan.part(depth).run(&mut ring, stop)?;
            (plan, part)
        }
    };
    Ok(part.0.outcome(engine.name(), part.1))
}

fn on_threads(file: BorrowedFd<'_>, cell: &Cell, stop: &AtomicBool) -> io::Result<CellOutcome> {
    let depth = cell.load.depth();
    // All threads are there before the first I/O: starting one takes some 20 us.
    let start_ns = clock::now_ns() + 1_000_000 + depth as u64 * 50_000;
    let plan = Plan::new(cell, start_ns);
    let parts: Vec<io::Result<Part>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..depth)
            .map(|thread| {
                let part = plan.part_of_thread(thread as u64);
                scope.spawn(move || {
                    let mut device = Blocking::new(file, cell.io_bytes, cell.seed.wrapping_add(thread as u64));
                    clock::sleep_until(start_ns);
                    part.run(&mut device, stop)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("an I/O thread does not panic")).collect()
    });
    let mut parts = parts.into_iter().collect::<io::Result<Vec<Part>>>()?.into_iter();
    let mut whole = parts.next().expect("there is at least one thread");
    for part in parts {
        whole.recorder.merge(&part.recorder);
        whole.cpu_ns += part.cpu_ns;
    }
    Ok(plan.outcome(Engine::Threads.name(), whole))
}

/// What all threads of a cell share.
struct Plan<'a> {
    cell: &'a Cell,
    from_ns: u64,
    arrivals: Arrivals,
    places: Places,
    recorder: Recorder,
}

/// One thread's share, before and after it ran.
struct Part {
    depth: usize,
    io_bytes: u32,
    arrivals: Arrivals,
    places: Places,
    recorder: Recorder,
    cpu_ns: u64,
}

impl<'a> Plan<'a> {
    fn new(cell: &'a Cell, start_ns: u64) -> Self {
        let mut random = Random::from_seed(cell.seed);
        let from_ns = start_ns + cell.settle_ns;
        Self {
            cell,
            from_ns,
            arrivals: Arrivals::new(cell.load, start_ns, from_ns + cell.window_ns, random.derive()),
            places: Places::new(cell, random.derive()),
            recorder: Recorder::new(cell, from_ns),
        }
    }

    fn part(&self, depth: usize) -> Part {
        Part {
            depth,
            io_bytes: self.cell.io_bytes,
            arrivals: self.arrivals.clone(),
            places: self.places.clone(),
            recorder: self.recorder.clone(),
            cpu_ns: 0,
        }
    }

    fn part_of_thread(&self, thread: u64) -> Part {
        let random = Random::from_seed(self.cell.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(thread));
        Part { places: self.places.for_thread(random), ..self.part(1) }
    }

    fn outcome(&self, engine: &'static str, part: Part) -> CellOutcome {
        let recorder = part.recorder;
        CellOutcome {
            engine,
            from_ns: self.from_ns,
            window_ns: self.cell.window_ns,
            reads: recorder.within[0],
            writes: recorder.within[1],
            bytes: recorder.bytes,
            reads_in_all: recorder.in_all[0],
            writes_in_all: recorder.in_all[1],
            response_time: recorder.response.to_distribution(),
            read_response_time: recorder.reads.as_ref().map(Tally::to_distribution),
            service_time: recorder.service.as_ref().map(Tally::to_distribution),
            zero_response_time: self.cell.look_for_zeros.then(|| recorder.zeros.to_distribution()),
            lateness_ns: recorder.lateness.to_lateness(),
            concurrency: recorder.concurrency(),
            elapsed_ns: recorder.last_end_ns().saturating_sub(self.from_ns - self.cell.settle_ns),
            longest_silence_ns: recorder.longest_silence_ns,
            flush_times_ns: Vec::new(),
            cpu_ns: part.cpu_ns,
            series: recorder.series(),
            bins_per_decade: BINS_PER_DECADE,
            heat: recorder.heat(),
        }
    }
}

impl Part {
    fn run(mut self, device: &mut impl Device, stop: &AtomicBool) -> io::Result<Self> {
        let before_ns = clock::thread_cpu_ns();
        let load = Load { depth: self.depth, io_bytes: self.io_bytes };
        drive(device, load, &mut self.arrivals, &mut self.places, &mut self.recorder, stop)?;
        self.cpu_ns = clock::thread_cpu_ns() - before_ns;
        Ok(self)
    }
}
