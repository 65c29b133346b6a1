//! Values that a declaration writes as text or as a list, for serde's `deserialize_with`.

use bookend_results::suite::{parse_duration, parse_size};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::fmt::Display;
use std::str::FromStr;

/// Reads a text, and what `parse` makes of it.
pub(crate) fn parsed<'de, D: Deserializer<'de>, T, E: Display>(
    deserializer: D,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, D::Error> {
    parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// `20s`, in seconds.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(text: D) -> Result<Option<f64>, D::Error> {
    Ok(Some(parsed(text, parse_duration)?.as_secs_f64()))
}

/// `512m`, in bytes.
pub(crate) fn bytes<'de, D: Deserializer<'de>>(text: D) -> Result<Option<f64>, D::Error> {
    Ok(Some(parsed(text, parse_size)? as f64))
}

/// `500ms`, in microseconds.
pub(crate) fn micros<'de, D: Deserializer<'de>>(text: D) -> Result<u64, D::Error> {
    let micros = parsed(text, parse_duration)?.as_micros();
    // Durations are at most a year; its microseconds fit.
    Ok(u64::try_from(micros).unwrap_or(u64::MAX))
}

/// As [`micros`], for what can be absent.
pub(crate) fn some_micros<'de, D: Deserializer<'de>>(text: D) -> Result<Option<u64>, D::Error> {
    micros(text).map(Some)
}

/// A list. A complaint about one of its elements names the element's own line.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    list: D,
) -> Result<Vec<T>, D::Error> {
    /// The parser knows the place of a newtype, and of a bare element only that of its list.
    #[derive(Deserialize)]
    struct Element<T>(T);
    Ok(Vec::<Element<T>>::deserialize(list)?.into_iter().map(|Element(element)| element).collect())
}

/// A value that is written as text, such as the name of a metric.
pub(crate) fn named<'de, D, T>(text: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    parsed(text, str::parse)
}
