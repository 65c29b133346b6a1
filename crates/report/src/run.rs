//! A run as text, Markdown, CSV, JSON or a page, with its answer in words and its pictures.

mod answer;
mod csv;
mod doubts;
mod html;
mod json;
mod markdown;
mod pictures;
mod report;
mod winner;

pub use answer::{ANSWER_LINES_MAX, cases_text, ratio_with_interval};
pub use json::JSON_SCHEMA_VERSION;
pub use report::Report;
pub use winner::Winner;
