//! From an address of a process to the function there, and from a copied stack to the calls on it.
//!
//! ```text
//! /proc/PID/maps --> executable mappings --> Image of each file (cached by path, for all processes)
//!                                        `-> unwinder of these images where this process has them
//! ```
//!
//! Backends are forked from one postmaster, so most of them share one map: spaces are cached by it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder};

use super::copy::StackCopy;
use super::image::Image;

/// No stack of a server is so deep; a walk that goes on has lost its way.
const DEEPEST: usize = 512;
/// Stands for a base register that is not known: no stack reaches there, so a frame that needs it ends the walk.
const UNKNOWN_BASE: u64 = 0xdead_0000_0000_0000;
/// The root of a stack that could not be followed to its first function.
pub const CUT: &str = "[cut]";

/// One executable mapping of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CodeMapping {
    start: u64,
    end: u64,
    offset: u64,
    path: String,
}

/// The code that a process can run, and where its stack ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CodeMap {
    mappings: Vec<CodeMapping>,
    /// The address behind the main thread's stack.
    pub stack_end: u64,
}

impl CodeMap {
    /// The map of a running process.
    pub fn of_process(pid: i32) -> io::Result<Self> {
        let text = fs::read(format!("/proc/{pid}/maps"))?;
        Ok(Self::parse(&String::from_utf8_lossy(&text)))
    }

    /// `start-end r-xp offset device inode   path` of each mapping that can be executed.
    fn parse(text: &str) -> Self {
        let mut map = CodeMap { mappings: Vec::new(), stack_end: 0 };
        for line in text.lines() {
            let mut fields = line.splitn(6, ' ');
            let (Some(range), Some(permissions), Some(offset)) = (fields.next(), fields.next(), fields.next()) else {
                continue;
            };
            let path = fields.nth(2).map_or("", |path| path.trim_start());
            let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
            let Some((Some(start), Some(end))) =
                range.split_once('-').map(|(start, end)| (hexadecimal(start), hexadecimal(end)))
            else {
                continue;
            };
            if path == "[stack]" {
                map.stack_end = end;
            } else if permissions.as_bytes().get(2) == Some(&b'x') {
                let offset = hexadecimal(offset).unwrap_or(0);
                map.mappings.push(CodeMapping { start, end, offset, path: path.to_owned() });
            }
        }
        map
    }
}

/// The images of the files that were met, each read once.
#[derive(Default)]
pub struct Images(HashMap<String, Option<Arc<Image>>>);

impl Images {
    fn of(&mut self, pid: i32, path: &str) -> Option<Arc<Image>> {
        if let Some(image) = self.0.get(path) {
            return image.clone();
        }
        let image = read_image(pid, path).ok().map(Arc::new);
        self.0.insert(path.to_owned(), image.clone());
        image
    }
}

/// The file as the process sees it; an executable that was replaced since is still behind `/proc/PID/exe`.
fn read_image(pid: i32, path: &str) -> io::Result<Image> {
    if path == "[vdso]" {
        return own_vdso();
    }
    let seen_by_process = || PathBuf::from(format!("/proc/{pid}/root{path}"));
    let image = match path.strip_suffix(" (deleted)") {
        None => Image::read(&seen_by_process()).or_else(|_| Image::read(Path::new(path)))?,
        Some(deleted) => {
            let executable = PathBuf::from(format!("/proc/{pid}/exe"));
            if fs::read_link(&executable)?.to_string_lossy() != path {
                return Err(io::Error::from(io::ErrorKind::NotFound));
            }
            let label = Path::new(deleted).file_name().unwrap_or_default().to_string_lossy();
            Image::parse(&label, &fs::read(executable)?)?
        }
    };
    Ok(image)
}

/// The code that the kernel lends to every process is the same in all: read from our own memory.
fn own_vdso() -> io::Result<Image> {
    let text = fs::read_to_string("/proc/self/maps")?;
    let map = CodeMap::parse(&text);
    let vdso = map.mappings.iter().find(|mapping| mapping.path == "[vdso]");
    let vdso = vdso.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    let mut bytes = vec![0; (vdso.end - vdso.start) as usize];
    let copied = super::copy::read_remote(std::process::id() as i32, vdso.start, &mut bytes)?;
    Image::parse("vdso", &bytes[..copied])
}

/// One map's code, ready to unwind and to name.
pub struct AddressSpace {
    unwinder: UnwinderX86_64<Arc<[u8]>>,
    /// Sorted by start: the mapping, what was added to its linked addresses, its image.
    code: Vec<(CodeMapping, u64, Option<Arc<Image>>)>,
}

impl AddressSpace {
    /// The space of a process with this map.
    pub fn new(pid: i32, map: &CodeMap, images: &mut Images) -> Self {
        let mut unwinder = UnwinderX86_64::new();
        let mut code = Vec::new();
        for mapping in &map.mappings {
            let image = images.of(pid, &mapping.path);
            let bias = image.as_ref().and_then(|image| image.load_bias(mapping.offset, mapping.start));
            if let (Some(image), Some(bias)) = (&image, bias) {
                unwinder.add_module(module(mapping, bias, image));
            }
            code.push((mapping.clone(), bias.unwrap_or(mapping.start), bias.and(image)));
        }
        code.sort_by_key(|(mapping, ..)| mapping.start);
        AddressSpace { unwinder, code }
    }

