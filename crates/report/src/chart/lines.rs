//! Lines over two axes, in panels that share them: what grows with what, and how sure that is.

use super::axis::{Axis, AxisUnit, Scale};
use super::canvas::{Canvas, Theme, coloured, fitted, text_width};
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
    /// Where lines part.
    pub parting: Option<LineParting>,
    /// The series.
    pub series: Vec<LineSeries>,
    /// The panels, in reading order.
    pub panels: Vec<LinePanel>,
    /// Whether figures have dots; a curve of many has none.
    pub has_dots: bool,
    /// Whether intervals are joined to a band, in which a line is not told apart from another.
    pub has_bands: bool,
}

/// Where the first two lines part: a line through the panels.
#[derive(Clone, Debug, PartialEq)]
pub struct LineParting {
    /// Its place on the axis along the bottom.
    pub x: f64,
    /// What is said of it, where from there on the area between the two lines is shaded.
    pub text: Option<String>,
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
const FAILED_READING: &str = "; ! N %: share of calls that failed";

const TICK_SIZE: f64 = 11.0;
const TICKS_LEFT: f64 = 54.0;
const TICKS_BELOW: f64 = 18.0;
const PANEL_TITLE: f64 = 18.0;
const PANEL_GAP: f64 = 18.0;
const NAME_HEIGHT: f64 = 16.0;

impl LineChart {
    /// Renders the chart as SVG.
    pub fn svg(&self, theme: Theme) -> String {
        let mut canvas = self.titled(theme, self.has_failed_calls());
        let (columns, height) = shape(self.panels.len(), canvas.is_narrow());
        self.draw(&mut canvas, self.axes(), columns, height);
        self.name_across(&mut canvas);
        canvas.document(&self.title)
    }

    /// The canvas with its heading, which explains the shares of failed calls if there are any.
    pub(super) fn titled(&self, theme: Theme, has_failed_calls: bool) -> Canvas {
        let reading = if has_failed_calls { FAILED_READING } else { "" };
        Canvas::titled(theme, &self.title, &format!("{}{reading}", self.subtitle))
    }

    /// Everything between the heading and the name of the axis along the bottom.
    pub(super) fn draw(&self, canvas: &mut Canvas, axes: [Axis; 2], columns: usize, height: f64) {
        let named = self.in_order_of_ends();
        legend(canvas, named.into_iter().map(|one| (Swatch::Stroke(one.style), &one.name)));
        canvas.axis_name(&format!("\u{2191} {}", self.up.text), 10.0, false);
        canvas.y += NAME_HEIGHT;
        let gaps = PANEL_GAP * (columns as f64 - 1.0);
        let width = (canvas.room() - TICKS_LEFT - gaps) / columns as f64;
        for row in self.panels.chunks(columns) {
            for (column, panel) in row.iter().enumerate() {
                let left = canvas.margin + TICKS_LEFT + column as f64 * (width + PANEL_GAP);
                let place = Place { left, top: canvas.y + PANEL_TITLE, width, height, axes };
                self.panel(canvas, &place, panel, column == 0);
            }
            canvas.y += PANEL_TITLE + height + TICKS_BELOW + 6.0;
        }
    }

    /// The series for a legend: of many lines in one panel, that which ends highest first, as they
    /// stand one above the other.
    fn in_order_of_ends(&self) -> Vec<&LineSeries> {
        let mut named: Vec<(f64, &LineSeries)> =
            self.series.iter().map(|one| (f64::NEG_INFINITY, one)).collect();
        if let ([panel], 3..) = (self.panels.as_slice(), self.series.len()) {
            for (named, line) in named.iter_mut().zip(&panel.lines) {
                named.0 = line.last().map_or(f64::NEG_INFINITY, |point| point.y);
            }
            named.sort_by(|one, other| other.0.total_cmp(&one.0));
        }
        named.into_iter().map(|(_, one)| one).collect()
    }

    pub(super) fn name_across(&self, canvas: &mut Canvas) {
        canvas.axis_name(&format!("{} \u{2192}", self.across.text), 8.0, true);
        canvas.y += NAME_HEIGHT;
    }

