//! Lines of comma-separated values (RFC 4180).

use bookend_contract::csv::cell;

/// A line without its end. Each field is a [`cell`].
pub fn line(fields: impl IntoIterator<Item = String>) -> String {
    fields.into_iter().map(|field| cell(&field).into_owned()).collect::<Vec<_>>().join(",")
}
