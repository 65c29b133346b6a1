//! Settings in YAML.

use super::setting::Setting;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Error;
use std::collections::BTreeMap;
use std::fmt;

/// The parser reads numbers with a point as doubles, which are exact up to here, and those that no
/// integer has.
const INEXACT: std::ops::Range<f64> = 9_007_199_254_740_992.0..18_446_744_073_709_551_616.0;

/// The keys of the file with their values.
///
/// # Errors
/// What is wrong, and where.
pub(super) fn settings(text: &str) -> Result<Vec<(String, Setting)>, String> {
    let read = serde_saphyr::from_str::<BTreeMap<String, Setting>>(text);
    read.map(|all| all.into_iter().collect()).map_err(|error| words(error.without_snippet()))
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(yaml: D) -> Result<Self, D::Error> {
        yaml.deserialize_any(Settings)
    }
}

struct Settings;

impl<'de> Visitor<'de> for Settings {
    type Value = Setting;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Setting, E> {
        Ok(Setting::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Setting, E> {
        Ok(Setting::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Setting, E> {
        Ok(Setting::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Setting, E> {
        Ok(Setting::Number(number.to_string()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Setting, E> {
        if INEXACT.contains(&number.abs()) {
            return Err(E::custom(format!(
                "{number} may have lost digits: leave its point out, or put it in quotation marks"
            )));
        }
        Ok(Setting::Number(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Setting, E> {
        Ok(Setting::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Setting, A::Error> {
        let values = std::iter::from_fn(|| list.next_element().transpose());
        values.collect::<Result<Vec<Setting>, _>>().map(Setting::list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Setting, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = object.next_entry::<String, Setting>()? {
            // `1` and `"1"` are two keys of YAML, and one name of JSON.
            if members.insert(name.clone(), value).is_some() {
                return Err(A::Error::custom(format!("{name} is given twice")));
            }
        }
        Ok(Setting::object(members))
    }
}

/// The parser's words, without those for its own users.
fn words(error: &Error) -> String {
    let reason = match error {
        Error::AliasError { error, .. } => return words(error),
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("{key} is given twice"),
        Error::MultipleDocuments { .. } => "there is more than one document".to_owned(),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            "an anchor has its own alias in it".to_owned()
        }
        Error::NonFiniteFloat { value, .. } => {
            format!("{value} is written as \"NaN\", \"Infinity\" or \"-Infinity\"")
        }
        Error::Budget { .. } => "with its aliases it is larger than is read".to_owned(),
        other => return other.to_string(),
    };
    let place =
        error.location().map(|at| format!(" at line {}, column {}", at.line(), at.column()));
    reason + &place.unwrap_or_default()
}
