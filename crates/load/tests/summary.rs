//! Reports from invented records, and how they are printed and delivered.

use bookend_contract::latency;
use bookend_contract::lines::Line;
use bookend_contract::report::LoadReport;
use bookend_load::options::{Flags, Format, Options};
use bookend_load::output;
use bookend_load::summary::{self, EndReason, Recorded};
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, UNIX_EPOCH};

const MICROSECOND: u64 = 1_000;

fn options() -> Options {
    Options::from_flags(Flags {
        target: Some("localhost:50051".to_owned()),
        call: Some("helloworld.Greeter/SayHello".to_owned()),
        insecure: true,
        name: Some("nightly".to_owned()),
        tags: Some(r#"{"branch": "main"}"#.to_owned()),
        ..Flags::default()
    })
    .expect("the flags are right")
}

/// Four seconds in which 1,000 calls took 100 µs to 1,099 µs, and three failed.
fn recorded() -> Recorded {
    let mut latency_ns = latency::empty();
    for call in 0..1_000 {
        latency::record(&mut latency_ns, (100 + call) * MICROSECOND, 1);
    }
    Recorded {
        started: UNIX_EPOCH + Duration::from_secs(1_234_567_890),
        end_reason: EndReason::Normal,
        window: Duration::from_secs(4),
        warmup_length: Duration::from_secs(1),
        latency_ns,
        ok: 1_000,
        failures: BTreeMap::from([
            ((14, "connection refused".to_owned()), 2),
            ((4, "the deadline has passed".to_owned()), 1),
        ]),
        warmup: 250,
        drained: 0,
        unfinished: 7,
        cpu_user: Duration::from_millis(200),
        cpu_system: Duration::from_millis(300),
        busy: Duration::from_millis(600),
        threads: 1,
        requests_sent: 1_003,
        writes: 100,
        responses_received: 1_000,
        reads: 50,
        connections_opened: 3,
        memory_peak_bytes: 8 << 20,
        io: "epoll",
    }
}

fn nothing_recorded() -> Recorded {
    Recorded {
        latency_ns: latency::empty(),
        ok: 0,
        failures: BTreeMap::new(),
        window: Duration::ZERO,
        cpu_user: Duration::ZERO,
        cpu_system: Duration::ZERO,
        writes: 0,
        reads: 0,
        warmup: 0,
        unfinished: 0,
        ..recorded()
    }
}

fn report() -> LoadReport {
    summary::build_report(&options(), &recorded())
}

/// Lines end in spaces where ghz's do; here they are left out.
const SUMMARY: &str = "
Summary:
  Name:\t\tnightly
  Count:\t1003
  Total:\t4.00 s
  Slowest:\t1.10 ms
  Fastest:\t0.10 ms
  Average:\t0.60 ms
  Requests/sec:\t250.75

Response time histogram:
  0.100 [1]   |
  0.200 [100] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.300 [100] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.400 [100] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.500 [99]  |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.600 [101] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.700 [99]  |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.800 [101] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  0.900 [100] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  1.000 [99]  |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎
  1.100 [100] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎∎

Latency distribution:
  10 % in 0.20 ms
  25 % in 0.35 ms
  50 % in 0.60 ms
  75 % in 0.85 ms
  90 % in 1.00 ms
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
  Requests per CPU-second:\t2000.00
  CPU:\t0.20 s user, 0.30 s system in 4.00 s
  Busy:\t15.0 % of 1 thread (epoll)
  Requests per write:\t10.03
  Requests per read:\t20.00
  Warm-up:\t250 calls
  Unfinished:\t7 calls
";

#[test]
fn the_summary_is_that_of_ghz_with_ours_below() {
    let text = summary::text(&report());
    let lines: String = text
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    assert_eq!(lines, SUMMARY);
    assert!(
        text.contains("  50 % in 0.60 ms \n"),
        "a space ends a line as in ghz"
    );
    assert!(
        text.contains("1000 responses   \n"),
        "columns are padded as in ghz"
    );
}

#[test]
fn durations_take_the_units_of_ghz() {
    let shown = |total| {
        let text = summary::text(&LoadReport { total, ..report() });
        let line = text
            .lines()
            .find(|line| line.starts_with("  Total:"))
            .expect("it is there");
        line.trim_start_matches("  Total:\t").to_owned()
    };
    assert_eq!(shown(0), "0 ns");
    assert_eq!(shown(9_999), "9999 ns");
    assert_eq!(shown(10_000), "0.01 ms");
    assert_eq!(shown(999_000_000), "999.00 ms");
    assert_eq!(shown(1_000_000_000), "1.00 s");
}

#[test]
fn a_generator_that_was_the_limit_says_so() {
    let limit = |busy| {
        let report = summary::build_report(
            &options(),
            &Recorded {
                busy,
                threads: 2,
                ..recorded()
            },
        );
        summary::text(&report).contains("this generator was the limit")
    };
    assert!(
        !limit(Duration::from_millis(7_100)),
        "busy for 88.75 % of two threads"
    );
    assert!(
        limit(Duration::from_millis(7_200)),
        "busy for 90 % of two threads"
    );
}

#[test]
fn a_run_without_calls_has_a_report_without_infinities() {
    let report = summary::build_report(&options(), &nothing_recorded());
    assert_eq!(
        (report.count, report.fastest, report.slowest, report.average),
        (0, 0, 0, 0)
    );
    assert_eq!(
        (report.rps, report.bookend.requests_per_cpu_second),
        (0.0, 0.0)
    );
    assert_eq!(
        (
            report.bookend.requests_per_write,
            report.bookend.requests_per_read
        ),
        (0.0, 0.0)
    );
    assert!(report.histogram.is_empty() && report.latency_distribution.is_empty());
    let text = summary::text(&report);
    assert!(
        text.contains("  Count:\t0\n") && !text.contains("distribution:\n  ["),
        "{text}"
    );
}

#[test]
fn counts_and_codes_agree() {
    let report = report();
    assert_eq!(report.count, 1_003);
    assert_eq!(report.rps, 1_003.0 / 4.0);
    let statuses: u64 = report.status_code_distribution.values().sum();
    assert_eq!(statuses, report.count);
    let errors = [
        ("DEADLINE_EXCEEDED".to_owned(), 1),
        ("UNAVAILABLE".to_owned(), 2),
    ];
    assert_eq!(report.bookend.errors, BTreeMap::from(errors));
    assert_eq!(report.date, "2009-02-13T23:31:30Z");
    assert_eq!(report.options["host"], "localhost:50051");
}

#[test]
fn two_messages_of_one_code_are_two_errors_and_one_status() {
    let failures = [
        ((14, "refused".to_owned()), 2),
        ((14, "reset".to_owned()), 3),
    ];
    let recorded = Recorded {
        failures: BTreeMap::from(failures),
        ..recorded()
    };
    let report = summary::build_report(&options(), &recorded);
    assert_eq!(report.error_distribution.len(), 2);
    assert_eq!(report.status_code_distribution["Unavailable"], 5);
    assert_eq!(report.bookend.errors["UNAVAILABLE"], 5);
}

#[test]
fn the_histogram_has_every_call_in_the_first_edge_that_is_not_below_it() {
    let mut latency_ns = latency::empty();
    for (value_ns, count) in [(1_000, 4), (1_100, 3), (1_101, 2), (2_000, 1)] {
        latency::record(&mut latency_ns, value_ns, count);
    }
    let report = summary::build_report(
        &options(),
        &Recorded {
            latency_ns,
            ..recorded()
        },
    );
    let counts: Vec<u64> = report.histogram.iter().map(|bucket| bucket.count).collect();
    assert_eq!(counts, [4, 3, 2, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(report.histogram[0].mark, 1e-6);
    assert_eq!(report.histogram[0].frequency, 0.4);
}

#[test]
fn one_latency_alone_is_a_histogram_of_one_edge() {
    let mut latency_ns = latency::empty();
    latency::record(&mut latency_ns, 123_456_789, 5);
    let report = summary::build_report(
        &options(),
        &Recorded {
            latency_ns,
            ..recorded()
        },
    );
    assert_eq!(report.histogram.len(), 11);
    assert_eq!(
        report
            .histogram
            .iter()
            .map(|bucket| bucket.count)
            .sum::<u64>(),
        5
    );
    assert!(report.histogram.iter().all(|bucket| bucket.count <= 5));
}

#[test]
fn percentiles_rise_and_stay_between_fastest_and_slowest() {
    let report = report();
    let latencies: Vec<u64> = report
        .latency_distribution
        .iter()
        .map(|at| at.latency)
        .collect();
    assert!(latencies.is_sorted());
    assert!(report.fastest <= latencies[0] && latencies[7] <= report.slowest);
    let percentages: Vec<f64> = report
        .latency_distribution
        .iter()
        .map(|at| at.percentage)
        .collect();
    assert_eq!(
        percentages,
        [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9]
    );
}

#[test]
fn the_same_records_make_the_same_bytes() {
    let render = || output::render(&report(), Format::Json);
    assert_eq!(render(), render());
    assert_eq!(render().lines().count(), 1);
}

#[test]
fn json_and_pretty_are_the_same_report() {
    for format in [Format::Json, Format::Pretty] {
        let text = output::render(&report(), format);
        assert!(text.ends_with('\n'));
        assert_eq!(serde_json::from_str::<LoadReport>(&text).unwrap(), report());
    }
    assert!(output::render(&report(), Format::Pretty).contains("\n  \"endReason\": \"normal\""));
}

#[test]
fn a_message_with_line_breaks_stays_on_its_line() {
    let failures = [((13, "first\nsecond\u{1b}[31m".to_owned()), 1)];
    let recorded = Recorded {
        failures: BTreeMap::from(failures),
        ..recorded()
    };
    let text = summary::text(&summary::build_report(&options(), &recorded));
    assert!(text.contains("desc = first second [31m"), "{text}");
}

#[test]
fn the_lab_is_told_every_latency_and_every_count() {
    let recorded = recorded();
    let lines = output::contract_lines(&report(), &recorded.latency_ns);
    let (latencies, rest): (Vec<Line>, Vec<Line>) = lines
        .into_iter()
        .partition(|line| matches!(line, Line::Latency { .. }));
    let mut read_back = latency::empty();
    for line in &latencies {
        let Line::Latency { latency_ns, count } = line else {
            continue;
        };
        latency::record(&mut read_back, *latency_ns, *count);
    }
    assert_eq!(read_back, recorded.latency_ns);
    let error = |code: &str, count| Line::Error {
        code: code.to_owned(),
        count,
    };
    assert_eq!(
        rest,
        [
            Line::Warmup(250),
            Line::Ok(1_000),
            error("DEADLINE_EXCEEDED", 1),
            error("UNAVAILABLE", 2),
            Line::Drained(0),
            Line::Unfinished(7),
            Line::Report(Box::new(report())),
        ]
    );
    assert!(
        rest.iter()
            .all(|line| line.to_string().lines().count() == 1)
    );
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
    let (file, link) = (
        folder.path().join("result.json"),
        folder.path().join("latest.json"),
    );
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
    assert!(
        said.ends_with("its folder: no such file or folder"),
        "{said}"
    );
    let said = output::check(folder.path()).unwrap_err().to_string();
    assert!(said.ends_with("it is a folder"), "{said}");
    assert!(output::write("new", Some(&absent)).is_err());
}
