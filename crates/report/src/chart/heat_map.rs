//! A heat map of ratios: who is cheaper, and where, in one look.

use super::canvas::{Canvas, HEAT_LEVELS, MARGIN, Theme, WIDTH, fitted, text_width};
use super::legend::{Swatch, legend};

/// Ratios to one subject, a row for each other and a column for each case.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// The heading.
    pub title: String,
    /// A line under the heading.
    pub subtitle: String,
    /// What each column is, in words that stand below each other.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<HeatRow>,
}

/// A row of a [`HeatMap`].
#[derive(Clone, Debug, PartialEq)]
pub struct HeatRow {
    /// Its name.
    pub label: String,
    /// What stands above it, where it begins a group of rows.
    pub heading: Option<String>,
    /// Its cells, one for each column.
    pub cells: Vec<HeatCell>,
}

/// A cell of a [`HeatMap`].
#[derive(Clone, Debug, PartialEq)]
pub enum HeatCell {
    /// A ratio.
    Ratio {
        /// The ratio: above 1 is better.
        ratio: f64,
        /// Whether its interval leaves 1 out.
        is_distinct: bool,
        /// As it is printed.
        text: String,
    },
    /// A word in place of a ratio.
    Word(String),
    /// It was not to be measured.
    Empty,
}

const ROW_HEIGHT: f64 = 24.0;
const GROUP_HEIGHT: f64 = 24.0;
const HEAD_SIZE: f64 = 10.5;
const HEAD_SIZE_MIN: f64 = 7.5;
/// Digits and capitals are wider than most letters.
const DIGIT_WIDTH: f64 = 0.66;
const HEAD_STEP: f64 = 13.0;
const LABEL_SIZE: f64 = 12.0;
const CELL_SIZE: f64 = 11.5;
/// Names have at most so much of the width.
const LABEL_MAX: f64 = 270.0;
/// A column is at most so wide.
const COLUMN_MAX: f64 = 92.0;

/// Ratios beyond these, or below one over these, have a colour of their own.
const BOUNDS: [f64; 3] = [1.25, 2.0, 5.0];

/// What the colours mean, from much more to much less.
const MEANINGS: [&str; HEAT_LEVELS] = [
    "below 0.2",
    "0.2 to 0.5",
    "0.5 to 0.8",
    "0.8 to 1",
    "~ not told apart",
    "1 to 1.25",
    "1.25 to 2",
    "2 to 5",
    "above 5",
];

impl HeatMap {
    /// Renders the map as SVG.
    pub fn svg(&self, theme: Theme) -> String {
        let mut canvas = Canvas::titled(theme, &self.title, &self.subtitle);
        let meanings = MEANINGS.map(str::to_owned);
        let swatch = |level: usize| Swatch::Area(format!("class=\"heat{level}\""));
        legend(&mut canvas, meanings.iter().enumerate().map(|(level, name)| (swatch(level), name)));
        let widest =
            self.rows.iter().map(|row| text_width(&row.label, LABEL_SIZE)).fold(0.0, f64::max);
        let labels = widest.min(LABEL_MAX) + 10.0;
        let left = MARGIN + labels;
        let columns = self.columns.len().max(1) as f64;
        let width = ((WIDTH - MARGIN - left) / columns).min(COLUMN_MAX);
        self.heads(&mut canvas, left, width);
        for row in &self.rows {
            if let Some(heading) = &row.heading {
                let place = (MARGIN, canvas.y + GROUP_HEIGHT - 6.0);
                let heading = fitted(heading, LABEL_SIZE, WIDTH - 2.0 * MARGIN);
                canvas.text(place, LABEL_SIZE, "text", "font-weight=\"600\"", &heading);
                canvas.y += GROUP_HEIGHT;
            }
            let middle = canvas.y + ROW_HEIGHT / 2.0 + 4.0;
            let label = fitted(&row.label, LABEL_SIZE, labels - 10.0);
            let end = "text-anchor=\"end\"";
            canvas.text((left - 8.0, middle), LABEL_SIZE, "text", end, &label);
            for (column, cell) in row.cells.iter().enumerate() {
                cell_of(&mut canvas, cell, left + column as f64 * width, width);
            }
            canvas.y += ROW_HEIGHT;
        }
        canvas.document(&self.title)
    }

