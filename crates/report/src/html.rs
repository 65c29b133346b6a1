//! Building blocks of HTML. Whatever a program printed or a name contains stays text.

use bookend_contract::printable::is_printable;

/// A script of a page. The page lets its browser run this one and no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageScript {
    /// The script.
    pub text: &'static str,
    /// The hash of its text as a content security policy has it: SHA-256 in base64.
    pub sha256: &'static str,
}

/// Sorts tables by the column whose heading is pressed.
pub const SORT: PageScript = PageScript {
    text: include_str!("html/sort.js"),
    sha256: "WDdAjunt/6FvJM1OWyxNGwXQU6yRZlBf3SCwttzHLnY=",
};

/// How pages look, light, dark and on paper.
const STYLE: &str = include_str!("html/page.css");

/// A page that needs nothing besides itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtmlPage {
    /// Its title.
    pub title: String,
    /// Rules beside those that all pages have.
    pub style: String,
    /// What it shows.
    pub body: String,
    /// Its script, without which everything can be read.
    pub script: PageScript,
}

impl HtmlPage {
    /// The whole document. Its policy forbids everything that is not in it: if some text were taken
    /// for a script all the same, no browser would run it.
    pub fn document(&self) -> String {
        self.under("form-action 'none'", "")
    }

    /// The document as a server sends it: that server alone gets its forms and may tell it events.
    pub fn served(&self) -> String {
        // A page without an icon has the browser ask for one.
        let icon = "<link rel=\"icon\" href=\"data:,\">\n";
        self.under("form-action 'self'; connect-src 'self'; img-src data:", icon)
    }

    fn under(&self, policy: &str, icon: &str) -> String {
        let Self { title, style, body, script } = self;
        let title = escaped(title);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; \
             {policy}\">\n{icon}<title>{title}</title>\n<style>\n{STYLE}{style}</style>\n\
             </head>\n<body>\n{body}<script>{}</script>\n</body>\n</html>\n",
            script.sha256, script.text
        )
    }
}

/// Text as the content of an element or as the value of a quoted attribute, in HTML and in XML.
/// What XML forbids, what cannot be seen and what turns the direction of writing becomes a
/// replacement character.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(character),
            other if !is_printable(other) => safe.push(char::REPLACEMENT_CHARACTER),
            other => safe.push(other),
        }
    }
    safe
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

/// A table that can be sorted. All fields are text.
pub fn table(headings: &[String], rows: &[HtmlRow]) -> String {
    // Ends of rows and fields may be left out in HTML, and tables are most of a page.
    let heads: String =
        headings.iter().map(|heading| format!("<th scope=\"col\">{}", escaped(heading))).collect();
    let body: String = rows.iter().map(|row| row_of(row, headings.len())).collect();
    let is_text = !rows.is_empty() && rows.iter().all(|row| row.figures.is_err());
    let words = if is_text { " words" } else { "" };
    format!("<table class=\"sorts{words}\"><thead><tr>{heads}<tbody>\n{body}</table>\n")
}

fn row_of(row: &HtmlRow, columns: usize) -> String {
    let names: String = row.names.iter().map(|name| format!("<th>{}", escaped(name))).collect();
    match &row.figures {
        Ok(fields) => {
            let figures: String =
                fields.iter().map(|field| format!("<td>{}", escaped(field))).collect();
            format!("<tr>{names}{figures}\n")
        }
        Err(text) => {
            let rest = columns.saturating_sub(row.names.len()).max(1);
            format!("<tr>{names}<td colspan=\"{rest}\" class=\"words\">{}\n", escaped(text))
        }
    }
}

/// A part that is wider than a narrow screen: it is scrolled in itself, by keyboard too.
pub fn scrolled(label: &str, body: &str) -> String {
    let label = escaped(label);
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">{body}</div>\n"
    )
}

/// A part that a reader opens; nothing if the body is empty.
pub fn folded(summary: &str, body: &str) -> String {
    match body.trim() {
        "" => String::new(),
        _ => format!("<details><summary>{}</summary>\n{body}</details>\n", escaped(summary)),
    }
}

/// One item for each text; nothing without any.
pub fn list(items: &[impl AsRef<str>]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let lines: String =
        items.iter().map(|item| format!("<li>{}\n", escaped(item.as_ref()))).collect();
    format!("<ul>\n{lines}</ul>\n")
}

/// Text as it is, line for line; nothing if there is none.
pub fn verbatim(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        _ => format!("<pre>{}</pre>\n", escaped(text.trim_end())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_an_element_or_ends_an_attribute() {
        let hostile = "<script>alert(1)</script>\" onload='x' & \u{1b}[31m\0\u{202e}";
        let safe = escaped(hostile);
        assert!(!safe.contains(['<', '>', '"', '\u{1b}', '\0', '\u{202e}']), "{safe}");
        assert!(
            safe.starts_with("&lt;script&gt;") && safe.contains("&amp; \u{fffd}[31m"),
            "{safe}"
        );
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
        let text = table(&headings, &[row]);
        assert!(text.contains("<td colspan=\"2\" class=\"words\">failed: &lt;b&gt;\n"), "{text}");
    }

    #[test]
    fn a_page_asks_for_nothing_and_runs_nothing_else() {
        let (title, style, body) = ("</title><b>".to_owned(), String::new(), String::new());
        let page = HtmlPage { title, style, body, script: SORT };
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
