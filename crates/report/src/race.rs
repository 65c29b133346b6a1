//! What a race says: a few lines in words, a table where there are several cells, and JSON for
//! programs.

mod cells;
mod functions;
mod outlook;
mod page;
mod pictures;

use crate::text_table::{Aligned, PlainTable};
use bookend_contract::printable;
use bookend_results::failed_share::FailedShare;
use bookend_results::race::{
    ComparedFigure, EarlierRace, OverEarlier, Race, RaceError, RaceLap, RaceServerName,
    RaceVerdict, RatedCalls, Standing, is_within,
};
use bookend_results::statistics::Interval;
use bookend_results::suite::TestedEnd;
use bookend_results::text::{precise_latency_text, rate_text, significant_text};
use functions::{functions_table, signed as signed_ns};
use outlook::{budget_for_interval, deciding_budget};
use serde_json::{Value, json};

/// Share by which two starts of one program may differ, by where the kernel and the loader put it:
/// one server, slower by 1 %, was seen slower by 2.1 % and not at all in three races of one start
/// each.
const START_SHARE: f64 = 0.03;

/// What is said where there is no interval.
const TOO_FEW: &str = "Inconclusive: there are too few starts or rounds for an interval.";

/// What a race says.
#[derive(Clone, Copy, Debug)]
pub struct RaceAnswer<'a> {
    race: &'a Race,
    earlier: Option<&'a EarlierRace>,
}

impl<'a> RaceAnswer<'a> {
    /// The answer of a race, of which one server may be held against that of an earlier race.
    pub fn new(race: &'a Race, earlier: Option<&'a EarlierRace>) -> Self {
        Self { race, earlier }
    }

    /// The answer, at most six lines in words; above it a table where there are several cells.
    ///
    /// # Errors
    /// A round yields no ratio.
    pub fn text(&self) -> Result<String, RaceError> {
        let lines: String =
            self.lines()?.iter().map(|line| format!("{}\n", printable::line(line))).collect();
        Ok(format!("{}{}{lines}", self.table()?, self.functions_text()))
    }

    /// The answer in words.
    fn lines(&self) -> Result<Vec<String>, RaceError> {
        let standing = self.race.standing()?;
        let mut lines = Vec::new();
        match self.race.servers.as_slice() {
            [_, _] => {
                let [first, second] = [0, 1].map(|server| self.marked_name(server));
                lines.push(self.verdict_line(&standing, &first, &second));
                lines.push(self.cost_line(&standing, &first, &second));
            }
            _ => {
                lines.extend(self.earlier.map(|earlier| self.earlier_line(earlier)).transpose()?);
                lines.push(self.only_line(&standing));
            }
        }
        lines.extend(self.failures_line());
        lines.extend(self.race.dropped_line());
        lines.push(self.effort_line(&standing));
        let doubts = self.all_doubts(&standing);
        if !doubts.is_empty() {
            lines.push(format!("Doubt it for this: {}.", doubts.join("; ")));
        }
        Ok(lines)
    }

    /// The answer as JSON, without the laps.
    ///
    /// # Errors
    /// A round yields no ratio.
    pub fn json(&self) -> Result<Value, RaceError> {
        let standing = self.race.standing()?;
        let mut answer = json!({
            "margin": self.race.margin,
            "rps": self.race.rps,
            "lap_ms": self.race.lap_ms,
            "rounds": standing.rounds(),
            "rounds_dropped": self.race.dropped.len(),
            "tested": self.race.tested,
            "starts": self.race.starts.len(),
            "covers_starts": standing.covers_starts(),
            "seed": self.race.seed,
            "servers": self.servers_json(None),
            "doubts": self.all_doubts(&standing),
        });
        if self.race.servers.len() == 2 {
            let verdict = standing.verdict(self.race.margin);
            answer["verdict"] = word(verdict).into();
            if let RaceVerdict::Better(server) = verdict {
                answer["better"] = self.race.servers[server].name.clone().into();
            }
            answer["ratios"] = ratios_json(&standing);
        }
        if let Some(functions) = &self.race.functions {
            answer["functions"] = json!(functions);
        }
        if let Some(earlier) = self.earlier {
            let over = earlier.over(self.race)?;
            answer["earlier"] = json!({
                "name": earlier.name(),
                "calls_per_cpu_second_ratio": over.map(|over| over.ratio),
                "calls_per_cpu_second_interval": over.map(|over| over.interval),
            });
        }
        let cells: Result<Vec<_>, RaceError> = self
            .race
            .cells
            .iter()
            .enumerate()
            .map(|(number, cell)| {
                Ok(json!({
                    "connections": cell.connections,
                    "concurrency": cell.concurrency,
                    "servers": self.servers_json(Some(number)),
                    "ratios": ratios_json(&self.race.standing_in(number)?),
                }))
            })
            .collect();
        answer["cells"] = cells?.into();
        Ok(answer)
    }

