//! A file's bytes, whatever it is compressed with, read and unpacked on a thread of its own while this one counts.

use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::{panic, thread};

use flate2::read::MultiGzDecoder;

use super::board::Board;
use crate::error::{CoreError, Result};

/// What is handed over at a time: large enough that this costs nothing, small enough for the second-level cache.
const PIECE_BYTES: usize = 256 * 1024;
/// Pieces that wait to be counted.
const PIECES_AHEAD: usize = 4;
/// The highest preset needs 65 MiB.
const XZ_MEMORY_KIB: u32 = 100 * 1024;

/// What a file is compressed with, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

impl Compression {
    fn of(beginning: &[u8]) -> Self {
        match beginning {
            [0x1F, 0x8B, ..] => Self::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
        }
    }

    fn unpacked<'a>(self, input: &'a mut Counted<'_>) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Self::None => Box::new(input),
            Self::Gzip => Box::new(MultiGzDecoder::new(input)),
            Self::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(input)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(BufReader::new(input), true, XZ_MEMORY_KIB)),
            Self::Zstd => Box::new(zstd::stream::read::Decoder::new(input)?),
        })
    }
}

/// What was read.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub compression: Compression,
    /// As they lie on disk.
    pub bytes: u64,
    pub text_bytes: u64,
    /// Why it ended before its end.
    pub broken: Option<String>,
}

/// Hands all of a file to `each`, which returns whether to go on.
///
/// # Errors
/// `bad_file`: it cannot be opened. A file that breaks off is no error: what came before is handed on.
pub(super) fn read(path: &Path, board: &Board, mut each: impl FnMut(&[u8]) -> bool) -> Result<Input> {
    let (compression, input) = open(path)?;
    let mut counted = Counted { input, bytes: 0, board };
    let mut result = Input { compression, bytes: 0, text_bytes: 0, broken: None };
    thread::scope(|scope| {
        let (full, pieces) = sync_channel::<Vec<u8>>(PIECES_AHEAD);
        let (empty, used) = sync_channel::<Vec<u8>>(PIECES_AHEAD + 2);
        let (counted, full) = (&mut counted, full);
        let unpack = move || unpack(compression, counted, &full, || used.try_recv().unwrap_or_default());
        let reader = thread::Builder::new().name("dbdyno-trace".to_owned()).spawn_scoped(scope, unpack);
        let reader = reader.expect("room for a thread");
        for piece in &pieces {
            result.text_bytes += piece.len() as u64;
            if !each(&piece) {
                break;
            }
            // The reader may have ended.
            let _ = empty.try_send(piece);
        }
        drop(pieces);
        result.broken = reader.join().expect("its panics are caught");
    });
    result.bytes = counted.bytes;
    Ok(result)
}

type Opened = Chain<Cursor<Vec<u8>>, File>;

fn open(path: &Path) -> Result<(Compression, Opened)> {
    let unreadable = |error: io::Error| {
        let what = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            io::ErrorKind::IsADirectory => "it is a directory; name the files in it".to_owned(),
            _ => format!("it cannot be read: {error}"),
        };
        CoreError::new("bad_file", format!("{}: {what}", path.display()))
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let mut beginning = Vec::with_capacity(6);
    file.by_ref().take(6).read_to_end(&mut beginning).map_err(unreadable)?;
    Ok((Compression::of(&beginning), Cursor::new(beginning).chain(file)))
}

/// Counts what is taken from the disk.
struct Counted<'a> {
    input: Opened,
    bytes: u64,
    board: &'a Board,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes += count as u64;
        self.board.add_bytes(count as u64);
        Ok(count)
    }
}

/// Sends pieces until the input ends, or nobody wants more; what was wrong with it, if something was. The unpackers
/// are others' code and meet damaged files: a panic is a broken file.
fn unpack(
    compression: Compression,
    input: &mut Counted<'_>,
    full: &SyncSender<Vec<u8>>,
    mut empty: impl FnMut() -> Vec<u8>,
) -> Option<String> {
    let work = panic::AssertUnwindSafe(|| -> io::Result<()> {
        let mut input = compression.unpacked(input)?;
        loop {
            let mut piece = empty();
            piece.clear();
            let result = fill(&mut input, &mut piece);
            let is_end = piece.len() < PIECE_BYTES;
            if !piece.is_empty() && full.send(piece).is_err() {
                return Ok(());
            }
            result?;
            if is_end {
                return Ok(());
            }
        }
    });
    match panic::catch_unwind(work) {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(format!("{}: {error}", compression.name())),
        Err(_) => Some(format!("{}: the file is damaged", compression.name())),
    }
}

/// As much as a piece holds; what came before an error is in it.
fn fill(input: &mut impl Read, piece: &mut Vec<u8>) -> io::Result<()> {
    input.by_ref().take(PIECE_BYTES as u64).read_to_end(piece).map(|_| ())
}
