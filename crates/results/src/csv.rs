//! Lines of comma-separated values (RFC 4180).

/// A line without its end. Fields are quoted where they must be.
pub fn line(fields: impl IntoIterator<Item = String>) -> String {
    fields.into_iter().map(quoted).collect::<Vec<_>>().join(",")
}

fn quoted(field: String) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}
