//! How the pages of the site look, besides what all pages have.

use bookend_report::html::CARDS;

const STYLE: &str = include_str!("site.css");

/// The rules of all its pages.
pub(super) fn own_style() -> String {
    format!("{CARDS}{STYLE}")
}
