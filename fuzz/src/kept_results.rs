//! Results that somebody else wrote: histograms, reports of load tests, records of runs.

use crate::bounds::{assert_line, assert_memory, assert_work};
use bookend_contract::count::COUNT_MAX;
use bookend_contract::latency;
use bookend_report::chart::Theme;
use bookend_report::load_tests;
use bookend_report::run::Report;
use bookend_results::record::Record;
use std::path::Path;

/// The counters of the largest histogram that is read, and it inflated.
const HISTOGRAM_BYTES: u64 = 32 << 20;

/// A latency histogram as text, and bytes as such a text's.
pub fn histogram(input: &[u8]) {
    assert_memory(input, HISTOGRAM_BYTES, 16, || {
        let Ok(text) = str::from_utf8(input) else {
            return;
        };
        let Ok(histogram) = latency::decode(text) else {
            return;
        };
        assert!(histogram.len() <= COUNT_MAX);
        assert!(histogram.value_at_percentile(99.9) <= histogram.max());
        // Where its last counter ends beyond the numbers that there are, the two differ within it.
        assert!(histogram.equivalent(histogram.value_at_percentile(100.0), histogram.max()));
        assert!(!histogram.mean().is_nan());
        let again = latency::decode(&latency::encode(&histogram)).expect("it was written here");
        assert_eq!(again.len(), histogram.len());
    });
}

/// Histograms and pictures of a few results.
const PAGE_BYTES: u64 = 128 << 20;
/// A page and its pictures without any of the file's text, and what they repeat of it.
const PAGE_TEXT_BYTES: usize = 1 << 20;
const PAGE_TEXT_BYTES_PER_BYTE: usize = 256;
/// A row has several hundred bytes, and a histogram of a quarter of a megabyte.
const RESULT_BYTES_PER_BYTE: u64 = 2_048;

/// The JSON of `bookend load`, reported in every form there is.
pub fn load_report(input: &[u8]) {
    assert_memory(input, PAGE_BYTES, RESULT_BYTES_PER_BYTE, || {
        let page = match load_tests::read(&[(Path::new("a.json"), input)]) {
            Ok(page) => page,
            Err(error) => return assert_line(&error),
        };
        check_text(&page.html(), input);
        check_text(&page.markdown_with(None), input);
        for (name, picture) in &page.pictures {
            let svg = picture.svg(Theme::Both);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}: {svg}");
        }
    });
}

/// A record, reported in every form there is.
pub fn record(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    assert_memory(input, PAGE_BYTES, RESULT_BYTES_PER_BYTE, || {
        let record = match Record::parse(text) {
            Ok(record) => record,
            Err(error) => return assert_line(&error),
        };
        let run = record.run();
        let report = Report::new(&run, &record.rows);
        for text in [report.html(), report.markdown_with(None), report.csv(), report.text()] {
            check_text(&text, input);
        }
        check_text(&report.json(), input);
        // A record that was written reads as itself.
        assert!(Record::parse(&record.text()).is_ok());
    });
}

fn check_text(text: &str, input: &[u8]) {
    assert_work("bytes of a page", text.len(), PAGE_TEXT_BYTES, PAGE_TEXT_BYTES_PER_BYTE, input);
}
