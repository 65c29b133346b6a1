//! A race as one page, as HTML and as Markdown.

use super::cells::{CellFigures, names};
use super::pictures::{compared_fields, cost_ns, pictures};
use super::{RaceAnswer, percent, signed_ns};
use crate::html::HtmlRow;
use crate::picture::named;
use crate::result_page::{PageTable, ResultPage};
use bookend_contract::secrets::{in_command, in_own_command};
use bookend_results::failed_share::FailedShare;
use bookend_results::quoted::{clipped, cut_in_the_middle, quoted_line};
use bookend_results::race::{FunctionCost, Race, RaceError};
use bookend_results::suite::TestedEnd;
use bookend_results::text::{precise_latency_text, rate_text, significant_text};

const METHOD: &str = "Calls are made in laps. Two servers are called by turns on the same CPUs, in blocks of four laps (ABBA \
     or BAAB, by lot), so that whatever drifts slowly falls on both alike, and are started again every few \
     seconds, because two starts of one program differ. Of clients, each lap is a new start. The CPU time of \
     all processes of a command is read around each lap. A round of blocks yields one ratio, the rounds of a \
     start one value, and an interval is a confidence sequence over these: in at most 5 of 100 races it is ever \
     wrong, however often it is looked at. Bookend's sources have more on it in docs/use/race.md, and define \
     every figure in docs/measure/metrics.md.";

const WHOSE_MACHINE: &str = "All of them ran on one machine, with what called them.";

/// What an earlier version has not kept.
const NOT_SAID: &str = "not said: an earlier version made it";

/// Functions that the page has: the table of a terminal has fewer.
const FUNCTIONS_MAX: usize = 100;
const FUNCTION_CHARS: usize = 120;

/// A figure of a server in a cell, or in all.
type ServerFigure = fn(&Race, usize, Option<usize>) -> String;

impl RaceAnswer<'_> {
    /// The page of the race, under the name of its file.
    ///
    /// # Errors
    /// A round yields no ratio.
    pub fn page(&self, name: &str) -> Result<ResultPage, RaceError> {
        let race = self.race;
        let (cells, names) = (CellFigures::all(race)?, names(race));
        let mut answer = self.lines()?;
        if race.functions.as_ref().is_some_and(Vec::is_empty) {
            answer.push("No function differs beyond what chance makes of samples.".to_owned());
        }
        let tables = [cell_table(race, &cells, &names), function_table(race, &names)];
        let machine = race.machine.as_ref().map_or(format!("{NOT_SAID}\n"), ToString::to_string);
        let build = race.build.as_ref().map_or(NOT_SAID.to_owned(), ToString::to_string);
        let version = race.build.iter().map(|build| quoted_line(&build.version));
        Ok(ResultPage {
            name: name.to_owned(),
            title: match names.as_slice() {
                [first, second] => format!("Race: {second} against {first}"),
                names => format!("Race: {}", names.join(", ")),
            },
            answer,
            pictures: named(pictures(race, &cells)),
            origin: origin(race),
            tables: tables.into_iter().filter(|table| !table.rows.is_empty()).collect(),
            method: METHOD,
            flags: settings(race),
            machine_note: WHOSE_MACHINE,
            machine: clipped(&format!("{machine}Measured with: {build}\n")),
            versions: version.map(|version| ("bookend race".to_owned(), version)).collect(),
            command: commands(race),
        })
    }
}

/// How many servers or clients were called in how many ways, and when.
fn origin(race: &Race) -> String {
    let counted = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let end = match race.tested {
        TestedEnd::Server => "server",
        TestedEnd::Client => "client",
    };
    let (who, cells) = (counted(race.servers.len(), end), counted(race.cells.len(), "cell"));
    let started = race.started.map(|started| format!(", on {started}"));
    format!("{who} in {cells}{}.", started.unwrap_or_default())
}

