//! Reading what a process prints, by a thread each, without trusting it: lines are bounded, and so
//! is what waits to be looked at.

use bookend_contract::lines::{Line, LineError};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Lines that may wait to be looked at; a process that prints faster blocks on its pipe.
const WAITING_LINES: usize = 64;

/// Lines of standard error that are kept: a stack trace's end, not a log.
const TAIL_LINES: usize = 20;

/// Longer lines of standard error are cut here: they end up in a table's cell.
const TAIL_LINE_BYTES: usize = 1000;

/// What standard output brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputLine {
    /// One line, without its end. Bytes that are not UTF-8 are replaced.
    Complete(String),
    /// A line longer than the limit; the text is its beginning.
    Truncated(String),
}

impl OutputLine {
    /// What was printed; of a line that is too long, its beginning.
    pub fn text(&self) -> &str {
        let (OutputLine::Complete(text) | OutputLine::Truncated(text)) = self;
        text
    }

    /// Reads it as a line of the contract.
    ///
    /// # Errors
    /// It is not one. Nor is the beginning of a line that is too long: it is too long for every
    /// number, and the JSON of a report is cut.
    pub fn parse(&self) -> Result<Line, LineError> {
        self.text().parse()
    }
}

/// Reads `source` line by line in a thread of its own, until it ends or the receiver is dropped.
pub fn read_lines(source: impl Read + Send + 'static, limit_bytes: usize) -> Receiver<OutputLine> {
    let (sender, receiver) = sync_channel(WAITING_LINES);
    thread::spawn(move || forward_lines(BufReader::new(source), limit_bytes, &sender));
    receiver
}

fn forward_lines(mut source: impl BufRead, limit_bytes: usize, sender: &SyncSender<OutputLine>) {
    while let Ok(Some(output)) = next_line(&mut source, limit_bytes) {
        if sender.send(output).is_err() {
            break;
        }
    }
    // A process that still prints must not block on a full pipe while it is being ended.
    let _ = std::io::copy(&mut source, &mut std::io::sink());
}

fn next_line(source: &mut impl BufRead, limit_bytes: usize) -> std::io::Result<Option<OutputLine>> {
    let limit = u64::try_from(limit_bytes).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    Read::by_ref(source).take(limit.saturating_add(1)).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let ended = bytes.last() == Some(&b'\n');
    if ended {
        bytes.pop();
    }
    let too_long = !ended && bytes.len() > limit_bytes;
    if too_long {
        source.skip_until(b'\n')?;
        bytes.truncate(TAIL_LINE_BYTES);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some(if too_long { OutputLine::Truncated(text) } else { OutputLine::Complete(text) }))
}

/// The last lines of a process's standard error. Clones show the same.
#[derive(Clone, Debug, Default)]
pub struct Tail(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    last: VecDeque<String>,
    first_error: Option<String>,
    counted: Vec<CountedText>,
}

#[derive(Debug)]
struct CountedText {
    name: String,
    text: String,
    lines: u64,
}

impl Tail {
    /// Keeps the end of `source`, read by a thread of its own. The second value is hung up when
    /// the source has ended.
    pub fn of(source: impl Read + Send + 'static) -> (Tail, Receiver<()>) {
        let tail = Tail::default();
        let (ended, end) = sync_channel(0);
        let kept = tail.clone();
        thread::spawn(move || {
            let mut source = BufReader::new(source);
            while let Ok(Some(output)) = next_line(&mut source, TAIL_LINE_BYTES) {
                kept.keep(output);
            }
            drop(ended);
        });
        (tail, end)
    }

    /// The last line that is not blank.
    pub fn last_line(&self) -> Option<String> {
        self.kept().last.back().cloned()
    }

    /// The first line that a compiler would begin an error with: of a failed build it says more
    /// than the last.
    pub fn first_error(&self) -> Option<String> {
        self.kept().first_error.clone()
    }

    /// Counts, from now on, the lines that have one of `texts` in them, which stand by their names.
    pub fn count_lines(&self, texts: &BTreeMap<String, String>) {
        self.kept().counted = texts
            .iter()
            .map(|(name, text)| CountedText { name: name.clone(), text: text.clone(), lines: 0 })
            .collect();
    }

