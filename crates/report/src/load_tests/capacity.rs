//! The page of a search of the capacity: the highest rate that keeps an objective, the rates that
//! were tried, and how the server scales.

use super::basis;
use super::pictures::answered_over_offered;
use super::tables::table;
use super::wording::{per_second_text, time_text};
use crate::chart::{
    AxisName, AxisUnit, LineChart, LinePanel, LinePoint, LineRows, LineSeries, Scale,
};
use crate::first_few::first_few;
use crate::html::HtmlRow;
use crate::picture::{Drawing, Picture, named};
use crate::result_page::{PageTable, ResultPage};
use bookend_contract::capacity::{CapacityReport, ClosedLoop, RateTrial, ScalabilityFit};
use bookend_results::failed_share::FailedShare;
use bookend_results::quoted::{clipped, cut_in_the_middle, quoted_line};
use bookend_results::statistics::{self, median_ns};
use bookend_results::text::percent_text;

const METHOD: &str = "Closed loops of more and more calls in flight say where to search. Then rates are \
     tried in open loops whose calls are due at random times: half of the way between the highest rate \
     that kept the objective and the lowest that did not, until they are within 2 %. A rate that misses \
     is tried again, and two of three decide. A latency counts from when its call was due. \
     Bookend's sources have more on it in docs/use/load.md.";

/// A fit of ours may have shares somewhat above one, where few points are far from the law. Those
/// of others may have any, of which no percentage can be read.
const SHARE_MAX: f64 = 100.0;

/// A name has as much room as that of a load test.
const NAME_CHARS: usize = 40;

/// The page of the search in a file, under its own name or that of the file.
pub(super) fn page(stem: &str, report: &CapacityReport) -> ResultPage {
    let own = report
        .name
        .as_deref()
        .map(quoted_line)
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| quoted_line(stem));
    let name = cut_in_the_middle(&own, NAME_CHARS);
    let called = basis::called_by(std::iter::once(&report.options));
    let rates = rates(&report.found.trials);
    let pictures = [over_rate(report, &rates, &called), over_in_flight(report, &called)];
    let day = report.date.split('T').next().unwrap_or_default();
    let flags = basis::given(&report.options)
        .map(|(name, value)| HtmlRow { names: vec![name], figures: Err(value) })
        .collect();
    ResultPage {
        title: format!("Capacity: {name}"),
        name,
        answer: answer(report, &rates),
        pictures: named(pictures.into_iter().flatten().collect()),
        origin: format!(
            "{called}, on {}.{}",
            quoted_line(day),
            basis::command_text(&report.origin.command)
        ),
        tables: tables(report),
        method: METHOD,
        flags: basis::table_of_flags(vec!["value".to_owned()], flags),
        machine_note: basis::WHOSE_MACHINE,
        machine: clipped(&report.origin.facts_text()),
        versions: vec![("bookend load".to_owned(), quoted_line(&report.version))],
        command: quoted_line(&report.origin.command),
    }
}

/// A rate with all its tries.
struct Rate {
    per_second: f64,
    /// Calls answered OK a second, the median over its tries.
    ok_per_second: f64,
    /// The median over its tries, nanoseconds.
    p50_ns: u64,
    /// The median over its tries, nanoseconds.
    p99_ns: u64,
    is_kept: bool,
    /// The largest share of failed calls of its tries.
    failed: Option<FailedShare>,
}

/// One for each rate, from the lowest to the highest.
fn rates(trials: &[RateTrial]) -> Vec<Rate> {
    let is_usable = |trial: &&RateTrial| trial.rate.is_finite() && trial.rate > 0.0;
    let mut usable: Vec<&RateTrial> = trials.iter().filter(is_usable).collect();
    usable.sort_by(|one, other| one.rate.total_cmp(&other.rate));
    let median = |tries: &[&RateTrial], of: fn(&RateTrial) -> u64| {
        median_ns(tries.iter().map(|trial| of(trial))).unwrap_or(0)
    };
    let middle = |tries: &[&RateTrial]| {
        let rates: Vec<f64> = tries.iter().map(|trial| trial.ok_per_second).collect();
        statistics::median(&rates).unwrap_or(0.0)
    };
    let rate = |tries: &[&RateTrial]| Rate {
        per_second: tries[0].rate,
        ok_per_second: middle(tries),
        p50_ns: median(tries, |trial| trial.p50_ns),
        p99_ns: median(tries, |trial| trial.p99_ns),
        failed: tries
            .iter()
            .map(|trial| FailedShare::of(trial.error_share))
            .fold(None, FailedShare::larger),
        is_kept: 2 * tries.iter().filter(|trial| trial.missed.is_none()).count() > tries.len(),
    };
    usable.chunk_by(|one, other| one.rate == other.rate).map(rate).collect()
}

