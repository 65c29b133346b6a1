//! Rules on what limited the rows of a document.

use crate::document::{Document, PrintedRow};
use bookend_results::audit::{Checked, Span};
use bookend_results::text::{percent_text, rate_text, significant_text};

/// An end that used less than this share of its CPUs had time left.
const IDLE_BELOW: f64 = 0.70;

/// Fewest subjects in a row of which a part can be distinguished from the rest.
const FIELD_MIN: usize = 6;

/// That many of a field, and this share of it, near its highest rate do not meet there by chance.
const NEAR_MIN: usize = 4;
const NEAR_SHARE: f64 = 1.0 / 3.0;

/// Rates within this share of the highest are as high.
const NEAR: f64 = 0.02;

/// Rows of which a column that does not change says something.
const ROWS_MIN: usize = 3;

/// CPU time that is measured follows rates that differ by this factor.
const RATES_DIFFER: f64 = 3.0;

/// Above this share of its limit, a server's CPU may well stand still: it has no more.
const AT_LIMIT: f64 = 0.95;

/// A rate may be below the one that was asked for by this share: a window ends between two calls.
const RATE_LACK: f64 = 0.10;

/// A program that is measured twice may differ from itself by this share.
const RUNS_DIFFER: f64 = 0.05;

/// Whether either end was busy while its streams waited.
pub(super) fn nobody_at_its_limit(row: &PrintedRow, document: &Document) -> Checked {
    let given = (document.conditions.server_cpus?, document.conditions.client_cpus?);
    let (server, client) = (row.server_cpu()?, row.client_cpu()?);
    row.streams()?;
    let shares = [server.high / given.0, client.high / given.1];
    if shares.iter().any(|share| *share >= IDLE_BELOW) {
        return Some(Ok(()));
    }
    let [server, client] = shares.map(percent_text);
    Some(Err(format!(
        "the server used {server} of its CPUs and the client {client} of its own: the rate is \
         that of what lies between them, or of waiting"
    )))
}

/// Compares the rates of all subjects under one label.
pub(super) fn shared_ceiling(row: &PrintedRow, document: &Document) -> Checked {
    let own = row.figure("requests_per_second")?.value;
    let rates: Vec<f64> = document
        .rows
        .iter()
        .filter(|other| {
            other.place.table == row.place.table && other.place.label == row.place.label
        })
        .filter_map(|other| Some(other.figure("requests_per_second")?.value))
        .collect();
    if rates.len() < FIELD_MIN {
        return None;
    }
    let highest = rates.iter().copied().fold(0.0, f64::max);
    let is_near = |rate: f64| rate >= highest * (1.0 - NEAR);
    let near = rates.iter().filter(|rate| is_near(**rate)).count();
    let is_crowd = near >= NEAR_MIN && near as f64 >= rates.len() as f64 * NEAR_SHARE;
    if !is_near(own) || !is_crowd {
        return Some(Ok(()));
    }
    Some(Err(format!(
        "{near} of {} subjects are within 2 % of {} a second: the limit is what they share, such \
         as the client",
        rates.len(),
        rate_text(highest)
    )))
}

/// Whether the server's CPU follows what it did.
pub(super) fn cpu_stands_still(row: &PrintedRow, document: &Document) -> Checked {
    let own = row.server_cpu()?;
    let figures: Vec<(Span, Span)> = document
        .rows
        .iter()
        .filter(|other| {
            other.place.subject == row.place.subject && other.place.table == row.place.table
        })
        .filter_map(|other| Some((other.server_cpu()?, other.figure("requests_per_second")?)))
        .collect();
    if figures.len() < ROWS_MIN {
        return None;
    }
    let conditions = &document.conditions;
    let limit = conditions.server_cpus.or(conditions.machine_cpus);
    let is_at_limit = limit.is_some_and(|cpus| own.high >= cpus * AT_LIMIT);
    let rates = || figures.iter().map(|(_, rate)| rate.value);
    let (least, most) = (rates().fold(f64::MAX, f64::min), rates().fold(0.0, f64::max));
    let is_constant = figures.iter().all(|(cpu, _)| cpu.value == own.value);
    if !is_constant || is_at_limit || most < least * RATES_DIFFER {
        return Some(Ok(()));
    }
    Some(Err(format!(
        "{} CPUs in all {} rows, at {} to {} calls a second: the figure does not come from what \
         the server did",
        significant_text(own.value),
        figures.len(),
        rate_text(least),
        rate_text(most)
    )))
}

/// Compares the rate with the one that the client was told to make.
pub(super) fn rate_not_asked(row: &PrintedRow, _: &Document) -> Checked {
    let (asked, rate) = (row.figure("rate_asked")?, row.figure("requests_per_second")?);
    if rate.high >= asked.low * (1.0 - RATE_LACK) {
        return Some(Ok(()));
    }
    let divided = row.streams().filter(|streams| {
        let times = asked.value / rate.value;
        (times / streams - 1.0).abs() <= RUNS_DIFFER
    });
    let why = match divided {
        Some(streams) => format!("it was divided by the {streams} callers on the way"),
        None => "the server or the client did not keep up".to_owned(),
    };
    Some(Err(format!(
        "{} calls a second were asked for and {} made: {why}",
        rate_text(asked.value),
        rate_text(rate.value)
    )))
}

/// Compares the rate with that of the same program under the same label in another table.
pub(super) fn differs_from_itself(row: &PrintedRow, document: &Document) -> Checked {
    let own = row.figure("requests_per_second")?;
    let mut again = document
        .rows
        .iter()
        .filter(|other| {
            let is_same = other.place.is_same_run(&row.place) && other.cell == row.cell;
            is_same && other.place != row.place
        })
        .filter_map(|other| Some((other, other.figure("requests_per_second")?)))
        .peekable();
    again.peek()?;
    // Told once for two rows: at the higher one.
    let lower = again.find(|(_, rate)| own.low > rate.high * (1.0 + RUNS_DIFFER));
    let Some((other, rate)) = lower else {
        return Some(Ok(()));
    };
    Some(Err(format!(
        "{} calls a second, and {} in {}: the same program differs from itself by {}, so no \
         smaller difference between two says anything",
        rate_text(own.value),
        rate_text(rate.value),
        other.place.table,
        percent_text(own.value / rate.value - 1.0)
    )))
}
