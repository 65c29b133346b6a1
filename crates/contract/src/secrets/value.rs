//! Secrets that are known wherever they stand, also within a sentence: a user before a host, the
//! word after `Bearer`, a field of JSON, `token=...`, a private key, a token of a known form.

use super::name::is_secret;
use super::span::Spans;

/// Words of HTTP's schemes of authentication, behind which the secret stands. They are words of
/// English too, but for the first.
const SCHEMES: [&str; 7] = ["bearer", "basic", "digest", "token", "apikey", "negotiate", "ntlm"];

/// What tokens begin with: JWT, GitHub, GitLab, Slack, Stripe, AWS and Google.
const TOKENS: [&str; 12] = [
    "eyJ",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "sk_live_",
    "AKIA",
    "ASIA",
    "AIza",
];

/// Fewest characters of a token of a known form.
const TOKEN_CHARS_MIN: usize = 20;

/// Fewest characters of a secret after a word of English; it must also look like no word.
const OPAQUE_CHARS_MIN: usize = 6;

/// The name of a socket may have an `@` in it.
const SOCKETS: [&str; 2] = ["unix", "unix-abstract"];

/// Those of a text.
pub fn spans(text: &str) -> Spans {
    let mut found = Spans::new();
    fields(text, &mut found);
    pairs(text, &mut found);
    users(text, &mut found);
    schemes(text, &mut found);
    tokens(text, &mut found);
    private_keys(text, &mut found);
    found
}

/// Whether the word is a scheme of authentication.
pub fn is_scheme(word: &str) -> bool {
    SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Whether it is a part of a name of a variable, a header or a field.
pub fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || "-_.".contains(letter)
}

/// The name that a text ends with, in quotation marks or not.
pub fn last_name(text: &str) -> &str {
    let bare = text.strip_suffix(['+', ':']).unwrap_or(text);
    let bare = bare.trim_end_matches(['\'', '"', '\\', ' ']);
    bare.rsplit(|letter| !is_of_name(letter)).next().unwrap_or_default()
}

fn is_quote(letter: char) -> bool {
    matches!(letter, '\'' | '"')
}

fn ends_word(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '\'' | '"' | '`')
}

/// Where the word ends that begins there.
fn word_end(text: &str, start: usize) -> usize {
    text[start..].find(ends_word).map_or(text.len(), |length| start + length)
}

/// Fields of JSON, or of what was meant for it, by their names. A value without a sure end goes to
/// the end of the text.
fn fields(text: &str, found: &mut Spans) {
    let Some(first) = text.find('{') else {
        return;
    };
    let mut place = first;
    while let Some(colon) = text[place..].find(':').map(|length| place + length) {
        place = colon + 1;
        let before = text[first..colon].trim_end();
        if !names_field(before) {
            continue;
        }
        let value = text[place..].trim_start();
        let start = text.len() - value.len();
        let (skipped, length) = value_in_json(value);
        found.push(start + skipped..start + skipped + length);
        place = start + skipped + length;
    }
}

/// Whether the text ends with the name of a field whose value is a secret.
fn names_field(text: &str) -> bool {
    let Some(quoted) = text.strip_suffix(is_quote) else {
        let name = last_name(text);
        let before = text[..text.len() - name.len()].trim_end();
        return text.ends_with(name) && before.ends_with(['{', ',']) && is_secret(name);
    };
    let quote = &text[quoted.len()..];
    // Escaped as the JSON that it is in, or with letters that are escaped.
    let inner = quoted.trim_end_matches('\\');
    let start = inner.rfind(quote).map_or(0, |place| place + 1);
    let name = serde_json::from_str::<String>(&format!("\"{}\"", &inner[start..]));
    is_secret(&name.unwrap_or_else(|_| inner[start..].to_owned()))
}

/// What precedes the value at the beginning of the text, and how long it is.
fn value_in_json(text: &str) -> (usize, usize) {
    let end = |length: Option<usize>| length.unwrap_or(text.len());
    match text.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let length = string_length(&text[1..], quote);
            (1, length.unwrap_or(text.len() - 1))
        }
        Some('{' | '[') => (0, end(nested_length(text))),
        Some('\\') => (0, text.len()),
        _ => (0, end(text.find([',', '}', ']', '"', '\'']))),
    }
}

/// How long the string is whose end is the next `quote` that is not escaped.
pub fn string_length(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (place, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if letter == quote => return Some(place),
            _ => {}
        }
    }
    None
}

/// How long the object or the list is.
fn nested_length(text: &str) -> Option<usize> {
    let (mut depth, mut place) = (0_usize, 0);
    while let Some(letter) = text[place..].chars().next() {
        place += letter.len_utf8();
        match letter {
            '"' => place += string_length(&text[place..], '"')? + 1,
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(place);
        }
    }
    None
}

