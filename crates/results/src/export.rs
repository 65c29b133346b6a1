//! A run as text, Markdown, CSV, JSON or a page, with its answer in words and its pictures; load
//! tests as Markdown or a page; a store as pages that link to each other.

mod answer;
mod csv;
mod doubts;
mod html;
mod json;
mod load_tests;
mod markdown;
mod page;
mod pictures;
mod report;
mod stored;

pub use answer::ANSWER_LINES_MAX;
pub use json::JSON_SCHEMA_VERSION;
pub use load_tests::{LoadPage, LoadTestError, UnreadableLoadTest};
pub use pictures::Picture;
pub use report::Report;
pub use stored::{ListedRun, PastFigure, RunProgress, StorePages};
