//! The plain values of a Parquet page, hashed where they lie.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Decimal128Array, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use parquet::basic::Type as Physical;

use super::super::arrow::{self, HashRows};
use crate::sketch::hash;

/// How plain values become hashes.
pub(super) enum Plain {
    /// Those of an array that has the same bytes.
    Fixed { data_type: DataType, bytes: usize, hasher: Box<dyn HashRows> },
    /// Big-endian, of this many bytes.
    Decimal { data_type: DataType, bytes: usize, hasher: Box<dyn HashRows> },
    /// Each with its length before it.
    Bytes { seed: u64 },
}

/// Plain values of which some may have been hashed.
pub(super) enum Rest {
    Array { array: ArrayRef, next: usize },
    Bytes { bytes: Buffer, left: usize },
}

/// The values are not there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Missing;

impl Plain {
    /// For a flat column; None where its values have to be decoded in another way.
    pub(super) fn of(physical: Physical, length: i32, data_type: &DataType, seed: u64) -> Option<Self> {
        let data_type = match data_type {
            DataType::Dictionary(_, entries) => entries,
            other => other,
        };
        let fixed = |data_type: DataType, bytes: usize| {
            let hasher = arrow::hasher(&data_type, seed).ok()?;
            Some(Self::Fixed { data_type, bytes, hasher })
        };
        match (physical, data_type) {
            (
                Physical::INT32,
                DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16,
            ) => fixed(DataType::Int32, 4),
            (Physical::INT32, DataType::UInt32 | DataType::Date32 | DataType::Time32(_)) => fixed(data_type.clone(), 4),
            (Physical::INT64, DataType::Int64 | DataType::UInt64 | DataType::Date64 | DataType::Time64(_))
            | (Physical::INT64, DataType::Timestamp(_, _) | DataType::Duration(_)) => fixed(data_type.clone(), 8),
            (Physical::FLOAT, DataType::Float32) => fixed(DataType::Float32, 4),
            (Physical::DOUBLE, DataType::Float64) => fixed(DataType::Float64, 8),
            (Physical::FIXED_LEN_BYTE_ARRAY, DataType::FixedSizeBinary(bytes)) if *bytes > 0 => {
                fixed(data_type.clone(), *bytes as usize)
            }
            (Physical::BYTE_ARRAY, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
            | (Physical::BYTE_ARRAY, DataType::Binary | DataType::LargeBinary | DataType::BinaryView) => {
                Some(Self::Bytes { seed })
            }
            (Physical::INT32 | Physical::INT64 | Physical::FIXED_LEN_BYTE_ARRAY, other) => {
                let (precision, scale) = match other {
                    DataType::Decimal32(precision, scale)
                    | DataType::Decimal64(precision, scale)
                    | DataType::Decimal128(precision, scale) => (*precision, *scale),
                    _ => return None,
                };
                match physical {
                    Physical::INT32 => fixed(DataType::Decimal32(precision, scale), 4),
                    Physical::INT64 => fixed(DataType::Decimal64(precision, scale), 8),
                    _ => {
                        let data_type = DataType::Decimal128(precision, scale);
                        let bytes = usize::try_from(length).ok().filter(|bytes| (1..=16).contains(bytes))?;
                        let hasher = arrow::hasher(&data_type, seed).ok()?;
                        Some(Self::Decimal { data_type, bytes, hasher })
                    }
                }
            }
            _ => None,
        }
    }

    /// So many values, with which these bytes begin.
    pub(super) fn values(&self, bytes: Buffer, count: usize) -> Result<Rest, Missing> {
        let (data_type, width) = match self {
            Self::Bytes { .. } => return Ok(Rest::Bytes { bytes, left: count }),
            Self::Fixed { data_type, bytes, .. } | Self::Decimal { data_type, bytes, .. } => (data_type, *bytes),
        };
        let wanted = count.checked_mul(width).filter(|wanted| *wanted <= bytes.len()).ok_or(Missing)?;
        let bytes = bytes.slice_with_length(0, wanted);
        let array: ArrayRef = match self {
            Self::Decimal { .. } => {
                let values: Vec<i128> = bytes.chunks_exact(width).map(big_endian).collect();
                Arc::new(Decimal128Array::new(values.into(), None).with_data_type(data_type.clone()))
            }
            _ => {
                // Behind levels of any length values lie anywhere.
                let is_aligned = bytes.as_ptr().align_offset(size_of::<u64>()) == 0;
                let bytes = if is_aligned { bytes } else { Buffer::from(bytes.as_slice()) };
                let data = ArrayData::builder(data_type.clone()).len(count).add_buffer(bytes);
                make_array(data.build().map_err(|_| Missing)?)
            }
        };
        Ok(Rest::Array { array, next: 0 })
    }

    /// Hashes the next values, for which there is room.
    pub(super) fn hash(&mut self, rest: &mut Rest, hashes: &mut [u64]) -> Result<(), Missing> {
        match (self, rest) {
            (Self::Fixed { hasher, .. } | Self::Decimal { hasher, .. }, Rest::Array { array, next }) => {
                if array.len() - *next < hashes.len() {
                    return Err(Missing);
                }
                hasher.hash(array.slice(*next, hashes.len()).as_ref(), None, hashes);
                *next += hashes.len();
                Ok(())
            }
            (Self::Bytes { seed }, Rest::Bytes { bytes, left }) => {
                *left = left.checked_sub(hashes.len()).ok_or(Missing)?;
                let mut rest = bytes.as_slice();
                for hash in hashes {
                    let (length, behind) = rest.split_first_chunk().ok_or(Missing)?;
                    let length = u32::from_le_bytes(*length) as usize;
                    let (value, behind) = behind.split_at_checked(length).ok_or(Missing)?;
                    *hash = hash::bytes(*seed, value);
                    rest = behind;
                }
                let taken = bytes.len() - rest.len();
                *bytes = bytes.slice(taken);
                Ok(())
            }
            _ => Err(Missing),
        }
    }
}

fn big_endian(bytes: &[u8]) -> i128 {
    let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
    bytes.iter().fold(sign, |value, byte| value << 8 | i128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_length_keep_their_sign() {
        assert_eq!([-1, 1, -256, 255], [&[0xFF][..], &[1], &[0xFF, 0], &[0, 0xFF]].map(big_endian));
        assert_eq!(i128::MIN, big_endian(&[&[0x80][..], &[0; 15]].concat()));
    }

    #[test]
    fn values_that_are_cut_off_are_missing() {
        let mut numbers = Plain::of(Physical::INT64, 0, &DataType::Int64, 0).expect("plain");
        assert!(numbers.values(Buffer::from(&[0; 15][..]), 2).is_err());
        let mut rest = numbers.values(Buffer::from(&[0; 17][1..]), 2).expect("two");
        assert_eq!(Ok(()), numbers.hash(&mut rest, &mut [0; 2]));
        assert_eq!(Err(Missing), numbers.hash(&mut rest, &mut [0]));
        let mut texts = Plain::of(Physical::BYTE_ARRAY, 0, &DataType::Utf8, 0).expect("plain");
        for bytes in [&[1, 0, 0, 0][..], &[1, 0, 0], &[0xFF; 8]] {
            let mut rest = texts.values(Buffer::from(bytes), 1).expect("lazily");
            assert_eq!(Err(Missing), texts.hash(&mut rest, &mut [0]));
        }
        let mut rest = texts.values(Buffer::from(&[1, 0, 0, 0, b'x'][..]), 2).expect("lazily");
        let mut one = [0];
        assert_eq!((Ok(()), hash::bytes(0, b"x")), (texts.hash(&mut rest, &mut one), one[0]));
        assert_eq!(Err(Missing), texts.hash(&mut rest, &mut one));
    }
}
