//! Whether the blocks of a template are closed as Go has it. The engine ends at a stray `{{end}}`
//! or `{{else}}`, without a word about what comes behind it.

use super::error::CallTemplateError;

/// The engine bounds the depth of everything but this: each `else if` lies within the one before.
/// As deep as templates may call each other.
const ALTERNATIVES_MAX: usize = 200;

/// What has to follow the `-` of `{{-`.
const GO_SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

/// A block that is open.
struct Block<'t> {
    /// `if`, `range`, `with`, `define` or `block`.
    word: &'t str,
    /// The bytes before it.
    at: usize,
    /// Whether its `{{else}}` has come.
    has_else: bool,
}

/// Refuses what Go's parser refuses of blocks.
///
/// # Errors
/// [`CallTemplateError`] with the line of the action that is out of place.
pub(super) fn check(text: &str) -> Result<(), CallTemplateError> {
    let refuse = |at: usize, reason: String| CallTemplateError {
        line: 1 + text[..at].matches('\n').count(),
        reason,
    };
    let mut open: Vec<Block<'_>> = Vec::new();
    let mut alternatives = 0;
    for action in (Actions { text, at: 0 }) {
        alternatives += usize::from(action.is_alternative());
        if alternatives > ALTERNATIVES_MAX {
            let reason = format!("there are more than {ALTERNATIVES_MAX} of `else if`");
            return Err(refuse(action.at, reason));
        }
        take(&mut open, &action).map_err(|reason| refuse(action.at, reason))?;
    }
    match open.last() {
        Some(block) => Err(refuse(block.at, format!("{{{{{}}}}} has no {{{{end}}}}", block.word))),
        None => Ok(()),
    }
}

/// What an action does to the blocks that are open.
fn take<'t>(open: &mut Vec<Block<'t>>, action: &Action<'t>) -> Result<(), String> {
    let word = action.word;
    let unexpected = |open: &[Block<'_>]| match open.last() {
        Some(block) => Err(format!("unexpected {{{{{word}}}}} in {{{{{}}}}}", block.word)),
        None => Err(format!("unexpected {{{{{word}}}}}")),
    };
    match word {
        "define" if !open.is_empty() => return unexpected(open),
        "if" | "range" | "with" | "define" | "block" => {
            open.push(Block { word, at: action.at, has_else: false });
        }
        "end" if open.pop().is_none() => return unexpected(open),
        "else" => match open.last_mut() {
            Some(block) if block.has_else => return unexpected(open),
            Some(block) if action.is_alternative() && block.word == action.next_word => {}
            Some(block) if !action.is_alternative() && block.may_have_else() => {
                block.has_else = true;
            }
            _ => return unexpected(open),
        },
        "break" | "continue" if !is_in_range(open) => {
            return Err(format!("{{{{{word}}}}} outside {{{{range}}}}"));
        }
        _ => {}
    }
    Ok(())
}

impl Block<'_> {
    fn may_have_else(&self) -> bool {
        matches!(self.word, "if" | "range" | "with")
    }

    /// A template of its own, which what is around it has no part in.
    fn is_template(&self) -> bool {
        matches!(self.word, "define" | "block")
    }
}

fn is_in_range(open: &[Block<'_>]) -> bool {
    let here = open.iter().rev().take_while(|block| !block.is_template());
    here.into_iter().any(|block| block.word == "range" && !block.has_else)
}

/// The text between `{{` and `}}`.
struct Action<'t> {
    /// The bytes before it.
    at: usize,
    /// The word that it begins with, or nothing.
    word: &'t str,
    /// The word behind that one, or nothing.
    next_word: &'t str,
}

impl Action<'_> {
    fn is_alternative(&self) -> bool {
        self.word == "else" && matches!(self.next_word, "if" | "with")
    }
}

