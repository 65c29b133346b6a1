//! Words of others, such as names and what a process printed, quoted so that a line stays a line
//! and a page a page.

use bookend_contract::printable;

/// The output of another process as one line, of which a terminal does nothing but show it.
pub fn one_line(text: &str) -> String {
    printable::line(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name of at most `most` characters: both ends of a longer one tell it from others.
pub fn cut_in_the_middle(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let kept = most.saturating_sub(2);
    let (begin, end) = (kept - kept / 2, kept / 2);
    let [begin, end] = [&letters[..begin], &letters[letters.len() - end..]];
    format!("{}..{}", String::from_iter(begin), String::from_iter(end))
}

/// Most characters that are quoted of what a program printed: nobody reads more, and a page of a
/// hundred rows must stay one.
pub const QUOTED_MAX: usize = 1000;

/// A text of at most [`QUOTED_MAX`] characters, which says how many were left out.
pub fn clipped(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(QUOTED_MAX) else {
        return text.to_owned();
    };
    let left = text[end..].chars().count();
    format!("{} ... ({left} more characters)", &text[..end])
}

/// The same as one line, of which a terminal does nothing but show it.
pub fn quoted_line(text: &str) -> String {
    one_line(&clipped(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_too_long_loses_its_middle() {
        assert_eq!(cut_in_the_middle("rust-tonic", 10), "rust-tonic");
        assert_eq!(cut_in_the_middle("rust-tonic/0.11-jemalloc", 11), "rust-..lloc");
        assert_eq!(cut_in_the_middle("abcdef", 1), "..");
    }

    #[test]
    fn a_line_of_a_megabyte_is_quoted_in_part() {
        let endless = clipped(&"\u{e9}".repeat(1 << 20));
        assert!(endless.ends_with("\u{e9} ... (1047576 more characters)"), "{}", endless.len());
        assert_eq!(endless.chars().filter(|c| *c == '\u{e9}').count(), QUOTED_MAX);
        assert_eq!(clipped("short"), "short");
    }

    #[test]
    fn what_a_process_said_is_one_line() {
        assert_eq!(one_line("a\r\n\tb \u{1b}[31mred\u{7}\u{202e}"), "a b [31mred");
    }
}
