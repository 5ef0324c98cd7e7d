//! Folded stacks to a flame graph in SVG: frames are coloured by what they are and carry their meaning.
//!
//! In: lines `frame;frame;... width` (or two widths, for a difference), root first, and options. Out: the SVG.
//! Widths are what the caller says they are; nothing is scaled here.

use std::collections::{BTreeMap, BTreeSet};

use inferno::flamegraph::color::{BackgroundColor, Color, PaletteMap};
use inferno::flamegraph::{Options, TextTruncateDirection, from_lines};
use serde::Deserialize;

use crate::error::{CoreError, Result};

/// How the graph is drawn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FlameOptions {
    /// Above the graph.
    pub title: String,
    /// Below the title.
    pub subtitle: Option<String>,
    /// The unit of the widths.
    pub count_name: String,
    /// Function name to what it means.
    pub meanings: BTreeMap<String, String>,
    /// Frame to `#rrggbb`; other frames are shades of the CPU colour.
    pub colours: BTreeMap<String, String>,
    /// Frames narrower than this share of the graph, in percent, are left out of the picture (not of their parents).
    pub min_width_percent: Option<f64>,
    /// Fixed width in pixels; else as wide as the page.
    pub width: Option<usize>,
}

/// Draws the stacks.
pub fn flame_graph(folded: &str, options_json: &str) -> Result<String> {
    let asked: FlameOptions = serde_json::from_str(options_json)
        .map_err(|error| CoreError::new("spec_invalid", format!("flame graph options: {error}")))?;
    let frames = frames_of(folded);
    let mut palette = palette(&frames, &asked.colours)?;
    let mut options = Options::default();
    options.title.clone_from(&asked.title);
    options.subtitle.clone_from(&asked.subtitle);
    options.count_name.clone_from(&asked.count_name);
    options.name_type = "Function:".to_owned();
    options.image_width = asked.width;
    options.min_width = asked.min_width_percent.unwrap_or(inferno::flamegraph::defaults::MIN_WIDTH);
    options.text_truncate_direction = TextTruncateDirection::Right;
    options.bgcolors = Some(BackgroundColor::Flat(Color { r: 255, g: 255, b: 255 }));
    options.palette_map = Some(&mut palette);
    let mut svg = Vec::new();
    from_lines(&mut options, folded.lines(), &mut svg)
        .map_err(|error| CoreError::new("spec_invalid", format!("flame graph: {error}")))?;
    let svg = String::from_utf8_lossy(&svg);
    Ok(with_meanings(&svg, &asked.meanings).replace(ADDRESS_CHANGE, ""))
}

/// The script keeps its state in the page's address; inside another page that address is not its own.
const ADDRESS_CHANGE: &str = "history.replaceState(null, null, parse_params(params));";

fn frames_of(folded: &str) -> BTreeSet<&str> {
    let is_count = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let stack = |line: &'_ str| -> usize {
        let mut end = line.trim_end().len();
        while let Some(blank) = line[..end].rfind(' ').filter(|&blank| is_count(&line[blank + 1..end])) {
            end = blank;
        }
        end
    };
    folded.lines().flat_map(|line| line[..stack(line)].split(';')).filter(|frame| !frame.is_empty()).collect()
}

/// A shade of the CPU colour for each function, the same in every graph, so that two can be laid side by side.
fn palette(frames: &BTreeSet<&str>, colours: &BTreeMap<String, String>) -> Result<PaletteMap> {
    let mut palette = PaletteMap::default();
    for frame in frames {
        let (r, g, b) = match colours.get(*frame) {
            Some(colour) => hexadecimal(frame, colour)?,
            None => shade(frame),
        };
        palette.insert(frame, Color { r, g, b });
    }
    Ok(palette)
}

fn hexadecimal(frame: &str, colour: &str) -> Result<(u8, u8, u8)> {
    let byte = |at: usize| colour.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    match (colour.len(), byte(1), byte(3), byte(5)) {
        (7, Some(red), Some(green), Some(blue)) if colour.starts_with('#') => Ok((red, green, blue)),
        _ => {
            let message = format!("flame graph colours: {frame}: {colour:?}; must be #rrggbb");
            Err(CoreError::new("spec_invalid", message))
        }
    }
}

/// FNV-1a of the name, spread over shades from yellow to orange.
fn shade(name: &str) -> (u8, u8, u8) {
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let spread = |shift: u32, range: u32| ((hash >> shift) % range) as u8;
    (225 + spread(0, 30), 140 + spread(8, 70), 60 + spread(16, 40))
}

/// Puts meanings into the titles, between name and width: `NAME: MEANING (WIDTH ...)`.
///
/// The page's script makes a frame's label of its title without the last brackets, so a wide frame shows its meaning.
fn with_meanings(svg: &str, meanings: &BTreeMap<String, String>) -> String {
    const TITLE: &str = "<title>";
    let mut parts = svg.split(TITLE);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(TITLE);
        let name_end = part.split("</title>").next().and_then(|title| title.rfind(" ("));
        match name_end.and_then(|end| Some((end, meanings.get(&unescaped(&part[..end]))?))) {
            Some((end, meaning)) => {
                text.push_str(&part[..end]);
                text.push_str(": ");
                text.push_str(&escaped(meaning));
                text.push_str(&part[end..]);
            }
            None => text.push_str(part),
        }
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn unescaped(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    plain.replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &str = r##"{"title": "t", "count_name": "microseconds", "meanings": {"ExecSort": "sorts <rows> & keeps them"},
                              "colours": {"IO:WalSync": "#102030"}}"##;

    #[test]
    fn frames_carry_width_meaning_and_colour() {
        let svg = flame_graph("PostgresMain;ExecSort 750\nPostgresMain;XLogFlush;IO:WalSync 250\n", OPTIONS).unwrap();

        assert!(
            svg.contains("<title>ExecSort: sorts &lt;rows&gt; &amp; keeps them (750 microseconds, 75.00%)</title>")
        );
        assert!(svg.contains("<title>PostgresMain (1,000 microseconds, 100.00%)</title>"));
        assert!(svg.contains(r#"total_samples="1000""#));
        assert!(svg.contains("rgb(16,32,48)"));
    }

    #[test]
    fn two_widths_make_a_difference() {
        let svg = flame_graph("a;b 100 300\na;c 100 50\n", r#"{"count_name": "ns"}"#).unwrap();

        assert!(svg.contains("<title>b (300 ns, 85.71%; +57.14%)</title>"), "{svg}");
    }

    #[test]
    fn one_name_has_one_shade() {
        let (first, second) = (shade("ExecSort"), shade("ExecSort"));

        assert_eq!(first, second);
        assert_ne!(first, shade("ExecHashJoin"));
    }

    #[test]
    fn mistakes_are_said() {
        let code = |folded, options| flame_graph(folded, options).unwrap_err().code;
        assert_eq!(code("a 1\n", r#"{"colours": {"a": "red"}}"#), "spec_invalid");
        assert_eq!(code("a 1\n", r#"{"colour": {}}"#), "spec_invalid");
        assert_eq!(code("", "{}"), "spec_invalid");
    }
}
