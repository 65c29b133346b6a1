//! Settings in JSON. Lists and objects stay as they are written: the flag reads them as it reads
//! what is typed.

use super::setting::Setting;
use bookend_payload::data;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// The keys of the file with their values, in order.
///
/// # Errors
/// What the parser says.
pub(super) fn settings(text: &str) -> Result<Vec<(String, Setting)>, serde_json::Error> {
    let _: BTreeMap<String, IgnoredAny> = serde_json::from_str(text)?;
    let members = data::members(text).unwrap_or_default();
    members.into_iter().map(|(key, value)| Ok((key.into_owned(), setting(value)?))).collect()
}

fn setting(json: &str) -> Result<Setting, serde_json::Error> {
    Ok(match json.as_bytes().first() {
        Some(b'n') => Setting::Null,
        Some(b't' | b'f') => Setting::Bool(json == "true"),
        Some(b'"') => Setting::Text(serde_json::from_str(json)?),
        Some(b'[' | b'{') => Setting::Json(on_one_line(json)),
        _ => Setting::Number(json.to_owned()),
    })
}

/// The same without white space between values.
fn on_one_line(json: &str) -> String {
    let (mut is_text, mut is_escaped) = (false, false);
    let kept = |letter: &char| {
        let is_kept = is_text || !letter.is_ascii_whitespace();
        is_text ^= *letter == '"' && !is_escaped;
        is_escaped = *letter == '\\' && !is_escaped;
        is_kept
    };
    json.chars().filter(kept).collect()
}

/// The elements of a list, as they would be typed; `None` where it is no list.
pub(super) fn elements(json: &str) -> Option<Vec<String>> {
    let elements = data::elements(json)?;
    elements.into_iter().map(|json| setting(json).ok().map(|it| it.typed())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_stays_where_it_is_part_of_a_text() {
        let json = "{ \"a b\\\" c\\\\\" :\n [ 1.0 , \" \" ] }";
        assert_eq!(on_one_line(json), r#"{"a b\" c\\":[1.0," "]}"#);
    }
}
