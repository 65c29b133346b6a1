//! Functions of Go's own that make texts of texts, in place of the engine's: these have a limit.

use super::text::{self, TEXT_MAX_BYTES, too_long, written};
use gotmpl::{Result, Template, TemplateError, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// What one character comes to at most where it is escaped: `&lt;` of HTML, `\u003C` of JavaScript.
const ESCAPED_MAX_BYTES: usize = 6;

/// A function that templates may call.
pub(super) type Function = fn(&[Value]) -> Result<Value>;

/// Those functions.
pub(super) const OF_GO: [(&str, Function); 6] = [
    ("print", |arguments| print(arguments).map(string)),
    ("println", |arguments| print_line(arguments).map(string)),
    ("printf", |arguments| print_format(arguments).map(string)),
    ("html", |arguments| escaped(arguments, "html", gotmpl::html_escape)),
    ("js", |arguments| escaped(arguments, "js", gotmpl::js_escape)),
    ("urlquery", |arguments| escaped(arguments, "urlquery", gotmpl::url_encode)),
];

fn string(text: String) -> Value {
    Value::String(Arc::from(text))
}

/// As Go's `Sprint`: a space between two values neither of which is a string.
fn print(arguments: &[Value]) -> Result<String> {
    let is_text = |value: &Value| matches!(value, Value::String(_));
    written("print", |out| {
        for (place, value) in arguments.iter().enumerate() {
            if place > 0 && !is_text(&arguments[place - 1]) && !is_text(value) {
                out.write_str(" ")?;
            }
            write!(out, "{value}")?;
        }
        Ok(())
    })
}

fn print_line(arguments: &[Value]) -> Result<String> {
    written("println", |out| {
        for (place, value) in arguments.iter().enumerate() {
            write!(out, "{}{value}", if place > 0 { " " } else { "" })?;
        }
        out.write_str("\n")
    })
}

fn escaped<T: AsRef<str>>(
    arguments: &[Value],
    name: &str,
    escape: impl Fn(&str) -> T,
) -> Result<Value> {
    let [value] = arguments else {
        let (name, got) = (name.to_owned(), arguments.len());
        return Err(TemplateError::ArgCount { name, expected: 1, got });
    };
    if *value == Value::Nil {
        return Ok(Value::String(Arc::from(escape("<no value>").as_ref())));
    }
    let text = text::of(value, name)?;
    match text.len() > TEXT_MAX_BYTES / ESCAPED_MAX_BYTES {
        true => Err(too_long(name)),
        false => Ok(Value::String(Arc::from(escape(&text).as_ref()))),
    }
}

/// The engine's own, once it is known that its text is no longer than it may be.
fn print_format(arguments: &[Value]) -> Result<String> {
    /// The engine's limit of a width and of a precision, which come on top of each other, with a
    /// sign, a prefix and the engine's words for a wrong verb.
    const VERB_MAX_BYTES: usize = 2 * u16::MAX as usize + 400;
    /// A character that is quoted, and a byte that is printed in hexadecimal.
    const QUOTED_MAX_BYTES: usize = 4;
    let Some(Value::String(format)) = arguments.first() else {
        return Err(TemplateError::Exec("printf takes a format first".to_owned()));
    };
    let mut longest_bytes = 0;
    let mut all_bytes = format.len();
    for value in &arguments[1..] {
        let bytes = text::of(value, "printf")?.len();
        longest_bytes = bytes.max(longest_bytes);
        all_bytes += bytes;
    }
    let verbs = format.matches('%').count();
    let of_verbs = verbs.saturating_mul(VERB_MAX_BYTES + QUOTED_MAX_BYTES * longest_bytes);
    if of_verbs.saturating_add(all_bytes) > TEXT_MAX_BYTES {
        return Err(too_long("printf"));
    }
    let template = printing(arguments.len())?;
    template.execute_to_string(&Value::List(Arc::from(arguments)))
}

/// A template that has the engine print a list of so many values.
fn printing(values: usize) -> Result<Rc<Template>> {
    thread_local! {
        static MADE: RefCell<BTreeMap<usize, Rc<Template>>> =
            const { RefCell::new(BTreeMap::new()) };
    }
    if let Some(made) = MADE.with_borrow(|made| made.get(&values).cloned()) {
        return Ok(made);
    }
    let arguments: String = (0..values).map(|place| format!(" (index . {place})")).collect();
    let template = Rc::new(Template::new("printf").parse(&format!("{{{{printf{arguments}}}}}"))?);
    MADE.with_borrow_mut(|made| made.insert(values, Rc::clone(&template)));
    Ok(template)
}
