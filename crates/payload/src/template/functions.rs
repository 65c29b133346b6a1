//! The functions that templates may call besides those of Go: ghz's own, and of sprig, which ghz
//! has as well, those that make or change the text of a message.

use super::budget;
use super::go_functions::{Function, OF_GO};
use super::text::{self, GoValue, TEXT_MAX_BYTES, shown, too_long, written};
use super::variables::{CallFacts, Variable};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use gotmpl::{Result, Template, TemplateError, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Lists of functions have no more values than this.
const LIST_MAX: usize = 1_000_000;
/// A list has no more lists within it, so that it can be printed and dropped.
const LISTS_WITHIN_MAX: usize = 100;

/// Functions whose value differs from call to call.
const OF_THE_CALL: [(&str, Function); 8] = [
    ("newUUID", |arguments| none(arguments, "newUUID").map(|()| of_call(Variable::Uuid))),
    ("uuidv4", |arguments| none(arguments, "uuidv4").map(|()| of_call(Variable::Uuid))),
    ("randomString", |arguments| {
        Ok(of_call(Variable::RandomString(length(arguments, "randomString")?)))
    }),
    ("randomInt", |arguments| random_integer(arguments, "randomInt")),
    ("randInt", |arguments| random_integer(arguments, "randInt")),
    ("randAlphaNum", |arguments| random_text(arguments, "randAlphaNum", fastrand::alphanumeric)),
    ("randAlpha", |arguments| random_text(arguments, "randAlpha", fastrand::alphabetic)),
    ("randNumeric", |arguments| random_text(arguments, "randNumeric", || fastrand::digit(10))),
];

/// Functions whose value follows from their arguments.
const OF_ARGUMENTS: [(&str, Function); 49] = [
    ("upper", |arguments| text_to_text(arguments, "upper", upper)),
    ("lower", |arguments| text_to_text(arguments, "lower", lower)),
    ("title", |arguments| text_to_text(arguments, "title", title)),
    ("trim", |arguments| text_to_text(arguments, "trim", |text| text.trim().to_owned())),
    ("nospace", |arguments| {
        text_to_text(arguments, "nospace", |text| text.split_whitespace().collect())
    }),
    ("quote", |arguments| {
        joined(arguments, " ", "quote", |value, out| {
            let text = text::of(value, "quote").map_err(|_| fmt::Error)?;
            write_quoted(&text, out)
        })
    }),
    ("squote", |arguments| {
        joined(arguments, " ", "squote", |value, out| write!(out, "'{}'", GoValue(value)))
    }),
    ("toString", |arguments| {
        exactly(arguments, 1, "toString")?;
        text::of(&arguments[0], "toString").map(|text| string(&text))
    }),
    ("b64enc", |arguments| text_to_text(arguments, "b64enc", |text| BASE64.encode(text))),
    ("b64dec", base64_decoded),
    ("trimAll", |arguments| {
        two_texts(arguments, "trimAll", |cut, text| {
            let cut: BTreeSet<char> = cut.chars().collect();
            string(text.trim_matches(|letter: char| cut.contains(&letter)))
        })
    }),
    ("trimPrefix", |arguments| {
        two_texts(arguments, "trimPrefix", |cut, text| {
            string(text.strip_prefix(cut).unwrap_or(text))
        })
    }),
    ("trimSuffix", |arguments| {
        two_texts(arguments, "trimSuffix", |cut, text| {
            string(text.strip_suffix(cut).unwrap_or(text))
        })
    }),
    ("contains", |arguments| {
        two_texts(arguments, "contains", |part, text| Value::Bool(text.contains(part)))
    }),
    ("hasPrefix", |arguments| {
        two_texts(arguments, "hasPrefix", |part, text| Value::Bool(text.starts_with(part)))
    }),
    ("hasSuffix", |arguments| {
        two_texts(arguments, "hasSuffix", |part, text| Value::Bool(text.ends_with(part)))
    }),
    ("splitList", split_list),
    ("replace", replace),
    ("repeat", repeat),
    ("trunc", truncate),
    ("substr", part_of_text),
    ("join", join),
    ("cat", |arguments| joined(arguments, " ", "cat", write_value)),
    ("int", |arguments| integer(arguments, 0, 1, "int").map(Value::Int)),
    ("int64", |arguments| integer(arguments, 0, 1, "int64").map(Value::Int)),
    ("atoi", atoi),
    ("float64", |arguments| number(arguments, 0, 1, "float64").map(Value::Float)),
    ("add1", |arguments| {
        integer(arguments, 0, 1, "add1").map(|number| Value::Int(number.wrapping_add(1)))
    }),
    ("add", |arguments| fold(arguments, "add", i64::wrapping_add)),
    ("mul", |arguments| fold(arguments, "mul", i64::wrapping_mul)),
    ("max", |arguments| fold(arguments, "max", i64::max)),
    ("min", |arguments| fold(arguments, "min", i64::min)),
    ("sub", |arguments| two_integers(arguments, "sub", |one, other| one.checked_sub(other))),
    ("div", |arguments| two_integers(arguments, "div", |one, other| one.checked_div(other))),
    ("mod", |arguments| two_integers(arguments, "mod", |one, other| one.checked_rem(other))),
    ("floor", |arguments| number(arguments, 0, 1, "floor").map(|it| Value::Float(it.floor()))),
    ("ceil", |arguments| number(arguments, 0, 1, "ceil").map(|it| Value::Float(it.ceil()))),
    ("round", round),
    ("list", list_of),
    ("first", |arguments| values(arguments, "first").map(|all| or_nil(all.first()))),
    ("last", |arguments| values(arguments, "last").map(|all| or_nil(all.last()))),
    ("rest", |arguments| {
        values(arguments, "rest").map(|all| Value::List(Arc::from(all.get(1..).unwrap_or(&[]))))
    }),
    ("until", |arguments| {
        let end = integer(arguments, 0, 1, "until")?;
        match end.unsigned_abs() > LIST_MAX as u64 {
            true => Err(too_many("until")),
            false if end < 0 => Ok(list((end + 1..=0).rev().map(Value::Int))),
            false => Ok(list((0..end).map(Value::Int))),
        }
    }),
    ("default", |arguments| {
        exactly(arguments, 2, "default")?;
        Ok(arguments[usize::from(arguments[1].is_truthy())].clone())
    }),
    ("empty", |arguments| {
        exactly(arguments, 1, "empty")?;
        Ok(Value::Bool(!arguments[0].is_truthy()))
    }),
    ("coalesce", |arguments| Ok(or_nil(arguments.iter().find(|value| value.is_truthy())))),
    ("ternary", |arguments| {
        exactly(arguments, 3, "ternary")?;
        match &arguments[2] {
            Value::Bool(truth) => Ok(arguments[usize::from(!*truth)].clone()),
            other => {
                let reason = format!("ternary takes true or false, and has {}", shown(other));
                Err(TemplateError::Exec(reason))
            }
        }
    }),
    ("env", |arguments| {
        text_to_text(arguments, "env", |name| std::env::var(name).unwrap_or_default())
    }),
    ("fail", |arguments| {
        exactly(arguments, 1, "fail")?;
        Err(TemplateError::Exec(shown(&arguments[0])))
    }),
];

/// The template with all of these functions, or with those of Go alone.
pub(crate) fn added_to(template: Template, with_others: bool) -> Template {
    let others = OF_THE_CALL.into_iter().chain(OF_ARGUMENTS).filter(|_| with_others);
    others.chain(OF_GO).fold(template, |template, (name, function)| {
        template.func(name, move |arguments| {
            budget::step()?;
            arguments.iter().try_for_each(fits_integer)?;
            let value = function(arguments)?;
            spend_for(&value, name)?;
            Ok(value)
        })
    })
}

/// Go's integers are signed.
pub(super) fn fits_integer(value: &Value) -> Result<()> {
    match value {
        Value::Uint(number) => Err(TemplateError::Exec(format!("{number} overflows int"))),
        _ => Ok(()),
    }
}

/// What a function has made is paid for; what it was given is not.
fn spend_for(value: &Value, name: &str) -> Result<()> {
    match value {
        Value::String(text) if text.len() > TEXT_MAX_BYTES => Err(too_long(name)),
        Value::String(text) if Arc::strong_count(text) == 1 => budget::spend(text.len()),
        Value::List(values) if Arc::strong_count(values) == 1 => {
            budget::spend(size_of_val::<[Value]>(values))
        }
        _ => Ok(()),
    }
}

/// Whether there is a function of that name, which errors of it begin with.
pub(crate) fn is_known(name: &str) -> bool {
    OF_THE_CALL.iter().chain(&OF_ARGUMENTS).chain(&OF_GO).any(|(known, _)| *known == name)
}

/// Whether a function's value differs from call to call.
pub(crate) fn depends_on_call(name: &str) -> bool {
    OF_THE_CALL.iter().any(|(known, _)| *known == name)
}

/// The value of a function that needs nothing to be known of the call.
fn of_call(variable: Variable) -> Value {
    let mut text = Vec::new();
    variable.write(&CallFacts::default(), &mut text);
    string(&String::from_utf8_lossy(&text))
}

fn string(text: &str) -> Value {
    Value::String(Arc::from(text))
}

fn list(values: impl Iterator<Item = Value>) -> Value {
    Value::List(values.collect())
}

fn or_nil(value: Option<&Value>) -> Value {
    value.cloned().unwrap_or(Value::Nil)
}

fn exactly(arguments: &[Value], expected: usize, name: &str) -> Result<()> {
    if arguments.len() == expected {
        return Ok(());
    }
    Err(TemplateError::ArgCount { name: name.to_owned(), expected, got: arguments.len() })
}

fn none(arguments: &[Value], name: &str) -> Result<()> {
    exactly(arguments, 0, name)
}

/// The integer at that place, where the function has `expected` arguments. Texts are read as sprig
/// reads them, with Go's prefixes of other bases; one that is no number is refused, where sprig
/// takes it for 0.
fn integer(arguments: &[Value], place: usize, expected: usize, name: &str) -> Result<i64> {
    exactly(arguments, expected, name)?;
    let value = &arguments[place];
    match value {
        Value::String(text) => integer_of_text(text).ok_or_else(|| no_number(name, value)),
        Value::Bool(truth) => Ok(i64::from(*truth)),
        Value::Float(number) => Ok(truncated(*number)),
        other => other.as_int().ok_or_else(|| no_number(name, other)),
    }
}

/// Go's `strconv.ParseInt` with the base that the text names.
fn integer_of_text(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, base) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', b'o' | b'O', ..] => (&digits[2..], 8),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let is_number = digits.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    let number = format!("{sign}{digits}");
    if is_number { i64::from_str_radix(&number, base).ok() } else { None }
}

