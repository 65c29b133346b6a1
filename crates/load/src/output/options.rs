//! The options of a report, by name.

use serde_json::Value;

/// The object that [`LoadReport::options`](bookend_contract::report::LoadReport::options) is.
#[derive(Clone, Copy)]
pub(super) struct Options<'a>(pub &'a Value);

impl<'a> Options<'a> {
    /// A text; empty where it was not given.
    pub fn text(self, name: &str) -> &'a str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A number; zero where it was not given.
    pub fn number(self, name: &str) -> f64 {
        self.0.get(name).and_then(Value::as_f64).unwrap_or_default()
    }

    /// A value as JSON; empty where it was not given.
    pub fn json(self, name: &str) -> String {
        self.0.get(name).map_or_else(String::new, Value::to_string)
    }

    /// All of them, each as text.
    pub fn all(self) -> impl Iterator<Item = (&'a str, String)> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.0
            .as_object()
            .into_iter()
            .flatten()
            .map(move |(name, value)| (name.as_str(), text(value)))
    }
}
