//! Turns the grid of a schedule, line by line, into cases.

use super::case::Case;
use super::checked::SuiteSubject;
use crate::declaration::{DeclarationError, Source, transports};
use bookend_contract::transport::Transport;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Spanned, Value};

/// The word that requests a connection for every call in flight.
const CONCURRENCY: &str = "concurrency";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeclaredGridLine {
    /// A number, or the word `concurrency`.
    connections: Option<Spanned<Value>>,
    concurrency: Spanned<Vec<u32>>,
    #[serde(default)]
    connection_per_call: bool,
    calls: Option<Spanned<u64>>,
    transports: Option<Spanned<Vec<String>>>,
    instruments: Option<Spanned<Vec<String>>>,
}

/// The cases in their order, and those that only some instruments measure.
type Grid = (Vec<Case>, BTreeMap<Case, Vec<String>>);

/// The declared value, or an error at its place.
pub(super) type Checked<T> = Result<T, DeclarationError>;

pub(super) fn cases(
    source: Source<'_>,
    grid: &Spanned<Vec<DeclaredGridLine>>,
    subjects: &[SuiteSubject],
) -> Checked<Grid> {
    let mut cases = Vec::new();
    let mut instruments_of = BTreeMap::new();
    for line in grid.as_ref() {
        let only = source.read_some(&line.instruments, |names| some_of_all(names, subjects))?;
        for case in cases_of(source, line)? {
            let message = format!("{case} stands in the grid twice");
            source.ensure(!cases.contains(&case), &line.concurrency, message)?;
            cases.push(case);
            if let Some(only) = &only {
                instruments_of.insert(case, only.clone());
            }
        }
    }
    source.ensure(!cases.is_empty(), grid, "the grid has no case")?;
    Ok((cases, instruments_of))
}

/// The names of instruments that a suite, a subject or a case declares.
pub(super) fn instruments(names: &[String]) -> Result<Vec<String>, String> {
    let twice = (1..names.len()).any(|i| names[..i].contains(&names[i]));
    let message = "name at least one instrument, each once: [\"bookend-load\"]";
    (!names.is_empty() && !twice).then(|| names.to_vec()).ok_or_else(|| message.to_owned())
}

/// Rejects an instrument that no subject has: it would silently remove the line from the grid.
fn some_of_all(names: &[String], subjects: &[SuiteSubject]) -> Result<Vec<String>, String> {
    let names = instruments(names)?;
    let is_known = |name| subjects.iter().any(|one| one.planned.instruments.contains(name));
    match names.iter().find(|name| !is_known(name)) {
        None => Ok(names),
        Some(stranger) => Err(format!(
            "no subject is measured with `{stranger}`: name it in the suite's `instruments` or in \
             a subject's"
        )),
    }
}

/// One case for each number of streams and each transport.
fn cases_of(source: Source<'_>, line: &DeclaredGridLine) -> Checked<Vec<Case>> {
    let connections = connections(source, line)?;
    let over = source
        .read_some(&line.transports, |words| transports(words))?
        .unwrap_or_else(|| vec![Transport::H2c]);
    let mut cases = Vec::new();
    for &concurrency in line.concurrency.as_ref() {
        let case = source.read(&line.concurrency, |_| {
            let case = Case::new(connections.unwrap_or(concurrency), concurrency)?;
            if line.connection_per_call { case.per_call() } else { Ok(case) }
        })?;
        let case = source.read_some(&line.calls, |&calls| case.with_calls(calls))?.unwrap_or(case);
        cases.extend(over.iter().map(|&transport| case.over(transport)));
    }
    Ok(cases)
}

/// The connections of a line. `None`: one connection for each call in flight.
fn connections(source: Source<'_>, line: &DeclaredGridLine) -> Checked<Option<u32>> {
    let message = "give the line its connections, a number or \"concurrency\"";
    let is_given = line.connections.is_some() || line.connection_per_call;
    source.ensure(is_given, &line.concurrency, message)?;
    let number = source.read_some(&line.connections, |declared| {
        let number = match declared {
            Value::String(word) if word == CONCURRENCY => return Ok(None),
            Value::Integer(number) => u32::try_from(*number).ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| {
            format!(
                "{declared} connections: write a whole number, or \"{CONCURRENCY}\" for one a \
                 call in flight"
            )
        })
    })?;
    Ok(number.flatten())
}
