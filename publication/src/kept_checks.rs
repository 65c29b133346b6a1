//! Checks that were kept, as a page: what was known and what was measured, over all of them.

use bookend_contract::input;
use bookend_contract::timestamp::Timestamp;
use bookend_report::markdown::{list, section, table, words};
use bookend_results::calibration::{Calibration, CalibrationOutcome, InstrumentCheck};
use bookend_results::text::seconds_text;

/// Checks that were kept, in the order in which they were made.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptChecks(Vec<InstrumentCheck>);

/// Why a text keeps no checks.
#[derive(Debug, thiserror::Error)]
pub enum KeptChecksError {
    /// The line of this number, counted from 1, is no check.
    #[error(
        "line {0} is no check as bookend check --json prints it: {reason}",
        reason = input::reason(.1)
    )]
    Line(usize, serde_json::Error),
    /// It has no line.
    #[error("no check is kept in it")]
    Empty,
}

/// The text above the tables of figures.
const HOW_TO_READ: &str = "\
*known*, *measured* and *error* are those of the check whose error is in the middle of all; *largest error* is the \
farthest of any. *held* says in how many of the checks that judged it the figure was within what is allowed. A \
figure that is *shown* is not judged, one that is *refused* cannot be.\n";

impl KeptChecks {
    /// Reads a record: a check a line, each as `bookend check --json` prints it.
    ///
    /// # Errors
    /// See [`KeptChecksError`].
    pub fn parse(record: &str) -> Result<KeptChecks, KeptChecksError> {
        let lines = record.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let check = |(line, number): (&str, usize)| {
            serde_json::from_str(line).map_err(|error| KeptChecksError::Line(number, error))
        };
        let checks = lines.map(check).collect::<Result<Vec<InstrumentCheck>, _>>()?;
        if checks.is_empty() { Err(KeptChecksError::Empty) } else { Ok(KeptChecks(checks)) }
    }

