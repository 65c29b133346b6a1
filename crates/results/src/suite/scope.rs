//! How much of its suite a run did, so that a shortened run is never taken for a full one.

use super::{Extent, FULL_ROUNDS_MIN, Overrides, Plan, Selection, Suite};
use std::fmt;
use std::path::Path;

/// How much of its suite a run did. `Display` writes it as one line: `full, shortened: window 700ms
/// instead of 20s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The schedule that was followed.
    pub extent: Extent,
    /// What there was less of than in the schedule, a clause each.
    pub shortened: Vec<String>,
    /// What was different from the suite, a clause each.
    pub changed: Vec<String>,
}

impl Scope {
    /// Compares `plan` with the suite's text of its time.
    pub fn of(plan: &Plan, suite_text: &str) -> Self {
        let suite = Suite::parse(Path::new(&plan.suite), suite_text).ok();
        let whole = suite.as_ref().and_then(|suite| whole(suite, plan.extent));
        let shortened = whole.as_ref().map(|whole| shortened(whole, plan));
        let unreadable =
            || vec!["unknown, because the text of its suite cannot be read".to_owned()];
        let processes = plan.limits.server_processes;
        let changed = suite.filter(|suite| suite.limits.server_processes != processes);
        let processes = changed.map(|_| match processes {
            Some(most) => format!("at most {most} processes a server"),
            None => "no limit of processes".to_owned(),
        });
        let laps = changed_laps(plan, whole.as_ref());
        let conditions = plan
            .variables
            .iter()
            .filter(|(name, _)| CONDITIONS.contains(&name.as_str()))
            .map(|(name, value)| format!("{name}={value}"));
        Self {
            extent: plan.extent,
            shortened: shortened.unwrap_or_else(unreadable),
            changed: conditions.chain(processes).chain(laps).collect(),
        }
    }

    /// Whether figures of the run may be quoted as the suite's: a full schedule, nothing shortened
    /// or changed, and as many rounds stored as a result to be quoted needs.
    pub fn is_quotable(&self, stored_rounds: u32) -> bool {
        let is_whole = self.shortened.is_empty() && self.changed.is_empty();
        self.extent == Extent::Full && is_whole && stored_rounds >= FULL_ROUNDS_MIN
    }
}

/// The variables that change the conditions. Of lengths, [`shortened`] knows more; the others have
/// no effect on what is measured.
const CONDITIONS: [&str; 5] = [
    "GRPC_CLIENT_CONCURRENCY",
    "GRPC_CLIENT_CONNECTIONS",
    "GRPC_CLIENT_CPUS",
    "GRPC_SERVER_CPUS",
    "GRPC_SERVER_RAM",
];

/// The whole schedule of the suite. `None`: it has no such schedule.
fn whole(suite: &Suite, extent: Extent) -> Option<Plan> {
    let whole = Selection { extent, ..Selection::default() };
    suite.plan(&whole, &Overrides::default(), u32::MAX).ok()
}

/// Whether cells were measured in laps, where the suite says otherwise.
fn changed_laps(plan: &Plan, whole: Option<&Plan>) -> Option<String> {
    let differs = whole.is_some_and(|whole| whole.lap_ms != plan.lap_ms);
    let words = plan.lap_ms.map_or("no laps".to_owned(), |ms| format!("laps of {}", length(ms)));
    differs.then_some(words)
}

/// What `plan` has less of than the suite.
fn shortened(whole: &Plan, plan: &Plan) -> Vec<String> {
    let by_time = plan.cases.iter().any(|case| case.calls.is_none());
    let window = by_time.then(|| shorter("window", plan.window_ms, whole.window_ms)).flatten();
    let rounds = (plan.rounds < whole.rounds)
        .then(|| format!("rounds {} instead of {}", plan.rounds, whole.rounds));
    let names = |plan: &Plan| Vec::from_iter(plan.subjects.iter().map(|each| each.name.clone()));
    let parts = [
        window,
        shorter("warm-up", plan.warmup_ms, whole.warmup_ms),
        rounds,
        fewer("subjects", &names(plan), &names(whole)),
        fewer("cases", &plan.cases, &whole.cases),
    ];
    parts.into_iter().flatten().collect()
}

fn shorter(what: &str, ms: u64, whole_ms: u64) -> Option<String> {
    let words = || format!("{what} {} instead of {}", length(ms), length(whole_ms));
    (ms < whole_ms).then(words)
}

fn fewer<T: PartialEq>(what: &str, have: &[T], whole: &[T]) -> Option<String> {
    let kept = whole.iter().filter(|each| have.contains(each)).count();
    (kept < whole.len()).then(|| format!("{what} {kept} of {}", whole.len()))
}

