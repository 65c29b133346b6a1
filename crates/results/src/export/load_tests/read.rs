//! Results of `bookend load`, read from their files.

use super::load_test::LoadTest;
use crate::latency::HistogramError;
use bookend_contract::report::LoadReport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::path::Path;

/// Results of `bookend load`, of one load test or of several that are compared.
#[derive(Clone, Debug)]
pub struct LoadTests {
    pub(super) tests: Vec<LoadTest>,
}

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
    #[error("not a result of bookend load -O json: {0}")]
    NotAResult(#[from] serde_json::Error),
    /// Its latencies cannot be read.
    #[error("{0}")]
    Histogram(#[from] HistogramError),
}

impl LoadTests {
    /// Reads results: the name and the content of each file. A result without a name of its own
    /// takes that of its file.
    ///
    /// # Errors
    /// [`LoadTestError`] for the first file that cannot be read.
    pub fn read<'a>(
        files: impl IntoIterator<Item = (&'a Path, &'a [u8])>,
    ) -> Result<Self, LoadTestError> {
        let mut tests: Vec<LoadTest> = Vec::new();
        for (file, content) in files {
            let test = read(file, content)
                .map_err(|why| LoadTestError { file: file.display().to_string(), why })?;
            let taken: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
            let test = test.named_beside(&taken);
            tests.push(test);
        }
        Ok(Self { tests })
    }

    /// Whether a file looks like a result of `bookend load`: JSON that has what only that knows.
    pub fn is_result(content: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Marked {
            #[serde(rename = "bookend")]
            _extension: IgnoredAny,
        }
        let values = serde_json::Deserializer::from_slice(content);
        matches!(values.into_iter::<Marked>().next(), Some(Ok(_)))
    }

    /// What they are called together: a single one has its own name.
    pub fn name(&self) -> String {
        match self.tests.as_slice() {
            [test] => test.name.clone(),
            _ => "Load tests".to_owned(),
        }
    }

    /// The heading of their page.
    pub fn title(&self) -> String {
        match self.tests.as_slice() {
            [test] => format!("Load test: {}", test.name),
            tests => format!("{} load tests", tests.len()),
        }
    }
}

fn read(file: &Path, content: &[u8]) -> Result<LoadTest, UnreadableLoadTest> {
    let report: LoadReport = serde_json::from_slice(content)?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok(LoadTest::of(&stem, report)?)
}
