//! Results of `bookend load` as one page, or as Markdown: what was answered and how fast, what
//! failed, what the limit was, and what that rests on.

mod answer;
mod basis;
mod html;
mod load_test;
mod markdown;
mod pictures;
mod read;
mod tables;
mod wording;

pub use read::{LoadTestError, LoadTests, UnreadableLoadTest};
