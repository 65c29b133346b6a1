//! Results of `bookend load`, read from their files and put on one page.

use super::load_test::LoadTest;
use super::pictures::steadiness;
use super::{answer, basis, capacity, machines, pictures, tables};
use crate::picture::named;
use crate::result_page::ResultPage;
use bookend_contract::capacity::CapacityReport;
use bookend_contract::input;
use bookend_contract::latency::HistogramError;
use bookend_contract::report::LoadReport;
use bookend_contract::secrets;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::path::Path;

/// A file is not the result of a load test.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {why}")]
pub struct LoadTestError {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub why: UnreadableLoadTest,
}

/// What is wrong with a file that should be the result of a load test.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableLoadTest {
    /// Its JSON is not that of `bookend load`.
    #[error("not a result of bookend load -O json: {}", input::reason(.0))]
    NotAResult(#[from] serde_json::Error),
    /// Its latencies cannot be read.
    #[error("{0}")]
    Histogram(#[from] HistogramError),
    /// It is the search of a capacity, of which a page shows one.
    #[error("a result of --find-capacity is reported alone")]
    NotAlone,
}

/// What kind of result a file has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    LoadTest,
    CapacitySearch,
}

impl Kind {
    /// By what only that kind has.
    fn of(content: &[u8]) -> Option<Kind> {
        #[derive(Deserialize)]
        struct Marks {
            bookend: Option<IgnoredAny>,
            closed_loops: Option<IgnoredAny>,
        }
        // A struct would be read of a list, too.
        if !content.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        match serde_json::Deserializer::from_slice(content).into_iter::<Marks>().next()?.ok()? {
            Marks { bookend: Some(_), .. } => Some(Kind::LoadTest),
            Marks { closed_loops: Some(_), .. } => Some(Kind::CapacitySearch),
            Marks { .. } => None,
        }
    }
}

/// Reads results: the name and the content of each file. A result without a name of its own
/// takes that of its file.
///
/// # Errors
/// [`LoadTestError`] for the first file that cannot be read.
pub fn read(files: &[(&Path, &[u8])]) -> Result<ResultPage, LoadTestError> {
    if let [(file, content)] = files
        && Kind::of(content) == Some(Kind::CapacitySearch)
    {
        let mut report: CapacityReport =
            serde_json::from_slice(content).map_err(|error| unreadable(file, error.into()))?;
        secrets::in_capacity_report(&mut report);
        return Ok(capacity::page(&stem(file), &report));
    }
    let mut tests: Vec<LoadTest> = Vec::new();
    for (file, content) in files {
        let test = read_test(file, content).map_err(|why| unreadable(file, why))?;
        let taken: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
        tests.push(test.named_beside(&taken));
    }
    Ok(page_of_tests(&tests))
}

/// The page of a load test that has just ended: that of its file, if it had been kept in one of
/// that name.
///
/// # Errors
/// Its latencies cannot be read.
pub fn page_of(file: &Path, mut report: LoadReport) -> Result<ResultPage, HistogramError> {
    secrets::in_report(&mut report);
    Ok(page_of_tests(&[LoadTest::of(&stem(file), report)?]))
}

/// Whether a file looks like a result of `bookend load`: JSON that has what only that knows.
pub fn is_result(content: &[u8]) -> bool {
    Kind::of(content).is_some()
}

fn read_test(file: &Path, content: &[u8]) -> Result<LoadTest, UnreadableLoadTest> {
    let mut report: LoadReport =
        serde_json::from_slice(content).map_err(|error| match Kind::of(content) {
            Some(Kind::CapacitySearch) => UnreadableLoadTest::NotAlone,
            _ => UnreadableLoadTest::NotAResult(error),
        })?;
    secrets::in_report(&mut report);
    Ok(LoadTest::of(&stem(file), report)?)
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn unreadable(file: &Path, why: UnreadableLoadTest) -> LoadTestError {
    LoadTestError { file: file.display().to_string(), why }
}

/// The page of one load test, or of several that are compared.
fn page_of_tests(tests: &[LoadTest]) -> ResultPage {
    let (name, title) = match tests {
        [test] => (test.name.clone(), format!("Load test: {}", test.name)),
        tests => ("Load tests".to_owned(), format!("{} load tests", tests.len())),
    };
    ResultPage {
        name,
        title,
        answer: answer::lines(tests),
        pictures: named(pictures::all(tests)),
        origin: basis::origin(tests),
        tables: [tables::all(tests), machines::tables(tests), steadiness(tests)].concat(),
        method: basis::METHOD,
        flags: basis::flags(tests),
        machine_note: basis::WHOSE_MACHINE,
        machine: basis::machines(tests),
        versions: basis::versions(tests),
        command: basis::commands(tests),
    }
}