fn answer(report: &CapacityReport, rates: &[Rate]) -> Vec<String> {
    let found = &report.found;
    let objective = cut_in_the_middle(&quoted_line(&found.objective), 80);
    let first = match (found.kept_rate, found.missed_rate) {
        (Some(kept), Some(missed)) => format!(
            "{} calls a second keep the objective, {objective}; {} do not.",
            per_second_text(kept),
            per_second_text(missed)
        ),
        (Some(kept), None) => format!(
            "At least {} calls a second keep the objective, {objective}: no rate that was tried \
             misses it.",
            per_second_text(kept)
        ),
        (None, _) if rates.is_empty() => "No rate was tried to its end.".to_owned(),
        (None, _) => format!("No rate that was tried keeps the objective, {objective}."),
    };
    let refused = found.kept_rate.zip(found.kept_ok_per_second).filter(|(rate, ok)| *ok < *rate);
    let refused = refused.map(|(_, ok)| {
        format!("Of these, {} calls a second were answered OK.", per_second_text(ok))
    });
    let disagreement = found.trials_disagree.map(|[low, high]| {
        let [low, high] = [low, high].map(per_second_text);
        format!("Trials disagree: the highest rate is somewhere between {low} and {high}.")
    });
    let limit = match found.kept_rate {
        Some(_) => "The generator was the limit: the target can do at least this much.",
        None => "The generator did not keep to the schedule, so this says nothing of the target.",
    };
    let limit = found.generator_was_limit.then(|| limit.to_owned());
    let kept = rates.iter().rfind(|rate| rate.is_kept).map(|rate| {
        format!(
            "At {} calls a second half of them took at most {} from when they were due, and 99 % at \
             most {}{}.",
            per_second_text(rate.per_second),
            time_text(rate.p50_ns),
            time_text(rate.p99_ns),
            failed_beside(rate)
        )
    });
    let agents: Vec<String> = found.agents.iter().map(|name| quoted_line(name)).collect();
    let agents = (!agents.is_empty())
        .then(|| format!("The calls were made by agents: {}.", first_few(&agents)));
    let is_share = |share: f64| share.abs() < SHARE_MAX;
    let law = found.fit.filter(|fit| is_share(fit.contention) && is_share(fit.explained));
    let law = law.as_ref().map(law_in_words);
    [Some(first), refused, disagreement, limit, kept, agents, law].into_iter().flatten().collect()
}

/// What follows a rate where many calls failed.
fn failed_beside(rate: &Rate) -> String {
    match rate.failed.filter(|share| share.is_told()) {
        Some(share) => format!(", while up to {share} of the calls of a try failed"),
        None => String::new(),
    }
}

fn law_in_words(fit: &ScalabilityFit) -> String {
    let most = match (fit.peak_in_flight, fit.peak_per_second) {
        (Some(in_flight), Some(rate)) => format!(
            "is highest with {in_flight:.0} calls in flight, at {} a second",
            per_second_text(rate)
        ),
        (None, Some(rate)) => format!("approaches {} calls a second", per_second_text(rate)),
        _ => "grows with every call in flight".to_owned(),
    };
    format!(
        "By the Universal Scalability Law, which explains {} of the variance of the closed loops, the \
         rate {most}: {} of a call waits for others.",
        percent_text(fit.explained),
        percent_text(fit.contention)
    )
}

fn over_rate(report: &CapacityReport, rates: &[Rate], called: &str) -> Option<Picture> {
    let line = |of: fn(&Rate) -> u64| {
        let told = rates.iter().filter(|rate| of(rate) > 0);
        let point = |rate: &Rate| LinePoint {
            x: rate.per_second,
            y: of(rate) as f64,
            interval: None,
            is_bound: !rate.is_kept,
            failed: rate.failed,
        };
        told.map(point).collect::<Vec<_>>()
    };
    let lines = vec![line(|rate| rate.p50_ns), line(|rate| rate.p99_ns)];
    lines.iter().find(|line| !line.is_empty())?;
    let answered = |rate: &Rate| LinePoint {
        x: rate.per_second,
        y: rate.ok_per_second,
        interval: None,
        is_bound: !rate.is_kept,
        failed: None,
    };
    let chart = LineChart {
        title: "Rate and latency over the offered load".to_owned(),
        subtitle: called.to_owned(),
        across: AxisName::new("calls due per second (1/s)", AxisUnit::Number),
        up: AxisName::new("latency from when calls were due", AxisUnit::Nanoseconds),
        scales: [Scale::Logarithmic; 2],
        shaded_below: None,
        parting: None,
        series: series(["50 %", "99 %"]),
        panels: vec![LinePanel { title: String::new(), lines }],
        has_dots: true,
        has_bands: false,
    };
    let answered = answered_over_offered(&chart, rates.iter().map(answered).collect());
    let headings = ["calls due per second (1/s)", "answered OK (1/s)", "50 %", "99 %", "objective"];
    let rows = rates
        .iter()
        .map(|rate| HtmlRow {
            names: vec![FailedShare::marked(rate.failed, &per_second_text(rate.per_second))],
            figures: Ok(vec![
                per_second_text(rate.ok_per_second),
                time_text(rate.p50_ns),
                time_text(rate.p99_ns),
                if rate.is_kept { "kept" } else { "missed" }.to_owned(),
            ]),
        })
        .collect();
    Some(Picture {
        title: chart.title.clone(),
        caption: format!(
            "The objective is {}. A hollow dot is a rate that missed it. Where a rate was tried several \
             times, a dot is the median of its tries.",
            cut_in_the_middle(&quoted_line(&report.found.objective), 80)
        ),
        drawing: Drawing::Rows(LineRows { first: answered, others: vec![chart] }),
        headings: headings.map(str::to_owned).to_vec(),
        rows,
    })
}

