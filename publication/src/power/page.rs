//! The page of a study: how often equal servers are distinguished, and what it takes to see a
//! difference of each size.

use super::resampling::{COUNTS, found_shares, needed_starts};
use super::{Method, PowerComparison, PowerStudy};
use bookend_report::markdown::{list, section, table, words};
use bookend_results::statistics::median;
use bookend_results::text::{percent_text, seconds_text};

/// Numbers of rounds of a start that are looked at.
const ROUNDS: [usize; 3] = [1, 2, 4];

/// In which share of comparisons a difference is to be seen.
const SEEN: [(f64, &str); 2] = [(0.5, "half"), (0.9, "nine of ten")];

const METHODS: [(Method, &str); 2] = [(Method::Race, "race"), (Method::Suite, "suite")];

const HOW_TO_READ: &str = "\
A comparison is a race of two servers that are the same program; the second burns a known time in each call, or none. \
Both are started anew again and again. A *start* is one such pair of processes, or one round of a suite, and yields one \
ratio of calls per CPU-second. *calls* is the time in which calls are made in a start, for both servers together; \
starting them takes more. *race* is the interval that `bookend race` prints, *suite* that of a suite with as many rounds \
as there are starts ([methodology.md](../../docs/measure/methodology.md)). A suite does not always call the two by turns \
within a round, so it may need more.\n";

