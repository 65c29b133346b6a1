//! What tables and pictures of a race have a row or a line for.

use crate::case_words::case_words;
use bookend_results::failed_share::FailedShare;
use bookend_results::quoted::{cut_in_the_middle, one_line};
use bookend_results::race::{Race, RaceError, Standing};
use bookend_results::suite::Case;

/// Longer names of servers are cut.
const NAME_CHARS: usize = 32;

/// A cell, or all of them together.
#[derive(Clone, Debug)]
pub(super) struct CellFigures {
    /// Its calls in words, for readers who do not know yet what `C=1 S=100` is.
    pub(super) words: String,
    /// Its number. `None`: all of them.
    pub(super) number: Option<usize>,
    pub(super) standing: Standing,
}

impl CellFigures {
    /// All cells together, where there are several, and then each.
    pub(super) fn all(race: &Race) -> Result<Vec<CellFigures>, RaceError> {
        let mut figures = Vec::new();
        if race.cells.len() > 1 {
            figures.push(CellFigures {
                words: "all cells, which count alike".to_owned(),
                number: None,
                standing: race.standing()?,
            });
        }
        for (number, cell) in race.cells.iter().enumerate() {
            // By a rate, as many are in flight as answers take, up to that number.
            let case =
                Case::new(cell.connections, cell.concurrency).ok().filter(|_| race.rps.is_none());
            figures.push(CellFigures {
                words: case.map_or_else(|| cell.to_string(), |case| case_words(case, false)),
                number: Some(number),
                standing: race.standing_in(number)?,
            });
        }
        Ok(figures)
    }

    /// The share of calls that failed, of the server with the larger one.
    pub(super) fn failed(&self, race: &Race) -> Option<FailedShare> {
        let share = |server| race.failed_share(server, self.number);
        (0..race.servers.len()).map(share).fold(None, FailedShare::larger)
    }
}

/// The names of the servers, as a heading has room for them.
pub(super) fn names(race: &Race) -> Vec<String> {
    let short = |name: &str| cut_in_the_middle(&one_line(name), NAME_CHARS);
    race.servers.iter().map(|server| short(&server.name)).collect()
}
