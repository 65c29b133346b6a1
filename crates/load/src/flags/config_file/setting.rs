//! The value of a key, as exact as it is written: numbers stay text until their flag, or the field
//! of a message, reads them.

/// A value in a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Setting {
    Null,
    Bool(bool),
    /// As JSON writes it.
    Number(String),
    /// NaN, or without an end.
    NotFinite(f64),
    Text(String),
    /// A list or an object, in JSON.
    Json(String),
}

impl Setting {
    /// A list of values.
    pub fn list(values: impl IntoIterator<Item = Self>) -> Self {
        let values: Vec<String> = values.into_iter().map(|value| value.json()).collect();
        Self::Json(format!("[{}]", values.join(",")))
    }

    /// An object of names and values.
    pub fn object(members: impl IntoIterator<Item = (String, Self)>) -> Self {
        let member = |(name, value): (String, Self)| format!("{}:{}", quoted(&name), value.json());
        let members: Vec<String> = members.into_iter().map(member).collect();
        Self::Json(format!("{{{}}}", members.join(",")))
    }

    /// The value in JSON, as protobuf maps it.
    fn json(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(truth) => truth.to_string(),
            Self::Number(text) | Self::Json(text) => text.clone(),
            Self::NotFinite(number) => {
                let word = match number.is_nan() {
                    true => "NaN",
                    false if *number < 0.0 => "-Infinity",
                    false => "Infinity",
                };
                quoted(word)
            }
            Self::Text(text) => quoted(text),
        }
    }

    /// What would be typed on the command line.
    pub fn typed(&self) -> String {
        match self {
            Self::NotFinite(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            other => other.json(),
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
