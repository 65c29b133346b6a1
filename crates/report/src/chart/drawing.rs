//! Bars as SVG.

use super::canvas::{Canvas, MARGIN, Theme, WIDTH, coloured};
use super::{Bar, Chart, Group};
use crate::failed_calls::{at_point, figure_with};

const LABEL_WIDTH: f64 = 150.0;
/// Room for the figure behind the longest bar, and for the share of failed calls behind that.
const FIGURE_WIDTH: f64 = 110.0;
const FAILED_WIDTH: f64 = 110.0;
const BAR_HEIGHT: f64 = 20.0;
const BAR_STEP: f64 = 26.0;
const HEADING_HEIGHT: f64 = 78.0;
const GROUP_TITLE_HEIGHT: f64 = 24.0;
const REMARK_HEIGHT: f64 = 18.0;
const REMARK_SIZE: f64 = 12.0;
const GROUP_GAP: f64 = 18.0;

/// Where a bar begins, and the greatest length of a bar where no calls failed.
const BAR_LEFT: f64 = MARGIN + LABEL_WIDTH;
const BAR_ROOM: f64 = WIDTH - MARGIN - FIGURE_WIDTH - BAR_LEFT;

/// Bars on a canvas that grows downwards.
pub(super) struct Drawing {
    canvas: Canvas,
    largest_figure: f64,
    /// The greatest length of a bar.
    bar_room: f64,
}

impl Drawing {
    pub(super) fn new(theme: Theme, largest_figure: f64) -> Self {
        let canvas = Canvas::new(theme, HEADING_HEIGHT);
        Self { canvas, largest_figure, bar_room: BAR_ROOM }
    }

    pub(super) fn chart(mut self, chart: &Chart) -> String {
        let mut bars = chart.groups.iter().flat_map(|group| &group.bars);
        if bars.any(|bar| at_point(bar.failed).is_some()) {
            self.bar_room -= FAILED_WIDTH;
        }
        self.canvas.heading(&chart.title, &chart.subtitle);
        for group in &chart.groups {
            self.group(group);
        }
        for note in &chart.notes {
            self.remark(MARGIN, note);
        }
        self.canvas.document(&chart.title)
    }

    fn group(&mut self, group: &Group) {
        let place = (MARGIN, self.canvas.y + 15.0);
        let name = format!("measured with {}", group.name);
        self.canvas.text(place, 14.0, "text", "font-weight=\"600\"", &name);
        self.canvas.y += GROUP_TITLE_HEIGHT;
        for bar in &group.bars {
            self.bar(bar);
        }
        for ratio in &group.ratios {
            self.remark(BAR_LEFT, ratio);
        }
        self.canvas.y += GROUP_GAP;
    }

    /// A line that begins at `left`.
    fn remark(&mut self, left: f64, text: &str) {
        let place = (left, self.canvas.y + 13.0);
        let room = WIDTH - MARGIN - left;
        self.canvas.text_within(room, place, REMARK_SIZE, ("faint", ""), text);
        self.canvas.y += REMARK_HEIGHT;
    }

    fn bar(&mut self, bar: &Bar) {
        let baseline = self.canvas.y + BAR_HEIGHT - 5.0;
        let right = "text-anchor=\"end\"";
        let place = (BAR_LEFT - 10.0, baseline);
        self.canvas.text_within(place.0 - MARGIN / 2.0, place, 13.0, ("text", right), &bar.name);
        self.rectangle(self.length(bar.figure), bar.series);
        let high = bar.interval.map_or(bar.figure, |interval| interval.high.max(bar.figure));
        self.whisker(bar);
        let behind = BAR_LEFT + self.length(high) + 8.0;
        let figure = figure_with(&bar.text, bar.failed);
        self.canvas.text((behind, baseline), 13.0, "text", "", &figure);
        self.canvas.y += BAR_STEP;
    }

    fn rectangle(&mut self, length: f64, series: usize) {
        let (y, class) = (self.canvas.y, coloured("fill", series));
        self.canvas.element(&format!(
            "<rect x=\"{BAR_LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{BAR_HEIGHT}\" \
             rx=\"2\" class=\"{class}\"/>"
        ));
    }

    /// A whisker shorter than its own end caps would look like a blot.
    fn whisker(&mut self, bar: &Bar) {
        let Some(interval) = bar.interval else {
            return;
        };
        let (low, high) = (self.length(interval.low), self.length(interval.high));
        if high - low >= 2.0 {
            self.canvas.whisker((BAR_LEFT + low, BAR_LEFT + high), BAR_HEIGHT / 2.0, 4.0, "stroke");
        }
    }

