//! Words of a command as a shell reads them.

/// The word in quotation marks where it needs them: a case such as `C=1 S=100` is one word.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=+.,:/@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The words of a command that [`quoted`] has written; `None`: a quotation mark is missing.
pub fn words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' => words.extend(word.take()),
            '\\' => word.get_or_insert_default().push(letters.next()?),
            '\'' | '"' => {
                let inner = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        other => inner.push(other),
                    }
                }
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
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

    #[test]
    fn a_command_that_was_written_is_read_again() {
        let typed = ["load", "-m", "{\"a\": \"it's \\ b\"}", "", "C=1 S=2"];
        let command = typed.map(quoted).join(" ");
        assert_eq!(words(&command).unwrap(), typed);
        assert_eq!(words("a  \"b c\" d").unwrap(), ["a", "b c", "d"]);
        assert_eq!(words("a 'b"), None);
    }
}
