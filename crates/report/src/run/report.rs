//! A run with its rows, and the content that all its printed forms share.

use crate::markdown::{lines, list};
use crate::tables::{
    connection_table, cost_table, instrument_table, marks, published_table, resource_table,
    skipped_lines, spinning_lines, window_lines,
};
use bookend_contract::printable;
use bookend_contract::transport::Transport;
use bookend_results::measurement::Row;
use bookend_results::quoted::{clipped, one_line};
use bookend_results::store::Run;
use bookend_results::suite::{Plan, ShortWindows, Suite};
use bookend_results::table::Table;
use std::collections::BTreeMap;
use std::path::Path;

/// A run with its rows, ready to be printed.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    pub(super) run: &'a Run,
    pub(super) rows: &'a [Row],
    pub(super) table: Table,
}

impl<'a> Report<'a> {
    /// Sums up a run.
    pub fn new(run: &'a Run, rows: &'a [Row]) -> Self {
        Self { run, rows, table: Table::new(&run.new.plan, rows) }
    }

    /// As above, with the features that each server was found to lack, by subject.
    pub fn with_skips(mut self, skips: BTreeMap<String, Vec<String>>) -> Self {
        self.table = self.table.with_skips(skips);
        self
    }

    /// The summed-up cells.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The suite's title when the run was made.
    pub fn title(&self) -> String {
        self.prose().0
    }

    /// Everything for a terminal: machine, parameters, notes, the published table, costs, marks,
    /// the command, and the answer in words.
    pub fn text(&self) -> String {
        let table = &self.table;
        let notes = self
            .notes()
            .into_iter()
            .map(|note| format!("note: {}\n", one_line(&clipped(note))))
            .collect();
        let marks = marks(table).into_iter().map(|mark| format!("mark: {mark}\n")).collect();
        let optional = [connection_table(table), instrument_table(table)]
            .into_iter()
            .flatten()
            .map(|table| format!("{table}\n"))
            .collect();
        let text = [
            self.joined(),
            format!("{}\n{}\n", self.run.new.provenance_text(), list(&self.parameters())),
            notes,
            format!("{}\n", published_table(table)),
            format!("{}{}\n", cost_table(table), lines(&self.remarks())),
            optional,
            resource_table(table),
            lines(self.server_lives().as_slice()),
            marks,
            format!("made by: {}\n\n", one_line(&clipped(&self.run.new.command))),
            lines(&self.answer()),
        ]
        .concat();
        printable::lines(&text).into_owned()
    }

    /// The first line of all forms of it, if its rows are of several runs.
    pub(super) fn joined(&self) -> String {
        self.table.joined().map_or_else(String::new, |text| format!("{}\n", one_line(&text)))
    }

    /// What a reader of the cost figures must know, one remark a line.
    pub fn remarks(&self) -> Vec<String> {
        let table = &self.table;
        let windows = window_lines(&self.run.new.plan, table);
        let remarks = [skipped_lines(table), spinning_lines(table), windows].concat();
        remarks.iter().map(|remark| one_line(remark)).collect()
    }

    /// The lines of the published list of parameters, in the published order.
    pub fn parameters(&self) -> Vec<String> {
        let plan = &self.run.new.plan;
        let memory = plan
            .limits
            .server_memory_bytes
            .map_or("unlimited".to_owned(), |bytes| format!("{} MiB", bytes >> 20));
        let generator =
            plan.generator_cpus.map_or("those left".to_owned(), |cpus| cpus.to_string());
        // If every case has a fixed number of calls, no window has a set length.
        let by_time = plan.cases.iter().any(|case| case.calls.is_none());
        let longest = plan
            .window_max_ms
            .filter(|longest| *longest > plan.window_ms)
            .map_or(String::new(), |most| format!(", at most {most} ms"));
        let kept = match plan.short_windows {
            ShortWindows::Kept => ", kept where that is too short",
            ShortWindows::Refused => "",
        };
        let window = by_time.then(|| format!("window: {} ms{longest}{kept}", plan.window_ms));
        let mut lines = vec![format!("extent: {}", self.run.scope())];
        lines.extend(variables(plan));
        lines.push(format!("method: {}", plan.request.method));
        lines.extend(transports(plan));
        lines.extend(window);
        lines.extend([format!("warm-up: {} ms", plan.warmup_ms)]);
        lines.extend(self.by_turns());
        lines.extend([
            format!("rounds: {} ({} stored)", plan.rounds, self.stored_rounds()),
            format!("server: {} CPU, {memory}", plan.limits.server_cpus),
            format!("generator: CPUs: {generator}"),
            format!("seed of the order: {}", self.run.new.seed),
        ]);
        lines.extend(self.server_lives());
        lines.iter().map(|line| one_line(line)).collect()
    }

