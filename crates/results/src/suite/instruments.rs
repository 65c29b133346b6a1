//! The instruments that a suite, a subject or a case names.

use crate::declaration::{DeclarationError, Source};
use toml::Spanned;

/// The declared value, or an error at its place.
pub(super) type Checked<T> = Result<T, DeclarationError>;

pub(super) fn instruments(
    source: Source<'_>,
    declared: &Spanned<Vec<String>>,
) -> Checked<Vec<String>> {
    let names = declared.as_ref();
    let twice = (1..names.len()).any(|i| names[..i].contains(&names[i]));
    if names.is_empty() || twice {
        let message = "name at least one instrument, each once: [\"bookend-load\"]";
        return Err(source.invalid(declared.span(), message.to_owned()));
    }
    Ok(names.clone())
}
