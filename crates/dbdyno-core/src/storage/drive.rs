//! The loop: what is due starts while there is room, what has ended is written down.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::arrivals::{Arrivals, Due};
use super::device::{Device, Ended, Request};
use super::places::Places;
use super::record::Recorder;

/// One I/O in flight.
#[derive(Clone, Copy, Debug, Default)]
struct InFlight {
    intended_ns: u64,
    started_ns: u64,
    write: bool,
}

/// How much of it at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Most I/Os in flight.
    pub depth: usize,
    pub io_bytes: u32,
}

/// Runs a load on a device to its end; `stop` ends it early.
///
/// # Errors
/// The first I/O that failed, or that moved fewer bytes than asked for; the others are waited for first.
pub(super) fn drive(
    device: &mut impl Device,
    Load { depth, io_bytes }: Load,
    arrivals: &mut Arrivals,
    places: &mut Places,
    recorder: &mut Recorder,
    stop: &AtomicBool,
) -> io::Result<()> {
    let mut in_flight = vec![InFlight::default(); depth];
    let mut free: Vec<usize> = (0..depth).rev().collect();
    let mut ended: Vec<Ended> = Vec::with_capacity(depth);
    let mut failed: Option<io::Error> = None;
    // When there last came to be room: what was due before it waited for the device, not for us.
    let mut room_since_ns = device.now_ns();
    loop {
        let mut deadline_ns = None;
        while let Some(&slot) = free.last() {
            if failed.is_some() || stop.load(Ordering::Relaxed) {
                break;
            }
            let now_ns = device.now_ns();
            match arrivals.next(now_ns) {
                Due::Now { intended_ns } => {
                    free.pop();
                    let (offset, write) = places.next();
                    in_flight[slot] = InFlight { intended_ns, started_ns: now_ns, write };
                    recorder.started(now_ns, now_ns.saturating_sub(intended_ns.max(room_since_ns)));
                    device.start(Request { slot, write, offset, bytes: io_bytes })?;
                }
                Due::At(next_ns) => {
                    deadline_ns = Some(next_ns);
                    break;
                }
                Due::Never => break,
            }
        }
        if free.len() == depth && deadline_ns.is_none() {
            break;
        }
        let was_full = free.is_empty();
        device.wait(deadline_ns, &mut ended)?;
        if let (true, Some(first)) = (was_full, ended.first()) {
            room_since_ns = first.at_ns;
        }
        for Ended { slot, result, at_ns } in ended.drain(..) {
            let InFlight { intended_ns, started_ns, write } = in_flight[slot];
            free.push(slot);
            match outcome_of(result, io_bytes) {
                Ok(()) => {
                    recorder.ended(write, io_bytes, intended_ns, started_ns, at_ns);
                    if recorder.looks_for_zeros && !write && device.is_zero(slot) {
                        recorder.zero(intended_ns, at_ns);
                    }
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

fn outcome_of(result: i32, io_bytes: u32) -> io::Result<()> {
    match u32::try_from(result) {
        Ok(moved) if moved == io_bytes => Ok(()),
        Ok(moved) => Err(io::Error::other(format!("{moved} bytes of {io_bytes} moved"))),
        Err(_) => Err(io::Error::from_raw_os_error(-result)),
    }
}
