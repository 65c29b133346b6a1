//! What a course needs of those that are raced, and a round of them.

use super::error::RaceRunError;
use bookend_results::race::{BLOCK_LAPS, Block, Race, RaceLap, RaceRound};
use fastrand::Rng;

/// Those that are raced: servers, or clients.
pub trait Contestants {
    /// How many there are, two or one.
    fn count(&self) -> usize;

    /// Ends what runs of them and starts them anew, until laps can begin. `is_reversed`: the last
    /// one first.
    ///
    /// # Errors
    /// One does not start or does not answer, or the user wants the race to end.
    fn start(&mut self, is_reversed: bool) -> Result<(), RaceRunError>;

    /// Runs one lap of the contestant of that number, in the cell of that number.
    ///
    /// # Errors
    /// One has failed, or the user wants the race to end.
    fn lap(&mut self, cell: usize, contestant: usize) -> Result<RaceLap, RaceRunError>;

    /// All laps of a round have been run.
    fn end_round(&mut self);

    /// The laps of a contestant are of no use, for this reason.
    fn failed(&self, contestant: usize, reason: String) -> RaceRunError;

    /// What there is to doubt of a race of them that is over, a clause each.
    fn doubts(&self, race: &Race) -> Vec<String>;
}

/// Runs a round: a block in each of `cells` cells, in random order.
///
/// # Errors
/// As [`Contestants::lap`].
pub fn run_round(
    contestants: &mut impl Contestants,
    cells: usize,
    random: &mut Rng,
) -> Result<RaceRound, RaceRunError> {
    let mut order: Vec<usize> = (0..cells).collect();
    random.shuffle(&mut order);
    let mut blocks = Vec::new();
    for cell in order {
        blocks.push((cell, run_block(contestants, cell, random)?));
    }
    contestants.end_round();
    blocks.sort_unstable_by_key(|(cell, _)| *cell);
    Ok(blocks.into_iter().map(|(_, block)| block).collect())
}

/// Four laps, ABBA or BAAB by lot; AAAA where there is one contestant.
fn run_block(
    contestants: &mut impl Contestants,
    cell: usize,
    random: &mut Rng,
) -> Result<Block, RaceRunError> {
    let second = contestants.count() - 1;
    let outer = if random.bool() { second } else { 0 };
    let inner = second - outer;
    let mut laps = [None; BLOCK_LAPS];
    for (place, contestant) in laps.iter_mut().zip([outer, inner, inner, outer]) {
        *place = Some(contestants.lap(cell, contestant)?);
    }
    Ok(laps.map(|lap| lap.expect("each lap was run")))
}
