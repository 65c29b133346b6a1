//! Load tests as series of lines.

use super::super::load_test::LoadTest;
use crate::chart::LineSeries;

/// A series for each load test, with the same colour in all pictures.
pub(super) fn series(tests: &[LoadTest]) -> Vec<LineSeries> {
    tests
        .iter()
        .enumerate()
        .map(|(style, test)| LineSeries { name: test.name.clone(), style })
        .collect()
}
