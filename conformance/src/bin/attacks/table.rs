//! The table of a record: the median of the rounds, and the worst of them.

use crate::record::{Entry, Row};

const BEGINS: &str = "<!-- attacks -->";
const ENDS: &str = "<!-- end of attacks -->";

/// One row for each attack and server, in the order in which they came.
pub fn table(lines: &str) -> String {
    let entries: Vec<Entry> = lines.lines().filter_map(Entry::parse).collect();
    let mut text = String::from(
        "| attack | server | memory before / peak / after, MiB | legal calls/s, failed \
         | p99 (worst round), max, ms | ended by |\n|---|---|---|---|---|---|\n",
    );
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for Entry { attack, server, .. } in &entries {
        if seen.contains(&(attack, server)) {
            continue;
        }
        seen.push((attack, server));
        let of_it = |entry: &&Entry| entry.attack == *attack && entry.server == *server;
        let rounds: Vec<&Row> = entries.iter().filter(of_it).map(|entry| &entry.row).collect();
        text += &format!("| {attack} | {server} {}\n", cells(&rounds));
    }
    text
}

fn cells(rounds: &[&Row]) -> String {
    let all = |of: &dyn Fn(&Row) -> f64| {
        let mut sorted: Vec<f64> = rounds.iter().map(|row| of(row)).collect();
        sorted.sort_by(f64::total_cmp);
        // As bookend_results::statistics has it, on which this workspace does not depend.
        let median = sorted[(sorted.len() - 1) / 2].midpoint(sorted[sorted.len() / 2]);
        (median, sorted[sorted.len() - 1])
    };
    let memory = [0, 1, 2].map(|at| format!("{:.0}", all(&|row| row.mebibytes[at]).0));
    let (rate, _) = all(&|row| row.rate);
    let (_, failed) = all(&|row| row.failed);
    let (p99, worst_p99) = all(&|row| or_never(row.p99_ms));
    let (_, max) = all(&|row| or_never(row.max_ms));
    // What ends most connections, of the first round: the others count somewhat differently.
    let ended = rounds.first().map_or("", |row| &row.ended);
    format!(
        "| {} | {rate:.0}, {failed:.0} | {} ({}), {} | {ended} |",
        memory.join(" / "),
        milliseconds(p99, 2),
        milliseconds(worst_p99, 2),
        milliseconds(max, 1)
    )
}

/// The latency of a round, which is 0 where no call was answered: that is worse than any other.
fn or_never(latency_ms: f64) -> f64 {
    if latency_ms == 0.0 { f64::INFINITY } else { latency_ms }
}

fn milliseconds(latency_ms: f64, digits: usize) -> String {
    if latency_ms.is_infinite() { "never".to_owned() } else { format!("{latency_ms:.digits$}") }
}

/// The page with that table in its place; `None` if it has no place for it.
pub fn with_table(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGINS)?;
    let (_, after) = rest.split_once(ENDS)?;
    Some(format!("{before}{BEGINS}\n{table}{ENDS}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "# a machine\n\
        rapid reset;a;5;9;6;100;0;1.5;9;closed 3\n\
        rapid reset;b;1;1;1;7;0;1;1;\n\
        rapid reset;a;5;7;6;300;1;0.5;3;closed 4\n\
        rapid reset;a;5;8;6;200;0;1;20;closed 5\n";

    #[test]
    fn the_median_of_the_rounds_stands_beside_the_worst() {
        let table = table(LINES);
        let row = "| rapid reset | a | 5 / 8 / 6 | 200, 1 | 1.00 (1.50), 20.0 | closed 3 |\n";
        assert!(table.contains(row), "{table}");
        assert_eq!(table.lines().count(), 4, "{table}");
    }

    #[test]
    fn a_round_without_an_answer_is_the_worst() {
        let rounds = "a;b;1;1;1;5;0;2;3;\na;b;1;1;1;0;9;0;0;\na;b;1;1;1;5;0;1;3;\n";
        let table = table(rounds);
        assert!(table.contains("| 5, 9 | 2.00 (never), never |"), "{table}");
    }

    #[test]
    fn a_page_takes_it_where_its_place_is() {
        let page = format!("a\n{BEGINS}\nold\n{ENDS}\nb\n");
        let new = with_table(&page, "new\n").unwrap();
        assert_eq!(new, format!("a\n{BEGINS}\nnew\n{ENDS}\nb\n"));
        assert_eq!(with_table(&new, "new\n").unwrap(), new);
        assert_eq!(with_table("no place", "new\n"), None);
    }
}
