//! Stacked bars in panels: what a whole consists of, for many subjects in many cases.

use super::axis::{Axis, AxisUnit, Scale};
use super::canvas::{Canvas, Theme, coloured, fitted, text_width};
use super::legend::{Swatch, legend};

/// Bars of parts. Each panel has a bar for every row; the names stand once, at the left.
#[derive(Clone, Debug, PartialEq)]
pub struct StackChart {
    /// The heading.
    pub title: String,
    /// A line under the heading.
    pub subtitle: String,
    /// The axis in words, with its unit.
    pub axis: String,
    /// The parts, from the left.
    pub parts: Vec<StackPart>,
    /// The names of the bars of every panel.
    pub rows: Vec<String>,
    /// The panels, in reading order.
    pub panels: Vec<StackPanel>,
}

/// A part of every bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackPart {
    /// Its name.
    pub name: String,
    /// Selects its colour. `None`: what is left, in a faint one.
    pub colour: Option<usize>,
}

/// One panel.
#[derive(Clone, Debug, PartialEq)]
pub struct StackPanel {
    /// Its heading.
    pub title: String,
    /// A bar for each row.
    pub bars: Vec<StackBar>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub enum StackBar {
    /// How long each part is.
    Parts(Vec<f64>),
    /// A word in place of a bar.
    Word(String),
    /// There was to be none.
    Empty,
}

const PANELS_A_ROW: usize = 3;
const BAR_STEP: f64 = 15.0;
const BAR_HEIGHT: f64 = 11.0;
/// Of a name above its bar.
const NAME_HEIGHT: f64 = 13.0;
const LABEL_SIZE: f64 = 10.5;
const LABEL_MAX: f64 = 240.0;
const TITLE_HEIGHT: f64 = 20.0;
const TICK_HEIGHT: f64 = 16.0;
const PANEL_GAP: f64 = 18.0;

impl StackChart {
    /// Renders the chart as SVG.
    pub fn svg(&self, theme: Theme) -> String {
        let mut canvas = Canvas::titled(theme, &self.title, &self.subtitle);
        let parts = self.parts.iter().map(|part| (Swatch::Area(part.attributes()), &part.name));
        legend(&mut canvas, parts);
        let widest = self.rows.iter().map(|row| text_width(row, LABEL_SIZE)).fold(0.0, f64::max);
        // A narrow picture has one panel in a row, and names above their bars.
        let (labels, columns) = match canvas.is_narrow() {
            true => (0.0, 1),
            false => (widest.min(LABEL_MAX) + 10.0, self.panels.len().clamp(1, PANELS_A_ROW)),
        };
        let room = canvas.room() - labels - PANEL_GAP * (columns as f64 - 1.0);
        let width = room / columns as f64;
        let axis = Axis::around(Scale::Linear, self.panels.iter().flat_map(lengths));
        for panels in self.panels.chunks(columns) {
            let is_empty = |row: &usize| {
                panels
                    .iter()
                    .all(|panel| matches!(panel.bars.get(*row), Some(StackBar::Empty) | None))
            };
            let rows: Vec<usize> = (0..self.rows.len()).filter(|row| !is_empty(row)).collect();
            self.labels(&mut canvas, &rows, labels);
            for (column, panel) in panels.iter().enumerate() {
                let left = canvas.margin + labels + column as f64 * (width + PANEL_GAP);
                self.panel(&mut canvas, panel, &rows, &Place { left, width, axis });
            }
            canvas.y += TITLE_HEIGHT + rows.len() as f64 * bar_step(&canvas) + TICK_HEIGHT + 8.0;
        }
        canvas.axis_name(&format!("{} \u{2192}", self.axis), 4.0, true);
        canvas.y += 10.0;
        canvas.document(&self.title)
    }

    fn labels(&self, canvas: &mut Canvas, rows: &[usize], labels: f64) {
        for (line, row) in rows.iter().enumerate() {
            let y = canvas.y + TITLE_HEIGHT + line as f64 * bar_step(canvas) + BAR_HEIGHT - 2.0;
            if canvas.is_narrow() {
                let name = fitted(&self.rows[*row], LABEL_SIZE, canvas.room());
                canvas.text((canvas.margin, y), LABEL_SIZE, "text", "", &name);
            } else {
                let name = fitted(&self.rows[*row], LABEL_SIZE, labels - 10.0);
                let at = (canvas.margin + labels - 8.0, y);
                canvas.text(at, LABEL_SIZE, "text", "text-anchor=\"end\"", &name);
            }
        }
    }