    /// Whether a point has a share of failed calls.
    pub(crate) fn has_failed_calls(&self) -> bool {
        self.points().any(|point| at_point(point.failed).is_some())
    }

    pub(super) fn points(&self) -> impl Iterator<Item = &LinePoint> {
        self.panels.iter().flat_map(|panel| panel.lines.iter().flatten())
    }

    /// Both axes, with room for every point of every panel.
    pub(super) fn axes(&self) -> [Axis; 2] {
        let points = || self.points();
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
        self.shade_parting(canvas, place, panel);
        for (line, series) in panel.lines.iter().zip(&self.series) {
            let drawn: Vec<&LinePoint> =
                line.iter().filter(|point| self.has_room_for(point)).collect();
            if !drawn.is_empty() {
                self.line(canvas, place, &drawn, series.style);
            }
        }
        let drawn = panel.lines.iter().flatten().filter(|point| self.has_room_for(point));
        failed_shares(canvas, place, drawn);
        self.mark_parting(canvas, place);
    }

    /// The area between the first two lines, from where they part.
    fn shade_parting(&self, canvas: &mut Canvas, place: &Place, panel: &LinePanel) {
        let (Some(parting), [first, second, ..]) = (&self.parting, panel.lines.as_slice()) else {
            return;
        };
        let along = |line: &[LinePoint]| -> Vec<(f64, f64)> {
            let behind = line.iter().filter(|point| point.x >= parting.x);
            let drawn = behind.filter(|point| self.has_room_for(point));
            drawn.map(|point| (place.x(point.x), place.y(point.y))).collect()
        };
        let (there, back) = (along(first), along(second));
        if parting.text.is_some() && there.len() > 1 && back.len() > 1 {
            let area = path_through(there.into_iter().chain(back.into_iter().rev()));
            canvas.element(&format!("<path d=\"{area}Z\" fill-opacity=\".22\" class=\"fill1\"/>"));
        }
    }

