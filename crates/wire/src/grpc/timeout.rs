//! `grpc-timeout`: at most eight digits and a unit.

use alloc::vec::Vec;

/// Most digits that the value may have.
const MAX_DIGITS: usize = 8;

const UNITS: [(u8, u64); 6] = [
    (b'n', 1),
    (b'u', 1_000),
    (b'm', 1_000_000),
    (b'S', 1_000_000_000),
    (b'M', 60_000_000_000),
    (b'H', 3_600_000_000_000),
];

/// Nanoseconds of a `grpc-timeout`; `None` if it is malformed. Times beyond 2^64 ns are capped
/// there.
pub fn parse(value: &[u8]) -> Option<u64> {
    let (&unit, digits) = value.split_last()?;
    let &(_, unit_ns) = UNITS.iter().find(|(name, _)| *name == unit)?;
    if digits.is_empty() || digits.len() > MAX_DIGITS {
        return None;
    }
    let mut number = 0_u64;
    for digit in digits {
        number = number * 10 + u64::from(char::from(*digit).to_digit(10)?);
    }
    Some(number.saturating_mul(unit_ns))
}

/// Appends `timeout_ns` in the finest unit that fits in eight digits, rounded up: the deadline that
/// is sent is never shorter than the real one.
pub fn write(timeout_ns: u64, output: &mut Vec<u8>) {
    const LIMIT: u64 = 10_u64.pow(MAX_DIGITS as u32);
    let fits = |(_, unit_ns): &&(u8, u64)| timeout_ns.div_ceil(*unit_ns) < LIMIT;
    let &(unit, unit_ns) = UNITS.iter().find(fits).unwrap_or(&UNITS[5]);
    let number = timeout_ns.div_ceil(unit_ns).min(LIMIT - 1);
    let start = output.len();
    let mut rest = number;
    loop {
        output.push(b'0' + (rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    output[start..].reverse();
    output.push(unit);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_specification() {
        assert_eq!(parse(b"1S"), Some(1_000_000_000));
        assert_eq!(parse(b"99999999H"), Some(u64::MAX));
        assert_eq!(parse(b"0n"), Some(0));
        for bad in [&b""[..], b"S", b"1", b"123456789S", b"1s", b"-1S", b"1 S"] {
            assert_eq!(parse(bad), None);
        }
    }

    #[test]
    fn a_timeout_reads_back_no_shorter_and_hardly_longer() {
        for shift in 0..64 {
            let timeout_ns = (1_u64 << shift) + shift;
            let mut value = Vec::new();
            write(timeout_ns, &mut value);
            assert!(value.len() <= MAX_DIGITS + 1);
            let read_ns = parse(&value).unwrap();
            assert!(read_ns >= timeout_ns);
            assert!(read_ns - timeout_ns <= timeout_ns / 10_000 + 1);
        }
    }
}