/// Go's conversion on the processors that it is mostly used on: what does not fit is the least.
fn truncated(number: f64) -> i64 {
    let fits = number >= i64::MIN as f64 && number < i64::MAX as f64;
    if fits { number as i64 } else { i64::MIN }
}

fn atoi(arguments: &[Value]) -> Result<Value> {
    exactly(arguments, 1, "atoi")?;
    let read = match &arguments[0] {
        Value::String(text) => text.parse().ok(),
        other => other.as_int(),
    };
    read.map(Value::Int).ok_or_else(|| no_number("atoi", &arguments[0]))
}

fn number(arguments: &[Value], place: usize, expected: usize, name: &str) -> Result<f64> {
    exactly(arguments, expected, name)?;
    match &arguments[place] {
        Value::String(text) => text.parse().map_err(|_| no_number(name, &arguments[place])),
        Value::Bool(truth) => Ok(f64::from(u8::from(*truth))),
        other => other.as_float().ok_or_else(|| no_number(name, other)),
    }
}

fn no_number(name: &str, value: &Value) -> TemplateError {
    TemplateError::Exec(format!("{name} takes a number, and has {}", shown(value)))
}

fn too_many(name: &str) -> TemplateError {
    TemplateError::Exec(format!("{name} gives more than {LIST_MAX} values"))
}

