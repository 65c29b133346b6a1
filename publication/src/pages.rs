//! The page of a suite, `suites/NAME/RESULTS.md`: the published document's tables, with our
//! measurements next to every row (docs/measure/results.md).
//!
//! A page is made of a [record](bookend_results::record), the published table and `results.toml`,
//! which describes how the original looks. It contains nothing else, so that anyone can make it
//! again. It begins with what a reader wants to know: what the document says, what was found, the
//! verdicts, a picture. What these rest on is folded away below.

mod alike;
mod besides;
mod circumstances;
mod drawn;
mod error;
mod figures;
mod format;
mod grid;
mod marked;
mod notes;
mod overview;
mod page;
mod pairs;
mod presentation;
mod profiled;
mod provenance;
mod quoted;
mod readme;
mod rows;
mod second_opinion;
mod sections;
mod summary;
mod text;
mod verdicts;
mod versions;

pub use circumstances::circumstances;
pub use error::{PAGE_FILE, PageError, RESULTS_FILE};
pub use format::FigureFormat;
pub use overview::{Overview, OverviewColumn, OverviewLine, OverviewSeries};
pub use page::Page;
pub use presentation::{Excerpt, Look, Presentation, PublishedCommand, ResultColumn, ResultTable};
pub use quoted::NamedFigure;
pub use readme::{README_PARTS, ReadMe, ReadMeError, ReadMeSources};
pub use sections::{PICTURE_FILE, PageFiles};
pub use text::first_difference;
pub use verdicts::{ClaimVerdicts, quotable_outcomes};
