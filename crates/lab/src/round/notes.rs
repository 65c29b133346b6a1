//! Facts that a process tells beside its figures: `note goroutines_peak 10012`.

use bookend_contract::lines::NOTES_LIMIT;
use std::collections::BTreeMap;
use std::fmt;

/// The notes of one process by name. A name that comes again has its last number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessNotes(BTreeMap<String, f64>);

/// A process noted more facts than are kept: it is logging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyNotes;

impl ProcessNotes {
    /// Takes the next note.
    ///
    /// # Errors
    /// There are [`NOTES_LIMIT`] others already.
    pub fn take(&mut self, name: String, value: f64) -> Result<(), TooManyNotes> {
        if self.0.len() >= NOTES_LIMIT && !self.0.contains_key(&name) {
            return Err(TooManyNotes);
        }
        self.0.insert(name, value);
        Ok(())
    }

    /// All of them.
    pub fn into_map(self) -> BTreeMap<String, f64> {
        self.0
    }
}

impl fmt::Display for TooManyNotes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "it noted more than {NOTES_LIMIT} facts")
    }
}

impl std::error::Error for TooManyNotes {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_comes_again_takes_no_more_room() {
        let mut notes = ProcessNotes::default();
        for number in 0..NOTES_LIMIT {
            assert_eq!(notes.take(format!("fact_{number}"), 1.0), Ok(()));
        }
        assert_eq!(notes.take("fact_0".to_owned(), 2.0), Ok(()));
        assert_eq!(notes.take("one_more".to_owned(), 1.0), Err(TooManyNotes));
        assert_eq!(notes.into_map()["fact_0"], 2.0);
    }
}