/// The length of a random text. Negative ones and zero leave it to chance, as in ghz.
fn length(arguments: &[Value], name: &str) -> Result<i64> {
    let length = integer(arguments, 0, 1, name)?;
    if length > TEXT_MAX_BYTES as i64 { Err(too_long(name)) } else { Ok(length) }
}

fn random_integer(arguments: &[Value], name: &str) -> Result<Value> {
    let (from, before) = (integer(arguments, 0, 2, name)?, integer(arguments, 1, 2, name)?);
    if from < before {
        return Ok(Value::Int(fastrand::i64(from..before)));
    }
    Err(TemplateError::Exec(format!("{name} {from} {before} has nothing to choose from")))
}

fn random_text(arguments: &[Value], name: &str, letter: fn() -> char) -> Result<Value> {
    let letters = length(arguments, name)?.max(0);
    Ok(string(&(0..letters).map(|_| letter()).collect::<String>()))
}

/// A value as text. Go refuses a value without one.
fn text_of<'a>(value: &'a Value, name: &str) -> Result<Cow<'a, str>> {
    match value {
        Value::Nil => Err(TemplateError::Exec(format!("{name} takes a text, and has nothing"))),
        value => text::of(value, name),
    }
}

fn text_to_text(arguments: &[Value], name: &str, change: impl Fn(&str) -> String) -> Result<Value> {
    exactly(arguments, 1, name)?;
    Ok(string(&change(&text_of(&arguments[0], name)?)))
}

