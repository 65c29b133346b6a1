//! Samples as `perf script` prints them, folded: one line a stack, with the number of its samples.

use bookend_results::profile::Stack;
use inferno::collapse::Collapse as _;
use inferno::collapse::perf::{Folder, Options};
use inferno::flamegraph;
use std::io::{self, BufRead};

/// The stacks of one recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    text: String,
}

/// The samples cannot be folded, or the picture cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[error("the samples of perf: {0}")]
pub struct FoldError(io::Error);

impl Folded {
    /// Folds what `perf script` prints.
    ///
    /// # Errors
    /// It cannot be read, or is something else.
    pub fn of_script(script: impl BufRead) -> Result<Folded, FoldError> {
        let mut folded = Vec::new();
        Folder::from(Options::default()).collapse(script, &mut folded).map_err(FoldError)?;
        let text = String::from_utf8_lossy(&folded).into_owned();
        Ok(Folded { text })
    }

    /// The lines that flame graph tools read: `thread;outer;inner 12`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All stacks.
    pub fn stacks(&self) -> impl Iterator<Item = Stack<'_>> {
        self.text.lines().filter_map(|line| {
            let (frames, samples) = line.rsplit_once(' ')?;
            Some(Stack { frames: frames.split(';').collect(), samples: samples.parse().ok()? })
        })
    }

    /// How many samples there are.
    pub fn samples(&self) -> u64 {
        self.stacks().map(|stack| stack.samples).sum()
    }

    /// An interactive flame graph, as SVG, with its title and a line below that.
    ///
    /// # Errors
    /// There is no sample to draw.
    pub fn flame_graph(&self, title: String, subtitle: String) -> Result<Vec<u8>, FoldError> {
        let mut options = flamegraph::Options::default();
        options.title = title;
        options.subtitle = Some(subtitle);
        options.count_name = "samples".to_owned();
        options.deterministic = true;
        // In percent. What is narrower is less than a pixel, and half of the file.
        options.min_width = 0.1;
        let mut picture = Vec::new();
        flamegraph::from_lines(&mut options, self.text.lines(), &mut picture)
            .map_err(|error| FoldError(io::Error::other(error)))?;
        Ok(picture)
    }
}
