//! Just enough ELF to find a global variable of a running program.
//!
//! Input: an ELF64 little-endian executable and the place one of its segments is mapped at.
//! Output: where a dynamic symbol lies in the process.
//!
//! ```text
//! header --> section headers --> SHT_DYNSYM --> symbols (24 bytes each: name offset, ..., value, size)
//!        \                            `-sh_link-> string table with their names
//!         `-> program headers --> PT_LOAD: file offset -> link-time address
//! ```

use std::io;

const SECTION_TYPE_CONTENTS: u32 = 1;
const SECTION_TYPE_DYNSYM: u32 = 11;
const SECTION_FLAG_LOADED: u64 = 2;
/// Written, loaded, run.
const SECTION_FLAGS_ACCESS: u64 = 1 | SECTION_FLAG_LOADED | 4;
const SEGMENT_TYPE_LOAD: u32 = 1;
const TYPE_FIXED: u16 = 2;
const TYPE_POSITION_INDEPENDENT: u16 = 3;
const SYMBOL_SIZE: usize = 24;

/// The parts of an executable that locate its dynamic symbols.
pub struct Executable {
    position_independent: bool,
    segments: Vec<Segment>,
    symbols: Vec<u8>,
    names: Vec<u8>,
}

impl Executable {
    /// Read the headers and the dynamic symbol table of an ELF image.
    pub fn parse(image: &[u8]) -> io::Result<Self> {
        if image.get(..6) != Some(b"\x7fELF\x02\x01") {
            return Err(invalid("not a 64-bit little-endian ELF file"));
        }
        let kind = u16_at(image, 16)?;
        if kind != TYPE_FIXED && kind != TYPE_POSITION_INDEPENDENT {
            return Err(invalid("neither an executable nor a position-independent one"));
        }
        let (symbols, names) = dynamic_symbols(image)?;
        Ok(Executable {
            position_independent: kind == TYPE_POSITION_INDEPENDENT,
            segments: loaded_segments(image)?,
            symbols,
            names,
        })
    }

    /// The address of a defined dynamic symbol as it was linked.
    pub fn symbol(&self, name: &str) -> Option<u64> {
        self.symbols.chunks_exact(SYMBOL_SIZE).find_map(|symbol| {
            let name_offset = u32_at(symbol, 0).ok()? as usize;
            let section = u16_at(symbol, 6).ok()?;
            let found = self.names.get(name_offset..)?.strip_prefix(name.as_bytes())?.first() == Some(&0);
            (found && section != 0).then(|| u64_at(symbol, 8).ok())?
        })
    }

    /// What to add to a linked address in a process that maps the file's `file_offset` at `address`.
    pub fn load_bias(&self, file_offset: u64, address: u64) -> Option<u64> {
        if !self.position_independent {
            return Some(0);
        }
        load_bias(&self.segments, file_offset, address)
    }
}

/// (file offset, link-time address, size in the file) of a loaded segment.
pub type Segment = (u64, u64, u64);

/// What to add to a linked address where `file_offset` of a file with these segments is mapped at `address`.
pub fn load_bias(segments: &[Segment], file_offset: u64, address: u64) -> Option<u64> {
    let page = |value: u64| value & !0xfff;
    let holds =
        |&&(offset, _, size): &&Segment| page(offset) <= file_offset && file_offset < offset.saturating_add(size);
    let &(offset, linked, _) = segments.iter().find(holds)?;
    address.checked_sub(page(linked).checked_add(file_offset - page(offset))?)
}

/// The parts of an image that a program can neither write nor run, its texts among them.
pub fn constants(image: &[u8]) -> io::Result<Vec<&[u8]>> {
    let mut parts = Vec::new();
    for section in section_headers(image)? {
        if u32_at(section, 4)? == SECTION_TYPE_CONTENTS
            && u64_at(section, 8)? & SECTION_FLAGS_ACCESS == SECTION_FLAG_LOADED
        {
            parts.push(slice(image, u64_at(section, 24)?, u64_at(section, 32)?)?);
        }
    }
    Ok(parts)
}

fn section_headers(image: &[u8]) -> io::Result<Vec<&[u8]>> {
    let table = u64_at(image, 40)?;
    let entry_size = u64::from(u16_at(image, 58)?);
    (0..u64::from(u16_at(image, 60)?)).map(|index| slice(image, entry_at(table, index, entry_size), 64)).collect()
}

fn dynamic_symbols(image: &[u8]) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let headers = section_headers(image)?;
    for section in &headers {
        if u32_at(section, 4)? == SECTION_TYPE_DYNSYM {
            let names = headers.get(u32_at(section, 40)? as usize).ok_or_else(|| invalid("no names of symbols"))?;
            return Ok((section_bytes(image, section)?, section_bytes(image, names)?));
        }
    }
    Err(invalid("no dynamic symbol table"))
}