fn over_in_flight(report: &CapacityReport, called: &str) -> Option<Picture> {
    let points = &report.found.closed_loops;
    let point = |in_flight: u32, rate: f64, failed| {
        let is_drawn = in_flight > 0 && rate.is_finite() && rate > 0.0;
        let x = f64::from(in_flight);
        is_drawn.then_some(LinePoint { x, y: rate, interval: None, is_bound: false, failed })
    };
    let failed = |one: &ClosedLoop| FailedShare::of(one.error_share);
    let measured: Vec<LinePoint> = points
        .iter()
        .filter_map(|one| point(one.in_flight, one.ok_per_second, failed(one)))
        .collect();
    if measured.is_empty() {
        return None;
    }
    let by_law = |in_flight: u32| Some(report.found.fit?.at(f64::from(in_flight)));
    let law = points
        .iter()
        .filter_map(|one| point(one.in_flight, by_law(one.in_flight)?, None))
        .collect();
    let chart = LineChart {
        title: "Rate over the calls in flight".to_owned(),
        subtitle: called.to_owned(),
        across: AxisName::new("calls in flight", AxisUnit::Number),
        up: AxisName::new("calls answered OK per second (1/s)", AxisUnit::Number),
        scales: [Scale::Logarithmic; 2],
        shaded_below: None,
        parting: None,
        series: series(["measured", "by the Universal Scalability Law"]),
        panels: vec![LinePanel { title: String::new(), lines: vec![measured, law] }],
        has_dots: true,
        has_bands: false,
    };
    let rows = points
        .iter()
        .map(|one| HtmlRow {
            names: vec![FailedShare::marked(failed(one), &one.in_flight.to_string())],
            figures: Ok(vec![
                per_second_text(one.ok_per_second),
                FailedShare::field(failed(one)),
                by_law(one.in_flight).map_or_else(|| "-".to_owned(), per_second_text),
            ]),
        })
        .collect();
    Some(Picture {
        title: chart.title.clone(),
        caption:
            "Closed loops: a call is made when another has ended. Where the rate no longer grows \
                  with the calls in flight, each of them only waits longer."
                .to_owned(),
        drawing: Drawing::Lines(chart),
        headings: ["calls in flight", "measured (1/s)", "failed", "by the law (1/s)"]
            .map(str::to_owned)
            .to_vec(),
        rows,
    })
}

fn series(names: [&str; 2]) -> Vec<LineSeries> {
    names
        .into_iter()
        .enumerate()
        .map(|(style, name)| LineSeries { name: name.to_owned(), style })
        .collect()
}

fn tables(report: &CapacityReport) -> Vec<PageTable> {
    let row = |trial: &RateTrial| HtmlRow {
        names: vec![FailedShare::marked(
            FailedShare::of(trial.error_share),
            &per_second_text(trial.rate),
        )],
        figures: Ok(vec![
            per_second_text(trial.ok_per_second),
            per_second_text(trial.in_flight),
            time_text(trial.p50_ns),
            time_text(trial.p99_ns),
            percent_text(trial.error_share),
            trial.missed.as_deref().map_or_else(|| "kept".to_owned(), quoted_line),
        ]),
    };
    let headings = [
        "calls due per second (1/s)",
        "answered OK (1/s)",
        "in flight",
        "50 %",
        "99 %",
        "errors",
        "objective",
    ];
    let rows = report.found.trials.iter().map(row).collect();
    let tried = table("Every try", &headings, rows);
    Some(tried).into_iter().filter(|table| !table.rows.is_empty()).collect()
}
