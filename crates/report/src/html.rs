//! Building blocks of HTML. Whatever a program printed or a name contains stays text: `html!`
//! escapes what is put into it unless that is [`Markup`], which `html!` alone makes.

use bookend_contract::printable::is_printable;
use maud::{Markup, PreEscaped, Render, html};

/// A script of a page. The page lets its browser run this one and no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageScript {
    /// The script.
    pub text: &'static str,
    /// The hash of its text as a content security policy has it: SHA-256 in base64.
    pub sha256: &'static str,
}

/// Sorts tables by the column whose heading is pressed, and marks what is wider than its place.
pub const SORT: PageScript = PageScript {
    text: include_str!("html/sort.js"),
    sha256: "0vIP4hYuXvQDkb2+yjxRadCOgOC1LLN3ZiPLTnVCHN4=",
};

/// Rules of a table of the class `cards`: on a narrow screen each row is a card, whose fields are
/// named by their `data-label`.
pub const CARDS: &str = include_str!("html/cards.css");

/// How pages look, light, dark and on paper.
const STYLE: &str = include_str!("html/page.css");

/// A page that needs nothing besides itself.
#[derive(Clone, Debug)]
pub struct HtmlPage {
    /// Its title.
    pub title: String,
    /// Rules in addition to those that all pages have: of this program alone, for they are not
    /// escaped.
    pub style: String,
    /// What it shows.
    pub body: Markup,
    /// Its script, without which everything can be read.
    pub script: PageScript,
}

impl HtmlPage {
    /// The whole document. Its policy forbids everything that is not in it: if some text were taken
    /// for a script all the same, no browser would run it.
    pub fn document(&self) -> String {
        self.under("form-action 'none'", html! {})
    }

    /// The document as a server sends it: that server alone gets its forms and may tell it events.
    pub fn served(&self) -> String {
        // A page without an icon has the browser ask for one.
        let icon = html! { link rel="icon" href="data:,"; "\n" };
        self.under("form-action 'self'; connect-src 'self'; img-src data:", icon)
    }

    fn under(&self, own_policy: &str, icon: Markup) -> String {
        let Self { title, style, body, script } = self;
        let policy = format!(
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; \
             base-uri 'none'; {own_policy}",
            script.sha256
        );
        let document = html! {
            // Constants of this program. A browser takes escapes in neither style nor script.
            (PreEscaped("<!doctype html>\n"))
            html lang="en" {
                "\n" head {
                    "\n" meta charset="utf-8";
                    "\n" meta name="viewport" content="width=device-width,initial-scale=1";
                    "\n" meta http-equiv="Content-Security-Policy" content=(policy);
                    "\n" (icon) title { (title) }
                    "\n" style { "\n" (PreEscaped(STYLE)) (PreEscaped(style)) } "\n"
                }
                "\n" body { "\n" (body) script { (PreEscaped(script.text)) } "\n" } "\n"
            } "\n"
        };
        only_printable(document.into_string())
    }
}

/// A finished document of HTML or XML with a replacement character for each one in it that XML
/// forbids, that cannot be seen or that turns the direction of writing. Whoever writes a page need
/// not think of them.
pub(crate) fn only_printable(document: String) -> String {
    let shown = |character: char| match character {
        '\n' | '\t' => character,
        other if is_printable(other) => other,
        _ => char::REPLACEMENT_CHARACTER,
    };
    document.chars().map(shown).collect()
}

/// A name for an element or a file, made of any text: letters, digits and dashes.
pub fn slug(text: &str) -> String {
    let slug: String = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
        .to_ascii_lowercase()
        .chars()
        .take(SLUG_MAX)
        .collect();
    if slug.is_empty() { "unnamed".to_owned() } else { slug }
}

/// File systems take names of 255 bytes.
const SLUG_MAX: usize = 80;

/// A row of a table: its fields, the first of which name it. A row without figures has a text in
/// their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtmlRow {
    /// The fields that name it.
    pub names: Vec<String>,
    /// Its figures, or a text in their place.
    pub figures: Result<Vec<String>, String>,
}

/// A table that can be sorted.
pub fn table(headings: &[String], rows: &[HtmlRow]) -> Markup {
    sortable(headings, &rows.iter().map(|row| (None, row)).collect::<Vec<_>>())
}

/// The same, of rows whose first name is a link to an address.
pub fn linked_table(headings: &[String], rows: &[(String, HtmlRow)]) -> Markup {
    let linked = rows.iter().map(|(address, row)| (Some(address.as_str()), row));
    sortable(headings, &linked.collect::<Vec<_>>())
}

fn sortable(headings: &[String], rows: &[(Option<&str>, &HtmlRow)]) -> Markup {
    let is_text = !rows.is_empty() && rows.iter().all(|(_, row)| row.figures.is_err());
    let heads = html! { @for heading in headings { th scope="col"; (heading) } };
    let body = html! { @for (address, row) in rows { (row_of(*address, row, headings.len())) } };
    html! { (whole_table(if is_text { "sorts words" } else { "sorts" }, &heads, &body)) "\n" }
}

