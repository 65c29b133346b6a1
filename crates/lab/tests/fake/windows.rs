//! Windows that are too short for what they measure are made longer, or refused.

use crate::rounds::{FakeRun, measured};
use crate::test_folder::{TestFolder, serve};
use bookend_results::measurement::Outcome;
use bookend_results::suite::ShortWindows;
use bookend_results::window::AskedTimes;
use std::fs;

tests![
    a_window_that_is_too_short_is_made_longer_and_stays_so,
    a_resumed_run_keeps_the_windows_it_has_chosen,
    a_window_that_no_call_outlived_is_made_longer,
    a_cell_that_needs_more_than_the_suite_allows_is_refused_in_words,
    a_suite_may_keep_windows_that_are_too_short,
    calls_by_number_have_the_window_they_need,
    what_was_in_flight_at_the_end_is_kept_with_its_age,
];

/// A foreign instrument that answers a call a millisecond, as soon as its window is this long. Its
/// document says how long the window was, so that no test has to wait.
fn a_call_a_millisecond(from_ms: u32) -> String {
    let document = r#"{"count":%s,"total":%s000000,"statusCodeDistribution":{%s}}"#;
    format!(
        "echo $BOOKEND_MEASURE_MS >> ../windows\n\
         calls=0; [ $BOOKEND_MEASURE_MS -lt {from_ms} ] || calls=$BOOKEND_MEASURE_MS\n\
         echo $calls >> ../calls-${{BOOKEND_TARGET##*:}}\n\
         codes=; [ $calls = 0 ] || codes='\"OK\":'$calls\n\
         printf '{document}\\n' $calls $BOOKEND_MEASURE_MS \"$codes\""
    )
}

/// Two rounds of a cell whose window is 100 ms, or at most `window_max_ms`.
fn with_instrument(text: &str, window_max_ms: u64) -> FakeRun {
    let test_folder = TestFolder::new();
    test_folder.subject("server", "server", &serve(1));
    test_folder.subject_with("load", "instrument", text, "output = \"ghz-json\"");
    let mut fake_run = FakeRun::new(test_folder, &["server"], "load");
    let plan = &mut fake_run.settings.plan;
    (plan.rounds, plan.warmup_ms, plan.window_ms) = (2, 1, 100);
    plan.window_max_ms = Some(window_max_ms);
    fake_run
}

/// What the instrument was asked for, warm-ups and windows in turn.
fn windows(fake_run: &FakeRun) -> Vec<u32> {
    let text = fs::read_to_string(fake_run.test_folder.path().join("windows")).unwrap();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

fn a_window_that_is_too_short_is_made_longer_and_stays_so() {
    let mut fake_run = with_instrument(&a_call_a_millisecond(0), 5000);
    let rows = fake_run.rows();
    // A thousand calls take a second; the window has a quarter more, and the warm-up goes with it.
    assert_eq!(windows(&fake_run), [1, 100, 100, 1300, 100, 1300]);
    for row in &rows {
        let chosen = AskedTimes { warmup_ms: 100, window_ms: 1300 };
        assert_eq!((measured(row).asked, measured(row).counts.ok), (Some(chosen), 1300));
        assert_eq!(measured(row).marks, []);
    }
    assert_eq!(rows[0].probe_calls, 101, "the window that was too short is in no row");
}

fn a_resumed_run_keeps_the_windows_it_has_chosen() {
    let mut fake_run = with_instrument(&a_call_a_millisecond(0), 5000);
    let rows = fake_run.rows();
    let new = fake_run.store.latest_run().unwrap().unwrap().new;
    let id = fake_run.store.begin_run(&new).unwrap();
    fake_run.store.write_round(id, 0, &rows[..1]).unwrap();
    fs::remove_file(fake_run.test_folder.path().join("windows")).unwrap();
    fake_run.settings.resume = true;
    assert_eq!(fake_run.run().id, Some(id));
    assert_eq!(windows(&fake_run), [100, 1300]);
}

fn a_window_that_no_call_outlived_is_made_longer() {
    let mut fake_run = with_instrument(&a_call_a_millisecond(2000), 3000);
    let rows = fake_run.rows();
    let chosen: Vec<_> = rows.iter().map(|row| measured(row).asked.unwrap().window_ms).collect();
    assert_eq!(chosen, [3000, 3000]);
}

fn a_cell_that_needs_more_than_the_suite_allows_is_refused_in_words() {
    let mut fake_run = with_instrument(&a_call_a_millisecond(0), 500);
    let rows = fake_run.rows();
    assert_eq!(windows(&fake_run), [1, 100, 100, 500], "the second round does not try again");
    let expected = "1000.0 calls a second are answered, and a window must hold 1000: it would have \
                    to be 1 s long, and the suite allows 0.5 s: raise `window_max` in suite.toml, \
                    or measure fewer streams";
    for row in &rows {
        let Outcome::Refused { reason, .. } = &row.outcome else {
            panic!("not refused: {row:?}");
        };
        assert_eq!(reason, expected);
    }
    assert_eq!(rows[0].outcome.window().map(|window| window.counts.ok), Some(500));
    let summary = fake_run.run();
    assert_eq!((summary.refused, summary.failed, summary.measured), (2, 0, 0));
}

fn a_suite_may_keep_windows_that_are_too_short() {
    let mut fake_run = with_instrument(&a_call_a_millisecond(0), 500);
    fake_run.settings.plan.short_windows = ShortWindows::Kept;
    let rows = fake_run.rows();
    assert_eq!(windows(&fake_run), [1, 100, 100, 500, 100, 500]);
    for row in &rows {
        let asked = measured(row).asked.map(|asked| asked.window_ms);
        assert_eq!((asked, measured(row).counts.ok), (Some(500), 500));
    }
}

fn calls_by_number_have_the_window_they_need() {
    let test_folder = TestFolder::new();
    test_folder.subject("server", "server", &serve(1));
    let call = "echo $BOOKEND_CALLS >> ../windows\n".to_owned() + crate::test_folder::CALL;
    test_folder.subject("load", "instrument", &call);
    let mut fake_run = FakeRun::new(test_folder, &["server"], "load");
    fake_run.settings.plan.window_max_ms = Some(5000);
    fake_run.settings.plan.cases = vec!["C=1 S=1 calls=10".parse().unwrap()];
    assert_eq!(measured(&fake_run.row()).counts.ok, 10);
    assert_eq!(windows(&fake_run), [10]);
}

fn what_was_in_flight_at_the_end_is_kept_with_its_age() {
    let test_folder = TestFolder::new();
    test_folder.subject("server", "server", &serve(1));
    let call = format!("{}\necho drained 0\necho in_flight 3 70 90", crate::test_folder::CALL);
    test_folder.subject("load", "instrument", &call);
    let row = FakeRun::new(test_folder, &["server"], "load").row();
    let kept = measured(&row).counts.in_flight_at_end.unwrap();
    assert_eq!((kept.calls, kept.age_mean_ns, kept.age_max_ns), (3, 70, 90));
    assert_eq!(measured(&row).counts.in_flight(), 3);
}