fn two_texts(
    arguments: &[Value],
    name: &str,
    combine: impl Fn(&str, &str) -> Value,
) -> Result<Value> {
    exactly(arguments, 2, name)?;
    Ok(combine(&text_of(&arguments[0], name)?, &text_of(&arguments[1], name)?))
}

/// Letters one for one, as Go maps them.
fn upper(text: &str) -> String {
    text.chars().map(|letter| one_of(letter, letter.to_uppercase())).collect()
}

fn lower(text: &str) -> String {
    let lower = |letter: char| match letter {
        'İ' => 'i',
        _ => one_of(letter, letter.to_lowercase()),
    };
    text.chars().map(lower).collect()
}

fn one_of(letter: char, mut mapped: impl ExactSizeIterator<Item = char>) -> char {
    if mapped.len() == 1 { mapped.next().unwrap_or(letter) } else { letter }
}

fn title(text: &str) -> String {
    let mut begins = true;
    let letters = text.chars().map(|letter| {
        let written = if begins { one_of(letter, letter.to_uppercase()) } else { letter };
        begins = !(letter.is_alphanumeric() || letter == '_');
        written
    });
    letters.collect()
}

fn base64_decoded(arguments: &[Value]) -> Result<Value> {
    exactly(arguments, 1, "b64dec")?;
    let text = BASE64
        .decode(text_of(&arguments[0], "b64dec")?.as_bytes())
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let failed = || TemplateError::Exec("b64dec has no base64 of a text".to_owned());
    Ok(string(&text.ok_or_else(failed)?))
}

fn replace(arguments: &[Value]) -> Result<Value> {
    exactly(arguments, 3, "replace")?;
    let [old, new, text] = [0, 1, 2].map(|place: usize| text_of(&arguments[place], "replace"));
    let (old, new, text) = (old?, new?, text?);
    let new_bytes = text.matches(&*old).count().saturating_mul(new.len());
    match new_bytes.saturating_add(text.len()) > TEXT_MAX_BYTES {
        true => Err(too_long("replace")),
        false => Ok(string(&text.replace(&*old, &new))),
    }
}

fn repeat(arguments: &[Value]) -> Result<Value> {
    let times = integer(arguments, 0, 2, "repeat")?;
    let times = usize::try_from(times)
        .map_err(|_| TemplateError::Exec(format!("repeat {times} is less than nothing")))?;
    let text = text_of(&arguments[1], "repeat")?;
    if text.len().saturating_mul(times) > TEXT_MAX_BYTES {
        return Err(too_long("repeat"));
    }
    Ok(string(&text.repeat(times)))
}

fn split_list(arguments: &[Value]) -> Result<Value> {
    exactly(arguments, 2, "splitList")?;
    let gap = text_of(&arguments[0], "splitList")?;
    let text = text_of(&arguments[1], "splitList")?;
    if text.matches(&*gap).count() > LIST_MAX {
        return Err(too_many("splitList"));
    }
    match gap.is_empty() {
        // Between all letters.
        true => Ok(list(text.chars().map(|letter| string(letter.encode_utf8(&mut [0; 4]))))),
        false => Ok(list(text.split(&*gap).map(string))),
    }
}

