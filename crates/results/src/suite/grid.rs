//! Turns the grid of a schedule, line by line, into cases.

use super::case::Case;
use super::checked::SuiteSubject;
use super::instruments::{Checked, instruments};
use crate::declaration::{Source, transports};
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

/// The connections of a line.
#[derive(Clone, Copy)]
enum Connections {
    Number(u32),
    /// One connection for each call in flight.
    Concurrency,
}

/// The cases in their order, and those that only some instruments measure.
type Grid = (Vec<Case>, BTreeMap<Case, Vec<String>>);

pub(super) fn cases(
    source: Source<'_>,
    grid: &Spanned<Vec<DeclaredGridLine>>,
    subjects: &[SuiteSubject],
) -> Checked<Grid> {
    let mut cases = Vec::new();
    let mut instruments_of = BTreeMap::new();
    for line in grid.as_ref() {
        let only = line.instruments.as_ref();
        let only = only.map(|only| some_of_all(source, only, subjects));
        let only = only.transpose()?;
        for case in cases_of(source, line)? {
            if cases.contains(&case) {
                let message = format!("{case} stands in the grid twice");
                return Err(source.invalid(line.concurrency.span(), message));
            }
            cases.push(case);
            if let Some(only) = &only {
                instruments_of.insert(case, only.clone());
            }
        }
    }
    if cases.is_empty() {
        return Err(source.invalid(grid.span(), "the grid has no case".to_owned()));
    }
    Ok((cases, instruments_of))
}

/// One case for each number of streams and each transport.
fn cases_of(source: Source<'_>, line: &DeclaredGridLine) -> Checked<Vec<Case>> {
    let connections = connections(source, line)?;
    let over = match &line.transports {
        Some(declared) => transports(source, declared)?,
        None => vec![Transport::H2c],
    };
    let mut cases = Vec::new();
    for &concurrency in line.concurrency.as_ref() {
        let case = case(source, line, connections, concurrency)?;
        cases.extend(over.iter().map(|&transport| case.over(transport)));
    }
    Ok(cases)
}

/// Rejects an instrument that no subject has: it would silently remove the line from the grid.
fn some_of_all(
    source: Source<'_>,
    declared: &Spanned<Vec<String>>,
    subjects: &[SuiteSubject],
) -> Checked<Vec<String>> {
    let names = instruments(source, declared)?;
    let is_known = |name| subjects.iter().any(|one| one.instruments.contains(name));
    match names.iter().find(|name| !is_known(name)) {
        None => Ok(names),
        Some(stranger) => {
            let message = format!(
                "no subject is measured with `{stranger}`: name it in the suite's `instruments` \
                 or in a subject's"
            );
            Err(source.invalid(declared.span(), message))
        }
    }
}

fn case(
    source: Source<'_>,
    line: &DeclaredGridLine,
    connections: Connections,
    concurrency: u32,
) -> Checked<Case> {
    let connections = match connections {
        Connections::Number(number) => number,
        Connections::Concurrency => concurrency,
    };
    let mut case = Case::new(connections, concurrency);
    if line.connection_per_call {
        case = case.and_then(Case::per_call);
    }
    let mut place = line.concurrency.span();
    if let (Ok(sound), Some(calls)) = (&case, &line.calls) {
        place = calls.span();
        case = sound.with_calls(*calls.as_ref());
    }
    case.map_err(|error| source.invalid(place, error.to_string()))
}

fn connections(source: Source<'_>, line: &DeclaredGridLine) -> Checked<Connections> {
    let Some(declared) = &line.connections else {
        if line.connection_per_call {
            return Ok(Connections::Concurrency);
        }
        let message = "give the line its connections, a number or \"concurrency\"".to_owned();
        return Err(source.invalid(line.concurrency.span(), message));
    };
    let number = match declared.as_ref() {
        Value::String(word) if word == CONCURRENCY => return Ok(Connections::Concurrency),
        Value::Integer(number) => u32::try_from(*number).ok(),
        _ => None,
    };
    number.map(Connections::Number).ok_or_else(|| {
        let message = format!(
            "{} connections: write a whole number, or \"{CONCURRENCY}\" for one a call in flight",
            declared.as_ref()
        );
        source.invalid(declared.span(), message)
    })
}
