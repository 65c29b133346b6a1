//! Cells of comma-separated values (RFC 4180) that every reader takes for what they are.

use crate::printable;
use std::borrow::Cow;

/// A text as a cell: in one line, in quotation marks where it must be. A spreadsheet runs a cell
/// that begins as a formula does, whoever wrote it, so such a text has an apostrophe in front, as
/// OWASP advises. A number stays a number.
pub fn cell(text: &str) -> Cow<'_, str> {
    let text = printable::line(text);
    let text = if is_formula(&text) { format!("'{text}").into() } else { text };
    if text.contains([',', '"']) {
        return format!("\"{}\"", text.replace('"', "\"\"")).into();
    }
    text
}

/// Whether a spreadsheet could take a text for a formula. Some leave out blanks in front, and some
/// take the signs of East Asian keyboards, which are twice as wide.
fn is_formula(text: &str) -> bool {
    const SIGNS: [char; 8] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    let begins = text.trim_start().strip_prefix(SIGNS);
    let is_number = text.parse().is_ok_and(f64::is_finite);
    begins.is_some_and(|rest| !rest.is_empty()) && !is_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_cell_is_quoted() {
        assert_eq!(cell("plain text"), "plain text");
        assert_eq!(cell("a,b"), "\"a,b\"");
        assert_eq!(cell("say \"no\""), "\"say \"\"no\"\"\"");
        assert_eq!(cell("two\r\nlines\u{2028}\u{1b}"), "two  lines  ");
    }

    #[test]
    fn no_text_is_run_by_a_spreadsheet() {
        let link = "=HYPERLINK(\"http://a\",\"b\")";
        assert_eq!(cell(link), "\"'=HYPERLINK(\"\"http://a\"\",\"\"b\"\")\"");
        for text in ["+1+cmd", "-1+cmd", "@SUM(A1)", "\u{ff1d}1", "-inf", "+A1"] {
            assert_eq!(cell(text), format!("'{text}"));
        }
        for text in ["\t=1+A1", "\r=1+A1", "  =1+A1", "\u{202e}=1+A1"] {
            assert!(cell(text).starts_with("' "), "{text:?}");
        }
    }

    #[test]
    fn a_number_stays_a_number_and_a_dash_a_dash() {
        for text in ["-1", "+2.5", "-1e-9", "-", "0.951", "", "a-b", "3 = 3"] {
            assert_eq!(cell(text), text);
        }
    }
}
