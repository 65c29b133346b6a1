//! A run as text, Markdown, CSV or JSON.

mod csv;
mod json;
mod markdown;
mod report;

pub use json::JSON_SCHEMA_VERSION;
pub use report::Report;
