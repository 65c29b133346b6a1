//! A run as text, Markdown, CSV, JSON or a page, with its answer in words and its pictures.

mod answer;
mod brief;
mod busy;
mod csv;
mod doubts;
mod headline;
mod html;
mod json;
mod markdown;
mod pictures;
mod report;
mod winner;

pub use answer::{ANSWER_LINES_MAX, cases_text, ratio_with_interval};
pub use brief::BRIEF_COLUMNS;
pub use json::JSON_SCHEMA_VERSION;
pub use report::Report;
pub use winner::Winner;
