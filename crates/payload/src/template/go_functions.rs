//! Functions of Go's own that make texts and lists, in place of the engine's: these have a limit.

use super::text::{self, GoValue, TEXT_MAX_BYTES, shown, too_long, written};
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
pub(super) const OF_GO: [(&str, Function); 7] = [
    ("print", |arguments| print(arguments).map(string)),
    ("println", |arguments| print_line(arguments).map(string)),
    ("printf", |arguments| print_format(arguments).map(string)),
    ("slice", slice),
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
            write!(out, "{}", GoValue(value))?;
        }
        Ok(())
    })
}

fn print_line(arguments: &[Value]) -> Result<String> {
    written("println", |out| {
        for (place, value) in arguments.iter().enumerate() {
            write!(out, "{}{}", if place > 0 { " " } else { "" }, GoValue(value))?;
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
    let format = checked_format(format, &arguments[1..])?;
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
    let printed = arguments[1..].iter().map(|value| match value {
        // Only `%v` prints it.
        Value::List(_) => text::of(value, "printf").map(|text| string(text.into_owned())),
        value => Ok(value.clone()),
    });
    let all: Vec<Value> =
        std::iter::once(Ok(string(format))).chain(printed).collect::<Result<_>>()?;
    template.execute_to_string(&Value::List(Arc::from(all)))
}

/// The format as the engine prints it like Go: `%v` of a number with a point is `%g`. What the
/// engine prints otherwise is refused: values of another kind than their verb, `%T`, and flags that
/// it passes over.
fn checked_format(format: &str, values: &[Value]) -> Result<String> {
    let refuse = |reason: String| Err(TemplateError::Exec(reason));
    let (mut rest, mut next, mut checked) = (format, 0, String::new());
    while let Some(at) = rest.find('%') {
        let directive = &rest[at + 1..];
        let is_verb = |letter: char| !"+-# 0123456789.*[]".contains(letter);
        let Some(end) = directive.find(is_verb) else {
            return refuse("printf has a % without a verb".to_owned());
        };
        let (flags, verb) = (&directive[..end], directive[end..].chars().next().unwrap_or('%'));
        checked.push_str(&rest[..at + 1 + end]);
        rest = &directive[end + verb.len_utf8()..];
        if verb == '%' && flags.is_empty() {
            checked.push(verb);
            continue;
        }
        let is_known = "vtdboxXcqUeEfgGs".contains(verb) && has_one_number(flags);
        next = match flags.split_once('[').map(|(_, inside)| inside.trim_end_matches(']').parse()) {
            Some(Ok(number)) => usize::max(number, 1) - 1,
            _ => next + flags.matches('*').count(),
        };
        match values.get(next) {
            _ if !is_known => return refuse(format!("printf does not know %{flags}{verb}")),
            Some(value) if !is_printed(flags, verb, value) => {
                return refuse(format!("printf %{flags}{verb} does not print {}", shown(value)));
            }
            Some(Value::Float(_)) if verb == 'v' => checked.push('g'),
            _ => checked.push(verb),
        }
        next += 1;
    }
    match next < values.len() && !format.contains('[') {
        true => refuse("printf has more values than verbs".to_owned()),
        false => Ok(checked + rest),
    }
}

/// Whether a value is chosen in one way, and no width is larger than the engine has it.
fn has_one_number(flags: &str) -> bool {
    let mut widths = flags.split(|letter: char| !letter.is_ascii_digit());
    flags.matches(['[', '*']).count() <= 1
        && widths.all(|width| width.is_empty() || width.parse::<u16>().is_ok())
}

fn is_printed(flags: &str, verb: char, value: &Value) -> bool {
    let is_zero_padded = flags.trim_start_matches(['-', '+', ' ', '#']).starts_with('0');
    match (value, verb) {
        (Value::Int(_), 'd' | 'b' | 'o' | 'x' | 'X') => !flags.contains(['.', '#']),
        (Value::Int(_), 'q' | 'U' | 'v') => {
            !is_zero_padded && !flags.contains(['.', '#', '+', ' '])
        }
        (Value::Float(number), 'f' | 'e' | 'E' | 'g' | 'G') => {
            number.is_finite() && !flags.contains('#')
        }
        (Value::String(_), 's' | 'x' | 'X') => !is_zero_padded && !flags.contains(['#', '+', ' ']),
        (Value::String(text), 'v' | 'q') => {
            let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
            !is_zero_padded && !flags.contains(['#', '+', ' ', '.']) && (is_plain || verb == 'v')
        }
        (Value::Bool(_), 't' | 'v') => !is_zero_padded && !flags.contains('.'),
        (Value::Float(number), 'v') => number.is_finite() && flags.is_empty(),
        (Value::Int(_), 'c') | (Value::List(_) | Value::Nil, 'v') => flags.is_empty(),
        _ => false,
    }
}

/// A template that has the engine print a list of `values` values.
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

/// A part of a text or of a list.
fn slice(arguments: &[Value]) -> Result<Value> {
    let index = |place: usize| match arguments.get(place) {
        None => Ok(None),
        Some(Value::Int(number)) => Ok(Some(*number)),
        Some(other) => {
            Err(TemplateError::Exec(format!("slice takes an integer, and has {}", shown(other))))
        }
    };
    match arguments {
        [value] | [value, _] | [value, _, _] => value.slice(index(1)?, index(2)?),
        _ => {
            let (name, got) = ("slice".to_owned(), arguments.len());
            Err(TemplateError::ArgCount { name, expected: 3, got })
        }
    }
}
