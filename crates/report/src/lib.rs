//! How results look: the only crate that knows a column's width, an element of HTML or a path of
//! SVG.
//!
//! A [`run`] becomes text, Markdown, CSV, JSON or a page; so do [`load_tests`], a [`race`], a
//! [`check`], a [`comparison`] and a [`profile`] as far as each has a form. A store is shown as
//! pages that link to each other, [`stored`]. They share [`text_table`], [`markdown`], [`html`],
//! and the pictures of [`chart`]. What is shown are values of `bookend_results`; nothing is
//! computed here that another program would have to compute again.
#![forbid(unsafe_code)]

mod call_fate;
pub mod capacity;
mod case_words;
pub mod chart;
pub mod check;
pub mod comparison;
pub mod failed_calls;
mod first_few;
pub mod html;
pub mod load_tests;
pub mod markdown;
mod page;
mod percentile_curve;
pub mod picture;
pub mod profile;
pub mod race;
pub mod result_page;
pub mod run;
pub mod stored;
pub mod tables;
pub mod text_table;
mod wrap;
