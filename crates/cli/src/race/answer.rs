//! What a race answers, and where that goes.

use super::arguments::RaceArguments;
use crate::check::kept_line;
use crate::terminal::{Failure, print};
use bookend_contract::gate::JudgedGate;
use bookend_contract::printable;
use bookend_load::output;
use bookend_report::race::RaceAnswer;
use bookend_results::race::{EarlierRace, Race, RaceError};

/// Prints the answer, and keeps the race.
///
/// # Errors
/// [`Failure`] when a round yields no ratio, or something cannot be written.
pub fn deliver(
    arguments: &RaceArguments,
    race: &Race,
    earlier: Option<&EarlierRace>,
    gates: &[JudgedGate],
) -> Result<(), Failure> {
    let text = if arguments.json {
        let mut answer =
            RaceAnswer::new(race, earlier).json().map_err(|error| blame(race, error))?;
        answer["gates"] = serde_json::to_value(gates).map_err(Failure::nothing_measured)?;
        format!("{}\n", printable::json(&answer.to_string()))
    } else {
        let answer = RaceAnswer::new(race, earlier).text().map_err(|error| blame(race, error))?;
        format!("{answer}{}\n", kept_line())
    };
    print(&text)?;
    if let Some(file) = &arguments.save {
        let kept = serde_json::to_string(race).map_err(Failure::nothing_measured)?;
        output::write(&format!("{}\n", printable::json(&kept)), Some(file))
            .map_err(Failure::not_delivered)?;
    }
    Ok(())
}

/// Whose fault it is that a race has no answer.
pub fn blame(race: &Race, error: RaceError) -> Failure {
    let server = &race.servers[error.server()].name;
    Failure::nothing_measured(format!("{server}: {error}"))
}
