//! The pictures of a race: how much the servers differ in each cell, and what a call costs each.

use super::cells::{CellFigures, names};
use super::signed;
use crate::chart::{AxisUnit, ChartPoint, ChartSeries, PointChart, PointLine, Scale};
use crate::failed_calls::figure_with;
use crate::html::HtmlRow;
use crate::picture::{Drawing, Picture};
use bookend_results::race::Race;
use bookend_results::statistics::Interval;
use bookend_results::text::precise_latency_text;

/// The colours of differences, which are nobody's: those of the servers come first.
const DIFFERENCE_COLOURS: [usize; 2] = [2, 3];

/// Those that the race has figures for.
pub(super) fn pictures(race: &Race, cells: &[CellFigures]) -> Vec<Picture> {
    let names = names(race);
    let differences = match names.as_slice() {
        [first, second] => Some(differences(race, cells, [first, second])),
        _ => None,
    };
    differences.into_iter().chain([costs(race, cells, &names)]).collect()
}

/// What the second server answers more than the first with the same CPU time, in percent.
fn differences(race: &Race, cells: &[CellFigures], [first, second]: [&String; 2]) -> Picture {
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let point = |cell: &CellFigures| {
        let (ratio, interval) = (cell.standing.cost_ratio(), cell.standing.cost_interval());
        ChartPoint {
            value: percent(ratio),
            text: figure_with(&signed(ratio), cell.failed(race)),
            interval: interval
                .map(|Interval { low, high }| Interval { low: percent(low), high: percent(high) }),
        }
    };
    let line = |cell: &CellFigures| {
        let mut points = vec![Some(point(cell)), None];
        points.rotate_right(usize::from(cell.number.is_none()));
        PointLine { label: cell.words.clone(), points }
    };
    let colours = [("a cell", DIFFERENCE_COLOURS[0]), ("all cells", DIFFERENCE_COLOURS[1])];
    let chart = PointChart {
        title: format!("Calls per CPU-second: {second} over {first}"),
        subtitle: format!("right of 0, {second} answers more with the same CPU time"),
        scale: Scale::Linear,
        unit: AxisUnit::Difference,
        reference: Some(0.0),
        series: colours.map(|(name, colour)| series(name, colour)).to_vec(),
        lines: cells.iter().map(line).collect(),
    };
    let row = |cell: &CellFigures| HtmlRow {
        names: vec![cell.words.clone()],
        figures: Ok(compared_fields(cell, false).to_vec()),
    };
    let caption = format!(
        "How many more calls {second} answers than {first} with the same CPU time: right of 0 it \
         needs less for a call. Bars are 95 % intervals, which hold however often they were \
         looked at."
    );
    let headings = ["calls", "difference", "from", "to"];
    picture(chart, caption, &headings, cells.iter().map(row).collect())
}

/// The CPU time of a call in each cell. Of one server alone it has an interval.
fn costs(race: &Race, cells: &[CellFigures], names: &[String]) -> Picture {
    let is_alone = names.len() == 1;
    // Of two, their mean over cells would be one of calls, and cells count alike.
    let shown = || cells.iter().filter(|cell| is_alone || cell.number.is_some());
    let point = |cell: &CellFigures, server: usize| {
        let failed = race.failed_share(server, cell.number);
        let (value, interval) = match is_alone {
            true => alone(cell),
            false => (cost_ns(race, server, cell.number), None),
        };
        let text = figure_with(&precise_latency_text(value), failed);
        Some(ChartPoint { value, text, interval })
    };
    let line = |cell: &CellFigures| PointLine {
        label: cell.words.clone(),
        points: (0..names.len()).map(|server| point(cell, server)).collect(),
    };
    let whose = names.join(" and ");
    let chart = PointChart {
        title: format!("CPU time of a call: {whose}"),
        subtitle: "further to the left is cheaper; equal factors are equally long".to_owned(),
        scale: Scale::Logarithmic,
        unit: AxisUnit::Nanoseconds,
        reference: None,
        series: names.iter().enumerate().map(|(colour, name)| series(name, colour)).collect(),
        lines: shown().map(line).collect(),
    };
    let row = |cell: &CellFigures| {
        let figures = match is_alone {
            true => compared_fields(cell, true).to_vec(),
            false => [0, 1]
                .map(|server| precise_latency_text(cost_ns(race, server, cell.number)))
                .to_vec(),
        };
        HtmlRow { names: vec![cell.words.clone()], figures: Ok(figures) }
    };
    let mut headings = vec!["calls"];
    headings.extend(names.iter().map(String::as_str));
    headings.extend(if is_alone { &["from", "to"][..] } else { &[] });
    let caption = "CPU time over calls answered OK, of all laps of a cell together. Further to the \
                   left is cheaper, and equal factors are equally long.";
    picture(chart, caption.to_owned(), &headings, shown().map(row).collect())
}

/// The ratio as a difference, or what a call costs a server alone, with the ends of its interval.
pub(super) fn compared_fields(cell: &CellFigures, is_alone: bool) -> [String; 3] {
    let text = |ratio: f64| match is_alone {
        true => precise_latency_text(1e9 / ratio),
        false => signed(ratio),
    };
    let interval = cell.standing.cost_interval();
    let ends = interval.map_or(["-", "-"].map(str::to_owned), |ends| match is_alone {
        true => [ends.high, ends.low].map(text),
        false => [ends.low, ends.high].map(text),
    });
    let [from, to] = ends;
    [text(cell.standing.cost_ratio()), from, to]
}

fn alone(cell: &CellFigures) -> (f64, Option<Interval>) {
    let cost = |calls: f64| 1e9 / calls;
    let interval = cell.standing.cost_interval();
    let interval = interval.map(|ends| Interval { low: cost(ends.high), high: cost(ends.low) });
    (cost(cell.standing.cost_ratio()), interval)
}

/// The CPU time of a call, nanoseconds.
pub(super) fn cost_ns(race: &Race, server: usize, cell: Option<usize>) -> f64 {
    1e9 / race.total(server, cell).calls_per_cpu_second()
}

fn series(name: &str, colour: usize) -> ChartSeries {
    ChartSeries { name: name.to_owned(), colour, is_printed: false }
}

fn picture(chart: PointChart, caption: String, headings: &[&str], rows: Vec<HtmlRow>) -> Picture {
    Picture {
        title: chart.title.clone(),
        caption,
        headings: headings.iter().map(|heading| (*heading).to_owned()).collect(),
        rows,
        drawing: Drawing::Points(chart),
    }
}
