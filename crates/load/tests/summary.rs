//! Reports from invented records, and how they are printed and delivered.

#[path = "support/flags.rs"]
mod flags;

use bookend_contract::generator_stops::GeneratorStops;
use bookend_contract::report::{Intervals, LoadReport, OpenLoopReport, SplitPart};
use bookend_io::Io;
use bookend_load::flags::{CallFlags, LoadFlags};
use bookend_load::output::{self, OutputFormat};
use bookend_load::pace::{ArrivalProcess, RateSchedule};
use bookend_load::plan::LoadPlan;
use bookend_load::plan::pacing::{Loop, OpenLoop};
use bookend_load::record::{
    CallLog, ErrorCounts, InFlightAges, Latencies, ListedCalls, OpenLoopCalls, Recorder,
    TargetCounts, TargetOutcome,
};
use bookend_load::run::LoadOutcome;
use bookend_load::{report, summary};
use bookend_wire::grpc::Code;
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, UNIX_EPOCH};

fn plan() -> LoadPlan {
    let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proto/helloworld.proto");
    let flags = LoadFlags {
        call: CallFlags {
            targets: vec!["localhost:50051".to_owned()],
            method: Some("helloworld.Greeter/SayHello".to_owned()),
            proto: Some(proto.into()),
            insecure: true,
            ..flags::unwritten()
        },
        concurrency: 50,
        connections: 2,
        threads: Some(2),
        io: Io::Epoll,
        total: 1_003,
        warmup: Duration::from_secs(1),
        name: Some("nightly".to_owned()),
        tags: Some(r#"{"branch": "main"}"#.to_owned()),
        ..flags::unwritten()
    };
    LoadPlan::from_flags(&flags, &mut std::io::empty(), 1).expect("the flags are right")
}

fn latencies(values_ns: impl IntoIterator<Item = u64>) -> Latencies {
    let mut recorder = Recorder::default();
    values_ns.into_iter().for_each(|value_ns| recorder.latency(value_ns));
    recorder.finish()
}

/// Four seconds in which 1,000 calls took 100 µs to 1,099 µs, and three failed.
fn outcome() -> LoadOutcome {
    let mut errors = ErrorCounts::default();
    errors.add(Code::Unavailable, "connection refused", 2);
    errors.add(Code::DeadlineExceeded, "the deadline has passed", 1);
    let mut outcome = empty_outcome();
    outcome.latencies = latencies((100..1_100).map(|microseconds| microseconds * 1_000));
    outcome.ok = 1_000;
    outcome.errors = errors;
    outcome.warmup = 250;
    outcome.unfinished = 7;
    outcome.in_flight_at_end = InFlightAges::at(90_000, [20_000, 40_000].into_iter());
    outcome.window_ns = 4_000_000_000;
    outcome.cpu_user_seconds = 0.2;
    outcome.cpu_system_seconds = 0.3;
    outcome.driver.busy_ns = 600_000_000;
    outcome.driver.writes = 100;
    outcome.driver.reads = 50;
    outcome
}

fn empty_outcome() -> LoadOutcome {
    LoadOutcome {
        latencies: latencies([]),
        ok: 0,
        errors: ErrorCounts::default(),
        warmup: 0,
        drained: 0,
        unfinished: 0,
        in_flight_at_end: InFlightAges::default(),
        unanswered: InFlightAges::default(),
        failed_after_window: 0,
        window_ns: 0,
        driver: Default::default(),
        cpu_user_seconds: 0.0,
        cpu_system_seconds: 0.0,
        cpu_quota: None,
        stops: GeneratorStops::default(),
        memory_peak_bytes: 8 << 20,
        setup: None,
        connections_opened: 1,
        sources_used: 0,
        targets: Vec::new(),
        start_late_ns: 0,
        cancelled: false,
        first_failure: None,
        goaways: BTreeMap::new(),
        streams_allowed: None,
        intervals: None,
        open_loop: None,
        calls: None,
        connections_given_up: 0,
        streams: None,
        template_failure: None,
    }
}

fn report_of(outcome: LoadOutcome) -> LoadReport {
    let started = UNIX_EPOCH + Duration::from_secs(1_234_567_890);
    report::build_report(&plan(), started, &outcome)
}

fn report() -> LoadReport {
    report_of(outcome())
}

/// Lines end in spaces where ghz's do; here they are left out.
const SUMMARY: &str = "
Summary:
  Name:\t\tnightly
  Count:\t1003
  Total:\t4.00 s
  Slowest:\t1.10 ms
  Fastest:\t100.00 µs
  Average:\t599.50 µs
  Requests/sec:\t250.75

Response time histogram:
  0.100 [1]   |
  0.200 [99]  |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.300 [101] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.400 [99]  |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.500 [100] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.600 [100] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.699 [100] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.799 [100] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.899 [100] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.999 [100] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  1.099 [100] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎

Latency distribution:
  10 % in 199.00 µs
  25 % in 349.00 µs
  50 % in 599.00 µs
  75 % in 849.00 µs
  90 % in 999.00 µs
  95 % in 1.05 ms
  99 % in 1.09 ms
  99.9 % in 1.10 ms

Status code distribution:
  [DeadlineExceeded]   1 responses
  [OK]                 1000 responses
  [Unavailable]        2 responses

Error distribution:
  [1]   rpc error: code = DeadlineExceeded desc = the deadline has passed
  [2]   rpc error: code = Unavailable desc = connection refused

Bookend:
  Generator:\t2000.00 requests per CPU-second of its own
  CPU:\t0.20 s user, 0.30 s system in 4.00 s
  Busy:\t7.5 % of 2 threads (epoll)
  Requests per write:\t10.03
  Requests per read:\t20.06
  Warm-up:\t250 calls
  Unfinished:\t7 calls
  Cut off:\t2 calls in flight at the end, 60.00 µs old on average, 70.00 µs at most
  Missing:\t3 of 1003 calls failed or have no answer: no latency above is of them
  Limit:\tthe server, or the network to it: the generator was 8 % busy, and 3 of 1003 calls failed \
or have no answer
";

#[test]
fn the_summary_is_that_of_ghz_with_ours_below() {
    let text = summary::text(&report());
    let lines: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    assert_eq!(lines, SUMMARY);
    assert!(text.contains("  50 % in 599.00 µs \n"), "a space ends a line as in ghz");
    assert!(text.contains("1000 responses   \n"), "columns are padded as in ghz");
}

#[test]
fn what_the_server_said_stands_below_the_figures() {
    let mut outcome = outcome();
    outcome.streams_allowed = Some(100);
    outcome.goaways = BTreeMap::from([("GOAWAY NO_ERROR, debug data: \"a\nb\"".to_owned(), 3)]);
    let report = report_of(outcome);
    let text = summary::text(&report);
    assert!(text.ends_with(
        "  Streams:\tthe server allows 100 a connection: fewer calls were in flight than asked for
  Goaway:\t3 x GOAWAY NO_ERROR, debug data: \"a b\"
  Limit:\tthe server allows 100 streams a connection\n"
    ));
    assert_eq!(report.bookend.streams_allowed, Some(100));
    assert_eq!(report.bookend.goaways.len(), 1);
}

#[test]
fn a_generator_that_uses_up_its_quota_is_the_limit() {
    let outcome = || LoadOutcome { errors: ErrorCounts::default(), ..outcome() };
    let narrow = LoadOutcome { cpu_quota: Some(0.15), ..outcome() };
    let text = summary::text(&report_of(narrow));
    let expected = "  Limit:\tthis generator was the limit (100 % busy of the 0.15 CPUs that its \
                    quota gives): the target can do at least this much\n";
    assert!(text.ends_with(expected), "{text}");
    let wide = LoadOutcome { cpu_quota: Some(8.0), ..outcome() };
    assert!(summary::text(&report_of(wide)).contains("the generator was 8 % busy and waited"));
}

/// The limit of a thousand calls by a rate, answered within a millisecond, with `failed` failed
/// calls and `never_came_back` unanswered ones.
fn limit_by_a_rate(failed: u64, never_came_back: u64, lag_ns: u64) -> String {
    let mut calls = OpenLoopCalls::default();
    calls.made = 1_000;
    calls.lag.record(lag_ns);
    let mut outcome = LoadOutcome { errors: ErrorCounts::default(), ..outcome() };
    outcome.open_loop = Some(calls);
    outcome.errors.add(Code::Unavailable, "no", failed);
    outcome.unanswered = InFlightAges::at(u64::MAX, (0..never_came_back).map(|call| call + 1));
    report_of(outcome).bookend.limit.expect("there is one")
}

#[test]
fn a_limit_of_a_target_needs_its_answers() {
    let kept = limit_by_a_rate(0, 0, 0);
    assert!(kept.ends_with("the target can do at least this much"), "{kept}");
    assert_eq!(limit_by_a_rate(1, 0, 0), kept, "one in a thousand");
    for missing in [limit_by_a_rate(5, 0, 0), limit_by_a_rate(0, 5, 0), limit_by_a_rate(2, 3, 0)] {
        assert!(missing.starts_with("the server, or the network to it"), "{missing}");
        assert!(missing.ends_with("5 of 1005 calls failed or have no answer"), "{missing}");
    }
    let late = limit_by_a_rate(0, 0, 64_000_000);
    assert!(late.starts_with("this generator was late (8 % busy)"), "{late}");
    let mut busy = outcome();
    busy.driver.busy_ns = 8_000_000_000;
    let limit = report_of(busy).bookend.limit.unwrap();
    let expected = "this generator was the limit (100 % busy), and 3 of 1003 calls failed or have no \
                    answer";
    assert_eq!(limit, expected);
    let mut nothing = LoadOutcome { ok: 0, latencies: latencies([]), ..outcome() };
    nothing.errors.add(Code::Unavailable, "no", 7);
    let limit = report_of(nothing).bookend.limit.unwrap();
    assert_eq!(limit, "unknown: none of 10 calls was answered OK");
}

#[test]
fn a_stop_of_the_generator_stands_beside_what_it_may_have_caused() {
    let stopped = LoadOutcome {
        errors: ErrorCounts::default(),
        stops: GeneratorStops { count: 1, longest_ns: 1_484_000_000 },
        intervals: Some(Intervals {
            interval_ms: 100,
            window_start: 0,
            counts: [[50; 10], [0; 10], [50; 10]].concat(),
        }),
        ..outcome()
    };
    let report = report_of(stopped);
    let text = summary::text(&report);
    let silent = "Silent:\tno call ended for 1.0 s, from 1.0 s on; the generator did not run for \
                  1.48 s\n";
    assert!(text.contains(silent), "{text}");
    assert!(text.ends_with(" and waited for it; the generator did not run for 1.48 s\n"), "{text}");
    assert_eq!(serde_json::to_value(&report).unwrap()["bookend"]["generator_stops"]["count"], 1);
    let mut by_a_rate = report;
    by_a_rate.bookend.open_loop = Some(OpenLoopReport {
        due: 400,
        made: 400,
        waited: 100,
        not_made: BTreeMap::new(),
        from_intended: SplitPart::default(),
        from_start: SplitPart::default(),
        lag: SplitPart::default(),
        due_by_interval: Vec::new(),
    });
    let text = summary::text(&by_a_rate);
    assert!(text.contains("  Limit:\tas many calls were in flight as may be, and "), "{text}");
}

/// A call that waits for room is made later, so that what was due when is that of the schedule.
#[test]
fn an_open_loop_says_how_many_calls_were_due_in_each_interval() {
    let ramp = RateSchedule::new([(Duration::from_secs(1), 100.0, 1_100.0)], 1_100.0);
    let open_loop = OpenLoop { schedule: ramp, arrivals: ArrivalProcess::Even, seed: 0 };
    let plan = LoadPlan { pacing: Loop::Open(open_loop), calls: None, ..plan() };
    let counted = Intervals { interval_ms: 500, window_start: 1, counts: vec![0; 4] };
    let outcome = LoadOutcome {
        open_loop: Some(OpenLoopCalls::default()),
        intervals: Some(counted),
        ..outcome()
    };
    let due = |plan: &LoadPlan| {
        let report = report::build_report(plan, UNIX_EPOCH, &outcome);
        report.bookend.open_loop.expect("an open loop").due_by_interval
    };
    // The warm-up has the first rate; then the rate grows by 500 in half a second.
    assert_eq!(due(&plan), [50, 175, 425, 550]);
    // A window by number has no call due behind its last.
    assert_eq!(due(&LoadPlan { calls: Some(200), ..plan }), [50, 175, 25, 0]);
}

#[test]
fn durations_take_the_unit_that_fits() {
    let shown = |total| {
        let text = summary::text(&LoadReport { total, ..report() });
        let line = text.lines().find(|line| line.starts_with("  Total:")).expect("it is there");
        line.trim_start_matches("  Total:\t").to_owned()
    };
    assert_eq!(shown(0), "0 ns");
    assert_eq!(shown(999), "999 ns");
    assert_eq!(shown(9_999), "10.00 µs");
    assert_eq!(shown(999_000_000), "999.00 ms");
    assert_eq!(shown(1_000_000_000), "1.00 s");
}

#[test]
fn a_generator_that_was_the_limit_says_so() {
    let limit = |busy_ns| {
        let mut outcome = outcome();
        outcome.driver.busy_ns = busy_ns;
        summary::text(&report_of(outcome)).contains("this generator was the limit")
    };
    assert!(!limit(7_100_000_000), "busy for 88.75 % of two threads");
    assert!(limit(7_200_000_000), "busy for 90 % of two threads");
}

#[test]
fn a_run_without_calls_has_a_report_without_infinities() {
    let report = report_of(empty_outcome());
    assert_eq!((report.count, report.fastest, report.slowest, report.average), (0, 0, 0, 0));
    assert_eq!((report.rps, report.bookend.requests_per_cpu_second), (0.0, 0.0));
    assert_eq!((report.bookend.requests_per_write, report.bookend.requests_per_read), (0.0, 0.0));
    assert!(report.histogram.is_empty() && report.latency_distribution.is_empty());
    assert!(report.status_code_distribution.is_empty());
    let text = summary::text(&report);
    assert!(text.contains("  Count:\t0\n") && !text.contains("distribution:\n  ["), "{text}");
}

#[test]
fn a_run_says_why_it_ended() {
    let all_made = report().end_reason;
    let mut cancelled = outcome();
    cancelled.cancelled = true;
    let mut on_time = outcome();
    on_time.ok -= 1;
    let reasons = [all_made, report_of(cancelled).end_reason, report_of(on_time).end_reason];
    assert_eq!(reasons, ["normal", "cancel", "timeout"]);
}

#[test]
fn counts_and_codes_agree() {
    let report = report();
    assert_eq!(report.count, 1_003);
    assert_eq!(report.rps, 1_003.0 / 4.0);
    let statuses: u64 = report.status_code_distribution.values().sum();
    assert_eq!(statuses, report.count);
    let errors = [("DEADLINE_EXCEEDED".to_owned(), 1), ("UNAVAILABLE".to_owned(), 2)];
    assert_eq!(report.bookend.errors, BTreeMap::from(errors));
    assert_eq!(report.date, "2009-02-13T23:31:30Z");
    assert_eq!(report.options["host"], "localhost:50051");
}

#[test]
fn two_messages_of_one_code_are_two_errors_and_one_status() {
    let mut outcome = outcome();
    outcome.errors = ErrorCounts::default();
    outcome.errors.add(Code::Unavailable, "refused", 2);
    outcome.errors.add(Code::Unavailable, "reset", 3);
    let report = report_of(outcome);
    assert_eq!(report.error_distribution.len(), 2);
    assert_eq!(report.status_code_distribution["Unavailable"], 5);
    assert_eq!(report.bookend.errors["UNAVAILABLE"], 5);
}

fn report_of_latencies(values_ns: &[u64]) -> LoadReport {
    let latencies = latencies(values_ns.iter().copied());
    report_of(LoadOutcome { latencies, ..outcome() })
}

#[test]
fn the_histogram_has_every_call_in_the_first_edge_that_is_not_below_it() {
    let values_ns = [1_000, 1_000, 1_000, 1_000, 1_100, 1_100, 1_100, 1_101, 1_101, 2_000];
    let report = report_of_latencies(&values_ns);
    let counts: Vec<u64> = report.histogram.iter().map(|bucket| bucket.count).collect();
    assert_eq!(counts, [4, 3, 2, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(report.histogram[0].mark, 1e-6);
    assert_eq!(report.histogram[0].frequency, 0.4);
}

#[test]
fn one_latency_alone_is_a_histogram_of_one_edge() {
    let report = report_of_latencies(&[123_456_789; 5]);
    let counts: Vec<u64> = report.histogram.iter().map(|bucket| bucket.count).collect();
    assert_eq!(counts, [5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert!(report.latency_distribution.iter().all(|at| at.latency == 123_456_789));
    assert_eq!(
        (report.fastest, report.average, report.slowest),
        (123_456_789, 123_456_789, 123_456_789)
    );
}

#[test]
fn latencies_longer_than_the_histogram_are_still_in_it() {
    let report = report_of_latencies(&[5_000, u64::MAX / 4]);
    assert_eq!(report.slowest, u64::MAX / 4);
    assert_eq!(report.histogram.iter().map(|bucket| bucket.count).sum::<u64>(), 2);
}

#[test]
fn percentiles_rise_and_stay_between_fastest_and_slowest() {
    let report = report();
    let latencies: Vec<u64> = report.latency_distribution.iter().map(|at| at.latency).collect();
    assert!(latencies.is_sorted());
    assert!(report.fastest <= latencies[0] && latencies[7] <= report.slowest);
    let percentages: Vec<f64> =
        report.latency_distribution.iter().map(|at| at.percentage).collect();
    assert_eq!(percentages, [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9]);
}

#[test]
fn the_same_records_make_the_same_bytes() {
    let written = || written(&report(), None, OutputFormat::Json);
    assert_eq!(written(), written());
    assert_eq!(written().lines().count(), 1);
}

#[test]
fn json_and_pretty_are_the_same_report() {
    for format in [OutputFormat::Json, OutputFormat::Pretty] {
        let text = written(&report(), None, format);
        assert!(text.ends_with('\n'));
        assert_eq!(serde_json::from_str::<LoadReport>(&text).unwrap(), report());
    }
    let pretty = written(&report(), None, OutputFormat::Pretty);
    assert!(pretty.contains("\n  \"endReason\": \"normal\""), "{pretty}");
}

#[test]
fn a_message_with_line_breaks_stays_on_its_line() {
    let mut outcome = outcome();
    outcome.errors.add(Code::Internal, "first\nsecond\u{1b}[31m", 1);
    let text = summary::text(&report_of(outcome));
    assert!(text.contains("desc = first second [31m"), "{text}");
}

#[test]
fn the_histogram_of_the_report_can_be_read_back() {
    let text = report().bookend.latency_histogram;
    let read_back = bookend_contract::latency::decode(&text).expect("it is a histogram");
    assert_eq!(read_back, outcome().latencies.histogram);
}

#[test]
fn a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    fs::write(&file, "old").unwrap();
    output::check(&file).unwrap();
    output::write("new", Some(&file)).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_link_still_links_after_its_file_was_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("result.json"), folder.path().join("latest.json"));
    fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    output::write("new", Some(&link)).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
}

#[test]
fn a_socket_in_the_place_of_the_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert!(output::write("new", Some(&socket)).is_err());
    assert!(!fs::metadata(&socket).unwrap().is_file());
}

#[test]
fn a_place_that_cannot_be_written_is_named_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent").join("result.json");
    let said = output::check(&absent).unwrap_err().to_string();
    assert!(said.ends_with("its folder: no such file or folder"), "{said}");
    let said = output::check(folder.path()).unwrap_err().to_string();
    assert!(said.ends_with("it is a folder"), "{said}");
    assert!(output::write("new", Some(&absent)).is_err());
}

#[test]
fn several_addresses_are_told_apart_and_one_is_the_run_itself() {
    let target = |port: u16, ok, failed| TargetOutcome {
        name: 0,
        address: format!("127.0.0.1:{port}"),
        connections_opened: 2,
        calls: TargetCounts { ok, failed },
    };
    let report = |targets| report_of(LoadOutcome { targets, ..outcome() });
    let several = report(vec![target(1, 600, 0), target(2, 400, 3)]);
    let rows = &several.bookend.targets;
    assert_eq!((rows[0].target.as_str(), rows[0].ok), ("localhost:50051", 600));
    assert_eq!((rows[1].address.as_str(), rows[1].failed), ("127.0.0.1:2", 3));
    let text = summary::text(&several);
    let line = "  Target:\t127.0.0.1:2 (localhost:50051): 400 OK, 3 failed, 2 connections\n";
    assert!(text.contains(line), "{text}");

    let one = report(vec![target(1, 1_000, 3)]);
    assert!(one.bookend.targets.is_empty());
    assert!(!summary::text(&one).contains("Target:"));
}

fn written(report: &LoadReport, calls: Option<&ListedCalls>, format: OutputFormat) -> String {
    let mut text = Vec::new();
    output::write_report(report, calls, format, &|_| String::new(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The report of an outcome whose failures are hostile texts, in a format with every call.
fn rendered(format: OutputFormat) -> String {
    let text = "<script>\"a, b=c\"\n</script>";
    let mut outcome = LoadOutcome { errors: ErrorCounts::default(), ..outcome() };
    outcome.errors.add(Code::Internal, text, 1);
    let mut log = CallLog::new(10, Default::default());
    log.ok(1_500_000_000, 2_000_000);
    let error = format!("rpc error: code = Internal desc = {text}");
    log.failed(2_500_000_000, 3_000_000, Code::Internal, &error);
    let mut calls = ListedCalls::default();
    calls.add(log);
    written(&report_of(outcome), Some(&calls), format)
}

#[test]
fn csv_has_ghzs_heading_and_a_line_for_each_call() {
    let error = "\"rpc error: code = Internal desc = <script>\"\"a, b=c\"\" </script>\"";
    let expected = format!("duration (ms),status,error\n2.000000,OK,\n3.000000,Internal,{error}\n");
    assert_eq!(rendered(OutputFormat::Csv), expected);
}

#[test]
fn json_lists_calls_under_ghzs_names() {
    let json: serde_json::Value = serde_json::from_str(&rendered(OutputFormat::Json)).unwrap();
    let first = &json["details"][0];
    assert_eq!(first["timestamp"], "1970-01-01T00:00:01.5Z");
    assert_eq!((&first["latency"], &first["error"]), (&2_000_000.into(), &"".into()));
    assert_eq!(
        (&first["status"], &json["details"][1]["status"]),
        (&"OK".into(), &"Internal".into())
    );
}

#[test]
fn a_line_of_influx_is_one_line_whatever_a_server_says() {
    let summary = rendered(OutputFormat::InfluxSummary);
    assert_eq!(summary.lines().count(), 1, "{summary}");
    let start = "ghz_run,name=\"nightly\",proto=\"";
    assert!(summary.starts_with(start), "{summary}");
    for part in [
        ",call=\"helloworld.Greeter/SayHello\",host=\"localhost:50051\",n=1003,c=50,rps=0,z=0,",
        ",timeout=20,dial_timeout=10,keepalive=0,",
        ",errors=1,has_errors=true count=1001,total=4000000000,average=599500,",
        ",median=599",
        ",errors=1 1234567890000000000\n",
    ] {
        assert!(summary.contains(part), "{part} in {summary}");
    }
    let details = rendered(OutputFormat::InfluxDetails);
    assert_eq!(details.lines().count(), 2, "{details}");
    let failed = details.lines().nth(1).unwrap();
    assert!(failed.starts_with("ghz_detail,name="), "{failed}");
    assert!(failed.contains(",hasError=true latency=3000000,error=\"rpc error: code"), "{failed}");
    assert!(failed.ends_with("status=\"Internal\" 2500000000"), "{failed}");
}

#[test]
fn prometheus_gets_a_cumulative_histogram_and_names_that_it_takes() {
    let text = rendered(OutputFormat::Prometheus);
    let values: Vec<u64> = text
        .lines()
        .filter(|line| line.starts_with("ghz_run_histogram_bucket"))
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(values.is_sorted(), "{values:?}");
    assert_eq!(values.last(), Some(&1_000));
    assert!(text.contains("# TYPE ghz_run_latency summary\n"), "{text}");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let names = line.split(['{', ',']).skip(1).filter_map(|label| label.split_once('='));
        assert!(names.clone().count() > 0, "{line}");
        assert!(names.clone().all(|(name, _)| !name.contains('-')), "{line}");
    }
}

#[test]
fn of_an_open_loop_ghzs_fields_are_from_when_calls_were_due() {
    let mut calls = OpenLoopCalls::default();
    calls.from_intended = latencies([1_000_000_000; 1_000]);
    (calls.made, calls.waited) = (1_003, 7);
    let report = report_of(LoadOutcome { open_loop: Some(calls), ..outcome() });
    assert_eq!((report.average, report.slowest), (1_000_000_000, 1_000_000_000));
    let text = summary::text(&report);
    for line in [
        "  Due:\t1003 calls by the schedule, 1003 made, 7 of them later for want of room\n",
        "  From start:\t599.50 µs mean,",
        "  Hidden:\ttimed from their start, 99 % of the calls took 1.09 ms;",
        " from when they were due, 1.00 s\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}