    /// Since when memory is counted, where servers served several cells one after another.
    pub fn server_lives(&self) -> Option<String> {
        let measured = self.rows.iter().filter(|row| row.outcome.window().is_some());
        let mut shared = measured.filter(|row| !row.has_own_server).peekable();
        shared.peek()?;
        let cells = shared.map(|row| row.cells_before).max()?;
        let since = match cells {
            Some(0) => return None,
            Some(1) => "1 cell earlier".to_owned(),
            Some(cells) => format!("up to {cells} cells earlier"),
            None => "some cells earlier".to_owned(),
        };
        Some(format!("memory: of servers since their start, {since} in the round"))
    }

    /// How cells were measured that were measured by turns.
    pub fn by_turns(&self) -> Option<String> {
        let (in_laps, whole): (Vec<_>, Vec<_>) = self
            .rows
            .iter()
            .filter_map(|row| row.outcome.window())
            .partition(|each| each.laps.is_some());
        let lengths = in_laps.iter().map(|window| {
            let laps = f64::from(window.laps.unwrap_or(1).max(1));
            (window.window_seconds * 1e3 / laps).round() as u64
        });
        let (least, most) = (lengths.clone().min()?, lengths.max()?);
        let length = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let others = if whole.is_empty() {
            String::new()
        } else {
            format!("; {} of {} rows in one window", whole.len(), self.rows.len())
        };
        Some(format!(
            "by turns: cells with the same case and instrument in laps of {length} ms{others}"
        ))
    }

    pub(super) fn stored_rounds(&self) -> usize {
        // Those of runs that were joined to a record come after them.
        let is_own = |round: &u32| *round < self.run.new.plan.rounds;
        let rounds: std::collections::BTreeSet<u32> =
            self.rows.iter().map(|row| row.round).filter(is_own).collect();
        rounds.len()
    }

    /// Whether its figures may be quoted as those of the suite.
    pub fn is_quotable(&self) -> bool {
        let rounds = u32::try_from(self.stored_rounds()).unwrap_or(u32::MAX);
        self.run.finished.is_some() && self.run.scope().is_quotable(rounds)
    }

    /// The notes of the plan and of the run, a sentence each.
    pub fn notes(&self) -> Vec<&str> {
        self.run.new.plan.notes.iter().chain(&self.run.notes).map(String::as_str).collect()
    }

    /// Title and analysis from the suite's text as it was when the run was made.
    pub(super) fn prose(&self) -> (String, String) {
        let name = &self.run.new.plan.suite;
        match Suite::parse(Path::new(name), &self.run.new.suite_text) {
            Ok(suite) => (suite.title, suite.analysis),
            Err(_) => (name.clone(), String::new()),
        }
    }
}

/// The variables of the environment that the run followed.
fn variables(plan: &Plan) -> Option<String> {
    let set: Vec<String> =
        plan.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (!set.is_empty()).then(|| format!("environment: {}", set.join(" ")))
}

/// Lists the transports that a run compares, unless plain text is the only one.
fn transports(plan: &Plan) -> Option<String> {
    let mut used = Transport::ALL.to_vec();
    used.retain(|transport| plan.cases.iter().any(|case| case.transport == *transport));
    let words: Vec<String> = used.iter().map(Transport::to_string).collect();
    (used != [Transport::H2c]).then(|| format!("transports: {}", words.join(", ")))
}
