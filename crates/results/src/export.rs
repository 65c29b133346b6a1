//! A run as text, Markdown, CSV, JSON or a page, with its answer in words and its pictures.

mod answer;
mod csv;
mod doubts;
mod html;
mod json;
mod markdown;
mod page;
mod pictures;
mod report;
mod trace;

pub use answer::ANSWER_LINES_MAX;
pub use json::JSON_SCHEMA_VERSION;
pub use pictures::Picture;
pub use report::Report;