fn section_bytes(image: &[u8], header: &[u8]) -> io::Result<Vec<u8>> {
    Ok(slice(image, u64_at(header, 24)?, u64_at(header, 32)?)?.to_vec())
}

/// Of a table; beyond all files where the sum has no room, which `slice` refuses.
fn entry_at(table: u64, index: u64, size: u64) -> u64 {
    table.saturating_add(index * size)
}

fn loaded_segments(image: &[u8]) -> io::Result<Vec<Segment>> {
    let table = u64_at(image, 32)?;
    let entry_size = u64::from(u16_at(image, 54)?);
    let mut segments = Vec::new();
    for index in 0..u64::from(u16_at(image, 56)?) {
        let header = slice(image, entry_at(table, index, entry_size), 56)?;
        if u32_at(header, 0)? == SEGMENT_TYPE_LOAD {
            segments.push((u64_at(header, 8)?, u64_at(header, 16)?, u64_at(header, 32)?));
        }
    }
    Ok(segments)
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

fn slice(bytes: &[u8], offset: u64, length: u64) -> io::Result<&[u8]> {
    let end = offset.checked_add(length).ok_or_else(|| invalid("ELF offset overflows"))?;
    bytes.get(offset as usize..end as usize).ok_or_else(|| invalid("ELF file ends early"))
}

fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> io::Result<[u8; N]> {
    let part = slice(bytes, offset as u64, N as u64)?;
    Ok(part.try_into().expect("the slice has N bytes"))
}

fn u16_at(bytes: &[u8], offset: usize) -> io::Result<u16> {
    array_at(bytes, offset).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], offset: usize) -> io::Result<u32> {
    array_at(bytes, offset).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], offset: usize) -> io::Result<u64> {
    array_at(bytes, offset).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::maps;

    #[test]
    fn finds_a_libc_function_where_the_running_process_has_it() {
        // SAFETY: dlsym with a default handle only looks a name up.
        let actual = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"getppid".as_ptr()) } as u64;
        let mappings = maps::of_process(std::process::id() as i32).unwrap();
        // Other tests read the same file, so its first mapping need not be the one that runs.
        let libc = mappings.iter().find(|mapping| (mapping.start..mapping.end).contains(&actual)).expect("mapped");
        let library = Executable::parse(&std::fs::read(&libc.path).unwrap()).unwrap();
        let bias = library.load_bias(libc.offset, libc.start).unwrap();
        assert_eq!(bias + library.symbol("getppid").unwrap(), actual);
    }

    #[test]
    fn a_symbol_name_must_match_whole() {
        let mappings = maps::of_process(std::process::id() as i32).unwrap();
        let libc = mappings.iter().find(|mapping| mapping.path.contains("/libc.so")).expect("glibc is mapped");
        let library = Executable::parse(&std::fs::read(&libc.path).unwrap()).unwrap();
        assert!(library.symbol("getppid").is_some());
        assert_eq!(library.symbol("getppi"), None);
        assert_eq!(library.symbol("getppidx"), None);
    }

    #[test]
    fn own_executable_parses_and_garbage_does_not() {
        let own = std::fs::read("/proc/self/exe").unwrap();
        assert!(Executable::parse(&own).is_ok());
        assert!(Executable::parse(b"#!/bin/sh\n").is_err());
        assert!(Executable::parse(&own[..100]).is_err());
    }

    #[test]
    fn constants_hold_texts_and_no_instructions() {
        const TEXT: &str = "a text that this test program holds";
        let own = std::fs::read("/proc/self/exe").unwrap();
        let parts = constants(&own).unwrap();
        assert!(parts.iter().any(|part| part.windows(TEXT.len()).any(|window| window == TEXT.as_bytes())));
        assert!(parts.iter().map(|part| part.len()).sum::<usize>() < own.len());
    }

    #[test]
    fn load_bias_is_the_mapped_address_less_the_linked_one() {
        let executable = |position_independent| Executable {
            position_independent,
            segments: vec![(0, 0, 0x1800), (0x1e00, 0x2e00, 0x500)],
            symbols: Vec::new(),
            names: Vec::new(),
        };
        assert_eq!(executable(true).load_bias(0, 0x5555_0000), Some(0x5555_0000));
        assert_eq!(executable(true).load_bias(0x1000, 0x5555_1000), Some(0x5555_0000));
        assert_eq!(executable(true).load_bias(0x9000, 0x5555_1000), None);
        assert_eq!(executable(false).load_bias(0, 0x40_0000), Some(0));
    }
}