    /// The page, in Markdown.
    pub fn page(&self) -> String {
        let mut text = format!(
            "# How far the instrument was from what was known\n\n{}\n{}{HOW_TO_READ}\n",
            self.summary(),
            section("The checks", &self.checks())
        );
        for part in self.distinct(|each| &each.part) {
            text += &section(part, &self.figures(part));
        }
        let missed = self.missed();
        if !missed.is_empty() {
            text += &section("What missed", &list(&missed));
        }
        let refused = self.refused();
        if !refused.is_empty() {
            text += &section("What was refused", &list(&refused));
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }

    fn summary(&self) -> String {
        let whole = self.0.iter().filter(|check| check.has_held()).count();
        let sum = |outcome| self.0.iter().map(|check| check.count(outcome)).sum::<usize>();
        let (held, missed) = (sum(&CalibrationOutcome::Held), sum(&CalibrationOutcome::Missed));
        format!(
            "In {whole} of {} checks everything that was judged held; of all that was judged, {held} of {} held. What \
             each figure is held against, and what that does not show: [trust.md](../../docs/measure/trust.md).\n",
            self.0.len(),
            held + missed
        )
    }

    /// A row a check: when, where, and what came of it.
    fn checks(&self) -> String {
        let headings = ["begun", "bookend", "witness", "machine", "took", "held", "notes"];
        let row = |check: &InstrumentCheck| {
            let origin = &check.origin;
            let held = check.count(&CalibrationOutcome::Held);
            let judged = held + check.count(&CalibrationOutcome::Missed);
            vec![
                Timestamp::from_unix_ms(check.started_unix_ms).to_string(),
                words(&origin.version),
                words(&origin.witness),
                words(&origin.machine.line()),
                seconds_text(check.seconds),
                format!("{held} of {judged}"),
                words(&check.notes.join("; ")),
            ]
        };
        let rows: Vec<Vec<String>> = self.0.iter().map(row).collect();
        table(&headings.map(str::to_owned), 4, &rows)
    }

    /// A row a figure of this part.
    fn figures(&self, part: &str) -> String {
        let headings = ["figure", "known", "measured", "error", "largest error", "allowed", "held"];
        let of_part = self.calibrations().filter(|each| each.part == part);
        let rows: Vec<Vec<String>> = distinct(of_part.map(|each| each.what.as_str()))
            .into_iter()
            .map(|what| row(what, &self.of_figure(part, what)))
            .collect();
        table(&headings.map(str::to_owned), 1, &rows)
    }

    fn of_figure(&self, part: &str, what: &str) -> Vec<&Calibration> {
        let is_it = |each: &&Calibration| each.part == part && each.what == what;
        self.calibrations().filter(is_it).collect()
    }

    /// Each miss with its day, and what else was on the CPUs.
    fn missed(&self) -> Vec<String> {
        let of_check = |check: &InstrumentCheck| {
            let begun = Timestamp::from_unix_ms(check.started_unix_ms);
            let is_missed = |each: &&Calibration| each.outcome() == CalibrationOutcome::Missed;
            let line = |each: &Calibration| {
                let seen = match each.disturbances.as_slice() {
                    [] => "nothing else was seen on these CPUs".to_owned(),
                    seen => words(&seen.join(", ")),
                };
                let (part, what) = (words(&each.part), words(&each.what));
                let [known, measured, ..] = each.fields();
                format!("{begun}, {part}: {what}: {measured} where {known} was known; {seen}")
            };
            check.calibrations.iter().filter(is_missed).map(line).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of_check).collect()
    }

    /// Each reason once a figure.
    fn refused(&self) -> Vec<String> {
        let reasons: Vec<String> = self
            .calibrations()
            .filter_map(|each| match each.outcome() {
                CalibrationOutcome::Refused(why) => {
                    Some(format!("{}: {}: {}", words(&each.part), words(&each.what), words(&why)))
                }
                _ => None,
            })
            .collect();
        distinct(reasons.iter().map(String::as_str)).into_iter().map(str::to_owned).collect()
    }

    fn calibrations(&self) -> impl Iterator<Item = &Calibration> {
        self.0.iter().flat_map(|check| &check.calibrations)
    }

    fn distinct<'a>(&'a self, of: impl Fn(&'a Calibration) -> &'a String) -> Vec<&'a str> {
        distinct(self.calibrations().map(|each| of(each).as_str()))
    }
}

/// One figure over all checks.
fn row(what: &str, checks: &[&Calibration]) -> Vec<String> {
    let mut ascending = checks.to_vec();
    ascending.sort_by(|one, other| one.error().abs().total_cmp(&other.error().abs()));
    let [known, measured, error, allowed] =
        ascending.get(ascending.len() / 2).map(|each| each.fields()).unwrap_or_default();
    let [_, _, largest_error, _] = ascending.last().map(|each| each.fields()).unwrap_or_default();
    vec![words(what), known, measured, error, largest_error, allowed, held(checks)]
}

fn held(checks: &[&Calibration]) -> String {
    let count = |is_it: fn(&CalibrationOutcome) -> bool| {
        checks.iter().filter(|each| is_it(&each.outcome())).count()
    };
    let held = count(|outcome| *outcome == CalibrationOutcome::Held);
    let judged = held + count(|outcome| *outcome == CalibrationOutcome::Missed);
    let refused = count(|outcome| matches!(outcome, CalibrationOutcome::Refused(_)));
    match (judged, refused) {
        (0, 0) => "shown".to_owned(),
        (0, refused) => format!("refused {refused}"),
        (judged, 0) => format!("{held} of {judged}"),
        (judged, refused) => format!("{held} of {judged}, refused {refused}"),
    }
}

