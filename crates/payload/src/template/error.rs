//! Why a template does not work.

use super::functions;
use bookend_contract::input;
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
                return Self { line: (*line).max(1), reason: input::reason(message) };
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
            EngineError::UndefinedTemplate(name) => {
                (line_of(text, name), format!("there is no template {name}"))
            }
            EngineError::RecursionLimit => {
                let reason = "templates call each other, or are nested, too deeply".to_owned();
                (line_of(text, "template"), reason)
            }
            EngineError::Exec(reason) => {
                let name = reason.split_whitespace().next().unwrap_or_default();
                let place = if functions::is_known(name) { name } else { "{{" };
                (line_of(text, place), reason.clone())
            }
            other => (line_of(text, "{{"), other.to_string()),
        };
        Self { line, reason: input::reason(&reason) }
    }
}

/// The line of the first template in the text that has this name.
fn line_of(text: &str, name: &str) -> usize {
    let start = text.find("{{").unwrap_or(0);
    let found = text[start..].find(name).map_or(start, |place| start + place);
    1 + text[..found].matches('\n').count()
}
