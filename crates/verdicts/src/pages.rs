//! The page of a suite, `suites/NAME/RESULTS.md`: the published document's tables, with our
//! measurements beside every row (docs/measure/results.md).
//!
//! A page is made of a [record](bookend_results::record), the published table and `results.toml`,
//! which describes how the original looks. It contains nothing else, so that anyone can make it
//! again. A suite without a published document has a [`measured_page`].

mod besides;
mod error;
mod figures;
mod format;
mod grid;
mod lines;
mod measured;
mod notes;
mod page;
mod presentation;
mod profiled;
mod rows;
mod sections;
mod summary;
mod text;

pub use error::{PAGE_FILE, PageError, RESULTS_FILE};
pub use format::FigureFormat;
pub use measured::measured_page;
pub use page::Page;
pub use presentation::{Look, Presentation, PublishedCommand, ResultColumn, ResultTable};
pub use text::first_difference;
