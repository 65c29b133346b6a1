//! The command that this process is.

pub use bookend_contract::shell_words::quoted;

use bookend_contract::secrets;

/// The flag that shows secrets in what is kept.
const SHOW_SECRETS: &str = "--show-secrets";

/// The command that this process is, as it is kept and shown to others. The path of the program is
/// left out: it may name the user's home.
pub fn this_command() -> String {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    std::iter::once("bookend".to_owned())
        .chain(kept_words(words).iter().map(|word| quoted(word)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The words of a command with their secrets masked, unless it says that they are to be shown.
pub fn kept_words(words: Vec<String>) -> Vec<String> {
    if words.iter().any(|word| word == SHOW_SECRETS) { words } else { secrets::in_words(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_kept_without_its_secrets_unless_it_asks_for_them() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let masked = kept_words(words("race --env TOKEN=abc"));
        assert_eq!(masked, ["race", "--env", "TOKEN=masked (3 bytes)"]);
        let asked = words("race --env TOKEN=abc --show-secrets");
        assert_eq!(kept_words(asked.clone()), asked);
    }
}
