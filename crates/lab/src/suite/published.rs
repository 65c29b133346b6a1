//! A published table as data: `published.csv` in a suite's folder.

use super::{Case, Limits};
use crate::audit::{AuditedRow, Finding, audit};
use crate::declaration::{DeclarationError, read_text};
use std::fmt;
use std::path::Path;

/// The columns of `published.csv`, in this order. Each figure stands twice: as it was printed, and
/// as a number in the unit that its column names.
pub const COLUMNS: [&str; 17] = [
    "connections",
    "concurrency",
    "published_ratio",
    "name",
    "requests_per_second",
    "cpu",
    "cpu_share",
    "latency_mean",
    "latency_mean_ns",
    "latency_p90",
    "latency_p90_ns",
    "latency_p95",
    "latency_p95_ns",
    "latency_p99",
    "latency_p99_ns",
    "memory",
    "memory_bytes",
];

/// A published table.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedTable {
    /// Its rows, in the printed order.
    pub rows: Vec<PublishedRow>,
}

/// A row of a published table. Nothing is corrected: the audit says what cannot be true.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRow {
    /// The case of the heading above it.
    pub case: Case,
    /// The ratio that the heading prints after `^`.
    pub published_ratio: f64,
    /// The subject's name as printed.
    pub name: String,
    /// Requests per second.
    pub requests_per_second: f64,
    /// Mean CPU of the server, 1.0 = one CPU.
    pub cpu_share: f64,
    /// Mean latency, nanoseconds.
    pub latency_mean_ns: f64,
    /// Latency that 90 % of the calls did not exceed, nanoseconds.
    pub latency_p90_ns: f64,
    /// The same for 95 %.
    pub latency_p95_ns: f64,
    /// The same for 99 %.
    pub latency_p99_ns: f64,
    /// Mean memory of the server, bytes.
    pub memory_bytes: f64,
}

impl PublishedTable {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or a line has not the [`COLUMNS`].
    pub fn read(file: &Path) -> Result<Self, PublishedError> {
        Self::parse(&read_text(file).map_err(PublishedError::Unreadable)?)
    }

    /// Reads the text of a file: a heading with the [`COLUMNS`], then rows without quotes.
    ///
    /// # Errors
    /// Names the first line that cannot be read.
    pub fn parse(text: &str) -> Result<Self, PublishedError> {
        let mut lines = text.lines().enumerate();
        let heading = lines.next().map_or("", |(_, heading)| heading);
        if heading != COLUMNS.join(",") {
            return Err(PublishedError::Heading);
        }
        let row = |(index, line)| row(line).ok_or(PublishedError::Line(index + 1));
        let rows = lines.map(row).collect::<Result<_, _>>()?;
        Ok(Self { rows })
    }

    /// What cannot be true in it, given what the servers were limited to: a finding and its row.
    pub fn audit(&self, limits: &Limits) -> Vec<(&PublishedRow, Finding)> {
        let findings = |row| {
            audit(&audited(row, limits))
                .into_iter()
                .map(move |one| (row, one))
        };
        self.rows.iter().flat_map(findings).collect()
    }
}

fn audited(row: &PublishedRow, limits: &Limits) -> AuditedRow {
    AuditedRow {
        concurrency: Some(row.case.concurrency),
        requests_per_second: Some(row.requests_per_second),
        latency_mean_ns: Some(row.latency_mean_ns),
        percentiles_ns: vec![
            (90.0, row.latency_p90_ns),
            (95.0, row.latency_p95_ns),
            (99.0, row.latency_p99_ns),
        ],
        latency_resolution_ns: printed_resolution_ns(row.latency_mean_ns),
        server_cpu: Some(row.cpu_share),
        server_cpu_limit: Some(limits.server_cpus),
        memory_bytes: Some(row.memory_bytes),
        memory_limit_bytes: limits.server_memory_bytes.map(|bytes| bytes as f64),
        ..AuditedRow::default()
    }
}

/// Half a unit of the second decimal, in milliseconds below a second and in seconds above.
fn printed_resolution_ns(latency_ns: f64) -> f64 {
    if latency_ns < 1e9 { 5e3 } else { 5e6 }
}

fn row(line: &str) -> Option<PublishedRow> {
    let fields: Vec<&str> = line.split(',').collect();
    if fields.len() != COLUMNS.len() {
        return None;
    }
    let number = |index: usize| fields[index].parse().ok().filter(|n: &f64| n.is_finite());
    Some(PublishedRow {
        case: Case::new(fields[0].parse().ok()?, fields[1].parse().ok()?).ok()?,
        published_ratio: number(2)?,
        name: fields[3].to_owned(),
        requests_per_second: number(4)?,
        cpu_share: number(6)?,
        latency_mean_ns: number(8)?,
        latency_p90_ns: number(10)?,
        latency_p95_ns: number(12)?,
        latency_p99_ns: number(14)?,
        memory_bytes: number(16)?,
    })
}

/// Why a published table cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublishedError {
    /// The file cannot be read.
    Unreadable(DeclarationError),
    /// The first line is not the list of columns.
    Heading,
    /// The line of that number, counted from 1, is not a row.
    Line(usize),
}

impl fmt::Display for PublishedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => error.fmt(f),
            Self::Heading => write!(f, "the first line must be: {}", COLUMNS.join(",")),
            Self::Line(line) => write!(
                f,
                "line {line} is not a row of {} fields with numbers where numbers belong",
                COLUMNS.len()
            ),
        }
    }
}

impl std::error::Error for PublishedError {}
