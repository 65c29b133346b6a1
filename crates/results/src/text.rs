//! Figures as text, in the published table's style where it has one.

const MEBIBYTE: f64 = (1 << 20) as f64;

/// Requests per second as a whole number: `43420`.
pub fn rate_text(per_second: f64) -> String {
    format!("{per_second:.0}")
}

/// A length of time in seconds, with one decimal at most: `20 s`, `1.3 s`. One that would be 0 is
/// written as a latency is: `10.0 ms`.
pub fn seconds_text(seconds: f64) -> String {
    if seconds > 0.0 && seconds < 0.05 {
        return precise_latency_text(seconds * 1e9);
    }
    format!("{} s", (seconds * 10.0).round() / 10.0)
}

/// A share of one CPU in percent, with at most two decimals: `14.25%`, `104.1%`.
pub fn cpu_text(share: f64) -> String {
    format!("{}%", at_most_two_decimals(share * 100.0))
}

/// A share of the whole in percent, with one decimal: `3.1 %`.
pub fn percent_text(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A latency in the published table's style: `0.10 ms`, `1.13 s`.
pub fn latency_text(nanoseconds: f64) -> String {
    // A latency that would be printed as 1000.00 ms is printed in seconds.
    if nanoseconds < 999.995e6 {
        format!("{:.2} ms", nanoseconds / 1e6)
    } else {
        format!("{:.2} s", nanoseconds / 1e9)
    }
}

/// A latency with three significant digits in the unit that fits: `57.8 µs`.
pub fn precise_latency_text(nanoseconds: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    // From half a unit of the last digit below the next unit, rounding would reach that unit.
    let fits = |scale: f64| nanoseconds >= scale * 0.9995;
    let unit = units.iter().find(|(scale, _)| fits(*scale));
    let (scale, unit) = unit.copied().unwrap_or((1.0, "ns"));
    format!("{} {unit}", significant_text(nanoseconds / scale))
}

/// Memory in MiB, one or two decimals: `496.0 MiB`, `1.07 MiB`.
pub fn memory_text(bytes: f64) -> String {
    format!("{} MiB", at_most_two_decimals(bytes / MEBIBYTE))
}

/// Three significant digits without exponent: `0.951`, `1.02`, `10.4`, `103`, `1030`.
pub fn significant_text(value: f64) -> String {
    let magnitude = value.abs();
    let decimals = match magnitude {
        m if m >= 99.95 => 0,
        m if m >= 9.995 => 1,
        m if m >= 0.9995 => 2,
        m if m >= 0.09995 => 3,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// Two decimals, or one if the second is a zero: `98.6`, `508.0`.
fn at_most_two_decimals(value: f64) -> String {
    let text = format!("{value:.2}");
    match text.strip_suffix('0') {
        Some(shorter) => shorter.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_look_as_the_published_ones() {
        assert_eq!(rate_text(43419.6), "43420");
        assert_eq!(cpu_text(0.1425), "14.25%");
        assert_eq!(cpu_text(1.041), "104.1%");
        assert_eq!(cpu_text(1.0), "100.0%");
        assert_eq!(latency_text(100_000.0), "0.10 ms");
        assert_eq!(latency_text(164_350_000.0), "164.35 ms");
        assert_eq!(latency_text(999_994_000.0), "999.99 ms");
        assert_eq!(latency_text(999_996_000.0), "1.00 s");
        assert_eq!(latency_text(12_250_000_000.0), "12.25 s");
        assert_eq!([20.0, 1.26, 0.05, 0.0].map(seconds_text), ["20 s", "1.3 s", "0.1 s", "0 s"]);
        assert_eq!([0.01, 0.0000042].map(seconds_text), ["10.0 ms", "4.20 µs"]);
        assert_eq!(memory_text(496.0 * MEBIBYTE), "496.0 MiB");
        assert_eq!(memory_text(1.07 * MEBIBYTE), "1.07 MiB");
    }

    #[test]
    fn three_digits_carry_the_meaning() {
        let known = [
            (0.0, "0.0000"),
            (0.95123, "0.951"),
            (1.0, "1.00"),
            (9.996, "10.0"),
            (10.44, "10.4"),
            (99.96, "100"),
            (1030.4, "1030"),
            (-2.5, "-2.50"),
        ];
        for (value, expected) in known {
            assert_eq!(significant_text(value), expected);
        }
        assert_eq!(precise_latency_text(57_849.0), "57.8 µs");
        assert_eq!(precise_latency_text(999.6), "1.00 µs");
        assert_eq!(precise_latency_text(812.0), "812 ns");
        assert_eq!(precise_latency_text(1_234_000.0), "1.23 ms");
        assert_eq!(precise_latency_text(2.2e9), "2.20 s");
    }
}
