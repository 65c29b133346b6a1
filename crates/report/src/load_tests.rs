//! Results of `bookend load` as one page, or as Markdown: what was answered and how fast, what
//! failed, what the limit was, and what that rests on; and searches of the capacity.

mod answer;
mod basis;
mod capacity;
mod load_test;
mod machines;
mod parting;
mod pictures;
mod read;
mod tables;
mod wording;

pub use read::{LoadTestError, UnreadableLoadTest, is_result, page_of, read};
