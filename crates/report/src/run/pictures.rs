//! The pictures of a run, each with its figures as a table.

mod cpu;
mod drawn;
mod fate;
mod latency;
mod over_time;
mod streams;

use super::report::Report;
use crate::picture::{Picture, named};
use drawn::Drawn;

impl Report<'_> {
    /// Every picture for which the run has figures, the most important first.
    pub fn pictures(&self) -> Vec<Picture> {
        let drawn = Drawn::of(self);
        let mut pictures = fate::pictures(&drawn);
        pictures.extend(streams::costs(&drawn));
        pictures.extend(latency::pictures(&drawn));
        pictures.extend(over_time::pictures(&drawn));
        pictures.extend(cpu::pictures(&drawn));
        pictures.extend(streams::memory(&drawn));
        pictures
    }

    /// The same, each with a name of its own for an element and for a file.
    pub fn named_pictures(&self) -> Vec<(String, Picture)> {
        named(self.pictures())
    }
}
