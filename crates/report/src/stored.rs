//! A store as pages that link to each other: what is in it, one run, two compared, a cell over all
//! runs, and how far the newest run is. Whoever serves them knows what is behind an address.

mod comparison;
mod history;
mod list;
mod progress;
mod result;

pub use history::PastFigure;
pub use list::ListedRun;
pub use progress::RunProgress;

use crate::html::{HtmlPage, PageScript, escaped, scrolled};
use crate::page;
use bookend_results::quoted::quoted_line;
use bookend_results::store::{Run, RunId};
use std::fmt::Display;

/// Sorts tables, and shows how far the newest run is.
const SORT_AND_LISTEN: PageScript = PageScript {
    text: concat!(include_str!("html/sort.js"), include_str!("stored/live.js")),
    sha256: "2lTV60Fm8L79jCirDgBsasLE8eqhJpxrGghgB/ClYYM=",
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

    /// The address of comparisons, whose query is `a=4&b=5`.
    pub fn comparison_address(&self) -> String {
        format!("{}compare", self.root)
    }

    /// The address of the events of the newest run, each the [`RunProgress::json`] of its time.
    pub fn events_address(&self) -> String {
        format!("{}events", self.root)
    }

    /// What leads from any page to the others: the list, and a comparison of two runs.
    fn others(&self, [a, b]: [Option<RunId>; 2]) -> String {
        let field = |name: &str, run: Option<RunId>| {
            let value = run.map_or(String::new(), |run| run.to_string());
            format!("<input name=\"{name}\" type=\"number\" min=\"1\" required value=\"{value}\">")
        };
        format!(
            "<nav aria-label=\"Store\"><a href=\"{}\">All results</a></nav>\n\
             <form class=\"compare\" action=\"{}\"><label>Compare run {}</label> \
             <label>with run {}</label> <button>Compare</button></form>\n",
            self.root,
            self.comparison_address(),
            field("a", a),
            field("b", b)
        )
    }

    /// A page with a title, a line about what it is, the answer in words, and the rest.
    fn page(&self, title: &str, origin: &str, answer: &[String], body: &str) -> String {
        let paragraphs: String =
            answer.iter().map(|line| format!("<p>{}</p>\n", escaped(&quoted_line(line)))).collect();
        let head = format!(
            "<h1>{}</h1>\n<p class=\"note\">{}</p>\n<div class=\"answer\">\n{paragraphs}</div>\n",
            escaped(&quoted_line(title)),
            escaped(&quoted_line(origin))
        );
        served(page::titled(&quoted_line(title), &format!("{head}{body}")))
    }
}

/// The document, with the style and the script that these pages have.
fn served(mut page: HtmlPage) -> String {
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

/// A row that is named by a link; its fields are text.
struct LinkedRow {
    address: String,
    name: String,
    fields: Vec<String>,
}

/// A table of such rows, which can be sorted.
fn linked_table(label: &str, headings: &[&str], rows: &[LinkedRow]) -> String {
    let heads: String =
        headings.iter().map(|heading| format!("<th scope=\"col\">{}", escaped(heading))).collect();
    let body: String = rows
        .iter()
        .map(|LinkedRow { address, name, fields }| {
            let cells: String =
                fields.iter().map(|field| format!("<td>{}", escaped(field))).collect();
            let (address, name) = (escaped(address), escaped(name));
            format!("<tr><th><a href=\"{address}\">{name}</a>{cells}\n")
        })
        .collect();
    let table = format!("<table class=\"sorts\"><thead><tr>{heads}<tbody>\n{body}</table>\n");
    scrolled(label, &table)
}
