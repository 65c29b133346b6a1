//! Lines over two axes, in panels that share them: what grows with what, and how sure that is.

use super::axis::{Axis, AxisUnit, Scale};
use super::canvas::{Canvas, MARGIN, Theme, WIDTH, coloured, fitted, text_width};
use super::legend::{Swatch, legend, stroke_of};
use crate::failed_calls::at_point;
use bookend_results::failed_share::FailedShare;
use bookend_results::statistics::Interval;

/// Lines in one or several panels, which share both axes and the meaning of colours.
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// The heading.
    pub title: String,
    /// A line under the heading.
    pub subtitle: String,
    /// The axis along the bottom.
    pub across: AxisName,
    /// The axis along the left.
    pub up: AxisName,
    /// How the two divide their figures, that along the bottom first.
    pub scales: [Scale; 2],
    /// What lies to the left of this figure is shaded.
    pub shaded_below: Option<f64>,
    /// The series.
    pub series: Vec<LineSeries>,
    /// The panels, in reading order.
    pub panels: Vec<LinePanel>,
    /// Whether figures have dots; a curve of many has none.
    pub has_dots: bool,
    /// Whether intervals are joined to a band, in which a line is not told apart from another.
    pub has_bands: bool,
}

/// An axis in words, with its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisName {
    /// What it shows.
    pub text: String,
    /// How figures along it are written.
    pub unit: AxisUnit,
}

impl AxisName {
    /// An axis of that meaning and unit.
    pub fn new(text: &str, unit: AxisUnit) -> Self {
        Self { text: text.to_owned(), unit }
    }
}

/// A series of a [`LineChart`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineSeries {
    /// Its name.
    pub name: String,
    /// Selects its colour and its stroke.
    pub style: usize,
}

/// One panel.
#[derive(Clone, Debug, PartialEq)]
pub struct LinePanel {
    /// Its heading.
    pub title: String,
    /// A line for each series, by `x`; one without points where it has none here.
    pub lines: Vec<Vec<LinePoint>>,
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePoint {
    /// Its place on the axis along the bottom.
    pub x: f64,
    /// Its place on the axis along the left.
    pub y: f64,
    /// The 95 % interval of `y`, or its range.
    pub interval: Option<Interval>,
    /// Whether it is a bound and no figure: its dot is hollow.
    pub is_bound: bool,
    /// The share of failed calls that stands at it. `None`: none failed, or another point has it.
    pub failed: Option<FailedShare>,
}

/// A line of a cell without dots has the share of its failed calls at its end.
pub(crate) fn failed_at_end(
    mut line: Vec<LinePoint>,
    failed: Option<FailedShare>,
) -> Vec<LinePoint> {
    if let Some(last) = line.last_mut() {
        last.failed = failed;
    }
    line
}

/// Follows the line under the heading of a picture with failed calls.
const FAILED_READING: &str = "; ! N %: so many of the calls failed";

const TICK_SIZE: f64 = 11.0;
const TICKS_LEFT: f64 = 54.0;
const TICKS_BELOW: f64 = 18.0;
const PANEL_TITLE: f64 = 18.0;
const PANEL_GAP: f64 = 18.0;
const NAME_HEIGHT: f64 = 16.0;

impl LineChart {
    /// Renders the chart as SVG.
    pub fn svg(&self, theme: Theme) -> String {
        let reading = if self.has_failed_calls() { FAILED_READING } else { "" };
        let mut canvas = Canvas::titled(theme, &self.title, &format!("{}{reading}", self.subtitle));
        legend(&mut canvas, self.series.iter().map(|one| (Swatch::Stroke(one.style), &one.name)));
        let place = (MARGIN, canvas.y + 10.0);
        canvas.text(place, TICK_SIZE, "faint", "", &format!("\u{2191} {}", self.up.text));
        canvas.y += NAME_HEIGHT;
        let axes = self.axes();
        let (columns, height) = shape(self.panels.len());
        for row in self.panels.chunks(columns) {
            let room = WIDTH - 2.0 * MARGIN - TICKS_LEFT;
            let gaps = PANEL_GAP * (columns as f64 - 1.0);
            let width = (room - gaps) / columns as f64;
            for (column, panel) in row.iter().enumerate() {
                let left = MARGIN + TICKS_LEFT + column as f64 * (width + PANEL_GAP);
                let place = Place { left, top: canvas.y + PANEL_TITLE, width, height, axes };
                self.panel(&mut canvas, &place, panel, column == 0);
            }
            canvas.y += PANEL_TITLE + height + TICKS_BELOW + 6.0;
        }
        let end = (WIDTH - MARGIN, canvas.y + 8.0);
        let name = format!("{} \u{2192}", self.across.text);
        canvas.text(end, TICK_SIZE, "faint", "text-anchor=\"end\"", &name);
        canvas.y += NAME_HEIGHT;
        canvas.document(&self.title)
    }

