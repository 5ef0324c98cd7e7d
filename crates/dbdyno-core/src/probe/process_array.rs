//! PGPROC, the entry that each server process has in shared memory: where they are, and what is where in one.
//!
//! ```text
//! ProcGlobal --> PROC_HDR: allProcs, ..., allProcCount, ...
//!                             |
//!                             v        stride
//!                          | PGPROC 0 | PGPROC 1 | ... | PGPROC slots-1 |
//!                               ^ MyProc of a process: its pid and its wait event in there,
//!                                 my_wait_event_info points at the latter
//! ```
//!
//! The layout depends on the version and on how the server was built (712 of 880 bytes in 15.18, 712 of 832 in 18.6),
//! so it is learned from the processes that run, and believed when each of them is found where it should be. Not all
//! processes have an entry: the logger never has, another has none before InitProcess.

use std::io;

use super::copied::Copier;
use super::program::Program;
use super::shared_memory::SharedMemory;

/// More than any version's PGPROC has (832 to 880 bytes): a larger step is a multiple of the true one.
const STRIDE_MAX: u64 = 1536;
/// Less than any version's has.
const STRIDE_MIN: u64 = 256;
/// The count of the entries lies near the start of PROC_HDR (at 32 in 14 to 18).
const HEADER_BYTES: usize = 128;
/// Entries beyond MaxBackends: 5 auxiliary processes in 14, 38 in 18, where 32 may be I/O workers.
const AUXILIARY_MAX: u64 = 64;

/// Where the PGPROCs are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessArray {
    /// Address of the first.
    pub start: u64,
    /// From one to the next.
    pub stride: u64,
    /// How many there are, in use or not.
    pub slots: usize,
    /// Where in a PGPROC the process id is, four bytes. That of an unused one is 0 or that of a process that has ended.
    pub pid_offset: u64,
    /// Where in it the wait event is, four bytes.
    pub wait_offset: u64,
}

impl ProcessArray {
    /// Learn the layout from the processes that run.
    pub fn learn(program: &Program) -> Result<Self, String> {
        let processes = Known::all(program)?;
        let wait_offset = common_wait_offset(&processes)?;
        let header = Header::read(program)?;
        let steps = processes.iter().map(|known| known.entry.wrapping_sub(header.first));
        let stride = steps.reduce(greatest_common_divisor).unwrap_or(0);
        if !(STRIDE_MIN..=STRIDE_MAX).contains(&stride) || stride < wait_offset + 4 {
            return Err(format!("PGPROCs of {} processes seem to be {stride} bytes apart", processes.len()));
        }
        let postmaster = program.memory_of(program.postmaster_pid)?;
        let entries = processes.iter().map(|known| (known.pid, known.entry));
        let pid_offset = common_pid_offset(&postmaster, entries, stride)?;
        let array = ProcessArray { start: header.first, stride, slots: header.count, pid_offset, wait_offset };
        array.check(program, &processes)?;
        Ok(array)
    }

    /// Where the process id in a slot is.
    pub fn pid_address(&self, slot: usize) -> u64 {
        self.start + slot as u64 * self.stride + self.pid_offset
    }

    /// Where the wait event in a slot is.
    pub fn wait_address(&self, slot: usize) -> u64 {
        self.start + slot as u64 * self.stride + self.wait_offset
    }

    /// (address, bytes) of the words of these neighbouring slots, process ids and wait events.
    pub fn span(&self, first_slot: usize, last_slot: usize) -> (u64, usize) {
        let low = self.pid_offset.min(self.wait_offset);
        let high = self.pid_offset.max(self.wait_offset) + 4;
        let start = self.start + first_slot as u64 * self.stride + low;
        (start, ((last_slot - first_slot) as u64 * self.stride + high - low) as usize)
    }

    /// The slots of these processes now, `None` for one that has none. Watches the whole array meanwhile.
    pub fn slots_of(&self, memory: &mut SharedMemory, pids: &[i32]) -> io::Result<Vec<Option<usize>>> {
        memory.watch(&[self.span(0, self.slots - 1)])?;
        memory.refresh()?;
        let slot_of = |&pid: &i32| (0..self.slots).find(|&slot| memory.u32(self.pid_address(slot)) as i32 == pid);
        Ok(pids.iter().map(slot_of).collect())
    }

    fn check(&self, program: &Program, processes: &[Known]) -> Result<(), String> {
        let bytes = self.stride * self.slots as u64;
        if !program.is_shared(self.start, bytes) {
            return Err(format!("{} PGPROCs of {} bytes do not fit into the shared memory", self.slots, self.stride));
        }
        let postmaster = program.memory_of(program.postmaster_pid)?;
        for known in processes {
            let slot = known.entry.wrapping_sub(self.start) / self.stride;
            let seen = postmaster.u32(known.entry + self.pid_offset).map_err(|error| error.to_string())?;
            let may_have_ended = || !program.children().is_ok_and(|children| children.contains(&known.pid));
            if (slot >= self.slots as u64 || seen as i32 != known.pid) && !may_have_ended() {
                return Err(format!("process {} is not in slot {slot} of {}", known.pid, self.slots));
            }
        }
        Ok(())
    }
}

