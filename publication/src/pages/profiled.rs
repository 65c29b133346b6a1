//! The shares of published profiles, each with ours if a layer is the same.

use super::page::Page;
use super::rows::NONE;
use crate::published::PublishedRow;
use bookend_report::markdown;
use bookend_results::measurement::CellId;
use bookend_results::metric::PROFILE_PREFIX;
use bookend_results::profile::Profile;

/// One line for each published share. Empty if the document has no profile.
pub(super) fn table(page: &Page<'_>) -> String {
    let Some(published) = &page.published_profile else {
        return String::new();
    };
    let headings = ["server", "what", "our layers", "printed", "re-run"].map(str::to_owned);
    let profile = page.profile.as_ref();
    let rows: Vec<_> = published.rows.iter().map(|row| line(row, profile)).collect();
    markdown::table(&headings, 3, &rows)
}

/// A row has one figure; its column names the same layers of ours.
fn line(row: &PublishedRow, profile: Option<&Profile>) -> Vec<String> {
    let (column, printed) =
        row.printed.iter().next().map_or((NONE, NONE), |(column, printed)| (column, printed));
    let ours = column.strip_prefix(PROFILE_PREFIX).zip(row.cell.as_ref());
    let (layers, share) = match ours {
        None => (NONE.to_owned(), NONE.to_owned()),
        Some((layers, cell)) => {
            let names = layers.replace('_', " ").replace('+', " + ");
            let place = format!("{names}, {} via {}", cell.case, cell.instrument);
            (place, share(layers, cell, profile))
        }
    };
    vec![
        row.place.subject.clone(),
        // Names of functions have angle brackets, which Markdown would interpret.
        format!("`{}`", row.place.label),
        layers,
        printed.to_owned(),
        share,
    ]
}

fn share(layers: &str, cell: &CellId, profile: Option<&Profile>) -> String {
    let CellId { subject, case, instrument } = cell;
    let samples = profile.and_then(|profile| profile.samples_of(subject, *case, Some(instrument)));
    match samples.and_then(|samples| samples.split.named_share(layers)) {
        Some(share) => format!("{:.2}%", share * 100.0),
        None => "not recorded".to_owned(),
    }
}