    /// How many lines had each of the texts, by its name.
    pub fn line_counts(&self) -> BTreeMap<String, u64> {
        let kept = self.kept();
        kept.counted.iter().map(|counted| (counted.name.clone(), counted.lines)).collect()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, output: OutputLine) {
        let line = output.text().trim_end();
        if line.is_empty() {
            return;
        }
        let mut kept = self.kept();
        for counted in kept.counted.iter_mut().filter(|counted| line.contains(&counted.text)) {
            counted.lines += 1;
        }
        if kept.first_error.is_none() && is_error(line) {
            kept.first_error = Some(line.to_owned());
        }
        if kept.last.len() == TAIL_LINES {
            kept.last.pop_front();
        }
        kept.last.push_back(line.to_owned());
    }
}

/// `error: ...`, `error[E0425]: ...`, `a.c:1:2: error: ...`, `[ERROR] ...`; but not a line about a
/// library called `thiserror`.
fn is_error(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    line.match_indices("error").any(|(start, word)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        let is_part = |character: char| character.is_alphanumeric() || "-_.".contains(character);
        !before.is_some_and(is_part) && matches!(after, Some(':' | '[' | ']'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn line(text: &str) -> OutputLine {
        OutputLine::Complete(text.to_owned())
    }

    #[test]
    fn lines_come_one_by_one_and_the_last_needs_no_end() {
        let lines = read_lines(Cursor::new("ready 1\n\nserved 2"), 100);
        let read: Vec<OutputLine> = lines.iter().collect();
        assert_eq!(read, [line("ready 1"), line(""), line("served 2")]);
    }

    #[test]
    fn a_line_beyond_the_limit_is_said_to_be_so_and_the_next_is_whole() {
        let text = format!("{}\n{}\nok 1\n", "a".repeat(10), "b".repeat(11));
        let read: Vec<OutputLine> = read_lines(Cursor::new(text), 10).iter().collect();
        let expected = [line("aaaaaaaaaa"), OutputLine::Truncated("b".repeat(11)), line("ok 1")];
        assert_eq!(read, expected);
    }

    #[test]
    fn an_endless_line_takes_no_endless_memory() {
        let endless = std::io::repeat(b'x').take(64 << 20);
        let read: Vec<OutputLine> = read_lines(endless, 1 << 20).iter().collect();
        assert_eq!(read, [OutputLine::Truncated("x".repeat(TAIL_LINE_BYTES))]);
    }

    #[test]
    fn compilers_begin_errors_in_many_ways() {
        for line in [
            "error: no such command",
            "error[E0425]: cannot find value",
            "main.cc:1:2: error: expected ;",
            "[ERROR] Failed to execute goal",
        ] {
            assert!(is_error(line), "{line}");
        }
        for line in ["Compiling thiserror-impl v2", "error-chain: fetched", "terror: 1", "errors"] {
            assert!(!is_error(line), "{line}");
        }
    }

    #[test]
    fn lines_with_a_text_are_counted_however_many_there_are() {
        let texts = [("lost", "no thread"), ("odd", "line 7")]
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into();
        let tail = Tail::default();
        tail.count_lines(&texts);
        for number in 0..100 {
            tail.keep(line(&format!("line {number}: no thread, no thread")));
        }
        let counts = [("lost".to_owned(), 100), ("odd".to_owned(), 11)];
        assert_eq!(tail.line_counts(), counts.into());
    }

    #[test]
    fn the_tail_keeps_the_last_lines_that_say_something() {
        let mut text = "ok\nError: a\nerror: b\n".to_owned();
        text.extend((0..100).map(|number| format!("line {number}\n")));
        let (tail, end) = Tail::of(Cursor::new(text + "\n  \n"));
        assert!(end.recv().is_err());
        assert_eq!(tail.last_line().as_deref(), Some("line 99"));
        assert_eq!(tail.first_error().as_deref(), Some("Error: a"));
        assert_eq!(tail.kept().last.len(), TAIL_LINES);
        assert_eq!(tail.kept().last[0], "line 80");
    }
}
