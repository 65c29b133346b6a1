//! Secrets in what was typed: a command line of the shell, or a text that stands for itself.

use super::name::is_secret;
use super::span::{Spans, one};
use super::value::{self, is_of_name, is_scheme, last_name};
use serde::de::IgnoredAny;
use std::mem;
use std::ops::Range;

/// Flags whose value is a user and a password, as curl's.
const USERS: [&str; 5] = ["-u", "-U", "--user", "--userpwd", "--proxy-user"];

/// With one of these in it a word has an end that only a shell finds.
const UNSURE: [&str; 8] = ["`", "$(", "${", "$'", "$\"", "\\\n", "\\\r", "<("];

/// A longer text is a secret as a whole: nobody reads it, and to find one in it takes long.
const TEXT_MAX_BYTES: usize = 64 << 10;

/// Text within more nested quotation marks counts as secret, too.
const QUOTES_MAX: usize = 8;

/// What a word says of the one behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Announced {
    #[default]
    Nothing,
    Secret,
    /// A secret, if there is a password in it.
    User,
}

/// Those of a text that stands for itself: a variable, a header, JSON, or a command line.
pub fn of_text(text: &str) -> Spans {
    text_within(text, 0)
}

/// Those of a command line: variables (`TOKEN=...`), flags (`--token ...`, `--user ...`), headers,
/// and what is known wherever it stands. A value whose end only a shell finds goes to the end of
/// the line.
pub fn of_command(line: &str) -> Spans {
    command_within(line, 0)
}

/// The same within `quotes` quotation marks.
fn text_within(text: &str, quotes: usize) -> Spans {
    if text.len() > TEXT_MAX_BYTES || quotes > QUOTES_MAX {
        return one(0..text.len());
    }
    let (name, behind) = text.split_at(text.find(['=', ':']).unwrap_or(text.len()));
    let separator = if behind.starts_with('=') { "=" } else { ":" };
    let value = behind.get(1..).unwrap_or_default();
    let is_whole = name.chars().all(is_of_name) && !value.is_empty() && is_secret(name);
    if is_whole && (value.starts_with(' ') || names_secret(name, separator, value)) {
        let start = text.len() - value.trim_start().len();
        return one(start..text.len());
    }
    of_json(text, quotes).unwrap_or_else(|| command_within(text, quotes))
}

/// Those of what ends in an object of JSON: each of its strings is a text of its own.
fn of_json(text: &str, quotes: usize) -> Option<Spans> {
    let object = text.find('{')?;
    serde_json::from_str::<IgnoredAny>(&text[object..]).ok()?;
    let mut found = pairs(&text[..object]);
    found.extend(value::spans(text));
    let mut place = object;
    while let Some(open) = text[place..].find('"').map(|length| place + length + 1) {
        let length = value::string_length(&text[open..], '"')?;
        found.extend(moved(text_within(&text[open..open + length], quotes + 1), open));
        place = open + length + 1;
    }
    Some(found)
}

fn moved(spans: Spans, bytes: usize) -> impl Iterator<Item = Range<usize>> {
    spans.into_iter().map(move |span| span.start + bytes..span.end + bytes)
}

fn command_within(line: &str, quotes: usize) -> Spans {
    if line.len() > TEXT_MAX_BYTES {
        return one(0..line.len());
    }
    let mut found = value::spans(line);
    let mut announced = Announced::Nothing;
    let mut place = 0;
    while place < line.len() {
        let behind = &line[place..];
        let between = behind.find(|letter| !is_separator(letter)).unwrap_or(behind.len());
        let (between, behind) = behind.split_at(between);
        let start = place + between.len();
        let word = &behind[..word_length(behind)];
        place = start + word.len();
        let said = mem::take(&mut announced);
        if said != Announced::Nothing && is_substitute(between) {
            found.push(start..line.len());
            return found;
        }
        let is_next = between.chars().all(char::is_whitespace) && !word.starts_with("--");
        if is_next && said == Announced::Secret && is_scheme(word) {
            announced = said;
            continue;
        }
        let is_secret = said == Announced::Secret || said == Announced::User && has_password(word);
        let spans = if is_next && is_secret {
            one(0..word.len())
        } else {
            announced = announced_by(word);
            in_word(word, quotes)
        };
        for span in spans.into_iter().filter(|span| !span.is_empty()) {
            let first = start + span.start;
            if is_unsure(line, first..place) {
                found.push(first..line.len());
                return found;
            }
            found.push(first..start + span.end);
        }
    }
    found
}

