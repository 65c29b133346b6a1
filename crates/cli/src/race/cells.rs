//! The ways in which a race calls servers, by `--concurrency`, `--connections` and `--grid`.

use super::arguments::RaceArguments;
use crate::terminal::Failure;
use bookend_results::race::RaceCell;

/// Calls in flight where connections alone are given, and of clients: a cell of theirs takes as
/// many starts as it has laps.
const CONCURRENCY: u32 = 50;

/// The default cells of a race, connections and calls in flight: one call at a time, many on one
/// connection, one on each of many, and many on many. A server may be good at one of these and bad
/// at another.
const CELLS: [(u32, u32); 4] = [(1, 1), (1, 100), (100, 100), (100, 1000)];

/// The default lists of a grid.
const GRID: [&[u32]; 2] = [&[1, 10, 100], &[1, 100, 1000]];

impl RaceArguments {
    /// The ways in which the servers are called.
    ///
    /// # Errors
    /// The lists do not fit, or a number is 0.
    pub fn cells(&self) -> Result<Vec<RaceCell>, Failure> {
        if self.concurrency.iter().chain(&self.connections).any(|number| *number == 0) {
            return Err(Failure::usage("--concurrency and --connections are at least 1"));
        }
        if self.grid {
            return self.grid_cells();
        }
        let is_told_none = self.concurrency.is_empty() && self.connections.is_empty();
        // A rate that many connections hold is too much for one call at a time.
        if is_told_none && !self.contestants.client && self.rps().is_none() {
            return Ok(CELLS.map(cell).to_vec());
        }
        let concurrency = given(&self.concurrency, &[CONCURRENCY]);
        let connections = given(&self.connections, &[1]);
        let count = concurrency.len().max(connections.len());
        let fits = |list: &[u32]| list.len() == 1 || list.len() == count;
        if !fits(concurrency) || !fits(connections) {
            return Err(Failure::usage(
                "--concurrency and --connections: one number for all cells, or one for each; with \
                 --grid every number of one with every number of the other",
            ));
        }
        let numbered = |number: usize| {
            let connections = connections[number % connections.len()];
            cell((connections, concurrency[number % concurrency.len()].max(connections)))
        };
        Ok((0..count).map(numbered).collect())
    }

    fn grid_cells(&self) -> Result<Vec<RaceCell>, Failure> {
        let [connections, concurrency] = GRID;
        let connections = given(&self.connections, connections);
        let concurrency = given(&self.concurrency, concurrency);
        let cells: Vec<RaceCell> = connections
            .iter()
            .flat_map(|c| concurrency.iter().map(move |s| (*c, *s)))
            .filter(|(c, s)| c <= s)
            .map(cell)
            .collect();
        if cells.is_empty() {
            return Err(Failure::usage(
                "--grid: no number of --concurrency is as large as one of --connections",
            ));
        }
        Ok(cells)
    }
}

fn cell((connections, concurrency): (u32, u32)) -> RaceCell {
    RaceCell { connections, concurrency }
}

/// A list, or the usual one where it was not given.
fn given<'a>(list: &'a [u32], usual: &'a [u32]) -> &'a [u32] {
    if list.is_empty() { usual } else { list }
}