    /// Whether a point has a share of failed calls.
    pub(crate) fn has_failed_calls(&self) -> bool {
        let mut points = self.panels.iter().flat_map(|panel| panel.lines.iter().flatten());
        points.any(|point| at_point(point.failed).is_some())
    }

    /// Both axes, with room for every point of every panel.
    fn axes(&self) -> [Axis; 2] {
        let points = || self.panels.iter().flat_map(|panel| panel.lines.iter().flatten());
        let ends = |point: &LinePoint| {
            let ends = point.interval.map_or([point.y; 2], |ends| [ends.low, ends.high]);
            [point.y, ends[0], ends[1]]
        };
        let [across, up] = self.scales;
        let across = Axis::around(across, points().map(|point| point.x));
        [across, Axis::around(up, points().flat_map(ends))]
    }

    fn panel(&self, canvas: &mut Canvas, place: &Place, panel: &LinePanel, is_first: bool) {
        let title = fitted(&panel.title, 12.0, place.width);
        let at = (place.left, place.top - 6.0);
        canvas.text(at, 12.0, "text", "font-weight=\"600\"", &title);
        if let Some(end) = self.shaded_below {
            let wide = place.x(end) - place.left;
            canvas.element(&format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" class=\"faint\" \
                 fill-opacity=\".12\"/>",
                place.left, place.top, place.height
            ));
        }
        self.grid(canvas, place, is_first);
        for (line, series) in panel.lines.iter().zip(&self.series) {
            let drawn: Vec<&LinePoint> =
                line.iter().filter(|point| self.has_room_for(point)).collect();
            if !drawn.is_empty() {
                self.line(canvas, place, &drawn, series.style);
            }
        }
        let drawn = panel.lines.iter().flatten().filter(|point| self.has_room_for(point));
        failed_shares(canvas, place, drawn);
    }

    /// A band of the intervals, the line, and its dots with whiskers.
    fn line(&self, canvas: &mut Canvas, place: &Place, points: &[&LinePoint], series: usize) {
        let ends =
            |point: &LinePoint| point.interval.map(|ends| (place.y(ends.low), place.y(ends.high)));
        let with_ends: Vec<(f64, (f64, f64))> =
            points.iter().filter_map(|point| Some((place.x(point.x), ends(point)?))).collect();
        if self.has_bands && with_ends.len() > 1 {
            let upper = with_ends.iter().map(|(x, (_, high))| (*x, *high));
            let lower = with_ends.iter().rev().map(|(x, (low, _))| (*x, *low));
            let band = path_through(upper.chain(lower));
            let fill = coloured("fill", series);
            canvas.element(&format!("<path d=\"{band}Z\" fill-opacity=\".15\" class=\"{fill}\"/>"));
        }
        let line = path_through(points.iter().map(|point| (place.x(point.x), place.y(point.y))));
        let stroke = stroke_of(series);
        canvas
            .element(&format!("<path d=\"{line}\" stroke-width=\"1.8\" fill=\"none\" {stroke}/>"));
        if self.has_dots {
            let whisker = |(x, (low, high)): &(f64, (f64, f64))| {
                let left = x - 3.0;
                format!("M{x:.1} {low:.1}V{high:.1}M{left:.1} {low:.1}h6M{left:.1} {high:.1}h6")
            };
            let whiskers: String = with_ends
                .iter()
                .filter(|(_, (low, high))| low - high >= 2.0)
                .map(whisker)
                .collect();
            if !whiskers.is_empty() {
                canvas.stroke(&whiskers, 1.2, &coloured("stroke", series));
            }
            dots(canvas, place, points, series);
        }
    }

    fn has_room_for(&self, point: &LinePoint) -> bool {
        let fits = |(scale, figure): (&Scale, f64)| {
            figure.is_finite() && (*scale == Scale::Linear || figure > 0.0)
        };
        self.scales.iter().zip([point.x, point.y]).all(fits)
    }

