//! How many instructions of its own a server executes for a call, counted by valgrind.
//!
//! A server is given the same bytes in the same reads each time, so its count does not depend on
//! how busy a machine is. It does depend on the compiler, the C library and valgrind, so there are
//! committed counts for each such toolchain, which bind where they are known; elsewhere they are
//! shown.
//!
//! `scripts/instructions` has the release build counted; without it nothing is.
#![forbid(unsafe_code)]

mod lockstep;
mod table;

use lockstep::{FirstSettings, FrameOrder, Lockstep};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};
use table::{Cell, Count, Record, Row};

#[path = "../support/served.rs"]
mod served;
use served::{LastWords, Served};

/// The variable that names the program whose instructions are counted.
const RELEASE_BUILD: &str = "BOOKEND_RELEASE_BUILD";

/// How far a count may be from the committed one: an instruction of the cheapest call. Counts of
/// the same code differ by a fiftieth of an instruction, with the seeds of hash maps.
const TOLERANCE: f64 = 0.001;

/// The calls of the short run; the long one makes `MORE_CALLS` on top. What is left of their
/// difference is calls alone.
const FEW_CALLS: u32 = 2_000;
const MORE_CALLS: u32 = 8_000;

const CELLS: [Cell; 18] = [
    cell("helloworld", "prost", FrameOrder::Whole, 1),
    cell("helloworld", "prost", FrameOrder::Whole, 100),
    cell("helloworld", "prost", FrameOrder::Whole, 1_000),
    cell("complex_proto", "prost", FrameOrder::Whole, 1),
    cell("complex_proto", "prost", FrameOrder::Whole, 100),
    cell("complex_proto", "prost", FrameOrder::Whole, 1_000),
    cell("helloworld", "borrowed", FrameOrder::Whole, 1),
    cell("helloworld", "borrowed", FrameOrder::Whole, 100),
    cell("helloworld", "borrowed", FrameOrder::Whole, 1_000),
    cell("complex_proto", "borrowed", FrameOrder::Whole, 1),
    cell("complex_proto", "borrowed", FrameOrder::Whole, 100),
    cell("complex_proto", "borrowed", FrameOrder::Whole, 1_000),
    cell("helloworld", "prost", FrameOrder::HeadsFirst, 100),
    cell("helloworld", "prost", FrameOrder::EndedApart, 1),
    cell("helloworld", "prost", FrameOrder::HeadsApart, 100),
    cell("helloworld", "prost", FrameOrder::EndsLast, 100),
    cell("helloworld", "prost", FrameOrder::WindowUpdates, 1),
    cell("helloworld", "prost", FrameOrder::WindowUpdates, 100),
];

