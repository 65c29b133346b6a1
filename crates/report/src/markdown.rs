//! Building blocks of Markdown, for the pages of runs and of suites.

use crate::wrap;
use bookend_contract::printable;
use bookend_results::quoted::{clipped, one_line};
use std::fmt;
use std::path::Path;

/// A table with a heading. The first `left` columns are aligned left; the others hold figures and
/// are aligned right.
pub fn table<R: AsRef<[String]>>(
    headings: &[impl AsRef<str>],
    left: usize,
    rows: impl IntoIterator<Item = R>,
) -> String {
    let rule = (0..headings.len()).map(|index| if index < left { "---" } else { "---:" });
    let mut text = line(headings.iter().map(|heading| escaped(heading.as_ref())));
    text.push_str(&line(rule.map(str::to_owned)));
    for row in rows {
        text.push_str(&line(row.as_ref().iter().map(|field| escaped(field))));
    }
    text
}

fn line(fields: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", fields.collect::<Vec<_>>().join(" | "))
}

/// Escapes the bar, which would begin the next column.
fn escaped(field: &str) -> String {
    printable::line(field).replace('|', "\\|")
}

/// The words of others as words: one line, in which no markup of a page begins.
pub fn words(text: &str) -> String {
    one_line(text).replace('&', "&amp;").replace('<', "&lt;")
}

/// What a program or a person wrote, as one line that is shown as it is: it opens no element, link,
/// picture, code or column, and begins no heading and no list.
pub fn plain(text: &str) -> String {
    let text = one_line(&clipped(text));
    let mut safe = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '|' => safe.push_str("&#124;"),
            _ => {
                if means_something(&text, at, character) {
                    safe.push('\\');
                }
                safe.push(character);
            }
        }
    }
    safe
}

/// Whether Markdown, or GitHub's, takes the character at that place for more than itself.
fn means_something(text: &str, at: usize, character: char) -> bool {
    let (before, after) = (&text[..at], &text[at + character.len_utf8()..]);
    match character {
        '\\' | '`' | '*' | '[' | ']' => true,
        // One alone is our sign for what is not told apart; several are a fence.
        '~' => before.ends_with('~') || after.starts_with('~'),
        '(' => before.ends_with(']'),
        // Addresses become links by themselves.
        ':' => after.starts_with("//"),
        '.' if before.to_ascii_lowercase().ends_with("www") => true,
        '.' | ')' if after.starts_with(' ') => {
            !before.is_empty() && before.bytes().all(|digit| digit.is_ascii_digit())
        }
        '#' | '>' | '+' | '-' | '=' | '_' => {
            before.is_empty() && after.starts_with(|next: char| !next.is_alphanumeric())
        }
        _ => false,
    }
}

/// Paragraphs that somebody wrote in Markdown, without the parts of it that lead out of a page.
pub fn prose(text: &str) -> String {
    printable::lines(text).replace('<', "&lt;").replace("](", "]\\(").replace("]:", "]\\:")
}

/// A picture in that file, with its title.
pub fn picture(title: &str, file: &Path) -> String {
    let file = file.display().to_string();
    let file = printable::line(&file).replace('\\', "\\\\").replace('<', "\\<").replace('>', "\\>");
    format!("![{}](<{file}>)\n\n", plain(title))
}

/// The width of prose, characters.
const PROSE_WIDTH: usize = 110;

/// Prose in lines of at most 110 characters; `indent` begins every line but the first.
pub fn wrapped(prose: &str, indent: &str) -> String {
    wrap::wrapped(prose, PROSE_WIDTH, indent)
}

/// A part that a reader opens; nothing if the body is empty.
pub fn folded(title: &str, body: &str) -> String {
    match body.trim() {
        "" => String::new(),
        _ => format!(
            "<details>\n<summary>{title}</summary>\n\n{}\n\n</details>\n",
            body.trim_matches('\n')
        ),
    }
}