/// A row for all cells and for each: how much the servers differ, and the figures of both.
fn cell_table(race: &Race, cells: &[CellFigures], names: &[String]) -> PageTable {
    let is_alone = names.len() == 1;
    let is_rated = race.rps.is_some();
    let has_failed = cells.iter().any(|cell| cell.failed(race).is_some());
    let columns: [(&str, bool, ServerFigure); 5] = [
        ("CPU/call", !is_alone, |race, server, cell| {
            in_one_cell(cell, || precise_latency_text(cost_ns(race, server, cell)))
        }),
        ("calls/s", true, |race, server, cell| {
            in_one_cell(cell, || rate_text(race.total(server, cell).calls_per_second()))
        }),
        ("50 %", is_rated, |race, server, cell| {
            time_text(race.mean_latency_ns(server, cell, |rated| rated.p50_ns))
        }),
        ("99 %", is_rated, |race, server, cell| {
            time_text(race.mean_latency_ns(server, cell, |rated| rated.p99_ns))
        }),
        ("failed", has_failed, |race, server, cell| {
            FailedShare::field(race.failed_share(server, cell))
        }),
    ];
    let shown = || columns.iter().filter(|(_, is_shown, _)| *is_shown);
    let row = |cell: &CellFigures| {
        let of_servers = shown().flat_map(|(.., figure)| {
            (0..names.len()).map(|server| figure(race, server, cell.number))
        });
        let figures = compared_fields(cell, is_alone).into_iter().chain(of_servers).collect();
        HtmlRow { names: vec![cell.words.clone()], figures: Ok(figures) }
    };
    let compared = if is_alone { "CPU/call" } else { "calls per CPU-second" };
    let of_servers = shown().flat_map(|(heading, ..)| {
        names.iter().map(move |name| match is_alone {
            true => (*heading).to_owned(),
            false => format!("{heading}, {name}"),
        })
    });
    let headings = ["calls", compared, "from", "to"].map(str::to_owned).into_iter();
    PageTable {
        title: "Cells",
        headings: headings.chain(of_servers).collect(),
        rows: cells.iter().map(row).collect(),
    }
}

/// Over all cells a sum would be one of calls, and cells count alike.
fn in_one_cell(cell: Option<usize>, text: impl Fn() -> String) -> String {
    cell.map_or_else(|| "-".to_owned(), |_| text())
}

fn time_text(time_ns: Option<f64>) -> String {
    time_ns.map_or_else(|| "-".to_owned(), precise_latency_text)
}

/// The functions in which two servers differ, the largest difference first.
fn function_table(race: &Race, names: &[String]) -> PageTable {
    let row = |function: &FunctionCost| {
        let costs = function.cpu_ns_per_call.map(precise_latency_text);
        let ends = function.difference_ns;
        let differences = [function.difference(), ends.low, ends.high].map(signed_ns);
        HtmlRow {
            names: vec![cut_in_the_middle(&quoted_line(&function.name), FUNCTION_CHARS)],
            figures: Ok(costs.into_iter().chain(differences).collect()),
        }
    };
    let functions = race.functions.iter().flatten().filter(|_| names.len() == 2);
    let headings = ["function"].into_iter().chain(names.iter().map(String::as_str));
    PageTable {
        title: "CPU time a call, by function",
        headings: headings.chain(["difference", "from", "to"]).map(str::to_owned).collect(),
        rows: functions.take(FUNCTIONS_MAX).map(row).collect(),
    }
}

/// How it was measured, as far as that can be set.
fn settings(race: &Race) -> PageTable {
    let count = |rounds: usize| rounds.to_string();
    let rate = race.rps.map(|rps| format!("{} calls a second", significant_text(rps)));
    let all = [
        ("rate", rate.unwrap_or_else(|| "as fast as answers come".to_owned())),
        ("lap", format!("{} ms", race.lap_ms)),
        ("rounds", count(race.rounds().count())),
        ("rounds dropped", count(race.dropped.len())),
        ("starts", count(race.starts.len())),
        ("margin", percent(race.margin)),
        ("seed", race.seed.to_string()),
    ];
    let row = |(name, value): (&str, String)| HtmlRow {
        names: vec![name.to_owned()],
        figures: Err(value),
    };
    let headings = ["setting", "value"].map(str::to_owned).to_vec();
    PageTable { title: "Settings", headings, rows: all.into_iter().map(row).collect() }
}

/// The command of the race; of an earlier version, those that it started.
fn commands(race: &Race) -> String {
    if let Some(command) = &race.command {
        return quoted_line(&in_own_command(command));
    }
    let started = race.servers.iter().map(|server| {
        format!("{}: {}", quoted_line(&server.name), quoted_line(&in_command(&server.command)))
    });
    started.collect::<Vec<_>>().join("\n")
}