/// `token=...` up to the end of the word, as in the query of an address.
fn pairs(text: &str, found: &mut Spans) {
    for (place, _) in text.match_indices('=') {
        let start = place + 1;
        if !is_secret(last_name(&text[..place])) {
            continue;
        }
        let value = &text[start..];
        if let Some(quote) = value.chars().next().filter(|first| is_quote(*first)) {
            let length = string_length(&value[1..], quote).map_or(value.len(), |inner| inner + 2);
            found.push(start..start + length);
            continue;
        }
        let end = word_end(text, start);
        // In a sentence they belong to that.
        let is_last = |letter: char| end < text.len() && matches!(letter, ':' | ',' | ';');
        found.push(start..start + text[start..end].trim_end_matches(is_last).len());
    }
}

/// Credentials before a host: `https://user:password@host`, `user:password@host`, `//token@host`.
fn users(text: &str, found: &mut Spans) {
    let mut place = 0;
    while place < text.len() {
        let end = word_end(text, place);
        users_in_word(&text[place..end], place, found);
        place = end + text[end..].chars().next().map_or(1, char::len_utf8);
    }
}

fn users_in_word(word: &str, offset: usize, found: &mut Spans) {
    let Some(at) = word.rfind('@') else {
        return;
    };
    let mut place = 0;
    while let Some(slashes) = word[place..at].find("//") {
        let address = word[place + slashes..].trim_start_matches('/');
        let start = word.len() - address.len();
        let end = address.find(['/', '?', '#']).unwrap_or(address.len());
        let host = &address[..end];
        if let Some(length) = host.rfind('@') {
            found.push(offset + start..offset + start + length);
        } else if has_password(host) && start < at {
            found.push(offset + start..offset + at);
        }
        place = start.min(at);
    }
    if !word[..at].contains("//") {
        found.extend(user_without_scheme(word, at).map(|start| offset + start..offset + at));
    }
}

/// Whether what should be a host and its port is the beginning of a user and a password with a
/// slash in it.
fn has_password(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| {
        !port.starts_with(['{', '$']) && port.chars().any(|letter| !letter.is_ascii_digit())
    })
}

/// Where the user begins, if there is a password behind that.
fn user_without_scheme(word: &str, at: usize) -> Option<usize> {
    let colon = word[..at].find(':').filter(|colon| colon + 1 < at)?;
    let is_before = |letter: char| "=,;|&<>()[]{}".contains(letter);
    let start = word[..colon].rfind(is_before).map_or(0, |place| place + 1);
    let is_digest = word[at + 1..].starts_with("sha256:");
    (!SOCKETS.contains(&&word[start..colon]) && !is_digest).then_some(start)
}

/// What follows `Bearer` and its like.
fn schemes(text: &str, found: &mut Spans) {
    let lower = text.to_ascii_lowercase();
    for scheme in SCHEMES {
        for (place, _) in lower.match_indices(scheme) {
            let behind = &text[place + scheme.len()..];
            let between = ["%20", "+"].into_iter().find(|sign| behind.starts_with(sign));
            let value = match between {
                Some(sign) => &behind[sign.len()..],
                None => behind.trim_start_matches([' ', '\t']),
            };
            let start = text.len() - value.len();
            let end = word_end(text, start);
            let is_word = !text[..place].ends_with(is_of_name) && value.len() < behind.len();
            let word = &text[start..end];
            if is_word && scheme == "digest" && word.contains('=') {
                // Its parameters stand behind each other, in quotation marks.
                found.push(start..text.len());
            } else if is_word && (scheme == "bearer" || is_opaque(word)) {
                found.push(start..end);
            }
        }
    }
}

/// Whether a word belongs to no language: it has digits among letters, capitals within it, or ends
/// as base64 does.
fn is_opaque(word: &str) -> bool {
    let letters = word.trim_end_matches('=');
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.+/~".contains(letter);
    let has = |is: fn(char) -> bool| letters.chars().skip(1).any(is);
    word.len() >= OPAQUE_CHARS_MIN
        && letters.chars().all(fits)
        && letters.chars().any(|letter| letter.is_ascii_alphabetic())
        && (letters.len() < word.len()
            || has(|letter| letter.is_ascii_digit())
            || has(|letter| letter.is_ascii_uppercase())
                && has(|letter| letter.is_ascii_lowercase()))
}

fn tokens(text: &str, found: &mut Spans) {
    for beginning in TOKENS {
        for (place, _) in text.match_indices(beginning) {
            let length = text[place..].find(|letter| !is_of_name(letter));
            let end = length.map_or(text.len(), |length| place + length);
            let is_whole = !text[..place].ends_with(|letter: char| letter.is_alphanumeric());
            if is_whole && end - place >= TOKEN_CHARS_MIN {
                found.push(place..end);
            }
        }
    }
}

/// What follows the line that begins a private key, or that ends one without a break.
fn private_keys(text: &str, found: &mut Spans) {
    const MARK: &str = "PRIVATE KEY-----";
    for (place, _) in text.match_indices(MARK) {
        let behind = text[place + MARK.len()..].trim_start();
        let behind = behind.trim_start_matches("\\n");
        let start = text.len() - behind.len();
        let is_key = |letter: char| letter.is_ascii_alphanumeric() || "+/=".contains(letter);
        let line = behind.find(|letter| !is_key(letter)).unwrap_or(behind.len());
        if line >= OPAQUE_CHARS_MIN && is_opaque(&behind[..line]) {
            found.push(start..start + behind.find("-----").unwrap_or(behind.len()));
        }
    }
}
