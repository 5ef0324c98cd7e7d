//! How many registers.

use crate::error::{CoreError, Result};

/// The number of bits that name a register: 10 to 18.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precision(u8);

impl Precision {
    /// 1,024 registers, a standard error of 3.3 %.
    pub const LOWEST: Self = Self(10);
    /// 262,144 registers, 0.2 %.
    pub const HIGHEST: Self = Self(18);

    /// p.
    #[must_use]
    pub fn bits(self) -> u32 {
        u32::from(self.0)
    }

    /// m = 2^p.
    #[must_use]
    pub fn registers(self) -> usize {
        1 << self.0
    }

    /// q = 64 - p: the bits whose leading zeros are counted. A register holds 0 (nothing seen) to q + 1.
    #[must_use]
    pub fn counted_bits(self) -> u32 {
        64 - self.bits()
    }
}

/// 16,384 registers, a standard error of 0.81 %.
impl Default for Precision {
    fn default() -> Self {
        Self(14)
    }
}

impl TryFrom<u8> for Precision {
    type Error = CoreError;

    fn try_from(bits: u8) -> Result<Self> {
        match bits {
            10..=18 => Ok(Self(bits)),
            _ => Err(CoreError::new("spec_invalid", format!("precision {bits}: it goes from 10 to 18; 14 is usual"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_to_eighteen_are_precisions_and_nothing_else() {
        let accepted: Vec<u8> = (0..=255).filter(|bits| Precision::try_from(*bits).is_ok()).collect();
        assert_eq!((10..=18).collect::<Vec<u8>>(), accepted);
        assert_eq!(16_384, Precision::default().registers());
        assert_eq!("precision 9: it goes from 10 to 18; 14 is usual", Precision::try_from(9).unwrap_err().message);
    }
}
