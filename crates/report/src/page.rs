//! The parts that the page of a run and the page of load tests have in common.

use crate::chart::page_rules;
use crate::failed_calls::READING;
use crate::html::{HtmlPage, HtmlRow, SORT, answer, folded, is_empty, note, scrolled, slug, table};
use crate::picture::Picture;
use bookend_results::quoted::clipped;
use maud::{Markup, html};

/// The sections below the answer.
const SECTIONS: [&str; 6] = ["Pictures", "Tables", "Method", "Machine", "Versions", "Command"];

/// How many pictures of one kind are open: a screen each.
const OPEN_PICTURES: usize = 3;

/// How many rows of a table are open: three screens.
const OPEN_ROWS: usize = 60;

/// The page: its body under its title.
pub(super) fn titled(title: &str, body: &Markup) -> HtmlPage {
    HtmlPage {
        title: format!("{title} - Bookend"),
        style: page_rules(),
        body: html! { main { "\n" (body) } "\n" },
        script: SORT,
    }
}

/// The title, what was measured, the answer, and links to the sections.
pub(super) fn head(title: &str, origin: &str, lines: &[String]) -> Markup {
    let lines: Vec<String> = lines.iter().map(|line| clipped(line)).collect();
    html! {
        (beginning(title, origin, &lines))
        nav aria-label="On this page" {
            @for name in SECTIONS { a href={ "#" (slug(name)) } { (name) } "\n" }
        } "\n"
    }
}

/// The title, what was measured, and the answer.
pub(super) fn beginning(title: &str, origin: &str, lines: &[String]) -> Markup {
    html! { h1 { (title) } "\n" (note(origin)) (answer(lines)) }
}

/// The sections in their order, those that have a body.
pub(super) fn sections(bodies: [Markup; SECTIONS.len()]) -> Markup {
    html! {
        @for (title, body) in SECTIONS.iter().zip(bodies) {
            @if !is_empty(&body) {
                section { "\n" h2 id=(slug(title)) { (title) } "\n" (body) } "\n"
            }
        }
    }
}

/// A picture with its numbers below it.
pub(super) fn figure((name, picture): &(String, Picture)) -> Markup {
    let Picture { title, caption, headings, rows, .. } = picture;
    let reading = if picture.has_failed_calls() { READING } else { "" };
    let numbers = scrolled(&format!("The numbers: {title}"), &table(headings, rows));
    html! {
        figure id=(name) {
            "\n" figcaption { h3 { (title) } p { (caption) (reading) } } "\n"
            (scrolled(title, &picture.markup()))
            (folded("The numbers", &numbers))
        } "\n"
    }
}

/// The pictures, those of one kind one after the other: of many, the first few are open.
pub(super) fn figures(pictures: &[(String, Picture)]) -> Markup {
    let kinds = pictures.chunk_by(|(_, one), (_, next)| one.kind() == next.kind());
    html! {
        @for pictures in kinds {
            @let (open, more) = pictures.split_at(pictures.len().min(OPEN_PICTURES));
            @for picture in open { (figure(picture)) }
            @if let Some((_, first)) = more.first() {
                @let all = html! { @for picture in more { (figure(picture)) } };
                (folded(&format!("{} more pictures: {}", more.len(), first.kind()), &all))
            }
        }
    }
}

/// A table under its own heading: a long one is opened by a click.
pub(super) fn titled_table(title: &str, headings: &[String], rows: &[HtmlRow]) -> Markup {
    let table = scrolled(title, &table(headings, rows));
    html! {
        h3 id={ "table-" (slug(title)) } { (title) } "\n"
        @if rows.len() > OPEN_ROWS { (folded(&format!("{} rows", rows.len()), &table)) }
        @else { (table) }
    }
}

/// Programs, each with what it says of its version.
pub(super) fn versions<'a>(versions: impl Iterator<Item = (&'a String, &'a String)>) -> Markup {
    let headings = ["program", "version"].map(str::to_owned);
    let row = |(program, version): (&String, &String)| HtmlRow {
        names: vec![program.clone()],
        figures: Err(clipped(version.trim())),
    };
    scrolled("Versions", &table(&headings, &versions.map(row).collect::<Vec<_>>()))
}