    /// The words of each column, the last just above its cells.
    fn heads(&self, canvas: &mut Canvas, left: f64, width: f64) {
        let words = |column: &String| column.split(' ').count();
        let lines = self.columns.iter().map(words).max().unwrap_or(0);
        let bottom = canvas.y + lines as f64 * HEAD_STEP;
        for (number, column) in self.columns.iter().enumerate() {
            let middle = left + (number as f64 + 0.5) * width;
            let first = bottom - words(column) as f64 * HEAD_STEP;
            for (line, word) in column.split(' ').enumerate() {
                let fitting = (width - 4.0) / (word.chars().count() as f64 * DIGIT_WIDTH);
                let size = (fitting.clamp(HEAD_SIZE_MIN, HEAD_SIZE) * 10.0).floor() / 10.0;
                let word = fitted(word, size, width);
                let place = (middle, first + (line as f64 + 1.0) * HEAD_STEP - 4.0);
                canvas.text(place, size, "faint", "text-anchor=\"middle\"", &word);
            }
        }
        canvas.y = bottom + 2.0;
    }
}

fn cell_of(canvas: &mut Canvas, cell: &HeatCell, x: f64, width: f64) {
    let place = (x + width / 2.0, canvas.y + ROW_HEIGHT / 2.0 + 4.0);
    let middle = "text-anchor=\"middle\"";
    match cell {
        HeatCell::Empty => {}
        HeatCell::Word(word) => {
            let size = if text_width(word, 10.0) > width - 2.0 { 8.5 } else { 10.0 };
            canvas.text(place, size, "faint", middle, &fitted(word, size, width));
        }
        HeatCell::Ratio { ratio, is_distinct, text } => {
            let level = if *is_distinct { level(*ratio) } else { HEAT_LEVELS / 2 };
            canvas.element(&format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{}\" rx=\"2\" \
                 class=\"heat{level}\"/>",
                x + 1.0,
                canvas.y + 1.0,
                width - 2.0,
                ROW_HEIGHT - 2.0
            ));
            canvas.text(place, CELL_SIZE, &format!("on{level}"), middle, text);
        }
    }
}

/// The number of a ratio's colour.
fn level(ratio: f64) -> usize {
    let is_more = ratio >= 1.0;
    let factor = if is_more { ratio } else { 1.0 / ratio };
    let beyond = BOUNDS.iter().filter(|bound| factor >= **bound).count() + 1;
    let middle = HEAT_LEVELS / 2;
    if is_more { middle + beyond } else { middle - beyond }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ratio_has_the_colour_that_the_legend_gives_it() {
        let known =
            [(0.1, 0), (0.3, 1), (0.6, 2), (0.9, 3), (1.1, 5), (1.5, 6), (3.0, 7), (9.0, 8)];
        for (ratio, expected) in known {
            assert_eq!(level(ratio), expected, "{ratio}: {}", MEANINGS[expected]);
        }
        assert_eq!([level(f64::NAN), level(f64::INFINITY), level(0.0)], [3, 8, 0]);
    }

    #[test]
    fn what_is_not_told_apart_has_no_side() {
        let cell =
            |is_distinct| HeatCell::Ratio { ratio: 1.5, is_distinct, text: "1.50".to_owned() };
        let map = HeatMap {
            title: "t".to_owned(),
            subtitle: String::new(),
            columns: vec!["C=1 S=100".to_owned(), "C=1 S=1".to_owned(), "C=2".to_owned()],
            rows: vec![HeatRow {
                label: "a <b>".to_owned(),
                heading: Some("via c".to_owned()),
                cells: vec![cell(true), cell(false), HeatCell::Word("failed".to_owned())],
            }],
        };
        let svg = map.svg(Theme::Page);
        assert_eq!(svg.matches("rx=\"2\" class=\"heat6\"").count(), 1, "{svg}");
        assert_eq!(svg.matches("rx=\"2\" class=\"heat4\"").count(), 1, "{svg}");
        assert!(
            svg.contains(">via c<") && svg.contains(">failed<") && svg.contains("a &lt;b&gt;"),
            "{svg}"
        );
    }
}
