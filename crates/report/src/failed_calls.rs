//! Failed calls in words: after the ratio of a subject, and in the names of pictures.

use bookend_results::failed_share::FailedShare;
use bookend_results::ranking::RankedSubject;
use bookend_results::suite::Case;

/// The note to a picture that has figures of cells whose calls failed.
pub(crate) const READING: &str = " A figure behind ! is the share of the calls that failed there.";

/// The name of a ranked subject, behind a sign where calls failed.
pub fn marked_name(one: &RankedSubject) -> String {
    FailedShare::marked(one.failed.map(|(share, _)| share), &one.name)
}

/// The parenthesis after the name of a subject many of whose calls failed. `None`: too few did.
pub(crate) fn told(most: Option<(FailedShare, Case)>) -> Option<String> {
    let (share, case) = most.filter(|(share, _)| share.is_told())?;
    Some(format!("{share} of its calls failed at {case}"))
}

/// The text at a point or a bar. `None`: too few calls failed to be marked.
pub(crate) fn at_point(share: Option<FailedShare>) -> Option<String> {
    let share = share.filter(|share| share.is_marked())?;
    Some(FailedShare::marked(Some(share), &share.to_string()))
}

/// The text of a figure in a picture, with that of its failed calls: `27.7 ! 26.4 %`.
pub fn figure_with(figure: &str, share: Option<FailedShare>) -> String {
    at_point(share).map_or_else(|| figure.to_owned(), |failed| format!("{figure} {failed} failed"))
}
