//! The pictures of load tests, each with its figures as a table.

mod by_percentile;
mod fate;
mod offered;
mod over_load;
mod over_time;
mod series;

use super::load_test::LoadTest;
use super::parting::due_and_counted;
use crate::picture::Picture;
pub(super) use offered::answered_over_offered;
pub(super) use over_time::steadiness;

/// Every picture for which there are figures, the most important first.
pub(super) fn all(tests: &[LoadTest]) -> Vec<Picture> {
    let mut middle = [by_percentile::picture(tests), over_time::picture(tests)];
    if let [test] = tests
        && due_and_counted(test).is_some()
    {
        // What a ramp is made for.
        middle.reverse();
    }
    let (first, last) = (over_load::picture(tests), fate::picture(tests));
    first.into_iter().chain(middle.into_iter().flatten()).chain(last).collect()
}
