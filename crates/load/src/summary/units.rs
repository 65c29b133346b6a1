//! Figures as a summary writes them.

/// A time in the unit that fits.
pub(crate) fn duration(nanoseconds: u64) -> String {
    let in_unit = |unit_ns: f64| nanoseconds as f64 / unit_ns;
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.2} µs", in_unit(1e3)),
        1_000_000..1_000_000_000 => format!("{:.2} ms", in_unit(1e6)),
        _ => format!("{:.2} s", in_unit(1e9)),
    }
}