fn list_of(arguments: &[Value]) -> Result<Value> {
    match lists_within(arguments, LISTS_WITHIN_MAX) {
        Some(_) => Ok(Value::List(Arc::from(arguments))),
        None => Err(TemplateError::Exec(format!(
            "list has more than {LISTS_WITHIN_MAX} lists within it"
        ))),
    }
}

/// How many more lists there may be within these values.
fn lists_within(values: &[Value], most: usize) -> Option<usize> {
    values.iter().try_fold(most, |left, value| match value {
        Value::List(inner) => lists_within(inner, left.checked_sub(1)?),
        _ => Some(left),
    })
}

/// The first letters; with a negative number the last ones.
fn truncate(arguments: &[Value]) -> Result<Value> {
    let letters = integer(arguments, 0, 2, "trunc")?;
    let text = text_of(&arguments[1], "trunc")?;
    let count = text.chars().count();
    let most = letters.unsigned_abs() as usize;
    let left_out = if letters < 0 { count.saturating_sub(most) } else { 0 };
    Ok(string(&text.chars().skip(left_out).take(most).collect::<String>()))
}

/// As sprig, of letters instead of bytes.
fn part_of_text(arguments: &[Value]) -> Result<Value> {
    let (start, end) = (integer(arguments, 0, 3, "substr")?, integer(arguments, 1, 3, "substr")?);
    let text = text_of(&arguments[2], "substr")?;
    let count = text.chars().count();
    let first = usize::try_from(start).unwrap_or(0);
    let last = usize::try_from(end).ok().filter(|_| start < 0 || end as usize <= count);
    let last = last.unwrap_or(count).min(count);
    if first > last || (start < 0 && end < 0) {
        return Err(TemplateError::Exec(format!("substr {start} {end} is no part of its text")));
    }
    Ok(string(&text.chars().take(last).skip(first).collect::<String>()))
}

fn join(arguments: &[Value]) -> Result<Value> {
    exactly(arguments, 2, "join")?;
    let gap = text_of(&arguments[0], "join")?;
    match &arguments[1] {
        Value::List(values) => joined(values, &gap, "join", write_value),
        // One value is a list of it.
        one => joined(std::slice::from_ref(one), &gap, "join", write_value),
    }
}

/// Values with a gap between them, those without one left out.
fn joined(
    values: &[Value],
    gap: &str,
    name: &str,
    write: fn(&Value, &mut dyn fmt::Write) -> fmt::Result,
) -> Result<Value> {
    let text = written(name, |out| {
        for (place, value) in values.iter().filter(|value| **value != Value::Nil).enumerate() {
            out.write_str(if place > 0 { gap } else { "" })?;
            write(value, out)?;
        }
        Ok(())
    });
    text.map(|text| string(&text))
}

/// As Go's `strconv.Quote`.
fn write_quoted(text: &str, out: &mut dyn fmt::Write) -> fmt::Result {
    out.write_char('"')?;
    for letter in text.chars() {
        let escaped = letter.escape_debug();
        match letter as u32 {
            _ if letter == '\'' => out.write_char(letter)?,
            _ if escaped.len() <= 2 && letter != '\0' => write!(out, "{escaped}")?,
            code @ 0..0x80 => write!(out, "\\x{code:02x}")?,
            code @ 0x80..0x1_0000 => write!(out, "\\u{code:04x}")?,
            code => write!(out, "\\U{code:08x}")?,
        }
    }
    out.write_char('"')
}

fn write_value(value: &Value, out: &mut dyn fmt::Write) -> fmt::Result {
    write!(out, "{}", GoValue(value))
}

fn round(arguments: &[Value]) -> Result<Value> {
    let value = number(arguments, 0, 2, "round")?;
    let places = integer(arguments, 1, 2, "round")?.clamp(-400, 400);
    let scale = 10_f64.powi(places as i32);
    let digits = value * scale;
    // As sprig: of negative numbers no part is as much as a half.
    let rounded = if digits.fract() >= 0.5 { digits.ceil() } else { digits.floor() };
    Ok(Value::Float(rounded / scale))
}