/// A table of the class, from the fields of its head and its rows. Here and in rows, a `;` behind
/// an element leaves out its end: HTML does not ask for it, and tables are most of a page.
pub fn whole_table(class: &str, heads: &Markup, rows: &Markup) -> Markup {
    html! { table class=(class) { thead; tr; (heads) tbody; "\n" (rows) } }
}

fn row_of(address: Option<&str>, row: &HtmlRow, columns: usize) -> Markup {
    let rest = columns.saturating_sub(row.names.len()).max(1);
    html! {
        tr;
        @for (place, name) in row.names.iter().enumerate() {
            th;
            @match address {
                Some(address) if place == 0 => a href=(address) { (name) },
                _ => (name),
            }
        }
        @match &row.figures {
            Ok(figures) => @for figure in figures { td; (figure) },
            Err(text) => { td colspan=(rest) class="words"; (text) },
        } "\n"
    }
}

/// A part that is wider than a narrow screen: it is scrolled in itself, by keyboard too.
pub fn scrolled(label: &str, body: &Markup) -> Markup {
    html! {
        div class="scroll" role="region" tabindex="0" aria-label=(label) { (body) } "\n"
    }
}

/// A part that a reader opens; nothing if the body is empty.
pub fn folded(summary: &str, body: &Markup) -> Markup {
    html! {
        @if !is_empty(body) {
            details { summary { (summary) } "\n" (body) } "\n"
        }
    }
}

/// Whether nothing would be shown.
pub fn is_empty(body: &Markup) -> bool {
    body.0.trim().is_empty()
}

/// One item for each; nothing without any.
pub fn list(items: impl IntoIterator<Item = impl Render>) -> Markup {
    let lines = html! { @for item in items { li; (item) "\n" } };
    html! { @if !is_empty(&lines) { ul { "\n" (lines) } "\n" } }
}

/// Text as it is, line for line; nothing if it is blank.
pub fn verbatim(text: &str) -> Markup {
    html! { @if !text.trim().is_empty() { pre { (text.trim_end()) } "\n" } }
}

/// A remark apart from the rest.
pub fn note(text: &str) -> Markup {
    html! { p class="note" { (text) } "\n" }
}

/// The answer in words, a paragraph each; nothing without any.
pub fn answer<'a>(lines: impl IntoIterator<Item = &'a String>) -> Markup {
    let mut lines = lines.into_iter().peekable();
    html! {
        @if lines.peek().is_some() {
            div class="answer" { "\n" @for line in lines { p { (line) } "\n" } } "\n"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(title: &str, body: Markup) -> HtmlPage {
        HtmlPage { title: title.to_owned(), style: String::new(), body, script: SORT }
    }

    #[test]
    fn no_text_becomes_an_element_or_ends_an_attribute() {
        let hostile = "<script>alert(1)</script>\" onload='x' & \u{1b}[31m\0\u{202e}\u{fffe}\r";
        let rows = [HtmlRow { names: vec![hostile.to_owned()], figures: Err(hostile.to_owned()) }];
        let linked = (hostile.to_owned(), rows[0].clone());
        let headings = [hostile.to_owned()];
        let parts = [
            table(&headings, &rows),
            linked_table(&headings, &[linked]),
            scrolled(hostile, &html! {}),
            folded(hostile, &list([hostile])),
            verbatim(hostile),
            note(hostile),
            answer(&headings),
        ];
        for part in parts {
            let safe = page(hostile, part).document();
            assert_eq!(safe.matches("<script>").count(), 1, "the page's own: {safe}");
            assert!(!safe.contains("\" onload"), "{safe}");
            assert!(safe.contains("&lt;script&gt;alert(1)") && safe.contains("&amp; \u{fffd}[31m"));
            assert!(safe.chars().all(|shown| shown == '\n' || is_printable(shown)), "{safe:?}");
        }
    }

    #[test]
    fn a_name_of_a_file_leads_nowhere_else() {
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("C=1 S=100 via ghz/grpc-bench"), "c-1-s-100-via-ghz-grpc-bench");
        assert_eq!(slug("\u{202e}/.."), "unnamed");
        assert_eq!(slug(&"a".repeat(1 << 20)).len(), SLUG_MAX);
    }

    #[test]
    fn a_row_without_figures_says_so_across_all_columns() {
        let headings = ["name", "a", "b"].map(str::to_owned);
        let row = HtmlRow { names: vec!["x".to_owned()], figures: Err("failed: <b>".to_owned()) };
        let text = table(&headings, &[row]).into_string();
        assert!(text.contains("<td colspan=\"2\" class=\"words\">failed: &lt;b&gt;\n"), "{text}");
    }

    #[test]
    fn a_page_asks_for_nothing_and_runs_nothing_else() {
        let page = page("</title><b>", html! {});
        assert!(page.served().contains("form-action 'self'; connect-src 'self'; img-src data:"));
        let document = page.document();
        assert!(document.contains("<title>&lt;/title&gt;&lt;b&gt;</title>"), "{document}");
        assert!(
            document.contains("default-src 'none'") && !document.contains("http://"),
            "{document}"
        );
        assert!(!SORT.text.contains("</"), "it would end its element");
    }
}