const fn cell(
    package: &'static str,
    messages: &'static str,
    order: FrameOrder,
    streams: u32,
) -> Cell {
    Cell { package, messages, order, streams }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A server as it is started, which ends with its standard input.
struct Subject {
    program: PathBuf,
    arguments: Vec<&'static str>,
    first_settings: FirstSettings,
    /// The function in which instructions are counted, on the thread that calls it; everywhere
    /// where that is `None`.
    counted_in: Option<&'static str>,
}

/// Serves on the thread that calls it. Start and end of the process are left out: what they take
/// differs by some thousands, with hash maps and with which thread ends first.
const SERVE: &str = "bookend_server::server::BoundServer::serve";

impl Subject {
    fn bookend(program: impl Into<PathBuf>, messages: &str) -> Self {
        let mut arguments =
            vec!["serve", "--port=0", "--threads=1", "--io=epoll", "--preset=trusted"];
        if messages == "borrowed" {
            arguments.push("--borrowed");
        }
        let first_settings = FirstSettings::OfServer;
        Self { program: program.into(), arguments, first_settings, counted_in: Some(SERVE) }
    }

    /// Where it is asked for and built. Its messages are those of prost, and it acknowledges no
    /// PING.
    fn pajamax(cell: Cell) -> Option<Self> {
        env::var_os("PAJAMAX")?;
        let program = root().join("subjects/rust-pajamax/target/release/rust-pajamax");
        let is_countable = cell.messages == "prost" && cell.order != FrameOrder::HeadsApart;
        let is_there = is_countable && program.exists();
        let first_settings = FirstSettings::OfClient;
        let arguments = Vec::new();
        is_there.then_some(Self { program, arguments, first_settings, counted_in: None })
    }

    /// What a call costs, in instructions.
    fn instructions(&self, cell: Cell) -> f64 {
        let few = self.total(cell, FEW_CALLS);
        let many = self.total(cell, FEW_CALLS + MORE_CALLS);
        (many - few) as f64 / f64::from(MORE_CALLS)
    }

    fn total(&self, cell: Cell, calls: u32) -> u64 {
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .args(self.counted_in.map(|function| format!("--toggle-collect={function}")))
            .arg(&self.program);
        collected(&self.called(command, cell, calls / cell.streams).errors)
    }

    /// Has the server, which `command` starts, called that many times by all streams of the cell.
    fn called(&self, mut command: Command, cell: Cell, times: u32) -> LastWords {
        command.args(&self.arguments).env("BOOKEND_CPUS", "1");
        let server = Served::by(command);
        let mut client =
            Lockstep::connect(server.port, cell.package, cell.order, self.first_settings);
        for _ in 0..times {
            client.make_calls(cell.streams);
        }
        client.end();
        server.end()
    }
}

/// The number that valgrind gives at the end.
fn collected(errors: &str) -> u64 {
    let line = errors.lines().find_map(|line| line.split_once("Collected :"));
    let count = line.map_or(0, |(_, count)| count.trim().parse().expect("a number"));
    assert_ne!(count, 0, "valgrind counted nothing:\n{errors}");
    count
}

fn measured(cell: Cell) -> Row {
    let program = env::var_os(RELEASE_BUILD).expect("scripts/instructions says where it is");
    let bookend = Subject::bookend(program, cell.messages).instructions(cell);
    let pajamax = Subject::pajamax(cell).map(|pajamax| pajamax.instructions(cell));
    Row { cell, bookend, pajamax }
}

#[test]
fn a_call_costs_as_many_instructions_as_it_is_said_to() {
    if env::var_os(RELEASE_BUILD).is_none() {
        return println!("needs valgrind and a release build: scripts/instructions has both");
    }
    let rows: Vec<_> = CELLS.iter().map(|cell| measured(*cell)).collect();
    let toolchain = table::toolchain();
    let record = Record::read(&root());
    println!("{}", table::shown(&rows, &record, &toolchain));
    if env::var_os("RECORD").is_some() {
        return record.write(&root(), &rows, &toolchain);
    }
    let how = "RECORD=1 scripts/instructions commits to new counts";
    if !record.knows(&toolchain) {
        println!("Nothing is compared: no counts of this toolchain are committed. {how}.");
        return;
    }
    let moved = rows.iter().filter(|row| record.differs(row, &toolchain, TOLERANCE));
    let moved: Vec<_> = moved.map(|row| row.cell).collect();
    assert!(moved.is_empty(), "{how}, if these are meant to move: {moved:?}");
}

#[test]
fn every_cell_makes_the_calls_that_are_counted() {
    for cell in CELLS {
        let subject = Subject::bookend(env!("CARGO_BIN_EXE_bookend"), cell.messages);
        let said = subject.called(Command::new(&subject.program), cell, 2);
        assert_eq!(said.lines, [format!("served {}", 2 * cell.streams)], "{cell:?}");
    }
}

#[test]
fn a_count_that_has_moved_by_more_than_the_tolerance_is_noticed() {
    let cell = CELLS[0];
    let row = |bookend| Row { cell, bookend, pajamax: None };
    let count = Count { toolchain: "old".to_owned(), cell, instructions: 1_000.0 };
    let record = Record { counts: vec![count] };
    let differs = |row: &Row| record.differs(row, "old", TOLERANCE);
    assert!(!differs(&row(1_000.9)) && !differs(&row(999.1)));
    assert!(differs(&row(1_001.1)) && differs(&row(998.9)));
    assert!(differs(&Row { cell: CELLS[1], ..row(1_000.0) }), "a cell that was never recorded");
    assert!(record.knows("old") && !record.knows("new"));
}

#[test]
fn the_committed_counts_can_be_read_and_have_every_cell() {
    let record = Record::read(&root());
    for Count { toolchain, .. } in &record.counts {
        assert!(CELLS.iter().all(|cell| record.of(*cell, toolchain).is_some()), "{record:?}");
    }
}

#[test]
fn new_counts_replace_those_of_their_toolchain_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("records")).expect("a new folder");
    let cell = CELLS[0];
    let row = |bookend| [Row { cell, bookend, pajamax: None }];
    let none = Record { counts: Vec::new() };
    none.write(folder.path(), &row(1_000.0), "old");
    Record::read(folder.path()).write(folder.path(), &row(900.0), "new");
    Record::read(folder.path()).write(folder.path(), &row(800.0), "new");
    let record = Record::read(folder.path());
    assert_eq!(record.of(cell, "old"), Some(1_000.0));
    assert_eq!(record.of(cell, "new"), Some(800.0));
}
