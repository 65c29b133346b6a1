//! Words of a command as a shell reads them.

/// The command that this process is. The path of the program is left out: it may name the user's
/// home.
pub fn this_command() -> String {
    std::env::args_os()
        .skip(1)
        .fold("bookend".to_owned(), |line, word| line + " " + &quoted(&word.to_string_lossy()))
}

/// The word in quotation marks where it needs them: a case such as `C=1 S=100` is one word.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=+.,:/@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_command_as_it_was_typed() {
        for (word, written) in [
            ("--rounds=3", "--rounds=3"),
            ("suites/a", "suites/a"),
            ("C=1 S=100", "'C=1 S=100'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), written);
        }
    }
}