impl PowerStudy {
    /// The page, in Markdown.
    pub fn page(&self) -> String {
        let (equal, slowed): (Vec<f64>, Vec<f64>) =
            self.slowdowns().into_iter().partition(|percent| *percent == 0.0);
        let mut text = format!("# What difference a comparison sees\n\n{}\n", self.summary());
        text += &format!("{HOW_TO_READ}\n");
        if !equal.is_empty() {
            text += &section("Equal servers", &self.equal());
        }
        if !slowed.is_empty() {
            text += &section("Slowed servers", &self.slowed(&slowed));
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }

    /// Where it was run, and the answers in words.
    fn summary(&self) -> String {
        let mut machines: Vec<&str> =
            self.comparisons.iter().map(|one| one.machine.as_str()).collect();
        machines.sort_unstable();
        machines.dedup();
        let count = self.comparisons.len();
        let ran = format!("{count} comparisons ran on {}.", words(&machines.join(", and on ")));
        let sentences = [Some(ran), self.equal_sentence(), self.seen_sentence()];
        sentences.into_iter().flatten().collect::<Vec<_>>().join(" ") + "\n"
    }

    fn equal_sentence(&self) -> Option<String> {
        let equal = self.slowed_by(0.0);
        let EqualCount { judged, missed, .. } = misses(&equal, longest(&equal)?, Method::Race);
        Some(format!("Of {judged} races of equal servers, the interval of {missed} left out 1."))
    }

    /// What it takes to see each difference, as measured, in nine of ten races, with the longest
    /// starts.
    fn seen_sentence(&self) -> Option<String> {
        let slowed: Vec<f64> = self.slowdowns().into_iter().filter(|one| *one > 0.0).collect();
        let of_all: Vec<_> = slowed.iter().flat_map(|percent| self.slowed_by(*percent)).collect();
        let rounds = longest(&of_all)?;
        let needed = |percent: &f64| {
            let means = means(&self.slowed_by(*percent), rounds);
            let difference = median_text(measured(&means), percent_text);
            let found = (!means.is_empty()).then(|| found_shares(&means, Method::Race))?;
            Some(match needed_starts(&found, SEEN[1].0) {
                Some(starts) => format!("{difference} in {starts} starts"),
                None => format!("{difference} not in {} starts", most_starts()),
            })
        };
        let each: Vec<String> = slowed.iter().filter_map(needed).collect();
        let seconds = seconds_text(of_all.first()?.call_seconds(rounds));
        Some(format!("With {seconds} of calls a start, nine of ten races see {}.", each.join(", ")))
    }

    /// A row a length of starts: how often the interval left out 1, and half of its width.
    fn equal(&self) -> String {
        let equal = self.slowed_by(0.0);
        let mut headings = vec!["calls".to_owned(), "starts".to_owned()];
        for (_, name) in METHODS {
            headings.extend([format!("{name}: leaves out 1"), format!("{name}: ± (median)")]);
        }
        let row = |rounds: usize| {
            let starts = means(&equal, rounds).iter().map(|one| one.len() as f64).collect();
            let calls =
                equal.first().map(|one| seconds_text(one.call_seconds(rounds))).unwrap_or_default();
            let mut row = vec![calls, median_text(starts, |n| n.to_string())];
            for (method, _) in METHODS {
                let EqualCount { judged, missed, half_widths } = misses(&equal, rounds, method);
                let width = median_text(half_widths, |half| format!("{:.2} %", half * 100.0));
                row.extend([format!("{missed} of {judged}"), width]);
            }
            row
        };
        let rows: Vec<Vec<String>> = ROUNDS
            .into_iter()
            .filter(|rounds| !means(&equal, *rounds).is_empty())
            .map(row)
            .collect();
        let confidence =
            "An interval may leave out 1 in one of twenty comparisons of equal servers.\n";
        format!("{}\n{confidence}", table(&headings, 1, &rows))
    }

    /// A row a difference and a length of starts: how many it takes.
    fn slowed(&self, slowdowns: &[f64]) -> String {
        let mut headings: Vec<String> =
            ["slowed by", "known", "measured", "calls"].map(str::to_owned).to_vec();
        for (_, method) in METHODS {
            headings.extend(SEEN.map(|(_, share)| format!("{method}: {share} see it")));
        }
        let rows: Vec<Vec<String>> = slowdowns
            .iter()
            .flat_map(|percent| {
                let comparisons = self.slowed_by(*percent);
                ROUNDS
                    .into_iter()
                    .filter(|rounds| !means(&comparisons, *rounds).is_empty())
                    .map(|rounds| slowed_row(*percent, &comparisons, rounds))
                    .collect::<Vec<_>>()
            })
            .collect();
        let counts: Vec<String> = COUNTS.iter().map(usize::to_string).collect();
        let notes = [
            "*known*: what the second burns over what a call of the first costs, the median over comparisons; \
             *measured*: by how much more CPU time a call costs, the median over starts, and what a race had to see."
                .to_owned(),
            format!(
                "The other columns are starts, with the seconds of calls in all of them. Comparisons of {} starts were \
                 made of those that ran, neighbouring starts together; from that number on, that many of them have an \
                 interval below 1.",
                counts.join(", ")
            ),
        ];
        format!("{}\n{}", table(&headings, 1, &rows), list(&notes))
    }
}

fn slowed_row(percent: f64, comparisons: &[&PowerComparison], rounds: usize) -> Vec<String> {
    let known = comparisons.iter().map(|one| one.known_share()).collect();
    let means = means(comparisons, rounds);
    let seconds = comparisons.first().map_or(0.0, |one| one.call_seconds(rounds));
    let mut row = vec![
        format!("{percent} %"),
        median_text(known, percent_text),
        median_text(measured(&means), percent_text),
        seconds_text(seconds),
    ];
    for (method, _) in METHODS {
        let found = found_shares(&means, method);
        row.extend(SEEN.map(|(share, _)| match needed_starts(&found, share) {
            Some(starts) => format!("{starts} ({})", seconds_text(starts as f64 * seconds)),
            None => format!("over {}", most_starts()),
        }));
    }
    row
}

/// By what share more CPU time a call of the second costs, a start each.
fn measured(means: &[Vec<f64>]) -> Vec<f64> {
    means.iter().flatten().map(|mean| (-mean).exp() - 1.0).collect()
}

/// How equal servers came out.
struct EqualCount {
    /// Comparisons with an interval.
    judged: usize,
    /// Those whose interval leaves out 1.
    missed: usize,
    /// Half of the width of each, as a share.
    half_widths: Vec<f64>,
}

fn misses(comparisons: &[&PowerComparison], rounds: usize, method: Method) -> EqualCount {
    let starts = comparisons.iter().map(|one| one.start_means(rounds));
    let intervals: Vec<_> = starts.filter_map(|starts| method.interval(&starts)).collect();
    EqualCount {
        judged: intervals.len(),
        missed: intervals.iter().filter(|interval| !interval.contains(1.0)).count(),
        half_widths: intervals.iter().map(|one| (one.high / one.low).ln() / 2.0).collect(),
    }
}

/// The logarithms of the starts of each comparison that has starts of `rounds` rounds.
fn means(comparisons: &[&PowerComparison], rounds: usize) -> Vec<Vec<f64>> {
    let means = comparisons.iter().map(|one| one.start_means(rounds));
    means.filter(|means| !means.is_empty()).collect()
}

/// The most rounds that some start has.
fn longest(comparisons: &[&PowerComparison]) -> Option<usize> {
    ROUNDS.into_iter().rev().find(|rounds| !means(comparisons, *rounds).is_empty())
}

fn most_starts() -> usize {
    COUNTS[COUNTS.len() - 1]
}

fn median_text(values: Vec<f64>, text: impl Fn(f64) -> String) -> String {
    median(&values).map_or_else(|| "-".to_owned(), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    fn study() -> PowerStudy {
        let mut random = Rng::with_seed(5);
        let mut comparison = |slowed_percent: f64| {
            let mut ratio = || (random.f64() - 0.5) / 50.0 - slowed_percent / 100.0;
            let mut start = || (0..4).map(|_| ratio().exp()).collect();
            PowerComparison {
                slowed_percent,
                burnt_ns: slowed_percent * 50.0,
                call_ns: 5000.0,
                lap_ms: 100,
                machine: "EPYC; 2 CPUs".to_owned(),
                starts: (0..12).map(|_| start()).collect(),
            }
        };
        PowerStudy { comparisons: [0.0, 0.0, 0.0, 3.0, 3.0].map(&mut comparison).to_vec() }
    }

    #[test]
    fn the_page_says_how_often_equals_differ_and_what_a_difference_takes() {
        let page = study().page();
        for line in [
            "5 comparisons ran on EPYC; 2 CPUs. Of 3 races of equal servers, the interval of 0 left out 1. \
             With 1.6 s of calls a start, nine of ten races see 3.1 % in 8 starts.\n",
            "| 0.4 s | 12 | 0 of 3 | ",
            "| 1.6 s | 12 | 0 of 3 | ",
            "| 3 % | 3.0 % | 3.1 % | 1.6 s | 8 (12.8 s) | ",
        ] {
            assert!(page.contains(line), "{line}: {page}");
        }
    }

    #[test]
    fn a_length_that_no_start_has_is_not_in_the_tables() {
        let mut study = study();
        for start in study.comparisons.iter_mut().flat_map(|one| &mut one.starts) {
            start.truncate(3);
        }
        let page = study.page();
        assert!(page.contains("| 0.8 s | 12 |") && !page.contains("1.6 s"), "{page}");
    }

    #[test]
    fn the_same_record_always_gives_the_same_page() {
        assert_eq!(study().page(), study().page());
    }
}
