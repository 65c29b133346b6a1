//! The formats of reports.

use bookend_load::output::{UnknownEnding, format_by_ending};
use clap::ValueEnum;
use std::path::Path;

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// A page for a browser, with pictures; it needs no network and no script
    Html,
    /// All tables, as `bookend run --wide` prints them
    Text,
    /// Markdown
    Md,
    /// One row for each cell
    Csv,
    /// Everything
    Json,
    /// A picture of one case: bars, grouped by instrument
    Svg,
}

impl ReportFormat {
    /// The format that was asked for, else that of the output's name, else a page.
    ///
    /// # Errors
    /// No format has such an ending.
    pub fn of(asked: Option<Self>, output: Option<&Path>) -> Result<Self, UnknownEnding> {
        const ENDINGS: [(&str, ReportFormat); 8] = [
            ("html", ReportFormat::Html),
            ("htm", ReportFormat::Html),
            ("md", ReportFormat::Md),
            ("markdown", ReportFormat::Md),
            ("csv", ReportFormat::Csv),
            ("json", ReportFormat::Json),
            ("svg", ReportFormat::Svg),
            ("txt", ReportFormat::Text),
        ];
        if let Some(asked) = asked {
            return Ok(asked);
        }
        let by_name = output.map(|output| format_by_ending(output, &ENDINGS)).transpose()?;
        Ok(by_name.flatten().unwrap_or(Self::Html))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_output_says_its_format_unless_it_is_asked_for() {
        let of = |name: &str| ReportFormat::of(None, Some(Path::new(name)));
        assert_eq!(of("a/b.md"), Ok(ReportFormat::Md));
        assert_eq!(of("b.CSV"), Ok(ReportFormat::Csv));
        assert_eq!(of("page"), Ok(ReportFormat::Html));
        assert_eq!(ReportFormat::of(None, None), Ok(ReportFormat::Html));
        let asked = |name| ReportFormat::of(Some(ReportFormat::Json), Some(Path::new(name)));
        assert_eq!(asked("b.md"), Ok(ReportFormat::Json));
        assert_eq!(asked("b.pdf"), Ok(ReportFormat::Json));
        let refused = of("b.pdf").unwrap_err().to_string();
        assert!(refused.contains("there is .html, .htm, .md"), "{refused}");
    }
}
