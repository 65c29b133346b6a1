//! Why a template does not work.

use gotmpl::TemplateError as EngineError;
use thiserror::Error;

/// Why a template does not work. The user's fault. `Display` follows the name of what has it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} of its template: {reason}")]
pub struct CallTemplateError {
    /// Line, from 1; of something that is found there when it is rendered, the first line that has
    /// its name.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

impl CallTemplateError {
    /// What the engine said of that text.
    pub(crate) fn new(text: &str, error: &EngineError) -> Self {
        let (line, reason) = match error {
            EngineError::Parse { line, message, .. } | EngineError::Lex { line, message, .. } => {
                return Self { line: *line, reason: message.clone() };
            }
            EngineError::MissingKey { key } => {
                (line_of(text, key), format!("there is no variable {key}"))
            }
            EngineError::UndefinedFunction(name) => {
                (line_of(text, name), format!("there is no function {name}"))
            }
            EngineError::UndefinedVariable(name) => {
                (line_of(text, name), format!("there is no variable {name}"))
            }
            EngineError::ArgCount { name, expected, got } => {
                let reason = format!("{name} takes {expected} arguments, and has {got}");
                (line_of(text, name), reason)
            }
            other => (first_line(text), other.to_string()),
        };
        Self { line, reason }
    }
}

/// The line of the first template in the text that has this name.
fn line_of(text: &str, name: &str) -> usize {
    let start = text.find("{{").unwrap_or(0);
    let found = text[start..].find(name).map_or(start, |place| start + place);
    1 + text[..found].matches('\n').count()
}

fn first_line(text: &str) -> usize {
    line_of(text, "{{")
}
