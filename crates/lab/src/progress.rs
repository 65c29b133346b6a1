//! How far a run is, on standard error: one bar over all cells on a terminal, else a line a round,
//! and one more wherever a round takes long.

use bookend_contract::printable;
use bookend_results::measurement::CellId;
use std::fmt;
use std::io::Write;
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthChar as _;

/// Erases the line and goes back to its beginning.
const ERASE: &str = "\r\x1b[2K";

/// The columns of a terminal that does not say how many it has.
pub const COLUMNS: usize = 80;

/// A narrower terminal has no room for a bar after the words.
const BAR_COLUMNS_MIN: usize = 60;

/// In a file or a pipe, a cell has a line where the line before is older: a log that stands still
/// for longer looks like a run that hangs.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Reports how far a run is. A run does not fail because its progress cannot be written.
pub struct ProgressReporter<'a> {
    out: &'a mut dyn Write,
    shown: ProgressShown,
    /// How many columns the terminal has now.
    columns: fn() -> usize,
    line_interval: Duration,
    last_line: Instant,
    position: Position,
}

/// Where progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressShown {
    /// Nowhere.
    Quiet,
    /// In a file or a pipe, line by line.
    Lines,
    /// On a terminal, in a line that changes.
    Terminal,
}

/// A share of what there is to do, as a bar of a fixed width: `[#####---------------]  25 %`; with
/// `#`, the figure alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProgressBar(pub f64);

impl fmt::Display for ProgressBar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = self.0.clamp(0.0, 1.0);
        if out.alternate() {
            return write!(out, "{:>3.0} %", (share * 100.0).floor());
        }
        let done = (share * 20.0) as usize;
        write!(out, "[{:-<20}] {:>3.0} %", "#".repeat(done), (share * 100.0).floor())
    }
}

/// A line that takes the place of the one before it on a terminal of `columns` columns. It is cut
/// off where it would be broken: a line that has become two cannot be erased.
pub fn changing_line(text: &str, columns: usize) -> String {
    let line = printable::line(text);
    format!("{ERASE}{}", &line[..end_within(&line, columns)])
}

/// Whether a changing line is whole on a terminal of `columns` columns.
pub fn fits(text: &str, columns: usize) -> bool {
    end_within(text, columns) == text.len()
}

/// Where a text has to end, bytes. The last column stays free: some terminals go on to the next
/// line as soon as it is written.
fn end_within(text: &str, columns: usize) -> usize {
    let mut left = columns.saturating_sub(1);
    let does_not_fit = |(_, letter): &(usize, char)| {
        let rest = left.checked_sub(letter.width().unwrap_or(0));
        left = rest.unwrap_or(0);
        rest.is_none()
    };
    text.char_indices().find(does_not_fit).map_or(text.len(), |(at, _)| at)
}

/// What there is to do and how much of it is done.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    rounds: u32,
    rounds_done: u32,
    cells_a_round: u32,
    cells_done: u32,
    /// Time that the measured cells took.
    taken: Duration,
    /// What one cell is expected to take before one was measured.
    cell_estimate: Duration,
}

impl<'a> ProgressReporter<'a> {
    /// Reports on `out`.
    pub fn new(out: &'a mut dyn Write, shown: ProgressShown) -> ProgressReporter<'a> {
        ProgressReporter {
            out,
            shown,
            columns: || COLUMNS,
            line_interval: LINE_INTERVAL,
            last_line: Instant::now(),
            position: Position::default(),
        }
    }

    /// The same on a terminal whose number of columns its user may change.
    pub fn within(self, columns: fn() -> usize) -> ProgressReporter<'a> {
        ProgressReporter { columns, ..self }
    }

    /// A line that stays.
    pub fn println(&mut self, sentence: &str) {
        // What a process has said may hold anything, and a line is to stay one.
        let sentence = printable::line(sentence);
        let erase = if self.is_terminal() { ERASE } else { "" };
        self.last_line = Instant::now();
        self.write(&format!("{erase}{sentence}\n"));
    }

    fn is_terminal(&self) -> bool {
        self.shown == ProgressShown::Terminal
    }

    fn write(&mut self, text: &str) {
        if self.shown == ProgressShown::Quiet {
            return;
        }
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }

    /// Starts with what there is to do; `cell_estimate` is what one cell is expected to take.
    pub fn start(
        &mut self,
        rounds: u32,
        rounds_done: u32,
        cells_a_round: usize,
        cell_estimate: Duration,
    ) {
        self.position = Position {
            rounds,
            rounds_done,
            cells_a_round: u32::try_from(cells_a_round).unwrap_or(u32::MAX),
            cell_estimate,
            ..Position::default()
        };
    }

    /// Shows the cell that is measured now, the `index`th of its round.
    pub fn show_cell(&mut self, index: usize, cell: &CellId) {
        let CellId { subject, case, instrument } = cell;
        let (bar, left) = (ProgressBar(self.position.share(index)), self.position.left(index));
        let (round, rounds) = (self.position.rounds_done + 1, self.position.rounds);
        if !self.is_terminal() {
            if self.last_line.elapsed() >= self.line_interval {
                self.println(&format!("round {round}/{rounds}: {subject} {case}, {left} left"));
            }
            return;
        }
        let columns = (self.columns)();
        let done = if columns < BAR_COLUMNS_MIN { format!("{bar:#}") } else { bar.to_string() };
        let line =
            format!("{done}, {left} left: round {round}/{rounds}, {subject} {case} ({instrument})");
        self.write(&changing_line(&line, columns));
    }

