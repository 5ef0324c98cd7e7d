//! Values of Arrow arrays as the bytes on which programs agree that read sketches for others.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::DataType;

use super::super::exports::Exports;
use super::numbers::double_bits;

/// Whether the other programs agree on the bytes of such values.
pub(super) fn is_known(data_type: &DataType) -> bool {
    let plain = match data_type {
        DataType::Dictionary(_, entries) => entries,
        other => other,
    };
    plain.is_integer()
        || matches!(plain, DataType::Float32 | DataType::Float64)
        || matches!(plain, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        || matches!(plain, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
        || matches!(plain, DataType::FixedSizeBinary(_))
}

impl Exports {
    /// Adds all values of an array of a type that it was made for.
    pub(super) fn add_array(&mut self, array: &dyn Array) {
        match array.data_type() {
            DataType::Int8 => self.add_numbers::<Int8Type>(array, |value| i64::from(value) as u64),
            DataType::Int16 => self.add_numbers::<Int16Type>(array, |value| i64::from(value) as u64),
            DataType::Int32 => self.add_numbers::<Int32Type>(array, |value| i64::from(value) as u64),
            DataType::Int64 => self.add_numbers::<Int64Type>(array, |value| value as u64),
            DataType::UInt8 => self.add_numbers::<UInt8Type>(array, u64::from),
            DataType::UInt16 => self.add_numbers::<UInt16Type>(array, u64::from),
            DataType::UInt32 => self.add_numbers::<UInt32Type>(array, u64::from),
            DataType::UInt64 => self.add_numbers::<UInt64Type>(array, |value| value),
            DataType::Float32 => self.add_numbers::<Float32Type>(array, |value| double_bits(value.into())),
            DataType::Float64 => self.add_numbers::<Float64Type>(array, double_bits),
            DataType::Utf8 => array.as_string::<i32>().iter().flatten().for_each(|value| self.add(value.as_bytes())),
            DataType::LargeUtf8 => {
                array.as_string::<i64>().iter().flatten().for_each(|value| self.add(value.as_bytes()));
            }
            DataType::Utf8View => {
                array.as_string_view().iter().flatten().for_each(|value| self.add(value.as_bytes()));
            }
            DataType::Binary => array.as_binary::<i32>().iter().flatten().for_each(|value| self.add(value)),
            DataType::LargeBinary => array.as_binary::<i64>().iter().flatten().for_each(|value| self.add(value)),
            DataType::BinaryView => array.as_binary_view().iter().flatten().for_each(|value| self.add(value)),
            DataType::FixedSizeBinary(_) => {
                array.as_fixed_size_binary().iter().flatten().for_each(|value| self.add(value));
            }
            DataType::Dictionary(_, _) => self.add_entries(array),
            other => unreachable!("{other} is not exported"),
        }
    }

    fn add_numbers<T: ArrowPrimitiveType>(&mut self, array: &dyn Array, bits: impl Fn(T::Native) -> u64) {
        for value in array.as_primitive::<T>().iter().flatten() {
            self.add(&bits(value).to_le_bytes());
        }
    }

    /// Those of a dictionary that a row has, each once.
    fn add_entries(&mut self, array: &dyn Array) {
        let nulls = array.logical_nulls();
        let dictionary = array.as_any_dictionary();
        if dictionary.values().is_empty() {
            return;
        }
        let mut is_used = vec![false; dictionary.values().len()];
        for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
            if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
                is_used[key] = true;
            }
        }
        for entry in (0..is_used.len()).filter(|entry| is_used[*entry]) {
            self.add_array(dictionary.values().slice(entry, 1).as_ref());
        }
    }
}
