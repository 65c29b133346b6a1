//! Flags about a picture of one case.

use crate::terminal::Failure;
use bookend_report::chart::{Chart, ChartMetric, ChartSelection, Theme};
use bookend_report::run::Report;
use bookend_results::suite::Case;
use clap::{Args, ValueEnum};

/// What a picture shows, and its background.
#[derive(Debug, Args)]
pub struct PictureArguments {
    /// Case that a picture shows, such as "C=1 S=100" [default: the first]
    #[arg(long, value_name = "CASE")]
    case: Option<Case>,
    /// Figure that a picture shows [default: cpu]
    #[arg(long, value_enum, value_name = "METRIC")]
    metric: Option<PictureMetric>,
    /// Show only bars measured with this instrument; repeatable
    #[arg(long, value_name = "NAME")]
    instrument: Vec<String>,
    /// Show only bars of these subjects, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    subjects: Vec<String>,
    /// Background that a picture is for [default: light]
    #[arg(long, value_enum, value_name = "THEME")]
    theme: Option<Background>,
    /// Heading of a picture [default: the suite's title]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// The figure of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PictureMetric {
    /// CPU time of the end under test for a request
    Cpu,
    /// Requests per second
    Rate,
}

/// The background of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Background {
    /// White
    Light,
    /// Black
    Dark,
    /// Whichever of the two the reader prefers
    Both,
}

impl PictureArguments {
    /// A flag that was given. `None`: none was.
    pub fn given(&self) -> Option<&'static str> {
        self.about_a_case().or(self.theme.map(|_| "--theme"))
    }

    fn about_a_case(&self) -> Option<&'static str> {
        let flags = [
            ("--case", self.case.is_some()),
            ("--metric", self.metric.is_some()),
            ("--instrument", !self.instrument.is_empty()),
            ("--subjects", !self.subjects.is_empty()),
            ("--title", self.title.is_some()),
        ];
        flags.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    /// The picture.
    ///
    /// # Errors
    /// [`Failure`] when the report does not have what is to be drawn.
    pub fn svg(&self, report: &Report<'_>) -> Result<String, Failure> {
        let title = self.title.clone().unwrap_or_else(|| report.title());
        let wanted = ChartSelection {
            case: self.case,
            metric: match self.metric {
                Some(PictureMetric::Cpu) | None => ChartMetric::Cpu,
                Some(PictureMetric::Rate) => ChartMetric::Rate,
            },
            instruments: self.instrument.clone(),
            subjects: self.subjects.clone(),
        };
        let chart = Chart::of(report.table(), &wanted, title).map_err(Failure::usage)?;
        Ok(chart.svg(self.theme()))
    }

    fn theme(&self) -> Theme {
        match self.theme {
            Some(Background::Light) | None => Theme::Light,
            Some(Background::Dark) => Theme::Dark,
            Some(Background::Both) => Theme::Both,
        }
    }

    /// The background, for a picture about which nothing else can be said.
    ///
    /// # Errors
    /// [`Failure`] naming the flag that says more.
    pub fn theme_alone(&self) -> Result<Theme, Failure> {
        match self.about_a_case() {
            Some(flag) => {
                Err(Failure::usage(format!("{flag} is about the picture of a run: this is a race")))
            }
            None => Ok(self.theme()),
        }
    }
}
