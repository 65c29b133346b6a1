//! The pictures of load tests, each with its figures as a table.

mod by_percentile;
mod fate;
mod over_load;
mod over_time;
mod series;

use super::load_test::LoadTest;
use crate::picture::Picture;

/// Every picture for which there are figures, the most important first.
pub(super) fn all(tests: &[LoadTest]) -> Vec<Picture> {
    let first = [over_load::picture(tests), by_percentile::picture(tests)];
    let last = [over_time::picture(tests), fate::picture(tests)];
    first.into_iter().chain(last).flatten().collect()
}