/// A section with its heading.
pub fn section(title: &str, body: &str) -> String {
    format!("## {title}\n\n{body}\n")
}

/// A block that shows its text verbatim, whatever characters it contains.
pub fn code_block(text: &str) -> String {
    code_block_in("", text)
}

/// As above, for a text in that language.
pub fn code_block_in(language: &str, text: &str) -> String {
    let text = printable::lines(text);
    // A block ends at a fence as long as its own, before which there may be blanks or the marks of
    // a quotation: so there is no run of as many in it at all.
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

/// One line for each text.
pub fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// One list item for each text.
pub fn list(items: &[impl fmt::Display]) -> String {
    items.iter().map(|item| format!("- {item}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_block() {
        for text in ["K\n   ```\n<img>", "a\r\t```` b", "> `````", "```\u{2028}```"] {
            let block = code_block(text);
            let fence: String = block.chars().take_while(|letter| *letter == '`').collect();
            assert_eq!(block.matches(&fence).count(), 2, "{block}");
            assert!(block.starts_with(&format!("{fence}\n")), "{block}");
            assert!(block.ends_with(&format!("\n{fence}\n")), "{block}");
        }
        assert_eq!(code_block_in("text", "a `b`\n"), "```text\na `b`\n```\n");
    }

    #[test]
    fn prose_is_narrow_and_loses_no_word() {
        let prose = "some words of different length ".repeat(20);
        let text = wrapped(&prose, "  ");
        assert!(text.lines().all(|line| line.chars().count() <= PROSE_WIDTH), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("  ")), "{text}");
        assert!(text.split_whitespace().eq(prose.split_whitespace()));
    }

    #[test]
    fn what_is_empty_is_not_folded() {
        assert_eq!(folded("Notes", "\n"), "");
        let folded = folded("Notes", "one\n");
        assert_eq!(folded, "<details>\n<summary>Notes</summary>\n\none\n\n</details>\n");
    }

    #[test]
    fn the_words_of_others_are_only_words() {
        let known = [
            ("a | b \\| c", "a &#124; b \\\\&#124; c"),
            ("<img src=x onerror=y> &lt;", "&lt;img src=x onerror=y> &amp;lt;"),
            ("[click](javascript:x)", "\\[click\\]\\(javascript:x)"),
            ("\\[a]: b", "\\\\\\[a\\]: b"),
            ("![a][b] *c* `d`", "!\\[a\\]\\[b\\] \\*c\\* \\`d\\`"),
            ("see https://a.b or WWW.a.b", "see https\\://a.b or WWW\\.a.b"),
            ("# title", "\\# title"),
            ("~~~ a", "\\~\\~\\~ a"),
            ("- item", "\\- item"),
            ("12. item", "12\\. item"),
            ("a\nb\u{202e}c\u{1b}[0m", "a b c \\[0m"),
            (
                "rust_tonic -5 % (99.9 %) C=1, 127.0.0.1:1",
                "rust_tonic -5 % (99.9 %) C=1, 127.0.0.1:1",
            ),
            ("-", "-"),
            ("-5.1 %", "-5.1 %"),
            ("2.50", "2.50"),
        ];
        for (text, expected) in known {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn prose_keeps_its_paragraphs_and_leads_nowhere() {
        let text = "One `a`.\n\n- two\n\n<img src=x> [a](javascript:x) [b]: c\u{1b}\n";
        let safe = "One `a`.\n\n- two\n\n&lt;img src=x> [a]\\(javascript:x) [b]\\: c \n";
        assert_eq!(prose(text), safe);
    }

    #[test]
    fn a_row_has_as_many_columns_as_its_heading() {
        let text = table(&["a".to_owned()], 1, &[vec!["x | y\nz".to_owned()]]);
        assert_eq!(text, "| a |\n| --- |\n| x \\| y z |\n");
        let file = Path::new("a>b/c.svg");
        assert_eq!(picture("x](y", file), "![x\\]\\(y](<a\\>b/c.svg>)\n\n");
    }
}
