//! Blocks of the documentation that quote a file, whose name stands behind the language. A reader
//! who copies them gets what is built here.

use crate::offence::Offence;

/// Blocks that are not, line for line, in the file that they name. `file` gives a file's text.
pub fn misquotes<'a>(
    path: &str,
    text: &str,
    file: impl Fn(&str) -> Option<&'a str>,
) -> Vec<Offence> {
    let complaints = quotes(text).into_iter().filter_map(|quote| {
        let what = match file(&quote.file) {
            None => format!("no such file: {}", quote.file),
            Some(original) if is_part(&quote.lines, original) => return None,
            Some(_) => format!("this block is not in {}", quote.file),
        };
        Some(Offence::new(path, quote.line, what))
    });
    complaints.collect()
}

struct Quote<'a> {
    line: usize,
    file: String,
    lines: Vec<&'a str>,
}

fn quotes(text: &str) -> Vec<Quote<'_>> {
    let mut quotes = Vec::new();
    let mut open: Option<Quote<'_>> = None;
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            quotes.extend(open.take());
            fenced = !fenced;
            let file = info.split_whitespace().nth(1).filter(|_| fenced);
            open = file.map(|file| Quote {
                line: index + 1,
                file: file.to_owned(),
                lines: Vec::new(),
            });
        } else if let Some(quote) = &mut open {
            quote.lines.push(line);
        }
    }
    quotes
}

fn is_part(lines: &[&str], original: &str) -> bool {
    let original: Vec<&str> = original.lines().collect();
    !lines.is_empty() && original.windows(lines.len()).any(|part| part == lines)
}

#[test]
fn a_block_that_is_not_in_its_file_is_an_offence() {
    let page = "```toml a.toml\nb = 1\nc = 3\n```\n";
    let with = |text: &'static str| misquotes("page.md", page, move |_| Some(text));
    assert!(with("a = 0\nb = 1\nc = 3\nd = 4\n").is_empty());
    assert_eq!(with("b = 1\nx = 2\nc = 3\n").len(), 1);
    assert_eq!(misquotes("page.md", page, |_| None).len(), 1);
}

#[test]
fn blocks_that_name_no_file_quote_none() {
    let page = "```toml\nb = 1\n```\n\n```\nc\n```\n";
    assert!(misquotes("page.md", page, |_| None).is_empty());
}
