//! Arrow's messages, looked at before they are decoded: a length that no file of this size can have would end the
//! process, because memory that is not there cannot be asked for and refused.
//!
//! ```text
//! [FFFFFFFF] [length of the metadata (4)] [metadata: kind, length of the body, its buffers] [body]
//! ...
//! [FFFFFFFF] [0 (4)]                                                                        the end
//! ```

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{CompressionType, Message, RecordBatch as Described, root_as_message};

const CONTINUATION: [u8; 4] = [0xFF; 4];
/// In place of a length: the buffer is not compressed.
const NOT_COMPRESSED: i64 = -1;
/// The most that a buffer of a batch may take.
const BUFFER_BYTES_MAX: u64 = 4 << 30;

/// The messages of a file from where it stands on.
pub(super) struct Messages {
    input: BufReader<File>,
    /// Bytes that have not been read.
    left: u64,
    /// Batches that have not come; None where only the end of the stream says that it is over.
    batches_left: Option<usize>,
    decoder: StreamDecoder,
    /// A batch without a body is decoded together with what comes behind it.
    decoded: VecDeque<RecordBatch>,
    has_ended: bool,
}

type Outcome<T> = Result<T, String>;

impl Messages {
    /// `left` bytes of it are to come, with so many batches.
    pub(super) fn new(file: File, left: u64, batches: Option<usize>) -> Self {
        Self {
            input: BufReader::new(file),
            left,
            batches_left: batches,
            decoder: StreamDecoder::new(),
            decoded: VecDeque::new(),
            has_ended: false,
        }
    }

    fn read_message(&mut self) -> Outcome<()> {
        let metadata_bytes = match self.batches_left {
            Some(0) => 0,
            _ => self.read_length()?,
        };
        if metadata_bytes == 0 {
            if self.batches_left.is_none() && self.left > 0 {
                return Err(format!("{} bytes follow its end", self.left));
            }
            self.has_ended = true;
            self.decode(vec![0; 4])?;
            return self.decoder.finish().map_err(|error| error.to_string());
        }
        let metadata = self.take(metadata_bytes)?;
        let message = root_as_message(&metadata).map_err(|error| error.to_string())?;
        let body = self.take(u64::try_from(message.bodyLength()).map_err(|_| "a body has less than no bytes")?)?;
        if let Some(batches_left) = &mut self.batches_left
            && message.header_as_record_batch().is_some()
        {
            *batches_left -= 1;
        }
        check_lengths(message, &body)?;
        self.decode([&(metadata_bytes as u32).to_le_bytes(), metadata.as_slice()].concat())?;
        self.decode(body)
    }

    fn decode(&mut self, bytes: Vec<u8>) -> Outcome<()> {
        let mut buffer = Buffer::from_vec(bytes);
        while !buffer.is_empty() {
            self.decoded.extend(self.decoder.decode(&mut buffer).map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    /// Of a message's metadata; before Arrow 0.15 nothing stood before it.
    fn read_length(&mut self) -> Outcome<u64> {
        let mut length = self.take_four()?;
        if length == CONTINUATION {
            length = self.take_four()?;
        }
        Ok(u64::from(u32::from_le_bytes(length)))
    }

    fn take_four(&mut self) -> Outcome<[u8; 4]> {
        Ok(self.take(4)?.try_into().expect("four bytes"))
    }

    fn take(&mut self, count: u64) -> Outcome<Vec<u8>> {
        let cut_off = || "it was cut off, or a length in it is wrong".to_owned();
        self.left = self.left.checked_sub(count).ok_or_else(cut_off)?;
        let mut bytes = Vec::with_capacity(count as usize);
        let read = self.input.by_ref().take(count).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if read as u64 == count { Ok(bytes) } else { Err(cut_off()) }
    }
}

impl Iterator for Messages {
    type Item = Outcome<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.decoded.pop_front() {
                return Some(Ok(batch));
            }
            if self.has_ended {
                return None;
            }
            if let Err(what) = self.read_message() {
                self.has_ended = true;
                return Some(Err(what));
            }
        }
    }
}

/// How long compressed buffers say that they are, against what their bytes can hold.
fn check_lengths(message: Message<'_>, body: &[u8]) -> Outcome<()> {
    let of_dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let described: Option<Described<'_>> = message.header_as_record_batch().or(of_dictionary);
    let Some((compression, buffers)) = described.and_then(|batch| Some((batch.compression()?, batch.buffers()?)))
    else {
        return Ok(());
    };
    // Runs of one byte: LZ4 spends a byte on 255 of them, Zstandard some on a block of 128 KB.
    let factor = if compression.codec() == CompressionType::LZ4_FRAME { 1 << 8 } else { 1 << 16 };
    for buffer in buffers {
        let begin = usize::try_from(buffer.offset()).ok();
        let length = usize::try_from(buffer.length()).ok();
        let bytes = begin.zip(length).and_then(|(begin, length)| body.get(begin..)?.get(..length));
        let bytes = bytes.ok_or("a buffer lies outside of its message")?;
        let Some((prefix, compressed)) = bytes.split_first_chunk() else { continue };
        let claimed = i64::from_le_bytes(*prefix);
        let possible = (compressed.len() as u64).saturating_mul(factor).saturating_add(1 << 16);
        if claimed != NOT_COMPRESSED && !u64::try_from(claimed).is_ok_and(|claimed| claimed <= possible) {
            return Err(format!("a buffer of {} bytes cannot hold {claimed}", compressed.len()));
        }
        if claimed > BUFFER_BYTES_MAX as i64 {
            return Err(format!(
                "a buffer has {claimed} bytes, more than {} GB; write smaller batches",
                BUFFER_BYTES_MAX >> 30
            ));
        }
    }
    Ok(())
}