    fn panel(&self, canvas: &mut Canvas, panel: &StackPanel, rows: &[usize], place: &Place) {
        let top = canvas.y + TITLE_HEIGHT;
        let title = fitted(&panel.title, 12.0, place.width);
        let at = (place.left, top - 7.0);
        canvas.text(at, 12.0, "text", "font-weight=\"600\"", &title);
        let step = bar_step(canvas);
        let bottom = top + rows.len() as f64 * step;
        let mut grid = String::new();
        for tick in place.axis.ticks_at_most((place.width / 44.0) as usize) {
            let x = place.left + place.length(tick);
            grid += &format!("M{x:.1} {:.1}V{bottom:.1}", top - 2.0);
            let (text, middle) = (AxisUnit::Number.tick(tick), "text-anchor=\"middle\"");
            canvas.text((x, bottom + 11.0), LABEL_SIZE, "faint", middle, &text);
        }
        canvas.stroke(&grid, 1.0, "grid");
        let mut paths = vec![String::new(); self.parts.len()];
        for (line, row) in rows.iter().enumerate() {
            let y = top + (line + 1) as f64 * step - BAR_STEP;
            match panel.bars.get(*row) {
                Some(StackBar::Parts(parts)) => place.add(&mut paths, parts, y),
                Some(StackBar::Word(word)) => {
                    let word = fitted(word, 9.5, place.width);
                    canvas.text((place.left + 3.0, y + 9.0), 9.5, "faint", "", &word);
                }
                Some(StackBar::Empty) | None => {}
            }
        }
        for (path, part) in paths.iter().zip(&self.parts).filter(|(path, _)| !path.is_empty()) {
            canvas.element(&format!("<path d=\"{path}\" {}/>", part.attributes()));
        }
    }
}

/// From one bar to the next; a narrow picture has a name between them.
fn bar_step(canvas: &Canvas) -> f64 {
    if canvas.is_narrow() { BAR_STEP + NAME_HEIGHT } else { BAR_STEP }
}

impl StackPart {
    fn attributes(&self) -> String {
        match self.colour {
            Some(colour) => format!("class=\"{}\"", coloured("fill", colour)),
            None => "class=\"faint\" fill-opacity=\".22\"".to_owned(),
        }
    }
}

/// How long the bars of a panel are.
fn lengths(panel: &StackPanel) -> impl Iterator<Item = f64> {
    panel.bars.iter().filter_map(|bar| match bar {
        StackBar::Parts(parts) => Some(parts.iter().filter(|part| **part > 0.0).sum()),
        StackBar::Word(_) | StackBar::Empty => None,
    })
}

/// Where a panel stands.
struct Place {
    left: f64,
    width: f64,
    axis: Axis,
}

impl Place {
    fn length(&self, figure: f64) -> f64 {
        self.axis.share(figure) * self.width
    }

    /// Adds a bar, part by part, to the paths of the parts. What is not above zero has no length.
    fn add(&self, paths: &mut [String], parts: &[f64], y: f64) {
        let mut sum = 0.0;
        for (path, part) in paths.iter_mut().zip(parts) {
            if part.is_nan() || *part <= 0.0 {
                continue;
            }
            let (from, to) = (self.length(sum), self.length(sum + part));
            sum += part;
            let wide = to - from;
            if wide >= 0.05 {
                let left = self.left + from;
                *path += &format!("M{left:.1} {y:.1}h{wide:.1}v{BAR_HEIGHT}h-{wide:.1}z");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> StackChart {
        let part = |(colour, name): (usize, &str)| StackPart {
            name: name.to_owned(),
            colour: (colour < 2).then_some(colour),
        };
        let panel = |title: &str, bars| StackPanel { title: title.to_owned(), bars };
        StackChart {
            title: "Where the CPU went".to_owned(),
            subtitle: String::new(),
            axis: "CPUs".to_owned(),
            parts: ["server", "generator", "idle"].into_iter().enumerate().map(part).collect(),
            rows: vec!["a".to_owned(), "b".to_owned(), "gone".to_owned()],
            panels: vec![
                panel(
                    "C=1",
                    vec![
                        StackBar::Parts(vec![1.0, 0.5, 0.5]),
                        StackBar::Parts(vec![1.0, -0.1, f64::NAN]),
                        StackBar::Empty,
                    ],
                ),
                panel("C=2", vec![StackBar::Word("failed".to_owned())]),
            ],
        }
    }

    #[test]
    fn parts_of_a_bar_follow_each_other() {
        let svg = chart().svg(Theme::Page);
        let path = |class: &str| {
            let line = svg
                .lines()
                .find(|line| line.contains("<path") && line.ends_with(&format!("{class}/>")));
            line.map(|line| line.matches('M').count())
        };
        assert_eq!(path("class=\"fill0\""), Some(2), "{svg}");
        assert_eq!(path("class=\"fill1\""), Some(1), "{svg}");
        assert_eq!(path("fill-opacity=\".22\""), Some(1), "{svg}");
    }

    #[test]
    fn a_row_without_a_bar_takes_no_room() {
        let svg = chart().svg(Theme::Page);
        assert!(
            svg.contains(">a<") && svg.contains(">failed<") && !svg.contains(">gone<"),
            "{svg}"
        );
    }
}
