//! A chart of points: one figure, with its interval, of several series under several headings.

use super::axis::{Axis, AxisUnit, Scale};
use super::canvas::{Canvas, Theme, coloured, text_width};
use bookend_results::statistics::Interval;

/// The contents of a chart of points.
#[derive(Clone, Debug, PartialEq)]
pub struct PointChart {
    /// The heading.
    pub title: String,
    /// A line under the heading: what the axis shows.
    pub subtitle: String,
    /// How the axis divides its figures.
    pub scale: Scale,
    /// How figures along it are written.
    pub unit: AxisUnit,
    /// A figure to which all others are to be compared.
    pub reference: Option<f64>,
    /// What is drawn under each heading.
    pub series: Vec<ChartSeries>,
    /// The headings, with their points.
    pub lines: Vec<PointLine>,
}

/// A series of points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartSeries {
    /// Its name in the legend.
    pub name: String,
    /// Selects its colour.
    pub colour: usize,
    /// Whether its points were printed by somebody else; they are hollow.
    pub is_printed: bool,
}

/// The points under one heading.
#[derive(Clone, Debug, PartialEq)]
pub struct PointLine {
    /// The heading.
    pub label: String,
    /// One for each series, in their order. `None`: it has none here.
    pub points: Vec<Option<ChartPoint>>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartPoint {
    /// The figure.
    pub value: f64,
    /// As text.
    pub text: String,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
}

const POINT_STEP: f64 = 16.0;
const LINE_GAP: f64 = 9.0;
const LEGEND_TOP: f64 = 72.0;
const LEGEND_STEP: f64 = 20.0;
/// Of a label above its points.
const NARROW_LABEL_HEIGHT: f64 = 16.0;
const TICK_HEIGHT: f64 = 18.0;
const TICKS_MAX: usize = 6;
const RADIUS: f64 = 4.0;
/// The least room for the figure behind the last point.
const FIGURE_WIDTH: f64 = 84.0;
/// An estimate of a letter's width, in parts of the size of the type.
const LETTER_WIDTH: f64 = 0.64;
const LABEL_SIZE: f64 = 13.0;
const TICK_SIZE: f64 = 11.0;

impl PointChart {
    /// Renders the chart as a complete SVG document.
    pub fn svg(&self, theme: Theme) -> String {
        let mut canvas = Canvas::new(theme, LEGEND_TOP);
        match theme {
            // A page has the heading itself.
            Theme::Page | Theme::NarrowPage => canvas.y = 4.0,
            _ => canvas.heading(&self.title, &self.subtitle),
        }
        self.legend(&mut canvas);
        let figures =
            self.lines.iter().flat_map(|line| line.points.iter().flatten()).flat_map(|point| {
                let ends = point.interval.map(|ends| [ends.low, ends.high]);
                [point.value].into_iter().chain(ends.into_iter().flatten())
            });
        let axis = Axis::around(self.scale, figures.chain(self.reference));
        // A narrow one has its labels above the points.
        let labels = if canvas.is_narrow() { RADIUS } else { self.label_width() + 12.0 };
        let (left, room) = (canvas.margin + labels, self.figure_width());
        let place = Place { left, width: canvas.width - canvas.margin - room - left, axis };
        self.grid(&mut canvas, &place);
        for line in &self.lines {
            self.line(&mut canvas, &place, line);
        }
        canvas.document(&self.title)
    }

    fn label_width(&self) -> f64 {
        self.lines.iter().map(|line| width(&line.label, LABEL_SIZE)).fold(0.0, f64::max)
    }

    /// The room that the widest figure needs behind its point.
    fn figure_width(&self) -> f64 {
        let points = self.lines.iter().flat_map(|line| line.points.iter().flatten());
        let widest = points.map(|point| text_width(&point.text, TICK_SIZE)).fold(0.0, f64::max);
        FIGURE_WIDTH.max(widest + RADIUS + 10.0)
    }

    /// The series side by side, in as many rows as they need.
    fn legend(&self, canvas: &mut Canvas) {
        let left = canvas.margin;
        let mut x = left;
        for series in &self.series {
            let wide = 2.0 * RADIUS + 8.0 + width(&series.name, LABEL_SIZE);
            if x > left && x + wide > canvas.width - left {
                x = left;
                canvas.y += LEGEND_STEP;
            }
            mark(canvas, (x + RADIUS, LEGEND_STEP / 2.0), series);
            let place = (x + 2.0 * RADIUS + 8.0, canvas.y + LEGEND_STEP / 2.0 + 4.5);
            canvas.text(place, LABEL_SIZE, "text", "", &series.name);
            x += wide + 22.0;
        }
        canvas.y += LEGEND_STEP + 8.0;
    }

    /// The ticks with their figures, and lines through the whole chart.
    fn grid(&self, canvas: &mut Canvas, place: &Place) {
        let top = canvas.y + TICK_HEIGHT - 4.0;
        let bottom = canvas.y
            + TICK_HEIGHT
            + self.lines.iter().map(|line| height(line, canvas)).sum::<f64>();
        for tick in self.ticks(place) {
            let (x, middle) = (place.x(tick), "text-anchor=\"middle\"");
            canvas.text((x, top - 3.0), TICK_SIZE, "faint", middle, &self.unit.tick(tick));
            canvas.stroke(&format!("M{x:.1} {top}V{bottom}"), 1.0, "grid");
        }
        if let Some(reference) = self.reference {
            let x = place.x(reference);
            canvas.stroke(&format!("M{x:.1} {top}V{bottom}"), 1.5, "stroke");
        }
        canvas.y += TICK_HEIGHT;
    }

