//! A JSON text as it is walked, from its beginning to its end.
//!
//! Whether a text is JSON says serde_json, which has read it before. Here it is only taken apart:
//! what comes otherwise than JSON allows is where serde_json stopped too.

use super::failure::Failure;
use std::borrow::Cow;
use std::fmt;

/// Messages within each other, as deep as the decoders of C++, Java, Python and prost read them.
const MOST_LEVELS: u32 = 100;
/// Of a wrong string, this many characters are shown.
const SHOWN_CHARACTERS: usize = 80;

/// A place in a JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    level: u32,
}

/// The name of a member of an object.
pub(crate) struct Key<'t> {
    pub name: Cow<'t, str>,
    /// How many bytes of the text come before its end.
    pub end: usize,
}

/// A value, or how one begins that has others in it.
pub(crate) enum Found<'t> {
    Null,
    Bool(bool),
    /// As it is written.
    Number(&'t str),
    Text(Cow<'t, str>),
    Array,
    Object,
}

impl fmt::Display for Found<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => write!(formatter, "null"),
            Self::Bool(value) => write!(formatter, "boolean `{value}`"),
            Self::Number(text) if text.contains(['.', 'e', 'E']) => {
                write!(formatter, "floating point `{text}`")
            }
            Self::Number(text) => write!(formatter, "integer `{text}`"),
            Self::Text(text) => write!(formatter, "string {}", shown(text)),
            Self::Array => write!(formatter, "array"),
            Self::Object => write!(formatter, "object"),
        }
    }
}

/// A text in quotation marks, cut where it is long.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("\"{}...\"", &text[..end]),
        None => format!("\"{text}\""),
    }
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0, level: 0 }
    }

    /// How many bytes have been passed.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The first byte of what comes next, which is not white space. `None` at the end.
    pub fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let space = rest.iter().take_while(|byte| b" \n\r\t".contains(byte)).count();
        self.at += space;
        rest.get(space).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Passes a `null`, if one comes next.
    pub fn take_null(&mut self) -> bool {
        let is_next = self.peek() == Some(b'n') && self.text[self.at..].starts_with("null");
        self.at += if is_next { "null".len() } else { 0 };
        is_next
    }

    /// A message within a message.
    pub fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.level == MOST_LEVELS {
            let reason = format!("messages are in each other more than {MOST_LEVELS} deep");
            return Err(Failure::new(self.at, reason));
        }
        self.level += 1;
        let read = read(self);
        self.level -= 1;
        read
    }

    /// Passes an object. `member` passes the value of each name.
    pub fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &Key<'t>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if !self.take(b'{') {
            return Err(self.wrong_type("an object in {}"));
        }
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            self.peek();
            let name = self.text()?;
            let key = Key { name, end: self.at };
            if !self.take(b':') {
                return Err(Failure::not_json(self.at));
            }
            member(self, &key)?;
            if !self.goes_on(b'}')? {
                return Ok(());
            }
        }
    }

    /// Passes an array. `element` passes each value.
    pub fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if !self.take(b'[') {
            return Err(self.wrong_type("a list in []"));
        }
        if self.take(b']') {
            return Ok(());
        }
        for index in 0.. {
            element(self).map_err(|failure| failure.within_element(index))?;
            if !self.goes_on(b']')? {
                break;
            }
        }
        Ok(())
    }

    fn goes_on(&mut self, end: u8) -> Result<bool, Failure> {
        match self.take(b',') {
            true => Ok(true),
            false if self.take(end) => Ok(false),
            false => Err(Failure::not_json(self.at)),
        }
    }

    /// Passes a value, of an array or an object only the beginning.
    pub fn value(&mut self) -> Result<Found<'t>, Failure> {
        let literal = |found, text: &'static str| (found, text.len(), text);
        let (found, length, text) = match self.peek() {
            Some(b'"') => return Ok(Found::Text(self.text()?)),
            Some(b'-' | b'0'..=b'9') => return Ok(Found::Number(self.number())),
            Some(b'n') => literal(Found::Null, "null"),
            Some(b't') => literal(Found::Bool(true), "true"),
            Some(b'f') => literal(Found::Bool(false), "false"),
            Some(b'[') => literal(Found::Array, "["),
            Some(b'{') => literal(Found::Object, "{"),
            _ => return Err(Failure::not_json(self.at)),
        };
        if !self.text[self.at..].starts_with(text) {
            return Err(Failure::not_json(self.at));
        }
        self.at += length;
        Ok(found)
    }

    /// Passes a whole value. Returns it as it is written.
    pub fn skip(&mut self) -> Result<&'t str, Failure> {
        self.peek();
        let start = self.at;
        let mut open = 0_usize;
        loop {
            match self.peek() {
                Some(b'"') => drop(self.raw_text()?),
                Some(b'}' | b']') if open > 0 => {
                    open -= 1;
                    self.at += 1;
                }
                Some(b',' | b':') if open > 0 => self.at += 1,
                _ => {
                    let opens = matches!(self.value()?, Found::Array | Found::Object);
                    open += usize::from(opens);
                }
            }
            if open == 0 {
                return Ok(&self.text[start..self.at]);
            }
        }
    }

    fn number(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let is_of_it = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = rest.bytes().take_while(is_of_it).count();
        self.at += length;
        &rest[..length]
    }

    fn text(&mut self) -> Result<Cow<'t, str>, Failure> {
        let raw = self.raw_text()?;
        if !raw.contains('\\') {
            return Ok(Cow::Borrowed(&raw[1..raw.len() - 1]));
        }
        serde_json::from_str(raw)
            .map(Cow::Owned)
            .map_err(|error| Failure::new(self.at, words(&error)))
    }

    /// Passes a string. Returns it with its quotation marks.
    fn raw_text(&mut self) -> Result<&'t str, Failure> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        while let Some(byte) = bytes.get(end).filter(|_| bytes[start] == b'"') {
            end += match byte {
                b'\\' => 2,
                b'"' => {
                    self.at = end + 1;
                    return Ok(&self.text[start..self.at]);
                }
                _ => 1,
            };
        }
        Err(Failure::not_json(start))
    }

    fn wrong_type(&mut self, expected: &str) -> Failure {
        match self.value() {
            Ok(found) => self.unexpected(&found, expected),
            Err(failure) => failure,
        }
    }

    /// What has just been passed is of another type than its field.
    pub fn unexpected(&self, found: &Found<'_>, expected: &str) -> Failure {
        Failure::new(self.at, format!("invalid type: {found}, expected {expected}"))
    }
}

/// What serde_json says, without the place.
pub(super) fn words(error: &serde_json::Error) -> String {
    let words = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    words.strip_suffix(&place).unwrap_or(&words).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(text: &str) -> Option<&str> {
        Cursor::new(text).skip().ok()
    }

    #[test]
    fn a_whole_value_is_passed_and_nothing_behind_it() {
        for value in ["null", "-1.5e3", r#""a\"}b""#, "[]", r#"{"a":[1,{"b":"]"}],"c":{}}"#] {
            assert_eq!(skipped(&format!(" {value} , 1")), Some(value));
        }
    }

    #[test]
    fn what_is_not_json_ends_nowhere_else() {
        for text in ["", "nul", "\"a", "[1", "{\"a\":", "]", ",", "\"\\", "{\"a\" 1", "\u{e9}"] {
            assert_eq!(skipped(text), None, "{text}");
            let mut cursor = Cursor::new(text);
            let read = cursor.object(|cursor, _| cursor.skip().map(drop));
            assert!(read.is_err(), "{text}");
        }
    }
}
