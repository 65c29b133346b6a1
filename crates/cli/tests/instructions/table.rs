//! The committed counts, one set for each toolchain, and the table that is shown.

use crate::lockstep::FrameOrder;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// What is measured: a service, whose messages its handler has, in which order the frames of its
/// requests come, and how many calls are in flight on one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub package: &'static str,
    /// `prost` or `borrowed`.
    pub messages: &'static str,
    pub order: FrameOrder,
    pub streams: u32,
}

/// Instructions a call.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub cell: Cell,
    pub bookend: f64,
    pub pajamax: Option<f64>,
}

/// What counts depend on besides the code: the compiler, the C library and what it chooses by the
/// processor, and valgrind.
pub fn toolchain() -> String {
    let tools = [&["rustc", "--version"], &["ldd", "--version"], &["valgrind", "--version"]]
        .map(|command| first_line(command[0], command[1]));
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has_avx2 = processor.split_whitespace().any(|word| word == "avx2");
    let avx2 = if has_avx2 { " with AVX2" } else { "" };
    format!("{}; {}{avx2}", tools.join("; "), std::env::consts::ARCH)
}

fn first_line(program: &str, argument: &str) -> String {
    let said = |output: std::process::Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().next().unwrap_or_default().replace([',', ';'], "")
    };
    let output = Command::new(program).arg(argument).output();
    output.map_or_else(|error: io::Error| format!("no {program} ({error})"), said)
}

/// A committed count.
#[derive(Clone, Debug)]
pub struct Count {
    pub toolchain: String,
    pub cell: Cell,
    pub instructions: f64,
}

/// The committed counts.
#[derive(Clone, Debug)]
pub struct Record {
    pub counts: Vec<Count>,
}

const HEADING: &str = "toolchain,service,messages,frames,streams,instructions";

impl Record {
    pub fn read(root: &Path) -> Self {
        let text = fs::read_to_string(path(root)).expect("the record is committed");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(HEADING));
        Self { counts: lines.map(count).collect() }
    }

    /// Writes new counts of one toolchain; those of others stay.
    pub fn write(&self, root: &Path, rows: &[Row], toolchain: &str) {
        let new = rows.iter().map(|row| Count {
            toolchain: toolchain.to_owned(),
            cell: row.cell,
            instructions: (row.bookend * 10.0).round() / 10.0,
        });
        let others = self.counts.iter().filter(|count| count.toolchain != toolchain);
        let mut text = format!("{HEADING}\n");
        for Count { toolchain, cell, instructions } in others.cloned().chain(new) {
            let Cell { package, messages, order, streams } = cell;
            let order = name(order);
            let _ =
                writeln!(text, "{toolchain},{package},{messages},{order},{streams},{instructions}");
        }
        fs::write(path(root), text).expect("the record can be written");
    }

    pub fn knows(&self, toolchain: &str) -> bool {
        self.counts.iter().any(|count| count.toolchain == toolchain)
    }

    /// The committed count of a cell.
    pub fn of(&self, cell: Cell, toolchain: &str) -> Option<f64> {
        let is_it = |count: &&Count| count.cell == cell && count.toolchain == toolchain;
        self.counts.iter().find(is_it).map(|count| count.instructions)
    }

    /// Whether a count is further from the committed one than `tolerance`, a share of it.
    pub fn differs(&self, row: &Row, toolchain: &str, tolerance: f64) -> bool {
        let is_near = |count: f64| (row.bookend - count).abs() <= count * tolerance;
        !self.of(row.cell, toolchain).is_some_and(is_near)
    }
}

/// As the record and the table name it.
fn name(order: FrameOrder) -> &'static str {
    match order {
        FrameOrder::Whole => "whole",
        FrameOrder::HeadsFirst => "heads first",
        FrameOrder::EndedApart => "ended apart",
        FrameOrder::HeadsApart => "heads apart",
        FrameOrder::EndsLast => "ends last",
        FrameOrder::WindowUpdates => "window updates",
    }
}

fn path(root: &Path) -> PathBuf {
    root.join("records/instructions.csv")
}

fn count(line: &str) -> Count {
    let fields: Vec<_> = line.split(',').collect();
    let [toolchain, package, messages, order, streams, instructions] = fields[..] else {
        panic!("{line} has not six fields");
    };
    let streams = streams.parse().expect("a number of streams");
    let is_it = |cell: &&Cell| {
        (cell.package, cell.messages, name(cell.order)) == (package, messages, order)
    };
    let known = crate::CELLS.iter().find(is_it).expect("a known cell");
    let instructions = instructions.parse().expect("a count");
    Count { toolchain: toolchain.to_owned(), cell: Cell { streams, ..*known }, instructions }
}

/// The counts next to those of pajamax and the committed ones.
pub fn shown(rows: &[Row], record: &Record, toolchain: &str) -> String {
    let mut text = format!("{toolchain}\n");
    let _ = writeln!(
        text,
        "{:<14} {:<9} {:<14} {:>7} {:>9} {:>9} {:>9}",
        "service", "messages", "frames", "streams", "bookend", "pajamax", "committed"
    );
    for Row { cell, bookend, pajamax } in rows {
        let optional =
            |count: Option<f64>| count.map_or("-".to_owned(), |count| format!("{count:.1}"));
        let (pajamax, committed) = (optional(*pajamax), optional(record.of(*cell, toolchain)));
        let Cell { package, messages, order, streams } = cell;
        let order = name(*order);
        let _ = writeln!(
            text,
            "{package:<14} {messages:<9} {order:<14} {streams:>7} {bookend:>9.1} {pajamax:>9} {committed:>9}"
        );
    }
    text
}