    /// A round is done; it took `taken`.
    pub fn finish_round(&mut self, taken: Duration) {
        let done = &mut self.position;
        done.rounds_done += 1;
        done.cells_done += done.cells_a_round;
        done.taken += taken;
        let Position { rounds, rounds_done, .. } = *done;
        let left = done.left(0);
        let rest = if rounds_done < rounds { format!(", {left} left") } else { String::new() };
        if !self.is_terminal() {
            self.println(&format!("round {rounds_done}/{rounds} done{rest}"));
        }
    }

    /// Erases the changing line.
    pub fn clear(&mut self) {
        if self.is_terminal() {
            self.write(ERASE);
        }
    }
}

impl Position {
    /// The share of all cells that is done. `index` cells of this round are.
    fn share(&self, index: usize) -> f64 {
        let all = f64::from(self.rounds) * f64::from(self.cells_a_round);
        let done = f64::from(self.rounds_done) * f64::from(self.cells_a_round) + index as f64;
        if all > 0.0 { done / all } else { 0.0 }
    }

    /// What the rest takes if it goes on as before. `index` cells of this round are done.
    fn left(&self, index: usize) -> Clock {
        let cell = match self.cells_done {
            0 => self.cell_estimate,
            done => self.taken / done,
        };
        let rounds = self.rounds.saturating_sub(self.rounds_done);
        let cells =
            (u64::from(rounds) * u64::from(self.cells_a_round)).saturating_sub(index as u64);
        Clock(cell.saturating_mul(u32::try_from(cells).unwrap_or(u32::MAX)))
    }
}

/// A length of time as people say it: `45 s`, `12 min`, `3 h 20 min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock(pub Duration);

impl fmt::Display for Clock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        match seconds {
            0..90 => write!(out, "{seconds} s"),
            90..5400 => write!(out, "{} min", seconds.div_ceil(60)),
            _ => write!(out, "{} h {} min", seconds / 3600, seconds % 3600 / 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell() -> CellId {
        CellId {
            subject: "rust-tonic".to_owned(),
            case: "C=1 S=100".parse().unwrap(),
            instrument: "bookend-load".to_owned(),
        }
    }

    fn story(shown: ProgressShown) -> String {
        let mut out = Vec::new();
        let mut progress = ProgressReporter::new(&mut out, shown);
        progress.start(3, 1, 10, Duration::from_secs(2));
        progress.show_cell(4, &cell());
        progress.println("hello");
        progress.finish_round(Duration::from_secs(200));
        progress.clear();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_file_gets_one_line_a_round() {
        assert_eq!(story(ProgressShown::Lines), "hello\nround 2/3 done, 4 min left\n");
        assert_eq!(story(ProgressShown::Quiet), "");
    }

    #[test]
    fn a_file_gets_a_line_a_cell_where_the_line_before_is_old() {
        let mut out = Vec::new();
        let mut progress = ProgressReporter::new(&mut out, ProgressShown::Lines);
        progress.start(3, 1, 10, Duration::from_secs(2));
        progress.line_interval = Duration::MAX;
        progress.show_cell(3, &cell());
        progress.line_interval = Duration::ZERO;
        progress.show_cell(4, &cell());
        let expected = "round 2/3: rust-tonic C=1 S=100, 32 s left\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_terminal_gets_one_bar_over_all_cells() {
        let expected = "\r\x1b[2K[#########-----------]  46 %, 32 s left: round 2/3, rust-tonic \
                        C=1 S=100 (booke\r\x1b[2Khello\n\r\x1b[2K";
        assert_eq!(story(ProgressShown::Terminal), expected);
    }

    #[test]
    fn a_line_stays_one_line_whatever_is_told() {
        let mut out = Vec::new();
        let mut progress = ProgressReporter::new(&mut out, ProgressShown::Lines);
        progress.println("a\nb\x1b[31mc\u{202e}d");
        assert_eq!(String::from_utf8(out).unwrap(), "a b [31mc d\n");
        assert_eq!(changing_line("a\nb\x1b[31mc", 80), "\r\x1b[2Ka b [31mc");
    }

    #[test]
    fn a_narrow_terminal_has_figures_before_names_and_no_line_is_broken() {
        let at_40 = || 40;
        let mut out = Vec::new();
        let mut progress = ProgressReporter::new(&mut out, ProgressShown::Terminal).within(at_40);
        progress.start(3, 1, 10, Duration::from_secs(2));
        progress.show_cell(4, &cell());
        let expected = "\r\x1b[2K 46 %, 32 s left: round 2/3, rust-tonic";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_letter_may_be_two_columns_wide_and_a_mark_none() {
        let erased = |text: &str| format!("\r\x1b[2K{text}");
        assert_eq!(changing_line("\u{6c34}\u{6c34}\u{6c34}", 6), erased("\u{6c34}\u{6c34}"));
        assert_eq!(changing_line("e\u{301}e\u{301}e", 3), erased("e\u{301}e\u{301}"));
        assert_eq!(changing_line("abc", 0), erased(""));
        assert!(fits("abc", 4) && !fits("abc", 3));
    }

    #[test]
    fn a_bar_is_as_wide_when_all_is_done() {
        assert_eq!(ProgressBar(0.0).to_string(), "[--------------------]   0 %");
        assert_eq!(ProgressBar(1.5).to_string(), "[####################] 100 %");
    }

    #[test]
    fn time_is_told_as_people_say_it() {
        let clock = |seconds| Clock(Duration::from_secs(seconds)).to_string();
        assert_eq!(clock(0), "0 s");
        assert_eq!(clock(89), "89 s");
        assert_eq!(clock(90), "2 min");
        assert_eq!(clock(12_000), "3 h 20 min");
    }
}