    /// The addresses on a stack, leaf first, and whether its first function was reached.
    ///
    /// A return address is that of the instruction behind the call: looked up one byte before it, it belongs to the
    /// caller also where the call is the caller's last instruction.
    pub fn unwind(&self, copy: &StackCopy, cache: &mut CacheX86_64, addresses: &mut Vec<u64>) -> bool {
        addresses.clear();
        let registers = copy.registers;
        let start =
            UnwindRegsX86_64::new(registers.instruction, registers.stack, registers.base.unwrap_or(UNKNOWN_BASE));
        let mut read_stack = |address| copy.word(address).ok_or(());
        let mut frames = self.unwinder.iter_frames(registers.instruction, start, cache, &mut read_stack);
        while addresses.len() < DEEPEST {
            match frames.next() {
                Ok(Some(FrameAddress::InstructionPointer(address))) => addresses.push(address),
                Ok(Some(FrameAddress::ReturnAddress(address))) => addresses.push(address.get() - 1),
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
        false
    }

    /// Whether any file is mapped at this address: if not, the process has mapped something since.
    pub fn knows(&self, address: u64) -> bool {
        self.at(address).is_some()
    }

    /// The function at an address; `[FILE]` where the file does not name it, `[unknown]` where there is no file.
    pub fn name(&self, address: u64) -> String {
        match self.at(address) {
            Some((_, bias, Some(image))) => match image.function_at(address.wrapping_sub(*bias)) {
                Some(name) => name.to_owned(),
                None => format!("[{}]", image.label),
            },
            Some((mapping, _, None)) if mapping.path.starts_with('[') => mapping.path.clone(),
            _ => "[unknown]".to_owned(),
        }
    }

    fn at(&self, address: u64) -> Option<&(CodeMapping, u64, Option<Arc<Image>>)> {
        let behind = self.code.partition_point(|(mapping, ..)| mapping.start <= address);
        self.code.get(behind.checked_sub(1)?).filter(|(mapping, ..)| address < mapping.end)
    }
}

fn module(mapping: &CodeMapping, bias: u64, image: &Image) -> Module<Arc<[u8]>> {
    let range = |place: Option<(u64, u64)>| place.map(|(start, size)| start..start + size);
    let section =
        |part: &Option<(u64, Arc<[u8]>)>| part.as_ref().map(|(start, bytes)| *start..start + bytes.len() as u64);
    let bytes = |part: &Option<(u64, Arc<[u8]>)>| part.as_ref().map(|(_, bytes)| Arc::clone(bytes));
    let sections = ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: range(image.text),
        got_svma: range(image.got),
        eh_frame_svma: section(&image.eh_frame),
        eh_frame: bytes(&image.eh_frame),
        eh_frame_hdr_svma: section(&image.eh_frame_hdr),
        eh_frame_hdr: bytes(&image.eh_frame_hdr),
        ..ExplicitModuleSectionInfo::default()
    };
    Module::new(image.label.clone(), mapping.start..mapping.end, bias, sections)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_and_the_end_of_the_stack_are_kept() {
        let map = CodeMap::parse(
            "00400000-00494000 r--p 00000000 fe:00 100   /opt/pg sql/bin/postgres (deleted)\n\
             00494000-00b00000 r-xp 00094000 fe:00 100   /opt/pg sql/bin/postgres (deleted)\n\
             7f21-7f22 rw-s 00000000 00:01 33            /dev/zero (deleted)\n\
             7ffd1000-7ffd2000 rw-p 00000000 00:00 0     [stack]\n\
             7ffd3000-7ffd4000 r-xp 00000000 00:00 0     [vdso]\n",
        );

        assert_eq!(map.stack_end, 0x7ffd_2000);
        let code = |start, end, offset, path: &str| CodeMapping { start, end, offset, path: path.to_owned() };
        assert_eq!(
            map.mappings,
            [
                code(0x49_4000, 0xb0_0000, 0x9_4000, "/opt/pg sql/bin/postgres (deleted)"),
                code(0x7ffd_3000, 0x7ffd_4000, 0, "[vdso]")
            ]
        );
    }

    #[test]
    fn a_function_of_libc_is_named_where_this_process_has_it() {
        let pid = std::process::id() as i32;
        let space = AddressSpace::new(pid, &CodeMap::of_process(pid).unwrap(), &mut Images::default());
        // SAFETY: dlsym with a default handle only looks a name up.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"getppid".as_ptr()) } as u64;

        assert_eq!(space.name(address), "getppid");
        assert!(space.knows(address) && !space.knows(8));
        assert_eq!(space.name(8), "[unknown]");
    }
}
