//! Texts that templates make, none longer than it may be: values print themselves, and a list of
//! lists may print without end.

use super::budget;
use gotmpl::{Result, TemplateError, Value};
use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// Texts are no longer than this: far more than any server takes as a message.
pub(super) const TEXT_MAX_BYTES: usize = 64 << 20;

/// A text that is being written.
struct Text {
    text: String,
    max_bytes: usize,
}

impl fmt::Write for Text {
    /// What has no room is cut.
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = self.max_bytes - self.text.len();
        if part.len() <= room {
            self.text.push_str(part);
            return Ok(());
        }
        let end = (0..=room).rev().find(|end| part.is_char_boundary(*end)).unwrap_or(0);
        self.text.push_str(&part[..end]);
        Err(fmt::Error)
    }
}

/// A value as Go prints it: the engine has Rust's words for numbers with a point.
pub(super) struct GoValue<'v>(pub &'v Value);

impl fmt::Display for GoValue<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Float(number) => out.write_str(&shortest(*number)),
            Value::List(values) => {
                out.write_char('[')?;
                for (place, value) in values.iter().enumerate() {
                    write!(out, "{}{}", if place > 0 { " " } else { "" }, GoValue(value))?;
                }
                out.write_char(']')
            }
            other => write!(out, "{other}"),
        }
    }
}

/// `strconv.FormatFloat(number, 'g', -1, 64)`.
fn shortest(number: f64) -> String {
    let scientific = format!("{number:e}");
    match scientific.split_once('e').map(|(digits, exponent)| (digits, exponent.parse::<i32>())) {
        Some((digits, Ok(exponent))) if !(-4..=5).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ if number.is_infinite() => format!("{number:+}").replace("inf", "Inf"),
        _ => number.to_string(),
    }
}

pub(super) fn too_long(name: &str) -> TemplateError {
    TemplateError::Exec(format!("{name} gives more than {} MiB", TEXT_MAX_BYTES >> 20))
}

/// What `write` writes for the function of that name.
pub(super) fn written(
    name: &str,
    write: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result,
) -> Result<String> {
    let mut text = Text { text: String::new(), max_bytes: TEXT_MAX_BYTES };
    write(&mut text).map_err(|_| too_long(name))?;
    Ok(text.text)
}

/// A value as text, for the function of that name.
pub(super) fn of<'a>(value: &'a Value, name: &str) -> Result<Cow<'a, str>> {
    match value {
        Value::String(text) => Ok(Cow::Borrowed(text)),
        other => written(name, |out| write!(out, "{}", GoValue(other))).map(Cow::Owned),
    }
}

/// A value in an error message.
pub(super) fn shown(value: &Value) -> String {
    const SHOWN_MAX_BYTES: usize = 60;
    let mut text = Text { text: String::new(), max_bytes: SHOWN_MAX_BYTES };
    match write!(text, "{}", GoValue(value)) {
        Ok(()) => text.text,
        Err(fmt::Error) => text.text + " ...",
    }
}

/// The text of a call, each part of which is a step.
#[derive(Default)]
pub(super) struct CallText {
    text: String,
    /// Why there is no more of it.
    refused: Option<TemplateError>,
}

impl CallText {
    /// The whole text, or why rendering failed.
    pub(super) fn after(self, rendered: Result<()>) -> Result<String> {
        match (rendered, self.refused) {
            (Ok(()), _) => Ok(self.text),
            (Err(TemplateError::Write), Some(refused)) => Err(refused),
            (Err(error), _) => Err(error),
        }
    }
}

impl fmt::Write for CallText {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let has_room = part.len() <= TEXT_MAX_BYTES - self.text.len();
        let room = if has_room { Ok(()) } else { Err(too_long("it")) };
        if let Err(error) = room.and_then(|()| budget::step()) {
            self.refused = Some(error);
            return Err(fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_a_message_is_cut() {
        assert_eq!(shown(&Value::Int(7)), "7");
        let long = shown(&Value::String("é".repeat(100).into()));
        assert_eq!(long, format!("{} ...", "é".repeat(30)));
    }
}
