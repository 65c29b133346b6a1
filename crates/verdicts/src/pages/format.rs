//! How our figures are written: in the format of the original.

use bookend_results::text::significant_text;
use bookend_results::text::{cpu_text, latency_text, memory_text, precise_latency_text, rate_text};
use std::str::FromStr;
use thiserror::Error;

/// A style of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureFormat {
    /// `43420`
    Rate,
    /// `41124.74`
    RateCents,
    /// `95k`
    Kilo,
    /// `14.25%`
    Percent,
    /// `790%`
    PercentWhole,
    /// `0.10 ms`, `1.13 s`
    Latency,
    /// `57.8 µs`
    LatencyPrecise,
    /// `0.000172`
    SecondsMicro,
    /// `20.20 s`
    Seconds,
    /// `1.07 MiB`
    Memory,
    /// `9056`
    Count,
    /// `9.5`
    Ratio,
}

const ALL: [(&str, FigureFormat); 12] = [
    ("rate", FigureFormat::Rate),
    ("rate-cents", FigureFormat::RateCents),
    ("kilo", FigureFormat::Kilo),
    ("percent", FigureFormat::Percent),
    ("percent-whole", FigureFormat::PercentWhole),
    ("latency", FigureFormat::Latency),
    ("latency-precise", FigureFormat::LatencyPrecise),
    ("seconds-micro", FigureFormat::SecondsMicro),
    ("seconds", FigureFormat::Seconds),
    ("memory", FigureFormat::Memory),
    ("count", FigureFormat::Count),
    ("ratio", FigureFormat::Ratio),
];

impl FigureFormat {
    /// The figure, given in its base unit.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Rate => rate_text(value),
            Self::RateCents => format!("{value:.2}"),
            Self::Kilo if value < 1000.0 => rate_text(value),
            Self::Kilo => format!("{}k", significant_text(value / 1000.0)),
            Self::Percent => cpu_text(value),
            Self::PercentWhole => format!("{:.0}%", value * 100.0),
            Self::Latency => latency_text(value),
            Self::LatencyPrecise => precise_latency_text(value),
            Self::SecondsMicro => format!("{:.6}", value / 1e9),
            Self::Seconds => format!("{:.2} s", value / 1e9),
            Self::Memory => memory_text(value),
            Self::Count => format!("{value:.0}"),
            Self::Ratio => significant_text(value),
        }
    }
}

impl FromStr for FigureFormat {
    type Err = NoFormat;

    fn from_str(name: &str) -> Result<Self, NoFormat> {
        let known = ALL.iter().find(|(known, _)| *known == name);
        known.map(|(_, format)| *format).ok_or_else(|| NoFormat(name.to_owned()))
    }
}

/// There is no format with that name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no format `{_0}`: write one of {}", ALL.map(|(name, _)| name).join(", "))]
pub struct NoFormat(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_look_as_in_the_original() {
        let known = [
            ("rate", 43_419.6, "43420"),
            ("rate-cents", 41_124.74, "41124.74"),
            ("kilo", 95_000.0, "95.0k"),
            ("kilo", 512.0, "512"),
            ("percent", 1.041, "104.1%"),
            ("percent-whole", 7.9, "790%"),
            ("latency", 1.13e9, "1.13 s"),
            ("latency-precise", 57_849.0, "57.8 µs"),
            ("seconds-micro", 172_000.0, "0.000172"),
            ("seconds", 20.2e9, "20.20 s"),
            ("count", 9056.0, "9056"),
            ("ratio", 9.5, "9.50"),
        ];
        for (name, value, expected) in known {
            let format: FigureFormat = name.parse().expect("a format");
            assert_eq!(format.text(value), expected, "{name}");
        }
        assert!("pretty".parse::<FigureFormat>().is_err());
    }
}