/// The actions of a text, without comments. What is not closed is for the engine to refuse.
struct Actions<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Actions<'t> {
    type Item = Action<'t>;

    fn next(&mut self) -> Option<Action<'t>> {
        loop {
            let at = self.at + self.text[self.at..].find("{{")?;
            let inside = &self.text[at + 2..];
            let trims = inside.strip_prefix('-').filter(|rest| rest.starts_with(GO_SPACES));
            let content = trims.unwrap_or(inside).trim_start();
            let start = self.text.len() - content.len();
            if let Some(comment) = content.strip_prefix("/*") {
                let end = start + 2 + comment.find("*/")? + 2;
                self.at = end + self.text[end..].find("}}")? + 2;
                continue;
            }
            self.at = start + length_of_action(content)?;
            let word = first_word(content);
            let next_word = first_word(content[word.len()..].trim_start());
            return Some(Action { at, word, next_word });
        }
    }
}

fn first_word(text: &str) -> &str {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    &text[..text.find(|letter| !is_of_word(letter)).unwrap_or(text.len())]
}

/// The bytes until the end of the action, with its `}}`.
fn length_of_action(content: &str) -> Option<usize> {
    let bytes = content.as_bytes();
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            b'}' if bytes.get(at + 1) == Some(&b'}') => return Some(at + 2),
            b'`' => at += 2 + content[at + 1..].find('`')?,
            quote @ (b'"' | b'\'') => {
                at += 1;
                while *bytes.get(at)? != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_refused_where_go_refuses_them() {
        for (text, said) in [
            ("{{end}}", "unexpected {{end}}"),
            ("a\n{{- end -}}, garbage", "unexpected {{end}}"),
            ("{{if 1}}{{end}}{{end}}", "unexpected {{end}}"),
            ("{{template \"x\"}}{{define \"x\"}}q{{end}}{{end}}", "unexpected {{end}}"),
            ("{{else}}xxx{{end}}", "unexpected {{else}}"),
            ("{{else if true}}zz", "unexpected {{else}}"),
            ("{{if 1}}a{{else}}b{{else}}c{{end}}", "unexpected {{else}} in {{if}}"),
            ("{{if 1}}a{{else}}b{{else if 1}}c{{end}}", "unexpected {{else}} in {{if}}"),
            ("{{range 2}}{{else if 1}}x{{end}}", "unexpected {{else}} in {{range}}"),
            ("{{with 0}}{{else if 1}}x{{end}}", "unexpected {{else}} in {{with}}"),
            ("{{if 0}}{{else with 1}}x{{end}}", "unexpected {{else}} in {{if}}"),
            ("{{define \"x\"}}a{{else}}b{{end}}", "unexpected {{else}} in {{define}}"),
            ("{{block \"a\" 1}}x{{else}}y{{end}}", "unexpected {{else}} in {{block}}"),
            ("{{if 1}}{{define \"x\"}}{{end}}{{end}}", "unexpected {{define}} in {{if}}"),
            ("{{break}}", "{{break}} outside {{range}}"),
            ("{{range 1}}{{else}}{{continue}}{{end}}", "{{continue}} outside {{range}}"),
            ("{{range 2}}{{block \"a\" 1}}{{break}}{{end}}{{end}}", "{{break}} outside {{range}}"),
            ("{{if 1}}a", "{{if}} has no {{end}}"),
            ("{{define \"x\"}}", "{{define}} has no {{end}}"),
        ] {
            let error = check(text).unwrap_err();
            assert!(error.reason.contains(said), "{text}: {error}");
            assert_eq!(error.line, 1 + text.matches('\n').count(), "{text}");
        }
    }

    #[test]
    fn what_go_takes_is_taken() {
        for text in [
            "}} {{1}}",
            r#"{{"{{end}}"}}"#,
            r#"{{"\"}}{{end}}"}}"#,
            "{{`{{end}}\\`}}",
            "{{'}'}}{{'\\''}}{{/* {{end}} */}}x",
            "{{- /* {{end}} */ -}}x{{ /* }} */}}",
            "{{with 0}}{{else with 1}}x{{else}}y{{end}}",
            "{{if 0}}{{else if 0}}{{else if 1}}w{{else}}q{{end}}e",
            "{{range 3}}{{if 1}}{{break}}{{else}}{{continue}}{{end}}c{{end}}",
            "{{range 3}}{{range 2}}{{else}}{{break}}{{end}}{{end}}",
            "{{define \"x\"}}{{range 1}}{{break}}{{end}}{{end}}{{block \"y\" 1}}{{end}}",
            "{{endx}}{{- 5}}{{-5}}",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }
}
