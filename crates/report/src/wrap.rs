//! Prose in lines of a width: of a page, or of the terminal that it is read on.

/// The text in lines of at most `width` characters, each of which ends; `indent` begins every line
/// but the first. A word that is longer than a line stays whole.
pub(crate) fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let (mut lines, mut taken) = (String::new(), 0);
    for word in text.split_whitespace() {
        let chars = word.chars().count();
        if taken > 0 && taken + 1 + chars > width {
            lines.push('\n');
            lines.push_str(indent);
            taken = indent.len();
        } else if taken > 0 {
            lines.push(' ');
            taken += 1;
        }
        lines.push_str(word);
        taken += chars;
    }
    lines + "\n"
}

/// As above, and no line is longer, whatever is in it: a longer word goes on in the next line.
pub(crate) fn within(text: &str, width: usize, indent: &str) -> String {
    let most = width.saturating_sub(indent.len()).max(1);
    let parts = |word: &str| {
        let letters: Vec<char> = word.chars().collect();
        letters.chunks(most).map(String::from_iter).collect::<Vec<_>>()
    };
    let words: Vec<String> = text.split_whitespace().flat_map(parts).collect();
    wrapped(&words.join(" "), width, indent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_between_words_and_goes_on_below_its_indent() {
        assert_eq!(wrapped("a bc  def\ngh", 6, "  "), "a bc\n  def\n  gh\n");
        assert_eq!(wrapped("a-long-word b", 6, ""), "a-long-word\nb\n");
        assert_eq!(wrapped("", 6, ""), "\n");
    }

    #[test]
    fn a_word_that_fits_in_no_line_is_broken_too() {
        assert_eq!(within("x abcdefghij", 6, "  "), "x abcd\n  efgh\n  ij\n");
        assert!(within("abc", 1, "   ").lines().all(|line| line.chars().count() <= 4));
    }
}
