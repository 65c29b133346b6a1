//! How the files of a site are called, and what leads to them.

use bookend_report::html::slug;
use maud::{Markup, html};

/// The page that everything else is linked from.
pub(super) const FRONT_FILE: &str = "index.html";

/// The page of all claims.
pub(super) const CLAIMS_PAGE: &str = "claims.html";

/// What leads from any page to the two that are about everything.
pub(super) fn links() -> Markup {
    html! {
        nav aria-label="Site" {
            a href=(FRONT_FILE) { "All results" } " " a href=(CLAIMS_PAGE) { "All claims" }
        } "\n"
    }
}

/// The name of a suite's page. A suite is called as its folder, so there are no two of one name.
pub(super) fn file_of_suite(suite: &str) -> String {
    format!("{}.html", slug(suite))
}
