//! Sketches of a column for other programs, which take values and not hashes.

use crate::sketch::{InteropKind, InteropSketch, Precision};

/// One of each kind that was asked for.
#[derive(Debug)]
pub(super) struct Exports(Vec<(InteropKind, InteropSketch)>);

/// A sketch for others, as a file.
#[derive(Debug)]
pub struct Exported {
    /// The column's name.
    pub column: String,
    /// `hll`, `cpc` or `theta`.
    pub kind: &'static str,
    /// As Apache DataSketches reads it.
    pub sketch: Vec<u8>,
}

impl Exports {
    /// Of nothing.
    pub(super) fn new(kinds: &[InteropKind], precision: Precision) -> Self {
        Self(kinds.iter().map(|kind| (*kind, InteropSketch::new(*kind, precision))).collect())
    }

    /// Adds a value by the bytes on which the other programs agree.
    pub(super) fn add(&mut self, value: &[u8]) {
        self.0.iter_mut().for_each(|(_, sketch)| sketch.add(value));
    }

    /// The files of the column of this name, of which each reader of a part has sketches of the same kinds.
    pub(super) fn written(column: &str, parts: &[&Self]) -> Vec<Exported> {
        let of_place = |(place, (kind, _)): (usize, &(InteropKind, InteropSketch))| {
            let sketches: Vec<&InteropSketch> = parts.iter().map(|part| &part.0[place].1).collect();
            let sketch = InteropSketch::serialize_union(&sketches);
            Exported { column: column.to_owned(), kind: kind.name(), sketch }
        };
        parts.first().map_or(Vec::new(), |first| first.0.iter().enumerate().map(of_place).collect())
    }
}
