//! Counting equal stacks: addresses in, counts by process, kind and functions out.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use framehop::x86_64::CacheX86_64;

use super::address_space::{AddressSpace, CUT, CodeMap, Images};
use super::copy::StackCopy;

/// The leaf of a stack whose task was in the kernel.
pub const KERNEL: &str = "[kernel]";

/// What a stack was taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The process was on a CPU; `true`: in the kernel.
    Cpu(bool),
    /// The process slept; the wait event's number, 0 for none, None where it is not known.
    Wait(Option<u32>),
}

/// Indices into `Fold::frames`, the root first.
type Frames = Arc<[u32]>;
/// Process, kind and frames of a stack, and how often it was seen.
pub type StackCount = ((i32, Kind, Frames), u64);

/// All stacks so far.
#[derive(Default)]
pub struct Fold {
    images: Images,
    spaces: Vec<(CodeMap, Arc<AddressSpace>)>,
    of_process: HashMap<i32, Process>,
    frames: Vec<String>,
    frame_numbers: HashMap<String, u32>,
    counts: HashMap<(i32, Kind, Frames), u64>,
    cache: CacheX86_64,
    addresses: Vec<u64>,
}

/// One process's code and the names of its addresses so far.
struct Process {
    space: Arc<AddressSpace>,
    names: HashMap<u64, u32>,
    /// Stacks through unknown code since its map was last read.
    unknown_since: u32,
}

/// After so many stacks through unknown code the map is read again: a library may have been loaded since.
const STACKS_BETWEEN_MAPS: u32 = 50;

impl Fold {
    /// Reads the files of a process before its first stack.
    pub fn meet(&mut self, pid: i32) {
        let _ = self.process(pid);
    }

    /// The functions on a copied stack of a process, root first.
    ///
    /// None where the process's map cannot be read: it is gone.
    pub fn functions(&mut self, pid: i32, copy: &StackCopy, in_kernel: bool) -> Option<Frames> {
        self.process(pid)?;
        let mut process = self.of_process.remove(&pid)?;
        let mut rooted = process.space.unwind(copy, &mut self.cache, &mut self.addresses);
        if self.addresses.iter().any(|&address| !process.space.knows(address)) {
            process.unknown_since += 1;
            if process.unknown_since.is_multiple_of(STACKS_BETWEEN_MAPS) {
                process = self.read_map(pid).unwrap_or(process);
                rooted = process.space.unwind(copy, &mut self.cache, &mut self.addresses);
            }
        }
        let frames = self.name(&mut process, rooted, in_kernel);
        self.of_process.insert(pid, process);
        Some(frames)
    }

    /// One more stack.
    pub fn add(&mut self, pid: i32, kind: Kind, frames: Frames) {
        *self.counts.entry((pid, kind, frames)).or_insert(0) += 1;
    }

    /// What was counted: the names of all functions, and the stacks in a fixed order.
    pub fn into_counts(self) -> (Vec<String>, Vec<StackCount>) {
        let mut counts: Vec<_> = self.counts.into_iter().collect();
        let order = |kind: &Kind| match kind {
            Kind::Cpu(_) => (0, 0),
            Kind::Wait(event) => (1, event.map_or(u64::MAX, u64::from)),
        };
        counts.sort_by(|((pid, kind, frames), count), ((other_pid, other_kind, other_frames), other_count)| {
            (pid, order(kind), other_count, frames).cmp(&(other_pid, order(other_kind), count, other_frames))
        });
        (self.frames, counts)
    }

    fn process(&mut self, pid: i32) -> Option<&Process> {
        if !self.of_process.contains_key(&pid) {
            let process = self.read_map(pid)?;
            self.of_process.insert(pid, process);
        }
        self.of_process.get(&pid)
    }

    fn read_map(&mut self, pid: i32) -> Option<Process> {
        let map = CodeMap::of_process(pid).ok()?;
        let known = self.spaces.iter().find(|(known, _)| *known == map).map(|(_, space)| Arc::clone(space));
        let space = known.unwrap_or_else(|| {
            let space = Arc::new(AddressSpace::new(pid, &map, &mut self.images));
            self.spaces.push((map, Arc::clone(&space)));
            space
        });
        Some(Process { space, names: HashMap::new(), unknown_since: 0 })
    }

    fn name(&mut self, process: &mut Process, rooted: bool, in_kernel: bool) -> Frames {
        let mut frames = Vec::with_capacity(self.addresses.len() + 2);
        if !rooted {
            frames.push(number(&mut self.frames, &mut self.frame_numbers, CUT));
        }
        for &address in self.addresses.iter().rev() {
            let frame = match process.names.entry(address) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(vacant) => {
                    let name = process.space.name(address);
                    *vacant.insert(number(&mut self.frames, &mut self.frame_numbers, &name))
                }
            };
            frames.push(frame);
        }
        if in_kernel {
            frames.push(number(&mut self.frames, &mut self.frame_numbers, KERNEL));
        }
        frames.into()
    }
}

fn number(frames: &mut Vec<String>, numbers: &mut HashMap<String, u32>, name: &str) -> u32 {
    if let Some(&number) = numbers.get(name) {
        return number;
    }
    let number = frames.len() as u32;
    frames.push(name.to_owned());
    numbers.insert(name.to_owned(), number);
    number
}
