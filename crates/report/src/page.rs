//! The parts that the page of a run and the page of load tests have in common.

use crate::chart::{Theme, page_rules};
use crate::html::{HtmlPage, HtmlRow, SORT, escaped, folded, scrolled, slug, table};
use crate::picture::Picture;
use bookend_results::quoted::clipped;

/// What stands below the answer.
const SECTIONS: [&str; 6] = ["Pictures", "Tables", "Method", "Machine", "Versions", "Command"];

/// The whole document: what stands on it, under its title.
pub(super) fn document(title: &str, body: &str) -> String {
    titled(title, body).document()
}

/// The same, while more can be done with it.
pub(super) fn titled(title: &str, body: &str) -> HtmlPage {
    HtmlPage {
        title: format!("{title} - Bookend"),
        style: page_rules(),
        body: format!("<main>\n{body}</main>\n"),
        script: SORT,
    }
}

/// The title, what was measured, the answer, and links to the sections.
pub(super) fn head(title: &str, origin: &str, answer: &[String]) -> String {
    let paragraphs: String =
        answer.iter().map(|line| format!("<p>{}</p>\n", escaped(&clipped(line)))).collect();
    let links = SECTIONS.map(|name| format!("<a href=\"#{}\">{name}</a>\n", slug(name)));
    format!(
        "<h1>{}</h1>\n<p class=\"note\">{}</p>\n<div class=\"answer\">\n{paragraphs}</div>\n\
         <nav aria-label=\"On this page\">{}</nav>\n",
        escaped(title),
        escaped(origin),
        links.concat(),
    )
}

/// The sections in their order, those that have a body.
pub(super) fn sections(bodies: [String; SECTIONS.len()]) -> String {
    SECTIONS.iter().zip(bodies).map(|(title, body)| section(title, &body)).collect()
}

fn section(title: &str, body: &str) -> String {
    match body {
        "" => String::new(),
        _ => format!("<section>\n<h2 id=\"{}\">{title}</h2>\n{body}</section>\n", slug(title)),
    }
}

/// A picture with its numbers below it.
pub(super) fn figure((name, picture): &(String, Picture)) -> String {
    let Picture { title, caption, headings, rows, .. } = picture;
    let numbers = scrolled(&format!("The numbers: {title}"), &table(headings, rows));
    format!(
        "<figure id=\"{name}\">\n<figcaption><h3>{}</h3><p>{}</p></figcaption>\n{}{}</figure>\n",
        escaped(title),
        escaped(caption),
        scrolled(title, &picture.svg(Theme::Page)),
        folded("The numbers", &numbers)
    )
}

/// A table under its own heading.
pub(super) fn titled_table(title: &str, table: &str) -> String {
    let name = slug(title);
    format!("<h3 id=\"table-{name}\">{}</h3>\n{}", escaped(title), scrolled(title, table))
}

/// Programs, each with what it says of its version.
pub(super) fn versions<'a>(versions: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    let headings = ["program", "version"].map(str::to_owned);
    let row = |(program, version): (&String, &String)| HtmlRow {
        names: vec![program.clone()],
        figures: Err(clipped(version.trim())),
    };
    scrolled("Versions", &table(&headings, &versions.map(row).collect::<Vec<_>>()))
}
