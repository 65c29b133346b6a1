//! How a report is written.

use clap::ValueEnum;
use std::path::Path;

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// A page for a browser, with pictures; it needs no network and no script
    Html,
    /// What `bookend run` prints
    Text,
    /// Markdown
    Md,
    /// One row for each cell
    Csv,
    /// Everything
    Json,
    /// A picture of one case: bars of requests per second, grouped by instrument
    Svg,
    /// Rounds, cells, windows and CPU as events, which ui.perfetto.dev opens
    Trace,
}

impl ReportFormat {
    /// The format that was asked for, else that of the output's name, else a page.
    pub fn of(asked: Option<Self>, output: Option<&Path>) -> Self {
        let ending = output.and_then(Path::extension).and_then(|ending| ending.to_str());
        asked.unwrap_or(match ending {
            Some("md") => Self::Md,
            Some("csv") => Self::Csv,
            Some("json") => Self::Json,
            Some("svg") => Self::Svg,
            Some("txt") => Self::Text,
            _ => Self::Html,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_output_says_its_format_unless_it_is_asked_for() {
        let of = |name: &str| ReportFormat::of(None, Some(Path::new(name)));
        assert_eq!(of("a/b.md"), ReportFormat::Md);
        assert_eq!(of("b.csv"), ReportFormat::Csv);
        assert_eq!(of("page"), ReportFormat::Html);
        assert_eq!(ReportFormat::of(None, None), ReportFormat::Html);
        let asked = ReportFormat::of(Some(ReportFormat::Json), Some(Path::new("b.md")));
        assert_eq!(asked, ReportFormat::Json);
    }
}
