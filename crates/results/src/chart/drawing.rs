//! A chart as SVG: text stays text, colours come from a theme, and nothing is scripted.

use super::{Bar, Chart, Group};
use crate::text::rate_text;

/// All lengths are in pixels at the size at which a README shows the chart.
const WIDTH: f64 = 820.0;
const MARGIN: f64 = 20.0;
const LABEL_WIDTH: f64 = 150.0;
/// Room for the figure behind the longest bar.
const FIGURE_WIDTH: f64 = 110.0;
const BAR_HEIGHT: f64 = 20.0;
const BAR_STEP: f64 = 26.0;
const HEADING_HEIGHT: f64 = 78.0;
const GROUP_TITLE_HEIGHT: f64 = 24.0;
const REMARK_HEIGHT: f64 = 18.0;
const GROUP_GAP: f64 = 18.0;

/// Where a bar begins, and the greatest length of a bar.
const BAR_LEFT: f64 = MARGIN + LABEL_WIDTH;
const BAR_ROOM: f64 = WIDTH - MARGIN - FIGURE_WIDTH - BAR_LEFT;

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

/// The background that the chart is drawn for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white.
    #[default]
    Light,
    /// Light on black.
    Dark,
}

/// The colours of a theme. Series differ in lightness as well as in hue, so that they can be
/// distinguished in greyscale and by colour-blind readers.
struct Palette {
    background: &'static str,
    text: &'static str,
    faint: &'static str,
    series: [&'static str; 6],
}

impl Theme {
    fn palette(self) -> Palette {
        match self {
            Theme::Light => Palette {
                background: "#ffffff",
                text: "#1f2328",
                faint: "#59636e",
                series: ["#0969da", "#d4762c", "#1a7f5a", "#8250df", "#6e7781", "#bf3989"],
            },
            Theme::Dark => Palette {
                background: "#0d1117",
                text: "#e6edf3",
                faint: "#9198a1",
                series: ["#58a6ff", "#f0a35e", "#4ac790", "#bc8cff", "#8b949e", "#f778ba"],
            },
        }
    }
}

/// A document that grows downwards as it is drawn.
pub(super) struct Drawing {
    palette: Palette,
    largest_rate: f64,
    y: f64,
    body: String,
}

impl Drawing {
    pub(super) fn new(theme: Theme, largest_rate: f64) -> Self {
        Self { palette: theme.palette(), largest_rate, y: HEADING_HEIGHT, body: String::new() }
    }

    pub(super) fn chart(mut self, chart: &Chart) -> String {
        let (text, faint) = (self.palette.text, self.palette.faint);
        self.text(MARGIN, 34.0, 18.0, text, "font-weight=\"600\"", &chart.title);
        self.text(MARGIN, 57.0, 13.0, faint, "", &chart.subtitle);
        for group in &chart.groups {
            self.group(group);
        }
        self.document(&chart.title)
    }

    fn document(self, title: &str) -> String {
        let height = self.y + MARGIN / 2.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" font-family=\"{FONT}\">\n\
             <title>{}</title>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"8\" fill=\"{}\"/>\n{}</svg>\n",
            escaped(title),
            self.palette.background,
            self.body
        )
    }

    fn group(&mut self, group: &Group) {
        let (text, faint) = (self.palette.text, self.palette.faint);
        let baseline = self.y + 15.0;
        let name = format!("measured with {}", group.name);
        self.text(MARGIN, baseline, 14.0, text, "font-weight=\"600\"", &name);
        self.y += GROUP_TITLE_HEIGHT;
        for bar in &group.bars {
            self.bar(bar);
        }
        if let Some(remark) = &group.remark {
            self.text(BAR_LEFT, self.y + 13.0, 12.0, faint, "", remark);
            self.y += REMARK_HEIGHT;
        }
        self.y += GROUP_GAP;
    }

    fn bar(&mut self, bar: &Bar) {
        let (text, faint) = (self.palette.text, self.palette.faint);
        let baseline = self.y + BAR_HEIGHT - 5.0;
        let right = "text-anchor=\"end\"";
        self.text(BAR_LEFT - 10.0, baseline, 13.0, text, right, &bar.name);
        match &bar.rate {
            Ok(rate) => {
                self.rectangle(self.length(*rate), bar.series);
                let high = bar.interval.map_or(*rate, |interval| interval.high.max(*rate));
                self.whisker(bar);
                let figure = format!("{} /s", thousands(&rate_text(*rate)));
                let behind = BAR_LEFT + self.length(high) + 8.0;
                self.text(behind, baseline, 13.0, text, "", &figure);
            }
            Err(why) => self.text(BAR_LEFT, baseline, 13.0, faint, "", why),
        }
        self.y += BAR_STEP;
    }