    /// Those of the race, and that a small difference may be one of starts, not of programs.
    fn all_doubts(&self, standing: &Standing) -> Vec<String> {
        let is_small = (standing.cost_ratio() - 1.0).abs() < START_SHARE;
        let is_better = matches!(standing.verdict(self.race.margin), RaceVerdict::Better(_));
        let may_be_starts = self.race.servers.len() == 2 && is_better && is_small;
        let of_starts = (may_be_starts && !standing.covers_starts()).then(|| {
            "too few starts were measured, and two starts of one program may differ as much"
                .to_owned()
        });
        of_starts.into_iter().chain(self.race.doubts.iter().cloned()).collect()
    }

    fn servers_json(&self, cell: Option<usize>) -> Vec<Value> {
        let server = |(number, server): (usize, &RaceServerName)| {
            let total = self.race.total(number, cell);
            json!({
                "name": server.name,
                "command": server.command,
                "calls_ok": total.ok,
                "calls_failed": self.race.calls_failed(number, cell),
                "failed_share": self.race.failed_share(number, cell).map_or(0.0, FailedShare::share),
                "cpu_ns_per_call": 1e9 / total.calls_per_cpu_second(),
                "calls_per_cpu_second": total.calls_per_cpu_second(),
                "calls_per_second": total.calls_per_second(),
                "latency_p50_ns": self.race.mean_latency_ns(number, cell, |rated| rated.p50_ns),
                "latency_p99_ns": self.race.mean_latency_ns(number, cell, |rated| rated.p99_ns),
            })
        };
        self.race.servers.iter().enumerate().map(server).collect()
    }

    fn verdict_line(&self, standing: &Standing, first: &str, second: &str) -> String {
        let Some(interval) = standing.cost_interval() else {
            return format!("{TOO_FEW} {}", budget_for_interval(standing));
        };
        let margin = percent(self.race.margin);
        let failed = self.race.failed_clause();
        let measured = compared(second, first, standing.cost_ratio(), interval) + &failed;
        match standing.verdict(self.race.margin) {
            RaceVerdict::Better(server) => {
                let is_small = is_within(interval, self.race.margin);
                let small = format!(", by less than the margin of {margin}");
                let small = if is_small { &small } else { "" };
                format!("{} is better{small}: {measured}.", self.marked_name(server))
            }
            RaceVerdict::Equivalent => {
                format!("{first} and {second} are equivalent within {margin}: {measured}.")
            }
            RaceVerdict::Inconclusive => {
                let change = match standing.may_change(self.race.margin) {
                    true => ", and one more start may change that",
                    false => "",
                };
                // Nobody is to read a direction that the costs below do not have.
                let measured = match self.totals_point_elsewhere(standing) {
                    true => compared_within(second, first, interval) + &failed,
                    false => measured,
                };
                format!(
                    "Inconclusive: {measured}{change}. {}",
                    deciding_budget(self.race, standing)
                )
            }
        }
    }

    /// Whether the server that is better in the mean of cells and starts, which count alike, is the
    /// worse one over all calls together.
    fn totals_point_elsewhere(&self, standing: &Standing) -> bool {
        let [first, second] =
            [0, 1].map(|server| self.race.total(server, None).calls_per_cpu_second());
        (standing.cost_ratio() > 1.0 && second < first)
            || (standing.cost_ratio() < 1.0 && second > first)
    }

    fn cost_line(&self, standing: &Standing, first: &str, second: &str) -> String {
        let [of_first, of_second] = [0, 1].map(|server| self.race.total(server, None));
        let elsewhere = match (self.totals_point_elsewhere(standing), self.race.cells.len()) {
            (false, _) => "",
            (true, 1) => ", over all calls together, where starts do not count alike",
            (true, _) => ", over all calls together, where cells do not count alike",
        };
        let costs = format!(
            "A call costs {} of CPU time in {first} and {} in {second}{elsewhere}",
            cost(&of_first),
            cost(&of_second)
        );
        if let Some(latencies) = self.latencies_text(standing) {
            return format!("{costs}. {latencies}");
        }
        let interval = standing.rate().interval.map(between).unwrap_or_default();
        format!(
            "{costs}; calls per second were {} and {}{interval}.",
            rate_text(of_first.calls_per_second()),
            rate_text(of_second.calls_per_second())
        )
    }

