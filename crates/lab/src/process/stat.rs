//! `/proc/PID/stat`: which process started which. Of its CPU ticks only those of ended children are
//! used, of which the kernel tells nothing finer.

/// What the kernel says of a process, as far as the lab needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// Process id.
    pub pid: i32,
    /// The parent, which receives its exit status.
    pub parent: i32,
    /// Session, named after its leader's process id.
    pub session: i32,
    /// One letter; `Z` has ended and waits to be reaped.
    pub state: char,
    /// CPU time of children that it has waited for, and of theirs, in ticks.
    pub waited_ticks: u64,
    /// Threads.
    pub threads: u32,
    /// Clock ticks after boot at which it started: with `pid`, its identity.
    pub start_time: u64,
}

impl ProcessStat {
    /// Reads the process `pid`; `None` when it is gone.
    pub fn read(pid: i32) -> Option<ProcessStat> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        ProcessStat::parse(&text)
    }

    /// Every process that can be seen.
    pub fn read_all() -> Vec<ProcessStat> {
        std::fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(ProcessStat::read)
            .collect()
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }

    /// The program's name stands in parentheses and may hold any character, parentheses too, so
    /// the fields are counted from the last one on.
    fn parse(text: &str) -> Option<ProcessStat> {
        let (pid, rest) = text.split_once(' ')?;
        let (_, after_name) = rest.rsplit_once(')')?;
        let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
        // proc_pid_stat(5) numbers its fields from 1; the state, after the name, is number 3.
        let field = |number: usize| fields.get(number - 3);
        let ticks = |number: usize| field(number)?.parse::<u64>().ok();
        Some(ProcessStat {
            pid: pid.parse().ok()?,
            state: field(3)?.chars().next()?,
            parent: field(4)?.parse().ok()?,
            session: field(6)?.parse().ok()?,
            waited_ticks: ticks(16)? + ticks(17)?,
            threads: field(20)?.parse().ok()?,
            start_time: field(22)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_the_fields_after_it() {
        let text = "42 (a) S 1 (b)) R 7 8 9 0 -1 4194304 1 0 0 0 5 6 12 30 20 0 31 0 777 1 2 3";
        let expected = ProcessStat {
            pid: 42,
            parent: 7,
            session: 9,
            state: 'R',
            waited_ticks: 42,
            threads: 31,
            start_time: 777,
        };
        assert_eq!(ProcessStat::parse(text), Some(expected));
        assert_eq!(ProcessStat::parse("42 (a) S 1"), None);
        assert_eq!(ProcessStat::parse(""), None);
    }

    #[test]
    fn this_very_process_is_found_and_alive() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let me = ProcessStat::read(pid).unwrap();
        assert!(me.is_alive() && me.threads >= 1);
        assert!(ProcessStat::read_all().iter().any(|stat| stat.pid == pid));
    }
}
