//! One mapped file: how to unwind through it and what its functions are called.
//!
//! In: the bytes of an ELF file. Out: its `.eh_frame` sections for the unwinder, and a table of functions
//! sorted by address, from `.symtab` (which has the static ones) and `.dynsym` (all that a stripped file keeps).

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};

use crate::probe::{Segment, load_bias};

/// What is kept of a file.
#[derive(Debug, Default)]
pub struct Image {
    /// The file's name without its directory: what a function without a name is shown as, in brackets.
    pub label: String,
    /// `.eh_frame` and its index: (link-time address, bytes).
    pub eh_frame: Option<(u64, Arc<[u8]>)>,
    /// The binary-search table of `.eh_frame`.
    pub eh_frame_hdr: Option<(u64, Arc<[u8]>)>,
    /// Link-time addresses of the code.
    pub text: Option<(u64, u64)>,
    /// Link-time address of the global offset table.
    pub got: Option<(u64, u64)>,
    /// (file offset, link-time address, size in the file) of each loaded segment.
    segments: Vec<Segment>,
    /// Sorted by address, one name for each.
    functions: Vec<Function>,
}

#[derive(Debug, PartialEq, Eq)]
struct Function {
    start: u64,
    end: u64,
    name: String,
}

impl Image {
    /// What a file's bytes say; `label` is what it is called.
    pub fn parse(label: &str, bytes: &[u8]) -> io::Result<Self> {
        let file = object::File::parse(bytes).map_err(io::Error::other)?;
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            Some((section.address(), Arc::from(section.data().ok()?)))
        };
        let range = |name: &str| file.section_by_name(name).map(|section| (section.address(), section.size()));
        let segment = |segment: object::Segment<'_, '_>| {
            let (offset, size) = segment.file_range();
            (offset, segment.address(), size)
        };
        Ok(Image {
            label: label.to_owned(),
            eh_frame: section(".eh_frame"),
            eh_frame_hdr: section(".eh_frame_hdr"),
            text: range(".text"),
            got: range(".got"),
            segments: file.segments().map(segment).collect(),
            functions: functions_of(&file),
        })
    }

    /// Reads a file, and the functions of its separate debugging symbols where Debian keeps those.
    pub fn read(path: &Path) -> io::Result<Self> {
        let label = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let bytes = fs::read(path)?;
        let mut image = Self::parse(&label, &bytes)?;
        if let Some(more) = debug_file(&bytes).and_then(|path| fs::read(path).ok())
            && let Ok(debug) = Self::parse(&label, &more)
            && debug.functions.len() > image.functions.len()
        {
            image.functions = debug.functions;
        }
        Ok(image)
    }

    /// What to add to a linked address in a process that maps the file's `file_offset` at `address`.
    pub fn load_bias(&self, file_offset: u64, address: u64) -> Option<u64> {
        load_bias(&self.segments, file_offset, address)
    }

    /// The function that an instruction of this file belongs to.
    pub fn function_at(&self, linked: u64) -> Option<&str> {
        let behind = self.functions.partition_point(|function| function.start <= linked);
        let function = self.functions.get(behind.checked_sub(1)?)?;
        (linked < function.end).then_some(function.name.as_str())
    }

    /// The names of all functions.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|function| function.name.as_str())
    }
}

fn functions_of(file: &object::File<'_>) -> Vec<Function> {
    let mut functions: Vec<Function> = file
        .symbols()
        .chain(file.dynamic_symbols())
        // An indirect function (memcpy and its like) is of no kind that `object` names.
        .filter(|symbol| symbol.is_definition() || symbol.kind() == SymbolKind::Unknown)
        .filter(|symbol| matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown) && symbol.size() > 0)
        .filter_map(|symbol| {
            let name = plain_name(symbol.name().ok()?);
            Some(Function {
                start: symbol.address(),
                end: symbol.address().saturating_add(symbol.size()),
                name: name.to_owned(),
            })
        })
        .collect();
    // Of several names for one address the plainest is the one that people know: poll, not __GI___poll.
    let underscores = |name: &str| name.len() - name.trim_start_matches('_').len();
    functions.sort_by(|a, b| {
        (a.start, underscores(&a.name), a.name.len(), &a.name).cmp(&(
            b.start,
            underscores(&b.name),
            b.name.len(),
            &b.name,
        ))
    });
    functions.dedup_by_key(|function| function.start);
    functions
}

/// Without the symbol version and without what the compiler adds to the parts and variants of a function.
fn plain_name(name: &str) -> &str {
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    const VARIANTS: [&str; 5] = [".part.", ".isra.", ".constprop.", ".cold", ".lto_priv."];
    let end = VARIANTS.iter().filter_map(|variant| name.find(variant)).min();
    end.map_or(name, |end| &name[..end])
}

/// Where Debian's packages of debugging symbols put those of a file with this build id.
fn debug_file(bytes: &[u8]) -> Option<std::path::PathBuf> {
    let file = object::File::parse(bytes).ok()?;
    let id: String = file.build_id().ok()??.iter().map(|byte| format!("{byte:02x}")).collect();
    let (directory, rest) = id.split_at_checked(2)?;
    Some(Path::new("/usr/lib/debug/.build-id").join(directory).join(format!("{rest}.debug")))
}

/// The names of all functions of an ELF file, sorted, each once.
pub fn function_names(path: &Path) -> io::Result<Vec<String>> {
    let image = Image::read(path)?;
    let mut names: Vec<String> = image.function_names().map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_of_the_compiler_carry_the_name_of_the_function() {
        let cases = [
            ("ExecHashJoin", "ExecHashJoin"),
            ("heapgettup_pagemode.isra.0", "heapgettup_pagemode"),
            ("ExecHashJoinImpl.constprop.0.isra.0", "ExecHashJoinImpl"),
            ("errstart.cold", "errstart"),
            ("poll@@GLIBC_2.2.5", "poll"),
        ];
        for (name, plain) in cases {
            assert_eq!(plain_name(name), plain);
        }
    }

    #[test]
    fn a_function_of_this_program_is_found_by_any_of_its_addresses() {
        let image = Image::read(Path::new("/proc/self/exe")).unwrap();
        let function = image.functions.iter().find(|function| function.end - function.start > 8).unwrap();

        assert_eq!(image.function_at(function.start), Some(function.name.as_str()));
        assert!(image.function_at(function.end - 1).is_some());
        assert_eq!(image.function_at(0), None);
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert!(Image::parse("script", b"#!/bin/sh\n").is_err());
    }
}