/// A process whose PGPROC is known from its own pointers.
struct Known {
    pid: i32,
    entry: u64,
    wait_offset: u64,
}

impl Known {
    fn all(program: &Program) -> Result<Vec<Self>, String> {
        let (process_pointer, wait_pointer) = (program.variable("MyProc")?, program.variable("my_wait_event_info")?);
        let mut known = Vec::new();
        let mut refusal = None;
        for pid in program.children()? {
            let read = || -> Result<(u64, u64), String> {
                let memory = program.memory_of(pid)?;
                let describe = |error: io::Error| format!("memory of process {pid}: {error}");
                let entry = memory.u64(process_pointer).map_err(describe)?;
                Ok((entry, memory.u64(wait_pointer).map_err(describe)?))
            };
            match read() {
                Ok((entry, wait)) if wait > entry && program.is_shared(entry, 8) && program.is_shared(wait, 4) => {
                    known.push(Known { pid, entry, wait_offset: wait - entry });
                }
                Ok(_) => {}
                Err(error) => refusal = Some(error), // it may be just ending; all of them are not
            }
        }
        match (known.len(), refusal) {
            (0, Some(refusal)) => Err(refusal),
            (0 | 1, _) => Err("fewer than two of the server's processes keep a PGPROC in shared memory".to_owned()),
            _ => Ok(known),
        }
    }
}

fn common_wait_offset(processes: &[Known]) -> Result<u64, String> {
    let first = processes[0].wait_offset;
    match processes.iter().find(|known| known.wait_offset != first) {
        Some(other) => Err(format!("the wait event of process {} is not where the other processes have it", other.pid)),
        None => Ok(first),
    }
}

/// Where each of these entries holds its own process's id: the first such place. In a PGPROC it is the owner of the
/// process's latch, which is cleared when the process ends, where the field `pid` behind it may keep its value.
pub(super) fn common_pid_offset(
    postmaster: &Copier,
    entries: impl Iterator<Item = (i32, u64)>,
    stride: u64,
) -> Result<u64, String> {
    let mut common: Option<Vec<usize>> = None;
    for (pid, address) in entries {
        let mut entry = vec![0; stride as usize];
        postmaster.read(address, &mut entry).map_err(|error| error.to_string())?;
        let holds_pid = |place: &usize| entry[*place..*place + 4] == pid.to_le_bytes();
        let places: Vec<usize> = (0..entry.len() - 3).step_by(4).filter(holds_pid).collect();
        if places.is_empty() {
            continue; // it has just ended
        }
        match &mut common {
            Some(common) => common.retain(|place| places.contains(place)),
            None => common = Some(places),
        }
    }
    let first = common.and_then(|places| places.first().copied());
    first.map(|place| place as u64).ok_or_else(|| "no place of an entry holds its process's id in all".to_owned())
}

struct Header {
    first: u64,
    count: usize,
}

impl Header {
    /// The count is found by its size: MaxBackends, and then some. Halves of pointers are passed over.
    fn read(program: &Program) -> Result<Self, String> {
        let postmaster = program.memory_of(program.postmaster_pid)?;
        let describe = |error: io::Error| format!("memory of process {}: {error}", program.postmaster_pid);
        let number = |name| Ok::<_, String>(u64::from(postmaster.u32(program.variable(name)?).map_err(describe)?));
        let header = postmaster.u64(program.variable("ProcGlobal")?).map_err(describe)?;
        if !program.is_shared(header, HEADER_BYTES as u64) {
            return Err("ProcGlobal does not point into shared memory".to_owned());
        }
        let mut bytes = [0; HEADER_BYTES];
        postmaster.read(header, &mut bytes).map_err(describe)?;
        let backends = number("MaxBackends")?;
        let expected = backends + 1..=backends + AUXILIARY_MAX + number("max_prepared_xacts")?;
        let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
        let halves =
            words.filter(|&word| !program.is_shared(word, 1)).flat_map(|word| [word & 0xffff_ffff, word >> 32]);
        let count = halves.into_iter().find(|half| expected.contains(half));
        let first = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        match count {
            Some(count) if program.is_shared(first, 8) => Ok(Header { first, count: count as usize }),
            _ => Err("PROC_HDR does not begin with the PGPROCs and their count".to_owned()),
        }
    }
}

pub(super) fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_addresses() {
        let array = ProcessArray { start: 1000, stride: 800, slots: 10, pid_offset: 60, wait_offset: 712 };
        assert_eq!((array.pid_address(2), array.wait_address(2)), (2660, 3312));
        assert_eq!(array.span(0, 0), (1060, 656));
        assert_eq!(array.span(2, 4), (2660, 1600 + 656));
    }

    #[test]
    fn steps_have_a_common_divisor() {
        let divisor = |steps: &[u64]| steps.iter().copied().reduce(greatest_common_divisor).unwrap();
        assert_eq!(divisor(&[0, 832 * 7, 832 * 10]), 832);
        assert_eq!(divisor(&[832 * 6, 832 * 9, 0]), 832 * 3);
    }
}
