//! CPU time of this process and of those that it started and that have ended.

use std::fs;

/// Ticks a second of `/proc/self/stat` on every architecture that Linux is commonly built for.
const TICKS_PER_SECOND: f64 = 100.0;

/// User time, system time, and the same of ended children: the fields after the program's name.
const FIELDS: [usize; 4] = [11, 12, 13, 14];

/// CPU time so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnCpu {
    /// Of this process, seconds.
    pub seconds: f64,
    /// Of its children that have ended, seconds.
    pub children_seconds: f64,
}

/// Reads it; nothing where it cannot be read.
pub fn read() -> OwnCpu {
    parse(&fs::read_to_string("/proc/self/stat").unwrap_or_default())
}

fn parse(stat: &str) -> OwnCpu {
    // The program's name may hold anything, so it is left behind by its last parenthesis.
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let fields: Vec<&str> = after.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field).and_then(|text| text.parse().ok());
    let [user, system, ended_user, ended_system] =
        FIELDS.map(|field| ticks(field).unwrap_or(0.0) / TICKS_PER_SECOND);
    OwnCpu { seconds: user + system, children_seconds: ended_user + ended_system }
}

impl OwnCpu {
    /// What was used since `earlier`.
    pub fn since(self, earlier: &OwnCpu) -> OwnCpu {
        OwnCpu {
            seconds: self.seconds - earlier.seconds,
            children_seconds: self.children_seconds - earlier.children_seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
        let stat = "7 (a) R 1) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 300 100 20 0 1 0";
        let read = parse(stat);
        assert_eq!(read, OwnCpu { seconds: 2.0, children_seconds: 4.0 });
        assert_eq!(parse(""), OwnCpu::default());
    }
}