    /// Where a text begins that is to begin there: its sign is not to stand on the reference.
    fn beside_reference(&self, place: &Place, x: f64) -> f64 {
        let reference = self.reference.map(|figure| place.x(figure));
        let covered = reference.filter(|line| (x - 2.0..x + 6.0).contains(line));
        covered.map_or(x, |line| line + 4.0)
    }

    /// Figures that are close together may have one round factor between them, or none.
    fn ticks(&self, place: &Place) -> Vec<f64> {
        let ticks = place.axis.ticks();
        if ticks.len() < 2 { place.axis.ticks_at_most(TICKS_MAX) } else { ticks }
    }

    fn line(&self, canvas: &mut Canvas, place: &Place, line: &PointLine) {
        let points = line
            .points
            .iter()
            .zip(&self.series)
            .filter_map(|(point, series)| Some((point.as_ref()?, series)));
        let end = canvas.y + height(line, canvas);
        if canvas.is_narrow() {
            canvas.y += NARROW_LABEL_HEIGHT;
            let at = (canvas.margin, canvas.y - 3.0);
            canvas.text_within(canvas.room(), at, LABEL_SIZE, ("over", ""), &line.label);
        } else {
            let middle = canvas.y + (height(line, canvas) - LINE_GAP) / 2.0 + 4.5;
            let right = "text-anchor=\"end\"";
            canvas.text((place.left - 12.0, middle), LABEL_SIZE, "text", right, &line.label);
        }
        for (point, series) in points {
            let half = POINT_STEP / 2.0;
            let mut behind = place.x(point.value) + RADIUS;
            if let Some(Interval { low, high }) = point.interval {
                let ends = (place.x(low), place.x(high));
                behind = behind.max(ends.1);
                canvas.whisker(ends, half, 3.0, &coloured("stroke", series.colour));
            }
            mark(canvas, (place.x(point.value), half), series);
            let text = (self.beside_reference(place, behind + 6.0), canvas.y + half + 4.0);
            canvas.text(text, TICK_SIZE, "over", "", &point.text);
            canvas.y += POINT_STEP;
        }
        canvas.y = end;
    }
}

/// Where figures stand in the picture.
struct Place {
    left: f64,
    width: f64,
    axis: Axis,
}

impl Place {
    fn x(&self, figure: f64) -> f64 {
        self.left + self.axis.share(figure) * self.width
    }
}

/// A point: full if it was measured here, hollow if it was printed.
fn mark(canvas: &mut Canvas, (x, below): (f64, f64), series: &ChartSeries) {
    let (y, stroke) = (canvas.y + below, coloured("stroke", series.colour));
    let fill = match series.is_printed {
        true => "background".to_owned(),
        false => coloured("fill", series.colour),
    };
    canvas.element(&format!(
        "<circle cx=\"{x:.1}\" cy=\"{y}\" r=\"{RADIUS}\" stroke-width=\"2\" \
         class=\"{fill} {stroke}\"/>"
    ));
}

fn height(line: &PointLine, canvas: &Canvas) -> f64 {
    let label = if canvas.is_narrow() { NARROW_LABEL_HEIGHT } else { 0.0 };
    line.points.iter().flatten().count().max(1) as f64 * POINT_STEP + LINE_GAP + label
}

fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * LETTER_WIDTH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> PointChart {
        let point = |value: f64, text: &str| {
            let interval = Some(Interval { low: value / 2.0, high: value * 2.0 });
            Some(ChartPoint { value, text: text.to_owned(), interval })
        };
        let series = |name: &str, colour, is_printed| ChartSeries {
            name: name.to_owned(),
            colour,
            is_printed,
        };
        PointChart {
            title: "How many times".to_owned(),
            subtitle: String::new(),
            scale: Scale::Logarithmic,
            unit: AxisUnit::Number,
            reference: Some(1.0),
            series: vec![series("published", 0, true), series("through <ghz>", 1, false)],
            lines: vec![
                PointLine {
                    label: "C=1 S=1".to_owned(),
                    points: vec![point(2.9, "2.9"), point(2.08, "2.08")],
                },
                PointLine { label: "C=1 S=10".to_owned(), points: vec![point(4.2, "4.2"), None] },
            ],
        }
    }

    #[test]
    fn each_figure_has_a_point_and_its_text() {
        let svg = chart().svg(Theme::Both);
        let count = |part: &str| svg.matches(part).count();
        assert_eq!(count("<circle"), 2 + 3, "the legend, and three figures");
        for text in [">2.9<", ">2.08<", ">4.2<", ">C=1 S=10<", ">through &lt;ghz&gt;<"] {
            assert_eq!(count(text), 1, "{text}: {svg}");
        }
    }

    #[test]
    fn figures_that_are_close_together_have_ticks_too() {
        let mut chart = chart();
        for point in chart.lines.iter_mut().flat_map(|line| &mut line.points).flatten() {
            (point.value, point.interval) = (6500.0, None);
        }
        chart.reference = None;
        let svg = chart.svg(Theme::Page);
        assert!(svg.contains(">6.5k<"), "{svg}");
        assert!(!svg.contains("How many times</text>"), "its page has the heading: {svg}");
    }

    #[test]
    fn a_printed_point_is_hollow() {
        let svg = chart().svg(Theme::Light);
        assert_eq!(svg.matches("class=\"background stroke0\"").count(), 3, "{svg}");
        assert_eq!(svg.matches("class=\"fill1 stroke1\"").count(), 2, "{svg}");
    }
}
