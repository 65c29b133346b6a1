//! Latency over the load of several load tests: how many calls were due a second or, in closed
//! loops, how many were in flight.

use super::super::basis::called;
use super::super::load_test::LoadTest;
use super::super::wording::{per_second_text, time_text};
use super::offered::answered_over_offered;
use crate::chart::{
    AxisName, AxisUnit, LineChart, LinePanel, LinePoint, LineRows, LineSeries, Scale,
};
use crate::html::HtmlRow;
use crate::picture::{Drawing, Picture};
use bookend_results::grouping::each_once;

/// The lines.
const SHOWN: [(f64, &str); 4] = [(50.0, "50 %"), (90.0, "90 %"), (99.0, "99 %"), (99.9, "99.9 %")];

/// What the axis along the bottom has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Load {
    /// Calls that are due by a schedule.
    Offered,
    /// Calls in flight, each of which waits for another to end.
    InFlight,
}

/// `None`: they are not at least two, with loads of one kind that differ.
pub(super) fn picture(tests: &[LoadTest]) -> Option<Picture> {
    let load = [Load::Offered, Load::InFlight].into_iter().find(|load| {
        let loads = tests.iter().filter_map(|test| load.of(test)).map(f64::to_bits);
        each_once(loads).len() > 1
    })?;
    let mut own: Vec<(f64, &LoadTest)> =
        tests.iter().filter_map(|test| Some((load.of(test)?, test))).collect();
    own.sort_by(|a, b| a.0.total_cmp(&b.0));
    let lines: Vec<Vec<LinePoint>> =
        SHOWN.iter().map(|(percentage, _)| line(&own, *percentage)).collect();
    lines.iter().find(|line| !line.is_empty())?;
    let series = SHOWN
        .iter()
        .enumerate()
        .map(|(style, (_, name))| LineSeries { name: (*name).to_owned(), style })
        .collect();
    let chart = LineChart {
        title: load.title().to_owned(),
        subtitle: called(tests),
        across: AxisName::new(load.axis(), AxisUnit::Number),
        up: AxisName::new(load.latency(), AxisUnit::Nanoseconds),
        scales: [Scale::Logarithmic; 2],
        shaded_below: None,
        parting: None,
        series,
        panels: vec![LinePanel { title: String::new(), lines }],
        has_dots: true,
        has_bands: false,
    };
    let headings = ["name", load.axis(), "answered OK (1/s)", "50 %", "90 %", "99 %", "99.9 %"];
    Some(Picture {
        title: chart.title.clone(),
        caption: load.caption().to_owned(),
        drawing: load.drawing(chart, &own),
        headings: headings.map(str::to_owned).to_vec(),
        rows: own.iter().map(|(along, test)| row(*along, test)).collect(),
    })
}

impl Load {
    fn of(self, test: &LoadTest) -> Option<f64> {
        match self {
            Self::Offered => test.offered_per_second(),
            Self::InFlight if test.open_loop().is_none() => test.in_flight_max(),
            Self::InFlight => None,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Offered => "Rate and latency over the offered load",
            Self::InFlight => "Latency over the calls in flight",
        }
    }

    /// Over the offered load, what was answered of it stands above the latency.
    fn drawing(self, latencies: LineChart, tests: &[(f64, &LoadTest)]) -> Drawing {
        let answered = |(along, test): &(f64, &LoadTest)| LinePoint {
            x: *along,
            y: test.ok_per_second(),
            interval: None,
            is_bound: !test.is_carried(),
            failed: None,
        };
        match self {
            Self::Offered => {
                let answered = tests.iter().map(answered).collect();
                let first = answered_over_offered(&latencies, answered);
                Drawing::Rows(LineRows { first, others: vec![latencies] })
            }
            Self::InFlight => Drawing::Lines(latencies),
        }
    }

    fn axis(self) -> &'static str {
        match self {
            Self::Offered => "calls due per second (1/s)",
            Self::InFlight => "calls in flight",
        }
    }

    fn latency(self) -> &'static str {
        match self {
            Self::Offered => "latency from when calls were due",
            Self::InFlight => "latency from when calls were made",
        }
    }

    fn caption(self) -> &'static str {
        match self {
            Self::Offered => {
                "Above, the answers part from the broken line where the load becomes too much. Below, each \
                 line is the latency that this share of the OK calls did not exceed. A hollow dot: \
                 fewer than 99 % of the calls that were due ended with OK, so this load was not \
                 carried."
            }
            Self::InFlight => {
                "Each line is the latency that this share of the OK calls did not exceed. Where the rate \
                 no longer grows with the calls in flight, each of them only waits longer. A hollow \
                 dot: fewer than 99 % of the calls ended with OK."
            }
        }
    }
}

fn line(tests: &[(f64, &LoadTest)], percentage: f64) -> Vec<LinePoint> {
    tests
        .iter()
        .filter_map(|(along, test)| {
            let latency_ns = test.clock().at_if_told(percentage)?;
            let (x, y, is_bound) = (*along, latency_ns as f64, !test.is_carried());
            Some(LinePoint { x, y, interval: None, is_bound, failed: test.failed_share() })
        })
        .collect()
}

fn row(along: f64, test: &LoadTest) -> HtmlRow {
    let told = SHOWN.iter().map(|(percentage, _)| {
        test.clock().at_if_told(*percentage).map_or("-".to_owned(), time_text)
    });
    let figures = [per_second_text(along), per_second_text(test.ok_per_second())]
        .into_iter()
        .chain(told)
        .collect();
    HtmlRow { names: vec![test.name.clone()], figures: Ok(figures) }
}
