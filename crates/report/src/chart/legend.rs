//! What colours and strokes mean: a line above a picture.

use super::canvas::{Canvas, coloured, fitted, text_width};

/// The sign before a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Swatch {
    /// The stroke of a series.
    Stroke(usize),
    /// An area with these attributes.
    Area(String),
}

/// Series with one colour differ in their strokes.
const DASHES: [&str; 3] = ["", " stroke-dasharray=\"7 3\"", " stroke-dasharray=\"2 3\""];

/// The number of colours.
const COLOURS: usize = 6;

const SIZE: f64 = 12.0;
const STEP: f64 = 19.0;
const SWATCH_WIDTH: f64 = 20.0;
const GAP: f64 = 18.0;

/// The attributes of a line of a series: its colour, and how its stroke is broken.
pub(super) fn stroke_of(series: usize) -> String {
    let dashes = DASHES[series / COLOURS % DASHES.len()];
    format!("class=\"{}\"{dashes}", coloured("stroke", series))
}

/// The names side by side, in as many rows as they need.
pub(super) fn legend<'a>(
    canvas: &mut Canvas,
    entries: impl IntoIterator<Item = (Swatch, &'a String)>,
) {
    let left = canvas.margin;
    let right = canvas.width - left;
    let mut x = left;
    for (swatch, name) in entries {
        let name = fitted(name, SIZE, canvas.room() - SWATCH_WIDTH - 6.0);
        let wide = SWATCH_WIDTH + 6.0 + text_width(&name, SIZE);
        if x > left && x + wide > right {
            x = left;
            canvas.y += STEP;
        }
        drawn(canvas, &swatch, x);
        let place = (x + SWATCH_WIDTH + 6.0, canvas.y + STEP / 2.0 + 4.0);
        canvas.text(place, SIZE, "text", "", &name);
        x += wide + GAP;
    }
    canvas.y += STEP + 8.0;
}

fn drawn(canvas: &mut Canvas, swatch: &Swatch, x: f64) {
    let middle = canvas.y + STEP / 2.0;
    match swatch {
        Swatch::Stroke(series) => canvas.element(&format!(
            "<path d=\"M{x:.1} {middle:.1}h{SWATCH_WIDTH}\" stroke-width=\"2.5\" fill=\"none\" {}/>",
            stroke_of(*series)
        )),
        Swatch::Area(attributes) => canvas.element(&format!(
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{SWATCH_WIDTH}\" height=\"11\" {attributes}/>",
            middle - 5.5
        )),
    }
}
