//! Settings in TOML.

use super::setting::Setting;
use toml::de::{DeTable, DeValue, Error};

/// The keys of the file with their values.
///
/// # Errors
/// What the parser says.
pub(super) fn settings(text: &str) -> Result<Vec<(String, Setting)>, Error> {
    Ok(members(DeTable::parse(text)?.get_ref()))
}

fn members(table: &DeTable<'_>) -> Vec<(String, Setting)> {
    let members = table.iter();
    members.map(|(key, value)| (key.get_ref().to_string(), setting(value.get_ref()))).collect()
}

fn setting(value: &DeValue<'_>) -> Setting {
    let written = |text: &str| text.trim_start_matches('+').to_owned();
    match value {
        DeValue::String(text) => Setting::Text(text.to_string()),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(exact) => Setting::Number(exact.to_string()),
            Err(_) => Setting::Number(written(number.as_str())),
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(parsed) if !f64::is_finite(parsed) => Setting::NotFinite(parsed),
            _ => Setting::Number(written(number.as_str())),
        },
        DeValue::Boolean(truth) => Setting::Bool(*truth),
        // As RFC 3339 has it, which is protobuf's way to write a timestamp too.
        DeValue::Datetime(time) => Setting::Text(time.to_string()),
        DeValue::Array(values) => {
            Setting::list(values.iter().map(|value| setting(value.get_ref())))
        }
        DeValue::Table(table) => Setting::object(members(table)),
    }
}
