//! Sizes as they are typed: `10mb`, `1gb`, `65536`.

/// Reads a size in bytes. As in ghz, `kb`, `mb` and `gb` are powers of a thousand, `kib`, `mib` and
/// `gib` of 1,024, in any case.
///
/// # Errors
/// What is expected instead, for an error message.
pub fn parse(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 8] = [
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("b", 1),
        ("", 1),
    ];
    let lower = text.trim().to_ascii_lowercase();
    let expected = || "a size such as 10mb or 65536 is expected".to_owned();
    let split = lower.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(lower.len());
    let (number, unit) = lower.split_at(split);
    let unit = UNITS.iter().find(|(name, _)| *name == unit.trim()).ok_or_else(expected)?.1;
    let number: f64 = number.trim().parse().map_err(|_| expected())?;
    let bytes = number * unit as f64;
    if bytes.is_finite() && bytes >= 1.0 { Ok(bytes as u64) } else { Err(expected()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_ghz_reads_them() {
        assert_eq!(parse("10mb"), Ok(10_000_000));
        assert_eq!(parse("1 GB"), Ok(1_000_000_000));
        assert_eq!(parse("1.5KiB"), Ok(1_536));
        assert_eq!(parse("65536"), Ok(65_536));
        for wrong in ["", "mb", "-1", "0", "10 parsecs", "1e400"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