    /// How long calls took from when they were due, where they were made by a rate.
    fn latencies_text(&self, standing: &Standing) -> Option<String> {
        let [p50, p99] = standing.latencies()?;
        let text = |compared: ComparedFigure, latency_ns: fn(RatedCalls) -> u64| {
            let each: Option<Vec<String>> = (0..self.race.servers.len())
                .map(|server| self.race.mean_latency_ns(server, None, latency_ns))
                .map(|latency_ns| latency_ns.map(precise_latency_text))
                .collect();
            let of_two = compared.interval.filter(|_| self.race.servers.len() == 2);
            let interval = of_two.map(between).unwrap_or_default();
            Some(format!("{}{interval}", each?.join(" and ")))
        };
        let median = text(p50, |rated| rated.p50_ns)?;
        let high = text(p99, |rated| rated.p99_ns)?;
        Some(format!(
            "From when calls were due, half were answered within {median}, and 99 % within {high}."
        ))
    }

    /// What one server needs.
    fn only_line(&self, standing: &Standing) -> String {
        let (name, total) = (self.marked_name(0), self.race.total(0, None));
        let interval = standing.cost_interval().map_or(String::new(), |interval| {
            let [least, most] =
                [interval.high, interval.low].map(|calls| precise_latency_text(1e9 / calls));
            format!(" (between {least} and {most})")
        });
        let cost = precise_latency_text(1e9 / standing.cost_ratio());
        let failed = self.race.failed_clause();
        let costs = format!("A call costs {cost}{interval} of CPU time in {name}{failed}");
        match self.latencies_text(standing) {
            Some(latencies) => format!("{costs}. {latencies}"),
            None => {
                let rate = rate_text(total.calls_per_second());
                format!("{costs}; calls per second were {rate}.")
            }
        }
    }

    fn earlier_line(&self, earlier: &EarlierRace) -> Result<String, RaceError> {
        let (now, before) = (&self.race.servers[0].name, earlier.name());
        let Some(OverEarlier { ratio, interval }) = earlier.over(self.race)? else {
            return Ok(format!("{TOO_FEW} A larger --budget tells more."));
        };
        let shares = [self.race.failed_share(0, None), earlier.failed_share()];
        let names = [now.clone(), format!("the earlier {before}")];
        let failed = FailedShare::clause(shares.into_iter().zip(names));
        let before = format!("{} did earlier", FailedShare::marked(shares[1], before));
        let measured = compared(&self.marked_name(0), &before, ratio, interval) + &failed;
        Ok(format!(
            "{measured}. The two were not called by turns: what the machine has done since is in \
             this, and not in the interval."
        ))
    }

    fn failures_line(&self) -> Option<String> {
        let share = |number| self.race.failed_share(number, None);
        let named = self.race.servers.iter().enumerate();
        let each = named.map(|(number, RaceServerName { name, .. })| {
            let calls = self.race.calls_failed(number, None);
            let share = share(number).map_or_else(String::new, |share| format!(" ({share})"));
            format!("{calls} of {name}{share}")
        });
        let has_failed = (0..self.race.servers.len()).any(|number| share(number).is_some());
        has_failed.then(|| {
            let each = each.collect::<Vec<_>>().join(", ");
            format!("Calls failed, and are in no figure: {each}.")
        })
    }

    /// The name of a server, behind a sign where calls failed.
    fn marked_name(&self, server: usize) -> String {
        let name = &self.race.servers[server].name;
        FailedShare::marked(self.race.failed_share(server, None), name)
    }

    /// What a call costs a server in a cell, with the share of those that failed.
    fn cost_in(&self, server: usize, cell: usize) -> String {
        let cost = cost(&self.race.total(server, Some(cell)));
        match self.race.failed_share(server, Some(cell)) {
            Some(share) => FailedShare::marked(Some(share), &format!("{cost} ({share} failed)")),
            None => cost,
        }
    }

    fn effort_line(&self, standing: &Standing) -> String {
        let cells = match self.race.cells.as_slice() {
            [cell] => format!("at {cell}"),
            cells => format!("in {} cells, which count alike", cells.len()),
        };
        let rate = self.race.rps.map_or_else(String::new, |rps| {
            format!(" with {} calls a second", significant_text(rps))
        });
        let (rounds, lap_ms) = (standing.rounds(), self.race.lap_ms);
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let rounds = format!("{rounds} round{} of four", plural(rounds));
        let laps = match (self.race.tested, self.race.starts.len()) {
            (TestedEnd::Client, _) => {
                format!("{rounds} runs of {lap_ms} ms, each started anew")
            }
            (TestedEnd::Server, starts) => {
                let plural = plural(starts as u64);
                format!("{starts} start{plural} with {rounds} laps of {lap_ms} ms")
            }
        };
        let measured = format!("Measured {cells}{rate}, in {laps}.");
        if standing.cost_interval().is_none() {
            return measured;
        }
        let whose = if standing.covers_starts() { " and for other starts like these" } else { "" };
        format!("{measured} Each interval holds with 95 %{whose}, however often it was looked at.")
    }

