//! A store as pages that link to each other: what is in it, one run, two compared, a cell over all
//! runs, and how far the newest run is. Whoever serves them knows what is behind an address.

mod comparison;
mod history;
mod list;
mod progress;
mod result;

pub use history::PastFigure;
pub use list::{ListedRun, RunOutcome};
pub use progress::RunProgress;

use crate::html::{CARDS, HtmlPage, HtmlRow, PageScript, linked_table, scrolled};
use crate::page;
use bookend_results::quoted::quoted_line;
use bookend_results::store::{Run, RunId};
use maud::{Markup, html};
use std::fmt::Display;

/// Sorts tables, and shows how far the newest run is.
const SORT_AND_LISTEN: PageScript = PageScript {
    text: concat!(include_str!("html/sort.js"), include_str!("stored/live.js")),
    sha256: "yGRpJBonIDqX21SKuKGM2k6tJEqHze6GLP2hSRNPKv0=",
};

const STYLE: &str = include_str!("stored/pages.css");

/// The pages of a store, which are all below one address. Their addresses are made of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorePages {
    root: String,
}

impl StorePages {
    /// Pages below `root`, the address of the list, such as `/token/`.
    pub fn below(root: impl Into<String>) -> Self {
        Self { root: root.into() }
    }

    /// The address of the list.
    pub fn list_address(&self) -> &str {
        &self.root
    }

    /// The address of one run's page.
    pub fn run_address(&self, run: impl Display) -> String {
        format!("{}runs/{run}", self.root)
    }

    /// The address of a cell's history; cells are numbered from 0 in the order of the run's plan.
    pub fn cell_address(&self, run: impl Display, cell: impl Display) -> String {
        format!("{}/cells/{cell}", self.run_address(run))
    }

    /// The address of comparisons, whose query is `run=5&run=4`: the first over the second.
    pub fn comparison_address(&self) -> String {
        format!("{}compare", self.root)
    }

    fn comparison_of(&self, a: RunId, b: RunId) -> String {
        format!("{}?run={a}&run={b}", self.comparison_address())
    }

    /// The address of the events of the newest run, each the [`RunProgress::json`] of its time.
    pub fn events_address(&self) -> String {
        format!("{}events", self.root)
    }

    /// What leads from a page to the list, and to more of these addresses.
    fn others(&self, more: &[(String, String)]) -> Markup {
        html! {
            nav aria-label="Store" {
                a href=(self.root) { "All results" }
                @for (address, name) in more { " " a href=(address) { (name) } }
            } "\n"
        }
    }

    /// What leads to the page of a run.
    fn link_to(&self, run: RunId) -> (String, String) {
        (self.run_address(run), format!("Run {run}"))
    }

    /// A page with a title, a line about what it is, the answer in words, and the rest.
    fn page(&self, title: &str, origin: &str, answer: &[String], body: &Markup) -> String {
        let title = quoted_line(title);
        let answer: Vec<String> = answer.iter().map(|line| quoted_line(line)).collect();
        let head = page::beginning(&title, &quoted_line(origin), &answer);
        served(page::titled(&title, &html! { (head) (body) }))
    }
}

/// The document, with the style and the script that these pages have.
fn served(mut page: HtmlPage) -> String {
    page.style.push_str(CARDS);
    page.style.push_str(STYLE);
    page.script = SORT_AND_LISTEN;
    page.served()
}

/// `run 5 (helloworld-profile, quick, 2024-02-29)`.
fn run_in_words(run: &Run) -> String {
    let plan = &run.new.plan;
    format!("run {} ({}, {}, {})", run.id, plan.suite, plan.extent, day(run))
}

/// The day on which a run started.
fn day(run: &Run) -> String {
    let started = run.new.started.to_string();
    started.split('T').next().unwrap_or_default().to_owned()
}

/// A table of rows that are named by links to these addresses.
fn titled_links(label: &str, headings: &[&str], rows: &[(String, HtmlRow)]) -> Markup {
    let headings: Vec<String> = headings.iter().map(|heading| (*heading).to_owned()).collect();
    html! { div class="past" { (scrolled(label, &linked_table(&headings, rows))) } }
}