/// The values of the one list that is the argument.
fn values(arguments: &[Value], name: &str) -> Result<Arc<[Value]>> {
    exactly(arguments, 1, name)?;
    match &arguments[0] {
        Value::List(values) => Ok(Arc::clone(values)),
        other => Err(TemplateError::Exec(format!("{name} takes a list, and has {}", shown(other)))),
    }
}

fn fold(arguments: &[Value], name: &str, combine: fn(i64, i64) -> i64) -> Result<Value> {
    if arguments.is_empty() {
        return Err(TemplateError::ArgCount { name: name.to_owned(), expected: 1, got: 0 });
    }
    let numbers = (0..arguments.len())
        .map(|place| integer(arguments, place, arguments.len(), name))
        .collect::<Result<Vec<_>>>()?;
    Ok(Value::Int(numbers.into_iter().reduce(combine).unwrap_or(0)))
}

fn two_integers(
    arguments: &[Value],
    name: &str,
    combine: fn(i64, i64) -> Option<i64>,
) -> Result<Value> {
    let (one, other) = (integer(arguments, 0, 2, name)?, integer(arguments, 1, 2, name)?);
    let failed = || TemplateError::Exec(format!("{name} {one} {other} has no value"));
    combine(one, other).map(Value::Int).ok_or_else(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gotmpl::tmap;

    fn rendered(text: &str) -> String {
        let template = added_to(Template::new("test"), true).parse(text).unwrap();
        budget::begin();
        template.execute_to_string(&tmap! { "Name" => "a b" }).unwrap_or_else(|e| e.to_string())
    }

    #[test]
    fn functions_do_what_those_of_sprig_do() {
        for (template, text) in [
            (r#"{{.Name | upper}}"#, "A B"),
            (r#"{{title "hello world"}}"#, "Hello World"),
            (r#"{{trimAll "$" "$5.00"}}"#, "5.00"),
            (r#"{{trimPrefix "-" "-x"}}{{trimSuffix "-" "x-"}}"#, "xx"),
            (r#"{{repeat 3 "ab"}}"#, "ababab"),
            (r#"{{substr 0 5 "hello world"}}"#, "hello"),
            (r#"{{trunc 5 "hello world"}} {{trunc -5 "hello world"}}"#, "hello world"),
            (r#"{{"I Am Henry" | replace " " "-"}}"#, "I-Am-Henry"),
            (r#"{{contains "cat" "catch"}} {{hasPrefix "cat" "catch"}}"#, "true true"),
            (r#"{{quote "a"}} {{squote "a"}}"#, "\"a\" 'a'"),
            (r#"{{list 1 2 3 | join "_"}}"#, "1_2_3"),
            (r#"{{splitList "$" "a$b" | last}}"#, "b"),
            (r#"{{add 1 2 3}} {{sub 5 2}} {{mul 2 3}} {{div 7 2}} {{mod 7 4}}"#, "6 3 6 3 3"),
            (r#"{{max 1 5 3}} {{min 1 5 3}} {{add1 2}}"#, "5 1 3"),
            (r#"{{round 123.5555 3}}"#, "123.556"),
            (r#"{{default "x" ""}}{{default "x" "y"}}"#, "xy"),
            (r#"{{ternary "yes" "no" true}}"#, "yes"),
            (r#"{{range until 3}}{{.}}{{end}}"#, "012"),
            (r#"{{"x" | b64enc}} {{"eA==" | b64dec}}"#, "eA== x"),
            (r#"{{atoi "12" | add 1}}"#, "13"),
            (r#"{{len (randAlphaNum 7)}} {{len (newUUID)}}"#, "7 36"),
        ] {
            assert_eq!(rendered(template), text, "{template}");
        }
    }

    #[test]
    fn what_cannot_be_done_is_an_error_and_no_panic() {
        for (template, part) in [
            ("{{div 1 0}}", "div 1 0 has no value"),
            ("{{randomInt 5 5}}", "randomInt 5 5 has nothing to choose from"),
            ("{{repeat 1000000000 \"abc\"}}", "repeat gives more than 64 MiB"),
            ("{{upper}}", "upper expects 1, got 0"),
            ("{{add \"x\" 1}}", "add takes a number, and has x"),
            ("{{first 5}}", "first takes a list, and has 5"),
        ] {
            let text = rendered(template);
            assert!(text.contains(part), "{template}: {text}");
        }
    }
}