    fn rectangle(&mut self, length: f64, series: usize) {
        let colours = &self.palette.series;
        let colour = colours[series % colours.len()];
        let y = self.y;
        self.body.push_str(&format!(
            "<rect x=\"{BAR_LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{BAR_HEIGHT}\" \
             rx=\"2\" fill=\"{colour}\"/>\n"
        ));
    }

    /// A whisker shorter than its own end caps would look like a blot.
    fn whisker(&mut self, bar: &Bar) {
        let Some(interval) = bar.interval else {
            return;
        };
        let (low, high) = (self.length(interval.low), self.length(interval.high));
        if high - low < 2.0 {
            return;
        }
        let (low, high) = (BAR_LEFT + low, BAR_LEFT + high);
        let (middle, top, bottom) = (self.y + 10.0, self.y + 6.0, self.y + 14.0);
        self.body.push_str(&format!(
            "<path d=\"M{low:.1} {middle}H{high:.1}M{low:.1} {top}V{bottom}M{high:.1} {top}\
             V{bottom}\" stroke=\"{}\" stroke-width=\"1.5\" fill=\"none\"/>\n",
            self.palette.text
        ));
    }

    fn text(&mut self, x: f64, y: f64, size: f64, colour: &str, more: &str, text: &str) {
        let text = escaped(text);
        let space = if more.is_empty() { "" } else { " " };
        self.body.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{colour}\"{space}{more}>\
             {text}</text>\n"
        ));
    }

    fn length(&self, rate: f64) -> f64 {
        if self.largest_rate > 0.0 {
            (rate / self.largest_rate * BAR_ROOM).clamp(1.0, BAR_ROOM)
        } else {
            1.0
        }
    }
}

/// `1376444` as people write it: `1,376,444`.
fn thousands(digits: &str) -> String {
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Interval;

    fn chart(rates: &[f64]) -> Chart {
        let bar = |(series, &rate): (usize, &f64)| Bar {
            name: format!("server-{series}"),
            series,
            rate: Ok(rate),
            interval: Some(Interval { low: rate * 0.9, high: rate * 1.1 }),
        };
        Chart {
            title: "a < b".to_owned(),
            subtitle: String::new(),
            groups: vec![Group {
                name: "ghz".to_owned(),
                bars: rates.iter().enumerate().map(bar).collect(),
                remark: None,
            }],
        }
    }

    fn widths(svg: &str) -> Vec<f64> {
        let bars = svg.lines().filter(|line| line.contains("rx=\"2\""));
        let width = |line: &str| {
            let after = line.split("width=\"").nth(1)?;
            after.split('"').next()?.parse().ok()
        };
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
    fn words_of_others_cannot_break_the_document() {
        let svg = chart(&[1.0]).svg(Theme::Light);
        assert!(svg.contains("<title>a &lt; b</title>"));
    }

    #[test]
    fn the_themes_differ_in_colours_alone() {
        let chart = chart(&[10.0, 20.0]);
        let without_colours = |theme| {
            let svg = chart.svg(theme);
            let parts = svg.split('#').map(|part| part.get(6..).unwrap_or_default().to_owned());
            parts.skip(1).collect::<Vec<_>>()
        };
        assert_ne!(chart.svg(Theme::Light), chart.svg(Theme::Dark));
        assert_eq!(without_colours(Theme::Light), without_colours(Theme::Dark));
    }

    #[test]
    fn digits_are_grouped_by_thousands() {
        assert_eq!(thousands("1376444"), "1,376,444");
        assert_eq!(thousands("999"), "999");
    }

    #[test]
    fn what_was_not_measured_says_why_in_the_place_of_a_bar() {
        let mut chart = chart(&[5.0]);
        chart.groups[0].bars[0].rate = Err("missing".to_owned());
        let svg = chart.svg(Theme::Light);
        assert!(widths(&svg).is_empty());
        assert!(svg.contains(">missing<"));
    }
}
