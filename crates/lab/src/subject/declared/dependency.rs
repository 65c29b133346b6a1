//! Programs that a subject depends on.

use super::check_command;
use crate::subject::{CommandTemplate, Dependency};
use bookend_results::declaration::{DeclarationError, Source};
use regex::RegexBuilder;
use serde::Deserialize;
use toml::Spanned;

/// Bound of a compiled dependency pattern: a version pattern takes a few kilobytes, and a file
/// from elsewhere must not make the lab compile an automaton of gigabytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeclaredDependency {
    command: Spanned<CommandTemplate>,
    regex: Option<Spanned<String>>,
    install: String,
}

pub(super) fn dependencies(
    source: Source<'_>,
    declared: &[DeclaredDependency],
) -> Result<Vec<Dependency>, DeclarationError> {
    let check = |one: &DeclaredDependency| dependency(source, one);
    declared.iter().map(check).collect()
}

fn dependency(
    source: Source<'_>,
    declared: &DeclaredDependency,
) -> Result<Dependency, DeclarationError> {
    check_command(source, declared.command.as_ref(), &declared.command)?;
    let compile = |pattern: &Spanned<String>| {
        let mut builder = RegexBuilder::new(pattern.as_ref());
        let compiled = builder.size_limit(PATTERN_BYTES_MAX).build();
        compiled.map_err(|error| source.invalid(pattern.span(), error.to_string()))
    };
    Ok(Dependency {
        command: declared.command.as_ref().clone(),
        pattern: declared.regex.as_ref().map(compile).transpose()?,
        install: declared.install.clone(),
    })
}
