//! Load tests as one page that needs nothing else: the answer, pictures, tables, and what they rest
//! on.

use super::read::LoadTests;
use super::tables::{self, LoadTable};
use super::{answer, basis, pictures};
use crate::export::page;
use crate::export::pictures::{Picture, named};
use crate::html::{table, verbatim};

impl LoadTests {
    /// The answer in words, some sentences a line.
    pub fn answer(&self) -> Vec<String> {
        answer::lines(&self.tests)
    }

    /// The pictures for which there are figures, each with a name for an element and for a file.
    pub fn named_pictures(&self) -> Vec<(String, Picture)> {
        named(pictures::all(&self.tests))
    }

    /// The whole page.
    pub fn html(&self) -> String {
        let tests = &self.tests;
        let versions = basis::versions(tests);
        let flags = basis::flags(tests);
        let head = page::head(&self.title(), &basis::origin(tests), &self.answer());
        let sections = page::sections([
            self.named_pictures().iter().map(page::figure).collect(),
            tables::all(tests).iter().map(titled).collect(),
            format!("<p>{}</p>\n{}", basis::METHOD, titled(&flags)),
            format!(
                "<p class=\"note\">{}</p>\n{}",
                basis::WHOSE_MACHINE,
                verbatim(&basis::machines(tests))
            ),
            page::versions(versions.iter().map(|(name, version)| (name, version))),
            verbatim(&basis::commands(tests)),
        ]);
        page::document(&self.title(), &format!("{head}{sections}"))
    }
}

fn titled(one: &LoadTable) -> String {
    page::titled_table(one.title, &table(&one.headings, &one.rows))
}
