//! Which cells of a round are measured together. One that cannot go by turns is a group of its own.

use super::pairing::Pairing;
use crate::cell_error::CellError;
use crate::context::RunContext;
use crate::subject::IdleStrategy;
use bookend_results::suite::{PlannedCell, TestedEnd};

/// A cell with its two ends, or why they do not meet.
pub type PairedCell<'a> = (&'a PlannedCell, Result<Pairing<'a>, CellError>);

/// Cells that are measured together.
pub struct CellGroup<'p, 'a> {
    /// They have the same case and instrument.
    pub cells: Vec<&'p PairedCell<'a>>,
    /// Whether they have laps by turns; otherwise it is one cell, with a window in one piece.
    pub goes_by_turns: bool,
}

/// The groups of a round, in the order of their first cells.
pub fn groups<'p, 'a>(context: &RunContext, cells: &'p [PairedCell<'a>]) -> Vec<CellGroup<'p, 'a>> {
    let mut groups: Vec<CellGroup<'p, 'a>> = Vec::new();
    for paired in cells {
        let (cell, pairing) = paired;
        let goes_by_turns =
            pairing.as_ref().is_ok_and(|pairing| goes_by_turns(context, cell, pairing));
        let is_alike = |group: &&mut CellGroup<'p, 'a>| {
            let first = group.cells[0].0;
            group.goes_by_turns
                && first.case == cell.case
                && first.id.instrument == cell.id.instrument
        };
        match groups.iter_mut().find(is_alike).filter(|_| goes_by_turns) {
            Some(group) => group.cells.push(paired),
            None => groups.push(CellGroup { cells: vec![paired], goes_by_turns }),
        }
    }
    groups
}

/// Whether a cell can be measured by turns with others. Not one that begins with a cold server or
/// fresh connections, nor one whose end or backend has work to do while it is not called.
fn goes_by_turns(context: &RunContext, cell: &PlannedCell, pairing: &Pairing<'_>) -> bool {
    let Pairing { side, server, caller, .. } = pairing;
    let is_planned = context.plan.lap_ms.is_some() && context.plan.warmup_ms > 0;
    let keeps_connections = cell.case.calls.is_none() && !cell.case.connection_per_call;
    let ends = [&server.server.variant, &caller.variant];
    let sleeps = ends.iter().all(|end| end.idle == IdleStrategy::Sleep);
    let is_server = *side == TestedEnd::Server && server.backend.is_none();
    is_planned && keeps_connections && sleeps && is_server && caller.variant.laps
}