    /// Ticks with their figures and lines through the panel. Panels beside the first share its
    /// figures.
    fn grid(&self, canvas: &mut Canvas, place: &Place, is_first: bool) {
        let [across, up] = &place.axes;
        let bottom = place.top + place.height;
        let mut path = String::new();
        for tick in up.ticks_at_most((place.height / 26.0) as usize) {
            let y = place.y(tick);
            path += &format!("M{:.1} {y:.1}h{:.1}", place.left, place.width);
            if is_first {
                let text = self.up.unit.tick(tick);
                let end = "text-anchor=\"end\"";
                canvas.text((place.left - 6.0, y + 4.0), TICK_SIZE, "faint", end, &text);
            }
        }
        let mut free_from = f64::NEG_INFINITY;
        for tick in across.ticks_at_most((place.width / 46.0) as usize) {
            let x = place.x(tick);
            path += &format!("M{x:.1} {:.1}V{bottom:.1}", place.top);
            let text = self.across.unit.tick(tick);
            // A figure at the right edge must not reach into the next panel.
            let (wide, right) = (tick_width(&text), place.left + place.width + 4.0);
            let middle = x.min(right - wide / 2.0);
            if middle - wide / 2.0 >= free_from {
                let anchor = "text-anchor=\"middle\"";
                canvas.text((middle, bottom + 14.0), TICK_SIZE, "faint", anchor, &text);
                free_from = middle + wide / 2.0 + 4.0;
            }
        }
        canvas.stroke(&path, 1.0, "grid");
    }
}

/// About how wide a figure is, which has wider letters than words.
fn tick_width(text: &str) -> f64 {
    text_width(text, TICK_SIZE) * 1.15
}

/// Panels side by side, and how high each is.
fn shape(panels: usize) -> (usize, f64) {
    match panels {
        0 | 1 => (1, 280.0),
        2 | 4 => (2, 230.0),
        _ => (3, 180.0),
    }
}

/// Where a panel stands.
struct Place {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    axes: [Axis; 2],
}

impl Place {
    fn x(&self, figure: f64) -> f64 {
        self.left + self.axes[0].share(figure) * self.width
    }

    fn y(&self, figure: f64) -> f64 {
        self.top + (1.0 - self.axes[1].share(figure)) * self.height
    }
}

/// The shares of failed calls, each above its point and on the side on which there is room. One
/// that would lie over another moves to the nearest free row.
fn failed_shares<'a>(
    canvas: &mut Canvas,
    place: &Place,
    points: impl Iterator<Item = &'a LinePoint>,
) {
    const ROW: f64 = TICK_SIZE + 3.0;
    let rows = (place.height / ROW) as u32;
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for point in points {
        let Some(text) = at_point(point.failed) else {
            continue;
        };
        let (x, width) = (place.x(point.x), text_width(&text, TICK_SIZE));
        let has_room = x + width < place.left + place.width;
        let (left, anchor) = if has_room { (x, "") } else { (x - width, "text-anchor=\"end\"") };
        let above = (place.y(point.y) - 7.0).max(place.top + TICK_SIZE);
        let is_free = |y: &f64| {
            let is_inside = (place.top + TICK_SIZE..=place.top + place.height).contains(y);
            let is_apart = |(other, its_width, row): &(f64, f64, f64)| {
                left + width <= *other || left >= other + its_width || (y - row).abs() >= ROW
            };
            is_inside && taken.iter().all(is_apart)
        };
        let moved = |row: u32| [above + f64::from(row) * ROW, above - f64::from(row) * ROW];
        let y = (0..=rows).flat_map(moved).find(is_free).unwrap_or(above);
        taken.push((left, width, y));
        canvas.text((x, y), TICK_SIZE, "over", anchor, &text);
    }
}

/// Dots are strokes without a length, which are short to write. A hollow one has another in it.
fn dots(canvas: &mut Canvas, place: &Place, points: &[&LinePoint], series: usize) {
    let dot = |point: &&&LinePoint| format!("M{:.1} {:.1}h0", place.x(point.x), place.y(point.y));
    let all: String = points.iter().map(|point| dot(&point)).collect();
    let hollow: String =
        points.iter().filter(|point| point.is_bound).map(|point| dot(&point)).collect();
    let mut draw = |path: &str, width: f64, class: &str| {
        canvas.element(&format!(
            "<path d=\"{path}\" stroke-width=\"{width}\" stroke-linecap=\"round\" fill=\"none\" \
             class=\"{class}\"/>"
        ));
    };
    draw(&all, 8.0, &coloured("stroke", series));
    if !hollow.is_empty() {
        draw(&hollow, 4.5, "hole");
    }
}