    fn length(&self, figure: f64) -> f64 {
        if self.largest_figure > 0.0 {
            (figure / self.largest_figure * self.bar_room).clamp(1.0, self.bar_room)
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_results::failed_share::FailedShare;
    use bookend_results::statistics::Interval;

    fn chart(figures: &[f64]) -> Chart {
        let bar = |(series, &figure): (usize, &f64)| Bar {
            name: format!("server-{series}"),
            series,
            figure,
            text: format!("{figure} /s"),
            interval: Some(Interval { low: figure * 0.9, high: figure * 1.1 }),
            failed: None,
        };
        Chart {
            title: "a < b".to_owned(),
            subtitle: String::new(),
            groups: vec![Group {
                name: "ghz".to_owned(),
                bars: figures.iter().enumerate().map(bar).collect(),
                ratios: Vec::new(),
            }],
            notes: Vec::new(),
        }
    }

    fn widths(svg: &str) -> Vec<f64> {
        let bars = svg.lines().filter(|line| line.contains("rx=\"2\""));
        let width = |line: &str| line.split("width=\"").nth(1)?.split('"').next()?.parse().ok();
        bars.filter_map(width).collect()
    }

    #[test]
    fn a_bar_twice_as_long_is_twice_as_fast() {
        let widths = widths(&chart(&[1000.0, 500.0]).svg(Theme::Light));
        assert_eq!(widths.len(), 2);
        assert!((widths[0] / widths[1] - 2.0).abs() < 0.01, "{widths:?}");
    }

    #[test]
    fn a_figure_never_leaves_the_picture() {
        let widths = widths(&chart(&[1e9]).svg(Theme::Dark));
        assert!(BAR_LEFT + widths[0] * 1.1 + FIGURE_WIDTH <= WIDTH + 1.0);
    }

    #[test]
    fn a_long_name_and_a_long_remark_stay_in_the_picture() {
        let mut chart = chart(&[1.0]);
        chart.groups[0].bars[0].name =
            "a-subject-with-a-name/and-a-variant-with-another".to_owned();
        let long = "a ratio by rate, and one per CPU-second; ".repeat(6);
        chart.groups[0].ratios = vec![long.clone(); 2];
        chart.notes = vec![long];
        let svg = chart.svg(Theme::Light);
        for line in svg.lines().filter(|line| line.starts_with("<text ")) {
            let size: f64 = line.split('"').nth(5).unwrap().parse().unwrap();
            let letters = line.split(['>', '<']).nth(2).unwrap().chars().count() as f64;
            assert!(letters * size * 0.48 <= WIDTH - MARGIN, "{line}");
        }
        assert!(svg.contains("..") && !svg.contains("name/and-a-variant"), "{svg}");
    }

    #[test]
    fn calls_that_failed_stand_behind_their_bar_and_in_the_picture() {
        let mut chart = chart(&[1e9, 1e8]);
        chart.groups[0].bars[0].failed = FailedShare::of(0.264);
        chart.groups[0].bars[1].failed = FailedShare::of(0.005);
        let svg = chart.svg(Theme::Light);
        assert!(
            svg.contains(" /s ! 26.4 % failed<") && svg.contains(" /s ! 0.5 % failed<"),
            "{svg}"
        );
        let room = FIGURE_WIDTH + FAILED_WIDTH;
        assert!(BAR_LEFT + widths(&svg)[0] * 1.1 + room <= WIDTH + 1.0, "{svg}");
    }

    #[test]
    fn words_of_others_cannot_break_the_document() {
        let svg = chart(&[1.0]).svg(Theme::Light);
        assert!(svg.contains("<title>a &lt; b</title>"));
    }

    #[test]
    fn the_themes_differ_in_colours_alone() {
        let chart = chart(&[10.0, 20.0]);
        let without_colours = |theme| {
            let svg = chart.svg(theme);
            svg.split('#')
                .map(|part| part.get(6..).unwrap_or_default().to_owned())
                .skip(1)
                .collect::<Vec<_>>()
        };
        assert_ne!(chart.svg(Theme::Light), chart.svg(Theme::Dark));
        assert_eq!(without_colours(Theme::Light), without_colours(Theme::Dark));
    }

    #[test]
    fn a_reader_with_a_dark_screen_gets_the_dark_colours_of_the_same_file() {
        let svg = chart(&[1.0]).svg(Theme::Both);
        let (light, dark) = svg.split_once("@media (prefers-color-scheme:dark)").expect("both");
        assert!(light.contains("#ffffff") && dark.contains("#0d1117"), "{svg}");
    }
}
