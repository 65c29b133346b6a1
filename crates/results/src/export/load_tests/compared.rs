//! The page of one load test, or of several that are compared.

use super::load_test::LoadTest;
use super::page::LoadPage;
use super::{answer, basis, pictures, tables};
use crate::export::pictures::named;

pub(super) fn page(tests: &[LoadTest]) -> LoadPage {
    let (name, title) = match tests {
        [test] => (test.name.clone(), format!("Load test: {}", test.name)),
        tests => ("Load tests".to_owned(), format!("{} load tests", tests.len())),
    };
    LoadPage {
        name,
        title,
        answer: answer::lines(tests),
        pictures: named(pictures::all(tests)),
        origin: basis::origin(tests),
        tables: tables::all(tests),
        method: basis::METHOD,
        flags: basis::flags(tests),
        machine: basis::machines(tests),
        versions: basis::versions(tests),
        command: basis::commands(tests),
    }
}
