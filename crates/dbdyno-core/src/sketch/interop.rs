//! Sketches for others: those of Apache DataSketches, which Spark, Druid, Iceberg and an extension of PostgreSQL read.
//!
//! They hash values themselves, so they take values, not hashes, and cost several times as much. The same value must
//! reach them as the same bytes as in the other programs: an integer as its 64 bits, least first, a floating-point
//! number as the bits of its double, a text in UTF-8. Empty values are left out, as the other programs do.

use datasketches::cpc::CpcSketch;
use datasketches::hash::value::raw_bytes;
use datasketches::hll::{HllSketch, HllType};
use datasketches::theta::{ThetaSketch, ThetaSketchBuilder};

use super::Precision;
use crate::error::{CoreError, Result};

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InteropKind {
    /// HLL with a byte a register: `hll_sketch_agg` of Spark, `hll_sketch` of PostgreSQL.
    Hll,
    /// Compressed probabilistic counting, the smallest when stored: `cpc_sketch` of PostgreSQL.
    Cpc,
    /// A sample of hashes, for intersections and differences: `apache-datasketches-theta-v1` of Iceberg.
    Theta,
}

impl InteropKind {
    /// `hll`, `cpc` or `theta`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hll => "hll",
            Self::Cpc => "cpc",
            Self::Theta => "theta",
        }
    }

    /// The one of this name: `hll`, `cpc` or `theta`.
    ///
    /// # Errors
    /// `spec_invalid`: another name.
    pub fn of_name(name: &str) -> Result<Self> {
        match name {
            "hll" => Ok(Self::Hll),
            "cpc" => Ok(Self::Cpc),
            "theta" => Ok(Self::Theta),
            _ => Err(CoreError::new("spec_invalid", format!("sketch {name:?}: there are hll, cpc and theta"))),
        }
    }
}

/// A sketch that values are added to until it is written.
pub struct InteropSketch(Kind);

enum Kind {
    Hll(HllSketch),
    Cpc(CpcSketch),
    Theta(ThetaSketch),
}

impl InteropSketch {
    /// Of nothing, with 2^precision registers, rows or hashes.
    ///
    /// # Panics
    /// Never: what is a precision here is one there.
    #[must_use]
    pub fn new(kind: InteropKind, precision: Precision) -> Self {
        let lg_k = precision.bits() as u8;
        Self(match kind {
            InteropKind::Hll => Kind::Hll(HllSketch::new(lg_k, HllType::Hll8).expect("4 to 21 are allowed")),
            InteropKind::Cpc => Kind::Cpc(CpcSketch::new(lg_k).expect("4 to 26 are allowed")),
            InteropKind::Theta => {
                Kind::Theta(ThetaSketchBuilder::default().lg_k(lg_k).build().expect("5 to 26 are allowed"))
            }
        })
    }

    /// Adds a value by its canonical bytes.
    pub fn add(&mut self, value: &[u8]) {
        if value.is_empty() {
            return;
        }
        let value = raw_bytes::from_slice(value);
        match &mut self.0 {
            Kind::Hll(sketch) => sketch.update(value),
            Kind::Cpc(sketch) => sketch.update(value),
            Kind::Theta(sketch) => sketch.update(value),
        }
    }

    /// Its own estimate of the number of different values.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        match &self.0 {
            Kind::Hll(sketch) => sketch.estimate(),
            Kind::Cpc(sketch) => sketch.estimate(),
            Kind::Theta(sketch) => sketch.estimate(),
        }
    }

    /// The file that others read; of a Theta sketch the compact one in order.
    #[must_use]
    pub fn serialize(&self) -> Vec<u8> {
        match &self.0 {
            Kind::Hll(sketch) => sketch.serialize(),
            Kind::Cpc(sketch) => sketch.serialize(),
            Kind::Theta(sketch) => sketch.compact(true).serialize(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [InteropKind; 3] = [InteropKind::Hll, InteropKind::Cpc, InteropKind::Theta];

    /// 1, 2, 3, a text and a number with a fraction.
    fn five_values(kind: InteropKind) -> InteropSketch {
        let mut sketch = InteropSketch::new(kind, Precision::try_from(12).expect("10 to 18"));
        [1_i64, 2, 3].into_iter().for_each(|value| sketch.add(&value.to_le_bytes()));
        sketch.add("größe".as_bytes());
        sketch.add(&2.5_f64.to_le_bytes());
        sketch.add(b"");
        sketch
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn files_are_those_that_another_implementation_writes_for_the_same_values() {
        // datasketches-python 5.2.0: hll_sketch(12, HLL_8), cpc_sketch(12), update_theta_sketch(12), the same updates. (No negative
        // integer: its cpc_sketch takes one for a floating-point number.)
        let expected = [
            "0201070c030805082bf2fb06862ff90d758166078b2f0e074aa92810",
            "0801100c000ecc93050000000300000000000000a0fcaf4083853112f8001440d6d5d6e1c7210f0b00000000",
            "02030300001acc93050000000000000015f97dcbbd86a105a5541412e7b6831cc397fc1281709d1ec51787d12ad30139\
             ba40b3c1da06695d",
        ];
        assert_eq!(expected.map(str::to_owned), KINDS.map(|kind| hex(&five_values(kind).serialize())));
    }

    #[test]
    fn estimates_of_many_are_those_of_another_implementation() {
        // datasketches-python 5.2.0: 0 to 99,999 as integers, 2^14.
        let expected = [99_822.831_533_316_76, 99_904.529_808_095_44, 99_383.608_040_155_42];
        for (kind, expected) in KINDS.into_iter().zip(expected) {
            let mut sketch = InteropSketch::new(kind, Precision::default());
            (0..100_000_i64).for_each(|value| sketch.add(&value.to_le_bytes()));
            assert!((sketch.estimate() / expected - 1.0).abs() < 1e-9, "{kind:?}: {}", sketch.estimate());
        }
    }

    #[test]
    fn kinds_have_names() {
        assert_eq!(KINDS, ["hll", "cpc", "theta"].map(|name| InteropKind::of_name(name).expect("known")));
        assert_eq!(["hll", "cpc", "theta"], KINDS.map(InteropKind::name));
        assert_eq!("sketch \"kll\": there are hll, cpc and theta", InteropKind::of_name("kll").unwrap_err().message);
    }
}
