//! The pictures of a run, each with its figures as a table.

mod cpu;
mod drawn;
mod fate;
mod latency;
mod over_time;
mod picture;
mod ratios;
mod streams;

pub use picture::Picture;

use super::report::Report;
use crate::html::slug;
use drawn::Drawn;
use std::collections::BTreeSet;

impl Report<'_> {
    /// Every picture for which the run has figures, the most important first.
    pub fn pictures(&self) -> Vec<Picture> {
        let drawn = Drawn::of(self);
        let mut pictures: Vec<Picture> = ratios::picture(&drawn).into_iter().collect();
        pictures.extend(fate::pictures(&drawn));
        pictures.extend(streams::costs(&drawn));
        pictures.extend(latency::pictures(&drawn));
        pictures.extend(over_time::pictures(&drawn));
        pictures.extend(cpu::pictures(&drawn));
        pictures.extend(streams::memory(&drawn));
        pictures
    }

    /// The same, each with a name of its own for an element and for a file.
    pub fn named_pictures(&self) -> Vec<(String, Picture)> {
        let mut taken = BTreeSet::new();
        let pictures = self.pictures().into_iter().map(|picture| {
            let own = slug(&picture.title);
            let numbered = (2..).map(|number| format!("{own}-{number}"));
            let mut names = std::iter::once(own.clone()).chain(numbered);
            let free = names.find(|name| !taken.contains(name)).unwrap_or_else(|| own.clone());
            taken.insert(free.clone());
            (free, picture)
        });
        pictures.collect()
    }
}