/// Each text once, in the order in which they come.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    texts.fold(Vec::new(), |mut seen, text| {
        if !seen.contains(&text) {
            seen.push(text);
        }
        seen
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_contract::machine::MachineFacts;
    use bookend_results::calibration::{CalibratedUnit, CheckOrigin, Tolerance};

    fn check(measured_us: f64) -> InstrumentCheck {
        let latency = |what: &str, measured_us: f64| {
            let allowed = Tolerance { relative: 0.0, absolute: 10e3 };
            let figures = (1e6, measured_us * 1e3);
            Calibration::new(("delay", what), CalibratedUnit::Nanoseconds, figures, allowed)
        };
        let machine = MachineFacts {
            os: "Debian".to_owned(),
            kernel: "Linux 6.1".to_owned(),
            cpu_model: "EPYC".to_owned(),
            cpus: 2,
            memory_bytes: 1 << 33,
            governor: None,
            virtual_machine: true,
            hardware: None,
        };
        let (version, witness) = ("0.1.0".to_owned(), "h2 0.4.20".to_owned());
        let counted = Calibration::new(
            ("counts", "sent"),
            CalibratedUnit::Count,
            (3000.0, 3000.0),
            Tolerance::NONE,
        );
        InstrumentCheck {
            origin: CheckOrigin { version, binary_unix_ms: 7, witness, machine },
            started_unix_ms: 1_795_000_000_000,
            seconds: 41.3,
            notes: Vec::new(),
            calibrations: vec![
                latency("p50", measured_us).disturbed_by(&["steal 3.1 %".to_owned()]),
                latency("p99.9", 1e3).unless(Some("too few".to_owned())),
                latency("asleep", 1e3).told(),
                counted,
            ],
        }
    }

    fn page(checks: &[InstrumentCheck]) -> String {
        let lines: String =
            checks.iter().map(|check| serde_json::to_string(check).unwrap() + "\n").collect();
        KeptChecks::parse(&lines).unwrap().page()
    }

    #[test]
    fn a_figure_has_its_middle_error_its_largest_and_how_often_it_held() {
        let page = page(&[check(1002.0), check(1013.0), check(1004.0)]);
        let p50 = "| p50 | 1.000 ms | 1.004 ms | +4.00 µs | +13.0 µs | ±10.0 µs | 2 of 3 |\n";
        assert!(page.contains(p50), "{page}");
        assert!(page.contains("| refused 3 |\n") && page.contains("| shown |\n"), "{page}");
        assert!(page.contains("| sent | 3000 | 3000 | +0 | +0 | ±0 | 3 of 3 |\n"), "{page}");
    }

    #[test]
    fn the_page_counts_checks_and_figures_and_names_each_miss_once() {
        let page = page(&[check(1002.0), check(1013.0)]);
        let summary = "In 1 of 2 checks everything that was judged held; of all that was judged, \
                       3 of 4 held.";
        assert!(page.contains(summary), "{page}");
        let missed = "- 2026-11-18T11:06:40Z, delay: p50: 1.013 ms where 1.000 ms was known; \
                      steal 3.1 %\n";
        assert_eq!(page.matches(missed).count(), 1, "{page}");
        assert_eq!(page.matches("- delay: p99.9: too few\n").count(), 1, "{page}");
        assert!(page.ends_with("too few\n") && !page.contains("\n\n\n"), "{page}");
    }

    #[test]
    fn a_figure_that_was_no_number_is_kept_as_a_miss() {
        let page = page(&[check(f64::NAN)]);
        assert!(page.contains("| 0 of 1 |\n"), "{page}");
    }

    #[test]
    fn what_keeps_no_check_is_refused_with_its_line() {
        let kept = serde_json::to_string(&check(1002.0)).unwrap();
        let error = KeptChecks::parse(&format!("{kept}\n{{}}\n")).unwrap_err();
        assert!(error.to_string().starts_with("line 2 is no check"), "{error}");
        assert!(matches!(KeptChecks::parse("\n"), Err(KeptChecksError::Empty)));
    }
}
