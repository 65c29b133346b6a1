//! The report of a run as one page that needs nothing else: the answer, pictures, tables, and what
//! they rest on.

use super::pictures::Picture;
use super::report::Report;
use crate::chart::{Theme, page_rules};
use crate::html::{
    HtmlPage, HtmlRow, SORT, escaped, folded, list, scrolled, slug, table, verbatim,
};
use crate::layout::clipped;
use crate::table::{SheetRow, TableSheet, calibration_lines, connection_table, marks, sheets};

impl Report<'_> {
    /// The whole page.
    pub fn html(&self) -> String {
        self.html_among("", "")
    }

    /// The page as one of several: with what leads to the others above it, in HTML, and with more
    /// of what was found below the answer.
    pub fn html_among(&self, others: &str, findings: &str) -> String {
        let (title, analysis) = self.prose();
        let pictures: String = self.named_pictures().iter().map(figure).collect();
        let body = [
            others.to_owned(),
            self.html_head(&title, &analysis),
            findings.to_owned(),
            section("Pictures", &pictures),
            section("Tables", &self.html_tables()),
            section("Method", &self.html_method()),
            section("Machine", &verbatim(&self.run.new.machine.to_string())),
            section("Versions", &self.html_versions()),
            section("Command", &verbatim(&clipped(&self.run.new.command))),
        ];
        let page = HtmlPage {
            title: format!("{title} - Bookend"),
            style: page_rules(),
            body: format!("<main>\n{}</main>\n", body.concat()),
            script: SORT,
        };
        page.document()
    }

    /// The title, what the run was, and the answer.
    fn html_head(&self, title: &str, analysis: &str) -> String {
        let answer = self.answer();
        let answer = answer.iter().map(|line| format!("<p>{}</p>\n", escaped(&clipped(line))));
        let sections = ["Pictures", "Tables", "Method", "Machine", "Versions", "Command"];
        let links = sections.map(|name| format!("<a href=\"#{}\">{name}</a>\n", slug(name)));
        format!(
            "<h1>{}</h1>\n<p class=\"note\">{}</p>\n<div class=\"answer\">\n{}</div>\n\
             <nav aria-label=\"On this page\">{}</nav>\n{}",
            escaped(title),
            escaped(&self.origin_in_words()),
            answer.collect::<String>(),
            links.concat(),
            folded("The question", &verbatim(analysis.trim())),
        )
    }

    /// Which run of what, and when.
    fn origin_in_words(&self) -> String {
        let new = &self.run.new;
        let day = new.started.to_string();
        let day = day.split('T').next().unwrap_or_default();
        let unfinished = if self.run.finished.is_none() { ", not finished" } else { "" };
        format!("Suite {}, {}, measured on {day}{unfinished}.", new.plan.suite, self.run.scope())
    }

    fn html_tables(&self) -> String {
        let sheets: String = sheets(&self.table).iter().map(sheet).collect();
        let connections = connection_table(&self.table).unwrap_or_default();
        let below = [calibration_lines(&self.table), self.remarks().join("\n")];
        let below: String = below.iter().map(|text| verbatim(text)).collect();
        let marks = marks(&self.table);
        let marks =
            folded(&format!("{} marks: what speaks against rows", marks.len()), &list(&marks));
        let connections = folded("What connections cost", &verbatim(&connections));
        format!("{sheets}{connections}{below}{marks}")
    }

    fn html_method(&self) -> String {
        let notes: Vec<String> = self.notes().into_iter().map(clipped).collect();
        format!(
            "<p>Every subject is started anew in each round, and cells are measured in random order. A \
             figure is the median of its rounds, a ratio the median of the ratios of rounds that \
             measured both, and an interval holds the median in 95 of 100 runs whatever the \
             distribution. CPU is that of the process tree under test. docs/measure/methodology.md \
             says more, and docs/measure/metrics.md defines every figure.</p>\n{}{}",
            list(&self.parameters()),
            folded("Notes", &list(&notes)),
        )
    }

    fn html_versions(&self) -> String {
        let headings = ["program", "version"].map(str::to_owned);
        let row = |(program, version): (&String, &String)| HtmlRow {
            names: vec![program.clone()],
            figures: Err(clipped(version.trim())),
        };
        let rows: Vec<HtmlRow> = self.run.new.versions.iter().map(row).collect();
        scrolled("Versions", &table(&headings, &rows))
    }
}

/// Nothing if the body is empty.
fn section(title: &str, body: &str) -> String {
    match body {
        "" => String::new(),
        _ => format!("<section>\n<h2 id=\"{}\">{title}</h2>\n{body}</section>\n", slug(title)),
    }
}

fn figure((name, picture): &(String, Picture)) -> String {
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

fn sheet(sheet: &TableSheet) -> String {
    let row = |row: &SheetRow| HtmlRow {
        names: vec![row.case.to_string(), row.name.clone()],
        figures: row.fields.clone(),
    };
    let rows: Vec<HtmlRow> = sheet.rows.iter().map(row).collect();
    format!(
        "<h3 id=\"table-{}\">{}</h3>\n{}",
        slug(sheet.title),
        escaped(sheet.title),
        scrolled(sheet.title, &table(&sheet.headings, &rows))
    )
}
