//! Load tests as series of lines.

use super::super::load_test::LoadTest;
use crate::chart::LineSeries;

/// A series for each load test, with the same colour in all pictures.
pub(super) fn series(tests: &[LoadTest]) -> Vec<LineSeries> {
    let series = tests.iter().enumerate();
    series.map(|(style, test)| LineSeries { name: test.name.clone(), style }).collect()
}