fn path_through(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let letter = if path.is_empty() { 'M' } else { 'L' };
        path += &format!("{letter}{x:.1} {y:.1}");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_points_that_are_close_stand_in_rows_of_their_own() {
        let place = Place {
            left: 0.0,
            top: 0.0,
            width: 200.0,
            height: 100.0,
            axes: [
                Axis::around(Scale::Linear, [0.0, 1.0].into_iter()),
                Axis::around(Scale::Linear, [0.0, 1.0].into_iter()),
            ],
        };
        let failed = |y| LinePoint { failed: FailedShare::of(0.6), ..point(1.0, y, false) };
        let points = [failed(0.5), failed(0.5), failed(0.51), failed(1.0), failed(1.0)];
        let mut canvas = Canvas::titled(Theme::Light, "a", "b");
        failed_shares(&mut canvas, &place, points.iter());
        let svg = canvas.document("a");
        let rows = svg.lines().filter(|line| line.contains("60.0 %"));
        let row = |line: &str| line.split("y=\"").nth(1)?.split('"').next()?.parse::<f64>().ok();
        let mut rows: Vec<f64> = rows.filter_map(row).collect();
        rows.sort_by(f64::total_cmp);
        assert_eq!(rows.len(), 5, "{svg}");
        assert!(rows.windows(2).all(|pair| pair[1] - pair[0] >= 13.9), "{rows:?}");
    }

    fn point(x: f64, y: f64, is_bound: bool) -> LinePoint {
        let interval = Some(Interval { low: y / 2.0, high: y * 2.0 });
        LinePoint { x, y, interval, is_bound, failed: None }
    }

    fn chart(panels: usize) -> LineChart {
        let panel = |number: usize| LinePanel {
            title: format!("C={number}"),
            lines: vec![
                vec![point(1.0, 1e4, false), point(1000.0, 1e6, true)],
                vec![point(1.0, 2e4, false)],
                vec![],
            ],
        };
        let series = |(style, name): (usize, &str)| LineSeries { name: name.to_owned(), style };
        LineChart {
            title: "What a request costs".to_owned(),
            subtitle: String::new(),
            across: AxisName { text: "streams".to_owned(), unit: AxisUnit::Number },
            up: AxisName { text: "requests".to_owned(), unit: AxisUnit::Number },
            series: ["a", "b<", "c"].into_iter().enumerate().map(series).collect(),
            scales: [Scale::Logarithmic; 2],
            shaded_below: None,
            panels: (0..panels).map(panel).collect(),
            has_dots: true,
            has_bands: true,
        }
    }

    #[test]
    fn every_panel_has_its_lines_and_a_bound_is_hollow() {
        let svg = chart(3).svg(Theme::Light);
        assert_eq!(svg.matches("stroke-width=\"1.8\"").count(), 2 * 3, "{svg}");
        assert_eq!(svg.matches("class=\"hole\"").count(), 3, "{svg}");
        for text in ["C=0", "C=2", "b&lt;", "\u{2191} requests", "streams \u{2192}"] {
            assert_eq!(svg.matches(&format!(">{text}<")).count(), 1, "{text}: {svg}");
        }
    }

    #[test]
    fn calls_that_failed_stand_at_their_points_and_are_explained() {
        let mut chart = chart(1);
        assert!(!chart.has_failed_calls());
        chart.panels[0].lines[0][1].failed = FailedShare::of(0.264);
        chart.panels[0].lines[1][0].failed = FailedShare::of(0.005);
        let svg = chart.svg(Theme::Light);
        for text in [">! 26.4 %<", ">! 0.5 %<", "! N %: so many of the calls failed<"] {
            assert_eq!(svg.matches(text).count(), 1, "{text}: {svg}");
        }
    }

    #[test]
    fn time_before_zero_is_drawn_and_shaded() {
        let mut chart = chart(1);
        chart.scales[0] = Scale::Linear;
        chart.shaded_below = Some(0.0);
        chart.panels[0].lines[2] = vec![point(-2.0, 1e5, false), point(3.0, 1e5, false)];
        let svg = chart.svg(Theme::Page);
        assert_eq!(svg.matches("fill-opacity=\".12\"").count(), 1, "{svg}");
        assert_eq!(svg.matches("stroke-width=\"1.8\"").count(), 3, "{svg}");
    }

    #[test]
    fn nothing_leaves_the_picture() {
        for panels in [0, 1, 2, 3, 12] {
            let mut chart = chart(panels);
            for panel in &mut chart.panels {
                panel.lines[2] = vec![point(f64::NAN, 1.0, true), point(0.0, -1.0, false)];
            }
            let svg = chart.svg(Theme::Page);
            let numbers = svg
                .split(['"', ' ', 'M', 'L', 'V', 'h', 'H'])
                .filter_map(|text| text.parse::<f64>().ok());
            assert!(numbers.clone().all(f64::is_finite), "{svg}");
            let height: f64 = svg
                .split('"')
                .nth(1)
                .and_then(|box_| box_.split(' ').nth(3)?.parse().ok())
                .expect("a height");
            assert!(numbers.clone().all(|number| number <= height.max(WIDTH)), "{panels}: {svg}");
        }
    }
}
