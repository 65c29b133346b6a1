//! Rows as they were measured, one line each.

/// What an attack has cost in one round.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Memory before, at the peak and some time after the attack; 0 where the server had ended.
    pub mebibytes: [f64; 3],
    /// Calls of somebody else that were answered in a second.
    pub rate: f64,
    pub failed: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
    /// How connections of the attackers ended, and how many of them.
    pub ended: String,
}

/// A row, and what it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub attack: String,
    pub server: String,
    pub row: Row,
}

/// The names of a line's parts.
pub const HEADING: &str = "attack;server;before_mib;peak_mib;after_mib;calls_per_second;failed;\
    p99_ms;max_ms;ended";

impl Entry {
    pub fn line(&self) -> String {
        let Row { mebibytes: [before, peak, after], rate, failed, p99_ms, max_ms, ended } =
            &self.row;
        let Entry { attack, server, .. } = self;
        format!(
            "{attack};{server};{before:.0};{peak:.0};{after:.0};{rate:.0};{failed:.0};\
             {p99_ms:.3};{max_ms:.3};{ended}"
        )
    }

    /// `None` for lines that are no rows.
    pub fn parse(line: &str) -> Option<Self> {
        let parts: Vec<&str> = line.split(';').collect();
        let &[attack, server, before, peak, after, rate, failed, p99, max, ended] = &parts[..]
        else {
            return None;
        };
        let number = |text: &str| text.parse::<f64>().ok();
        let row = Row {
            mebibytes: [number(before)?, number(peak)?, number(after)?],
            rate: number(rate)?,
            failed: number(failed)?,
            p99_ms: number(p99)?,
            max_ms: number(max)?,
            ended: ended.to_owned(),
        };
        Some(Entry { attack: attack.to_owned(), server: server.to_owned(), row })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back_as_it_was_written() {
        let entry = Entry {
            attack: "PING flood".to_owned(),
            server: "tonic".to_owned(),
            row: Row {
                mebibytes: [6.0, 50.0, 7.0],
                rate: 44_000.0,
                failed: 0.0,
                p99_ms: 0.125,
                max_ms: 12.5,
                ended: "ENHANCE_YOUR_CALM 12, closed 3".to_owned(),
            },
        };
        assert_eq!(Entry::parse(&entry.line()), Some(entry));
        assert_eq!(Entry::parse(HEADING), None);
        assert_eq!(Entry::parse("# a machine"), None);
    }
}
