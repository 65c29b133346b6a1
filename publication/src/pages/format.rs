//! How our figures are written: in the format of the original.

use bookend_results::text::significant_text;
use bookend_results::text::{cpu_text, latency_text, memory_text, precise_latency_text, rate_text};
use std::str::FromStr;
use thiserror::Error;

/// A style of figures, by its place among `FORMATS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureFormat(usize);

/// The name of a style, and how it writes a figure that is given in its base unit.
type NamedFormat = (&'static str, fn(f64) -> String);

const FORMATS: [NamedFormat; 12] = [
    // 43420
    ("rate", rate_text),
    // 41124.74
    ("rate-cents", |per_second| format!("{per_second:.2}")),
    // 95.0k, 1.43M
    ("kilo", kilo_text),
    // 14.25%
    ("percent", cpu_text),
    // 790%
    ("percent-whole", |cpus| format!("{:.0}%", cpus * 100.0)),
    // 0.10 ms, 1.13 s
    ("latency", latency_text),
    // 57.8 µs
    ("latency-precise", precise_latency_text),
    // 0.000172
    ("seconds-micro", |nanoseconds| format!("{:.6}", nanoseconds / 1e9)),
    // 20.20 s
    ("seconds", |nanoseconds| format!("{:.2} s", nanoseconds / 1e9)),
    // 1.07 MiB
    ("memory", memory_text),
    // 9056
    ("count", |count| format!("{count:.0}")),
    // 9.50
    ("ratio", significant_text),
];

fn kilo_text(value: f64) -> String {
    match value {
        // From here on three digits of thousands would be rounded to a million.
        999_500.0.. => format!("{}M", significant_text(value / 1e6)),
        1000.0.. => format!("{}k", significant_text(value / 1e3)),
        _ => rate_text(value),
    }
}

impl FigureFormat {
    /// The figure, given in its base unit.
    pub fn text(self, value: f64) -> String {
        let (_, text) = FORMATS[self.0];
        text(value)
    }
}

impl FromStr for FigureFormat {
    type Err = NoFormat;

    fn from_str(name: &str) -> Result<Self, NoFormat> {
        FORMATS
            .iter()
            .position(|(known, _)| *known == name)
            .map(Self)
            .ok_or_else(|| NoFormat(name.to_owned()))
    }
}

/// There is no format with that name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no format `{_0}`: write one of {}", FORMATS.map(|(name, _)| name).join(", "))]
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
            ("kilo", 1_430_000.0, "1.43M"),
            ("kilo", 999_600.0, "1.00M"),
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