/// Whether a secret is the word of a command of ours that stands behind this one: the shell has
/// divided a header, or JSON without quotation marks.
pub fn announces_value(word: &str) -> bool {
    word.eq_ignore_ascii_case("bearer") || word.ends_with(':') && is_secret(last_name(word))
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || ";|&()<>".contains(letter)
}

/// Whether the text between a flag and its value makes the value: `<(...)` and `<<END`.
fn is_substitute(between: &str) -> bool {
    let between = between.trim_start();
    between.starts_with("<(") || between.starts_with("<<")
}

fn is_unsure(line: &str, word: Range<usize>) -> bool {
    let next = line[word.end..].chars().next().map_or(0, char::len_utf8);
    let text = &line[word.start..word.end + next];
    UNSURE.iter().any(|sign| text.contains(sign))
}

/// How long the word at the beginning is, as the shell reads it.
fn word_length(text: &str) -> usize {
    let mut quote = None;
    let mut is_escaped = false;
    for (place, letter) in text.char_indices() {
        match (quote, letter) {
            _ if mem::take(&mut is_escaped) => {}
            (None | Some('"'), '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, _) if is_separator(letter) => return place,
            _ => {}
        }
    }
    text.len()
}

fn announced_by(word: &str) -> Announced {
    let name = word.trim_start_matches('-');
    let is_flag = name.len() < word.len() && !word.contains('=');
    if is_flag && is_secret(name) || announces_value(word) {
        Announced::Secret
    } else if USERS.contains(&word) {
        Announced::User
    } else {
        Announced::Nothing
    }
}

/// Whether it is `user:password`, and neither an address nor the numbers of a user and a group.
fn has_password(word: &str) -> bool {
    let pair = word[unquoted(word)].split_once(':');
    let is_number = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
    pair.is_some_and(|(user, password)| {
        let is_group = is_number(user) && is_number(password);
        !password.is_empty() && !password.starts_with("//") && !is_group
    })
}

/// The word without the quotation marks and the space at its ends.
fn unquoted(word: &str) -> Range<usize> {
    let is_outside = |letter: char| letter.is_whitespace() || matches!(letter, '\'' | '"');
    let start = word.len() - word.trim_start_matches(is_outside).len();
    start..start.max(word.trim_end_matches(is_outside).len())
}

/// Those of a word of the shell. The content of quotation marks is a text of its own.
fn in_word(word: &str, quotes: usize) -> Spans {
    if let Some(found) = of_json(word, quotes) {
        return found;
    }
    let mut found = pairs(word);
    let Some(open) = word.find(['\'', '"']) else {
        return found;
    };
    let inner = open + 1;
    let quote = &word[open..inner];
    let text = word[inner..].strip_suffix(quote).unwrap_or(&word[inner..]);
    if open == 0 {
        found.clear();
    }
    found.extend(moved(text_within(text, quotes + 1), inner));
    found
}

/// The first name with a secret behind it, which has the rest of the word: `a=TOKEN=...`,
/// `"token":"...`, `--user=name:...`.
fn pairs(word: &str) -> Spans {
    let around = word.chars().next().filter(|first| matches!(first, '\'' | '"'));
    let rest = |start: usize| {
        let value = &word[start..];
        let inner = around.and_then(|quote| value.strip_suffix(quote)).unwrap_or(value);
        one(start..start + inner.len())
    };
    for (place, separator) in word.match_indices(['=', ':']) {
        let (before, value) = (&word[..place], &word[place + 1..]);
        let is_user = separator == "=" && USERS.contains(&before) && has_password(value);
        if is_user || names_secret(before, separator, value) {
            return rest(place + 1);
        }
    }
    let user = ["-u", "-U"].into_iter().find(|flag| word.starts_with(flag));
    match user.filter(|flag| has_password(&word[flag.len()..])) {
        Some(flag) => rest(flag.len()),
        None => Spans::new(),
    }
}

/// Whether the value is that of a secret, and neither a port nor the place of one.
fn names_secret(before: &str, separator: &str, value: &str) -> bool {
    let is_quoted = before.ends_with(['\'', '"']);
    let digits = value.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_port = digits.len() < value.len() && !digits.starts_with(is_of_name);
    let is_place = is_port || value.starts_with(['{', '/', '[']);
    let is_value = separator == "=" || is_quoted || !is_place;
    is_value && !unquoted(value).is_empty() && is_secret(last_name(before))
}