fn length(ms: u64) -> String {
    if ms.is_multiple_of(1000) { format!("{}s", ms / 1000) } else { format!("{ms}ms") }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.extent)?;
        for (word, clauses) in [("shortened", &self.shortened), ("changed", &self.changed)] {
            if !clauses.is_empty() {
                write!(f, ", {word}: {}", clauses.join(", "))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::LapSetting;

    const SUITE: &str = r#"
        name = "a"
        title = "t"
        analysis = "t"
        instruments = ["load"]
        [request]
        method = "a.B/C"
        proto = "a.proto"
        json = "a.json"
        [limits]
        server_cpus = 1.0
        [[subjects]]
        name = "one"
        baseline = true
        [[subjects]]
        name = "two"
        [full]
        warmup = "5s"
        window = "20s"
        rounds = 10
        grid = [{ connections = 1, concurrency = [1, 10] }]
        [quick]
        warmup = "50ms"
        window = "500ms"
        rounds = 7
        grid = [{ connections = 1, concurrency = [1] }]
    "#;

    fn plan(selection: &Selection, variables: &[(&str, &str)]) -> Plan {
        let overrides = Overrides::from_environment(variables.iter().copied()).expect("readable");
        let suite = Suite::parse(Path::new("a"), SUITE).expect("a suite");
        suite.plan(selection, &overrides, 2).expect("a plan")
    }

    fn scope(selection: &Selection, variables: &[(&str, &str)]) -> Scope {
        Scope::of(&plan(selection, variables), SUITE)
    }

    #[test]
    fn only_a_whole_schedule_in_ten_rounds_is_quotable() {
        let full = scope(&Selection::default(), &[]);
        assert_eq!(full.to_string(), "full");
        assert!(full.is_quotable(10) && !full.is_quotable(9));
        let quick = scope(&Selection { extent: Extent::Quick, ..Selection::default() }, &[]);
        assert_eq!(quick.to_string(), "quick");
        assert!(!quick.is_quotable(10));
    }

    #[test]
    fn what_was_shortened_is_said_and_what_was_lengthened_is_no_fault() {
        let short = scope(
            &Selection::default(),
            &[("GRPC_BENCHMARK_DURATION", "700ms"), ("GRPC_BENCHMARK_WARMUP", "1s")],
        );
        let said = "full, shortened: window 700ms instead of 20s, warm-up 1s instead of 5s";
        assert_eq!(short.to_string(), said);
        assert!(!short.is_quotable(10));
        let long = scope(&Selection::default(), &[("GRPC_BENCHMARK_DURATION", "60s")]);
        assert!(long.is_quotable(10), "{long}");
    }

    #[test]
    fn fewer_rounds_subjects_or_cases_are_not_the_suite() {
        let subjects = Some(vec!["one".to_owned(), "own".to_owned()]);
        let some = Selection { subjects, rounds: Some(3), ..Selection::default() };
        let some = scope(&some, &[("GRPC_CLIENT_CONCURRENCY", "10")]);
        let said = "full, shortened: rounds 3 instead of 10, subjects 1 of 2, cases 1 of 2, \
                    changed: GRPC_CLIENT_CONCURRENCY=10";
        assert_eq!(some.to_string(), said);
        assert!(!some.is_quotable(10));
    }

    #[test]
    fn other_conditions_are_another_suite() {
        let limited = Selection { server_processes: Some(40), ..Selection::default() };
        let limited = scope(&limited, &[("GRPC_SERVER_RAM", "1g")]);
        let said = "full, changed: GRPC_SERVER_RAM=1g, at most 40 processes a server";
        assert_eq!(limited.to_string(), said);
        assert!(!limited.is_quotable(10));
    }

    #[test]
    fn laps_are_another_way_to_measure_and_the_suite_may_ask_for_them() {
        let by_turns: Selection =
            Selection { laps: Some("100ms".parse().expect("a lap")), ..Selection::default() };
        let changed = scope(&by_turns, &[]);
        assert_eq!(changed.to_string(), "full, changed: laps of 100ms");
        assert!(!changed.is_quotable(10));
        let asked = SUITE.replace("window = \"20s\"", "window = \"20s\"\nlaps = \"100ms\"");
        let suite = Suite::parse(Path::new("a"), &asked).expect("a suite");
        let plan = |selection| suite.plan(&selection, &Overrides::default(), 2).expect("a plan");
        let whole = plan(Selection::default());
        assert_eq!(whole.lap_ms, Some(100));
        assert!(Scope::of(&whole, &asked).is_quotable(10));
        let off = plan(Selection { laps: Some(LapSetting::Off), ..Selection::default() });
        assert_eq!(Scope::of(&off, &asked).to_string(), "full, changed: no laps");
        let short = SUITE.replace("window = \"20s\"", "window = \"20s\"\nlaps = \"1ms\"");
        let refused = Suite::parse(Path::new("a"), &short).expect_err("too short").to_string();
        assert!(refused.contains("a lap of 1ms is too short"), "{refused}");
    }

    #[test]
    fn a_run_whose_suite_cannot_be_read_is_not_quotable() {
        let scope = Scope::of(&plan(&Selection::default(), &[]), "name = 1");
        assert!(!scope.is_quotable(10) && scope.to_string().starts_with("full, shortened: "));
    }
}
