//! Sketches for others: those of Apache DataSketches, which Spark, Druid, Iceberg and an extension of PostgreSQL read.
//!
//! They hash values themselves, so they take values, not hashes, and cost several times as much. The same value must
//! reach them as the same bytes as in the other programs: an integer as its 64 bits, least first, a floating-point
//! number as the bits of its double, a text in UTF-8. Empty values are left out, as the other programs do.

use std::collections::BTreeSet;

use datasketches::cpc::{CpcSketch, CpcUnion};
use datasketches::hash::value::raw_bytes;
use datasketches::hll::{HllSketch, HllType, HllUnion};
use datasketches::theta::{ThetaSketch, ThetaSketchBuilder, ThetaUnionBuilder};

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

    /// Those of these names, each once.
    ///
    /// # Errors
    /// `spec_invalid`: another name.
    pub fn of_names(names: &[String]) -> Result<Vec<Self>> {
        let names: BTreeSet<&String> = names.iter().collect();
        names.into_iter().map(|name| Self::of_name(name)).collect()
    }
}

/// A sketch that values are added to until it is written.
#[derive(Debug)]
pub struct InteropSketch(Kind);

#[derive(Debug)]
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

    /// The file of all values that were added to any of these, which are of one kind and size.
    ///
    /// # Panics
    /// If they are not, or there are none.
    #[must_use]
    pub fn serialize_union(parts: &[&Self]) -> Vec<u8> {
        match (parts, &parts[0].0) {
            ([only], _) => only.serialize(),
            (_, Kind::Hll(first)) => {
                let mut union = HllUnion::new(first.lg_config_k()).expect("a size of theirs");
                parts.iter().for_each(|part| union.update(part.hll()));
                union.to_sketch(HllType::Hll8).serialize()
            }
            (_, Kind::Cpc(first)) => {
                let mut union = CpcUnion::new(first.lg_k()).expect("a size of theirs");
                parts.iter().for_each(|part| union.update(part.cpc()).expect("all have the default seed"));
                union.to_sketch().serialize()
            }
            (_, Kind::Theta(first)) => {
                let union = ThetaUnionBuilder::default().lg_k(first.lg_k()).build();
                let mut union = union.expect("a size of theirs");
                parts.iter().for_each(|part| union.update(part.theta()).expect("all have the default seed"));
                union.to_sketch(true).serialize()
            }
        }
    }

    fn hll(&self) -> &HllSketch {
        let Kind::Hll(sketch) = &self.0 else { panic!("sketches of one kind are united") };
        sketch
    }

    fn cpc(&self) -> &CpcSketch {
        let Kind::Cpc(sketch) = &self.0 else { panic!("sketches of one kind are united") };
        sketch
    }

    fn theta(&self) -> &ThetaSketch {
        let Kind::Theta(sketch) = &self.0 else { panic!("sketches of one kind are united") };
        sketch
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
    use datasketches::theta::CompactThetaSketch;

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
    fn several_are_written_as_one() {
        for kind in KINDS {
            let of = |values: std::ops::Range<i64>| {
                let mut sketch = InteropSketch::new(kind, Precision::default());
                values.for_each(|value| sketch.add(&value.to_le_bytes()));
                sketch
            };
            let (first, second, whole) = (of(0..2000), of(1000..3000), of(0..3000));
            assert_eq!(first.serialize(), InteropSketch::serialize_union(&[&first]));
            let file = InteropSketch::serialize_union(&[&first, &second]);
            let estimate = match kind {
                InteropKind::Hll => HllSketch::deserialize(&file).expect("as written").estimate(),
                InteropKind::Cpc => CpcSketch::deserialize(&file).expect("as written").estimate(),
                InteropKind::Theta => CompactThetaSketch::deserialize(&file).expect("as written").estimate(),
            };
            assert!((estimate / whole.estimate() - 1.0).abs() < 0.01, "{kind:?}: {estimate}");
        }
    }

    #[test]
    fn kinds_have_names() {
        assert_eq!(KINDS, ["hll", "cpc", "theta"].map(|name| InteropKind::of_name(name).expect("known")));
        assert_eq!(["hll", "cpc", "theta"], KINDS.map(InteropKind::name));
        assert_eq!("sketch \"kll\": there are hll, cpc and theta", InteropKind::of_name("kll").unwrap_err().message);
    }
}