    /// The functions that differ, where the servers were recorded.
    fn functions_text(&self) -> String {
        match (&self.race.functions, self.race.servers.as_slice()) {
            (Some(functions), [first, second]) if !functions.is_empty() => {
                functions_table(functions, [&first.name, &second.name]) + "\n"
            }
            (Some(_), _) => {
                "No function differs beyond what chance makes of samples.\n\n".to_owned()
            }
            (None, _) => String::new(),
        }
    }

    /// A line for each cell, where there are several.
    fn table(&self) -> Result<String, RaceError> {
        if self.race.cells.len() < 2 {
            return Ok(String::new());
        }
        let names = self.race.servers.iter().map(|server| (server.name.as_str(), Aligned::Right));
        let are_two = self.race.servers.len() == 2;
        let ratio = are_two.then_some(("calls per CPU-second", Aligned::Left));
        let first = ("CPU time a call", Aligned::Left);
        let columns: Vec<_> = std::iter::once(first).chain(names).chain(ratio).collect();
        let mut table = PlainTable::new(&columns);
        for (number, cell) in self.race.cells.iter().enumerate() {
            let servers = 0..self.race.servers.len();
            let costs = servers.map(|server| self.cost_in(server, number));
            let standing = self.race.standing_in(number)?;
            let ratio = are_two.then(|| match standing.cost_interval() {
                Some(interval) => format!("{}{}", signed(standing.cost_ratio()), between(interval)),
                None => "too few starts or rounds".to_owned(),
            });
            table.row(std::iter::once(cell.to_string()).chain(costs).chain(ratio));
        }
        Ok(format!("{table}\n"))
    }
}

fn word(verdict: RaceVerdict) -> &'static str {
    match verdict {
        RaceVerdict::Better(_) => "better",
        RaceVerdict::Equivalent => "equivalent",
        RaceVerdict::Inconclusive => "inconclusive",
    }
}

fn ratios_json(standing: &Standing) -> Value {
    json!({
        "calls_per_cpu_second": standing.cost_ratio(),
        "calls_per_cpu_second_interval": standing.cost_interval(),
        "calls_per_second": standing.rate().ratio,
        "calls_per_second_interval": standing.rate().interval,
        "latency_p50": standing.latencies().map(|[p50, _]| p50.ratio),
        "latency_p50_interval": standing.latencies().and_then(|[p50, _]| p50.interval),
        "latency_p99": standing.latencies().map(|[_, p99]| p99.ratio),
        "latency_p99_interval": standing.latencies().and_then(|[_, p99]| p99.interval),
    })
}

/// CPU time a call.
fn cost(total: &RaceLap) -> String {
    precise_latency_text(1e9 / total.calls_per_cpu_second())
}

/// `new answers 3.2 % more calls per CPU-second than old (between +2.1 % and +4.4 %)`
fn compared(second: &str, first: &str, ratio: f64, interval: Interval) -> String {
    format!(
        "{second} answers {} calls per CPU-second than {first}{}",
        more(ratio),
        between(interval)
    )
}

/// `new answers between 12 % fewer and 45 % more calls per CPU-second than old`
fn compared_within(second: &str, first: &str, interval: Interval) -> String {
    let (low, high) = (more(interval.low), more(interval.high));
    format!("{second} answers between {low} and {high} calls per CPU-second than {first}")
}

fn between(interval: Interval) -> String {
    format!(" (between {} and {})", signed(interval.low), signed(interval.high))
}

/// `3.2 % more`, `0.41 % fewer`.
fn more(ratio: f64) -> String {
    let word = if ratio >= 1.0 { "more" } else { "fewer" };
    format!("{} {word}", percent((ratio - 1.0).abs()))
}

/// `+3.2 %`, `-0.41 %`.
fn signed(ratio: f64) -> String {
    let sign = if ratio >= 1.0 { '+' } else { '-' };
    format!("{sign}{}", percent((ratio - 1.0).abs()))
}

/// A share with two digits that carry a meaning, where it is small.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = if percent < 0.995 { 2 } else { usize::from(percent < 99.5) };
    let mut text = format!("{percent:.decimals$}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    text + " %"
}
