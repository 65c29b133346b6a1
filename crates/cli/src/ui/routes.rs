//! What is behind each address. Reading the store is a matter of milliseconds and is done in place.

use super::gate::gate;
use super::kept_results::{KeptResults, listed};
use super::progress_events::progress_events;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::middleware;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use bookend_contract::printable;
use bookend_report::stored::{ListedRun, PastFigure};
use bookend_results::store::{Run, RunId, StoreError};
use std::sync::Arc;

/// Most runs in a history, the newest ones: a picture of more is longer than anybody scrolls.
const HISTORY_MAX: usize = 50;

/// Most runs whose outcome the list shows, the newest: it reads all their rows.
const OUTCOMES_MAX: usize = 20;

/// A request that is not answered with a page.
#[derive(Debug)]
enum NoPage {
    /// There is nothing at this address.
    Absent,
    /// The query of a comparison is not one.
    NoComparison,
    /// The store cannot be read.
    Unreadable(StoreError),
}

/// Every address, behind the gate.
pub fn router(kept: KeptResults) -> Router {
    let (pages, token) = (kept.pages().clone(), kept.token().clone());
    Router::new()
        .route(pages.list_address(), get(list))
        .route(&pages.run_address("{run}"), get(result))
        .route(&pages.cell_address("{run}", "{cell}"), get(history))
        .route(&pages.comparison_address(), get(comparison))
        .route(&pages.events_address(), get(events))
        .fallback(|| async { NoPage::Absent })
        .with_state(Arc::new(kept))
        .layer(middleware::from_fn_with_state(token, gate))
}

type Kept = State<Arc<KeptResults>>;

async fn list(State(kept): Kept) -> Result<Html<String>, NoPage> {
    let store = kept.store()?;
    let all = store.runs()?;
    let first_looked_at = all.len().saturating_sub(OUTCOMES_MAX);
    let mut runs = Vec::new();
    for (place, run) in all.into_iter().enumerate() {
        runs.push(match run {
            Ok(run) => {
                let outcome = (place >= first_looked_at).then(|| kept.outcome(&store, &run));
                Ok(ListedRun { outcome: outcome.flatten(), ..listed(&store, run)? })
            }
            Err(unreadable) => Err(unreadable),
        });
    }
    Ok(Html(kept.pages().list(&kept.file().display().to_string(), &runs)))
}

async fn result(State(kept): Kept, Path(run): Path<String>) -> Result<Html<String>, NoPage> {
    let store = kept.store()?;
    let run = store.run(run_id(&run)?)?;
    let (rows, skips) = (store.rows(run.id)?, store.skips(&run)?);
    let is_before = |other: &Run| other.id < run.id && other.new.plan.suite == run.new.plan.suite;
    let before = store.runs()?.into_iter().flatten().rev().find(is_before).map(|run| run.id);
    let newest = kept.newest()?;
    Ok(Html(kept.pages().result(&run, &rows, skips, (before, newest.as_ref()))))
}

async fn history(
    State(kept): Kept,
    Path((run, cell)): Path<(String, String)>,
) -> Result<Html<String>, NoPage> {
    let store = kept.store()?;
    let run = store.run(run_id(&run)?)?;
    let index: usize = whole(&cell).ok_or(NoPage::Absent)?;
    let cells = run.new.plan.cells();
    let cell = &cells.get(index).ok_or(NoPage::Absent)?.id;
    let is_alike = |other: &Run| {
        let (own, other) = (&run.new.plan, &other.new.plan);
        other.suite == own.suite && other.extent == own.extent
    };
    let mut past = Vec::new();
    for run in store.runs()?.into_iter().flatten().rev().filter(is_alike) {
        let rows = match store.rows_of_cell(run.id, cell) {
            // Its own page says what is wrong with it.
            Err(StoreError::Damaged { .. }) => continue,
            rows => rows?,
        };
        if !rows.is_empty() {
            past.push(PastFigure { run, rows });
        }
        if past.len() == HISTORY_MAX {
            break;
        }
    }
    past.reverse();
    Ok(Html(kept.pages().history(&run, cell, &past)))
}

async fn comparison(State(kept): Kept, RawQuery(query): RawQuery) -> Result<Html<String>, NoPage> {
    let (a, b) = query.as_deref().and_then(two_runs).ok_or(NoPage::NoComparison)?;
    let store = kept.store()?;
    let read = |text: &str| -> Result<_, NoPage> {
        let run = store.run(run_id(text)?)?;
        let rows = store.rows(run.id)?;
        Ok((run, rows))
    };
    let ((a, own), (b, other)) = (read(a)?, read(b)?);
    Ok(Html(kept.pages().comparison((&a, &own), (&b, &other))))
}

async fn events(State(kept): Kept) -> Response {
    Sse::new(progress_events(kept)).keep_alive(KeepAlive::default()).into_response()
}

/// The two runs of a query, as the ticks of the list make it.
fn two_runs(query: &str) -> Option<(&str, &str)> {
    query.strip_prefix("run=")?.split_once("&run=")
}

fn run_id(text: &str) -> Result<RunId, NoPage> {
    whole(text).map(RunId).ok_or(NoPage::Absent)
}

/// A number of digits alone.
fn whole<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl From<StoreError> for NoPage {
    fn from(error: StoreError) -> Self {
        Self::Unreadable(error)
    }
}

impl IntoResponse for NoPage {
    /// A line of text: whatever it quotes, no browser takes it for a page.
    fn into_response(self) -> Response {
        let (status, line) = match self {
            Self::Absent => (StatusCode::NOT_FOUND, "there is no such page".to_owned()),
            Self::NoComparison => (
                StatusCode::BAD_REQUEST,
                "two runs are compared: tick two of them, as in compare?run=2&run=1".to_owned(),
            ),
            Self::Unreadable(error) => {
                let status = match error {
                    StoreError::NoSuchRun(_) => StatusCode::NOT_FOUND,
                    StoreError::Locked(_) => StatusCode::SERVICE_UNAVAILABLE,
                    _ => StatusCode::INTERNAL_SERVER_ERROR,
                };
                (status, error.to_string())
            }
        };
        (status, format!("{}\n", printable::line(&line))).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_a_run_is_made_of_digits() {
        assert_eq!(run_id("12").ok(), Some(RunId(12)));
        for text in ["", "-1", "+1", "1 ", "0x1", "../1", "<script>", "99999999999999999999"] {
            assert!(run_id(text).is_err(), "{text}");
        }
    }
}
