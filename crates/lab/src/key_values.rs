//! Values in the kernel's texts, which have a key and its value on each line.

/// The value of the first line `KEY separator VALUE`.
pub fn value<'a>(text: &'a str, key: &str, separator: char) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        (name.trim() == key).then_some(value.trim())
    })
}

/// The number after `key` and a blank, as in `cpu.stat`.
pub fn number(text: &str, key: &str) -> Option<u64> {
    value(text, key, ' ')?.parse().ok()
}

/// A line such as `VmRSS: 1234 kB`, in bytes; 0 if absent.
pub fn kilobytes(text: &str, key: &str) -> u64 {
    let kibibytes: u64 = value(text, key, ':')
        .and_then(|value| value.strip_suffix("kB")?.trim().parse().ok())
        .unwrap_or(0);
    kibibytes.saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_kilobytes_are_kibibytes() {
        let status = "Name:\tx\nVmHWM:\t    9000 kB\nVmRSS:\t    1234 kB\nThreads:\t3\n";
        assert_eq!(kilobytes(status, "VmRSS"), 1234 * 1024);
        assert_eq!(kilobytes("VmRSS:\tmany kB\n", "VmRSS"), 0);
        assert_eq!(kilobytes("Name:\tkthreadd\n", "VmRSS"), 0);
    }

    #[test]
    fn a_number_is_found_by_its_whole_key() {
        let text = "usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\n";
        assert_eq!(number(text, "usage_usec"), Some(1_234_567));
        assert_eq!(number(text, "usage"), None);
        assert_eq!(number("inactive_file 7\ninactive_file_x 8\n", "inactive_file"), Some(7));
        assert_eq!(number("usage_usec\n", "usage_usec"), None);
        assert_eq!(number("", "usage_usec"), None);
    }
}