    /// A broken line where they part, and what is said of it on the side on which there is room.
    fn mark_parting(&self, canvas: &mut Canvas, place: &Place) {
        let Some(LineParting { x, text }) = &self.parting else {
            return;
        };
        let (x, bottom) = (place.x(*x), place.top + place.height);
        canvas.element(&format!(
            "<path d=\"M{x:.1} {:.1}V{bottom:.1}\" stroke-width=\"1.2\" stroke-dasharray=\"4 3\" \
             fill=\"none\" class=\"stroke\"/>",
            place.top
        ));
        if let Some(text) = text {
            let is_right = x > place.left + place.width / 2.0;
            let (at, anchor, room) = match is_right {
                true => (x - 5.0, "text-anchor=\"end\"", x - place.left - 5.0),
                false => (x + 5.0, "", place.left + place.width - x - 5.0),
            };
            let at = (at, place.top + TICK_SIZE);
            canvas.text_within(room, at, TICK_SIZE, ("over", anchor), text);
        }
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

    /// Ticks with their figures and lines through the panel. Panels after the first share its
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
fn shape(panels: usize, is_narrow: bool) -> (usize, f64) {
    match (panels, is_narrow) {
        (0 | 1, false) => (1, 280.0),
        (2 | 4, false) => (2, 230.0),
        (_, false) => (3, 180.0),
        (0 | 1, true) => (1, 230.0),
        (_, true) => (1, 160.0),
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

/// In tenths of a unit. After the first, each point is a step from the one before: it is shorter.
fn path_through(points: impl Iterator<Item = (f64, f64)>) -> String {
    let tenths = |value: f64| (value * 10.0).round();
    let mut path = String::new();
    let mut last = None;
    for (x, y) in points.map(|(x, y)| (tenths(x), tenths(y))) {
        let (letter, (from_x, from_y)) = last.map_or(('M', (0.0, 0.0)), |last| ('l', last));
        let (step_x, step_y) = ((x - from_x) / 10.0, (y - from_y) / 10.0);
        let between = if step_y < 0.0 { "" } else { " " };
        path += &format!("{letter}{step_x}{between}{step_y}");
        last = Some((x, y));
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
            parting: None,
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
        for text in [">! 26.4 %<", ">! 0.5 %<", "! N %: share of calls that failed<"] {
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
    fn of_many_lines_in_one_panel_the_highest_is_named_first() {
        let named = |chart: &LineChart| -> String {
            chart.in_order_of_ends().iter().map(|one| one.name.as_str()).collect()
        };
        assert_eq!(named(&chart(2)), "ab<c");
        let mut chart = chart(1);
        chart.panels[0].lines[1] = vec![point(1.0, 2e7, false)];
        assert_eq!(named(&chart), "b<ac");
    }

    #[test]
    fn where_lines_part_there_is_a_line_with_its_words_and_the_area_between_them() {
        let mut chart = chart(1);
        chart.panels[0].lines[1] = vec![point(1.0, 1e4, false), point(1000.0, 1e5, false)];
        let area = "fill-opacity=\".22\"";
        assert!(!chart.svg(Theme::Light).contains(area));
        chart.parting = Some(LineParting { x: 1.0, text: Some("they part".to_owned()) });
        let svg = chart.svg(Theme::Light);
        assert!(svg.contains(area) && svg.contains(">they part<"), "{svg}");
        assert_eq!(svg.matches("stroke-dasharray=\"4 3\"").count(), 1, "{svg}");
        chart.parting = Some(LineParting { x: 1.0, text: None });
        assert!(!chart.svg(Theme::Light).contains(area), "no words, no area");
    }

    /// Where a path of steps comes to; of another path, where it begins.
    fn places_of(path: &str) -> Vec<(f64, f64)> {
        let mut steps = path.split(['l', 'h', 'H', 'V', 'L', 'Z']);
        let lengths = |step: &str| {
            let (x, y) = step.split_at(1 + step[1..].find([' ', '-']).expect("two numbers"));
            [x, y].map(|text| text.trim().parse::<f64>().expect("a number"))
        };
        let [x, y] = lengths(steps.next().expect("a start"));
        let others = steps.filter(|_| path.contains('l')).filter(|step| !step.is_empty());
        let mut places = vec![(x, y)];
        for [x, y] in others.map(lengths) {
            let (from_x, from_y) = places[places.len() - 1];
            places.push((from_x + x, from_y + y));
        }
        places
    }

    #[test]
    fn a_path_is_told_in_steps_that_add_up() {
        let points = [(1.04, 2.0), (3.0, 1.96), (3.0, 0.5), (2.96, 0.55)];
        let path = path_through(points.into_iter());
        assert_eq!(path, "M1 2l2 0l0-1.5l0 0.1");
        let last = places_of(&path[1..]).pop().expect("an end");
        assert!((last.0 - 3.0).abs() < 1e-9 && (last.1 - 0.6).abs() < 1e-9, "{last:?}");
    }

    #[test]
    fn nothing_leaves_the_picture() {
        for (panels, theme) in [0, 1, 2, 3, 12]
            .into_iter()
            .flat_map(|panels| [(panels, Theme::Page), (panels, Theme::NarrowPage)])
        {
            let mut chart = chart(panels);
            for panel in &mut chart.panels {
                panel.lines[2] = vec![point(f64::NAN, 1.0, true), point(0.0, -1.0, false)];
            }
            let svg = chart.svg(theme).replace("font-weight=\"600\"", "");
            let numbers = svg
                .split(['"', ' ', 'M', 'L', 'V', 'h', 'H'])
                .filter_map(|text| text.parse::<f64>().ok());
            assert!(numbers.clone().all(f64::is_finite), "{svg}");
            let size = svg.split('"').nth(3).expect("a size").split(' ').skip(2);
            let longest = size.filter_map(|side| side.parse().ok()).fold(0.0, f64::max);
            assert!(numbers.clone().all(|number| number <= longest), "{panels}: {svg}");
            let paths = svg.split(" d=\"M").skip(1).filter_map(|rest| rest.split('"').next());
            let mut places = paths.flat_map(places_of);
            assert!(places.all(|(x, y)| x.min(y) >= 0.0 && x.max(y) <= longest), "{panels}: {svg}");
        }
    }
}
