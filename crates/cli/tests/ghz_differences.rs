//! Every row of the table "Where it differs from ghz" has a test that shows our side: those that no
//! other file has are here.

#[path = "support/served.rs"]
mod served;

use serde_json::Value;
use served::Served;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output};

const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const HERE: &str = "crates/cli/tests/ghz_differences.rs";

/// A row by its first cell, and the file and the name of the test that shows it.
const ROWS: [(&str, &str, &str); 42] = [
    (
        "`-r`, `--load-schedule`",
        "crates/load/tests/summary.rs",
        "of_an_open_loop_ghzs_fields_are_from_when_calls_were_due",
    ),
    ("`-r 0.5`", "crates/load/src/flags/pacing.rs", "rates_are_numbers_that_are_not_below_zero"),
    ("`--load-schedule line`", "crates/load/src/plan/pacing.rs", "a_line_is_one_slope_up_or_down"),
    ("`--concurrency-end`", "crates/load/src/plan/pacing.rs", "calls_in_flight_change_by_steps"),
    (
        "`--concurrency-schedule` with a rate",
        "crates/load/tests/options.rs",
        "every_thread_of_a_rate_has_room_for_a_call_at_each_step",
    ),
    (
        "`--async`",
        "crates/load/tests/options.rs",
        "a_rate_may_have_a_schedule_of_the_calls_in_flight_as_in_ghz",
    ),
    (
        "`-c` without a rate",
        "crates/load/tests/options.rs",
        "connections_have_threads_of_their_own_while_there_are_processors",
    ),
    ("`--cpus`", "crates/load/src/flags.rs", "how_much_to_call_is_read_in_every_spelling"),
    (
        "`--connect-timeout`",
        "crates/load/tests/run.rs",
        "garbage_silence_and_an_early_close_are_different_errors",
    ),
    (
        "`-x`",
        "crates/load/tests/options.rs",
        "a_duration_replaces_the_number_of_calls_and_a_maximum_does_not",
    ),
    ("`-n 0`", "crates/load/tests/options.rs", "what_is_missing_or_does_nothing_is_named"),
    (
        "`-z`",
        "crates/load/tests/run.rs",
        "what_the_end_of_the_window_cuts_off_is_counted_with_its_age",
    ),
    ("`-e`", "crates/load/src/call.rs", "a_message_is_compressed_only_where_the_head_says_so"),
    (
        "`-d`, `-D`",
        "crates/payload/tests/json.rs",
        "what_no_other_reader_takes_is_refused_with_its_place",
    ),
    ("`-d` with `-D`, `-m` with `-M`", HERE, "two_sources_of_what_is_sent_are_refused"),
    (
        "`-o result.json` without `-O`",
        "crates/cli/tests/files.rs",
        "the_name_of_the_output_says_its_format_unless_one_is_given",
    ),
    ("`-o -`", "crates/cli/tests/files.rs", "standard_output_has_several_names"),
    (
        "`-O json`, `csv`, `influx-details`",
        "crates/load/src/record/call_log.rs",
        "long_failures_are_bounded_in_number_and_in_size",
    ),
    ("`-O csv`", "crates/load/tests/summary.rs", "csv_has_ghzs_heading_and_a_line_for_each_call"),
    (
        "`-O html`",
        "crates/cli/tests/report.rs",
        "load_tests_are_a_page_with_their_command_and_machine",
    ),
    (
        "`-O influx-summary`, `influx-details`",
        "crates/load/tests/summary.rs",
        "a_line_of_influx_is_one_line_whatever_a_server_says",
    ),
    (
        "`-O prometheus`",
        "crates/load/tests/summary.rs",
        "prometheus_gets_a_cumulative_histogram_and_names_that_it_takes",
    ),
    ("`average`", HERE, "failed_calls_have_no_part_in_the_average"),
    (
        "`latencyDistribution`",
        "crates/load/src/record/latencies.rs",
        "many_calls_are_known_to_the_steps_of_the_histogram",
    ),
    ("`--debug`", "crates/load/src/output/json.rs", "calls_alone_are_an_object_a_line"),
    ("`--max-send-message-size`", HERE, "a_message_that_is_too_large_is_refused_before_the_run"),
    ("`--reflect-metadata`", HERE, "without_it_reflection_has_the_metadata_of_the_calls"),
    (
        "`--skipFirst`",
        "crates/load/src/record/call_sink.rs",
        "calls_that_are_skipped_end_and_are_not_counted",
    ),
    ("`-t`", "crates/load/src/record/call_sink.rs", "an_answer_after_the_deadline_is_a_failure"),
    (
        "`-o`, `--debug` with a file that is read, or with one file",
        "crates/cli/tests/bad_input.rs",
        "no_file_is_written_that_is_read_or_written_too",
    ),
    (
        "`-m`, `--tags`",
        "crates/load/tests/options.rs",
        "the_echo_has_how_long_secrets_are_and_all_of_them_where_that_is_asked_for",
    ),
    (
        "`-m` with names of HTTP/2 or gRPC",
        "crates/payload/src/metadata.rs",
        "what_cannot_be_sent_is_refused_by_name",
    ),
    (
        "templates that fail",
        "crates/payload/tests/templates.rs",
        "what_is_wrong_with_a_template_is_said_with_its_line",
    ),
    ("`{{.Timestamp}}`", "crates/payload/src/template/variables.rs", "times_are_of_now"),
    ("`--config`", "crates/load/src/flags/config_file.rs", "what_is_wrong_is_named"),
    ("`--lb-strategy`", "crates/client/src/targets/names.rs", "policies_have_the_names_of_grpc"),
    ("targets", "crates/client/src/targets/name.rs", "what_is_wrong_comes_with_the_fix"),
    (
        "a server that is not there",
        "crates/cli/tests/load_cli.rs",
        "a_server_that_is_not_there_is_named_with_status_1",
    ),
    (
        "calls that a GOAWAY leaves out",
        "crates/load/tests/misbehaving/load.rs",
        "every_misbehaviour_is_counted_as_what_it_is",
    ),
    (
        "`grpc-status` that gRPC does not have",
        "crates/wire/src/grpc/response.rs",
        "a_status_that_is_none_is_unknown_and_stands_in_the_text",
    ),
    ("replies", "crates/load/src/call.rs", "one_whole_message_is_ok_however_it_is_cut"),
    (
        "Ctrl-C",
        "crates/cli/tests/load_connections.rs",
        "a_signal_ends_a_run_with_thousands_of_connections_and_all_is_printed",
    ),
];

/// The first cells of the table's rows.
fn rows_of_the_page() -> Vec<String> {
    let page = fs::read_to_string(format!("{ROOT}/docs/use/load.md")).expect("the page is there");
    let (_, section) = page.split_once("\n## Where it differs from ghz\n").expect("the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| "));
    // Behind the heading and the line below it.
    rows.skip(1).map(|row| row.split(" | ").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_row_of_the_page_has_a_test_and_every_test_a_row() {
    assert_eq!(rows_of_the_page(), ROWS.map(|(row, ..)| row.to_owned()));
}

#[test]
fn every_test_of_a_row_is_there() {
    for (row, file, name) in ROWS {
        let text = fs::read_to_string(format!("{ROOT}/{file}")).expect(file);
        let (before, _) = text.split_once(&format!("fn {name}(")).expect(name);
        assert!(before.trim_end().ends_with("#[test]"), "{row}: {name} in {file}");
    }
}

fn load(words: &[&str]) -> Output {
    Command::new(BOOKEND).arg("load").arg("--insecure").args(words).output().expect("it starts")
}

fn proto() -> String {
    format!("{ROOT}/proto/helloworld.proto")
}

#[test]
fn failed_calls_have_no_part_in_the_average() {
    let mut command = Command::new(BOOKEND);
    command.args(["serve", "--threads", "1", "--port", "0"]);
    let server = Served::by(command);
    let target = format!("127.0.0.1:{}", server.port);
    let home = tempfile::tempdir().expect("a temporary folder");
    let file = home.path().join("absent.proto");
    let schema = "syntax = \"proto3\"; package absent; message M {} \
                  service Service { rpc Call(M) returns (M); }";
    fs::write(&file, schema).expect("it can be written");
    let file = file.display().to_string();
    let call = ["--proto", &file, "--call", "absent.Service/Call", "-n", "5", "-c", "1"];
    let report = |words: &[&str]| -> Value {
        let output = load(&[&call[..], words, &["-O", "json", &target]].concat());
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let failed = report(&[]);
    assert_eq!((&failed["count"], &failed["average"]), (&Value::from(5), &Value::from(0)));
    assert!(report(&["--count-errors"])["average"].as_u64() > Some(0));
}

#[test]
fn a_message_that_is_too_large_is_refused_before_the_run() {
    let call = ["--proto", &proto(), "--call", "helloworld.Greeter/SayHello", "127.0.0.1:1"];
    let large = ["-d", r#"{"name":"x"}"#, "--max-send-message-size", "2b"];
    let output = load(&[&call[..], &large].concat());
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("has 3 bytes: --max-send-message-size allows 2"), "{said}");
}

#[test]
fn two_sources_of_what_is_sent_are_refused() {
    let call = ["--proto", &proto(), "--call", "helloworld.Greeter/SayHello", "127.0.0.1:1"];
    for (words, said) in [
        (["-d", "{}", "-D", "absent.json"], "--data and --data-file exclude each other"),
        (["-D", "absent.json", "-B", "absent"], "--data-file and --binary-file exclude each other"),
        (["-m", "{}", "-M", "absent.json"], "--metadata and --metadata-file exclude each other"),
    ] {
        let output = load(&[&call[..], &words].concat());
        assert_eq!(output.status.code(), Some(2));
        let line = String::from_utf8_lossy(&output.stderr);
        assert!(line.contains(said), "{line}");
    }
}

/// What a client that asks for a schema has sent by the end of its metadata, whose values are not
/// shorter in Huffman's code.
fn asked_for_a_schema(words: &[&str]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let target = listener.local_addr().expect("an address").to_string();
    let server = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().expect("a client");
        // An empty SETTINGS.
        connection.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).expect("it listens");
        let mut sent = Vec::new();
        let mut part = [0; 4096];
        while !String::from_utf8_lossy(&sent).contains(">>") {
            let bytes = connection.read(&mut part).expect("it sends");
            assert!(bytes > 0, "{:?}", String::from_utf8_lossy(&sent));
            sent.extend_from_slice(&part[..bytes]);
        }
        String::from_utf8_lossy(&sent).into_owned()
    });
    let call = ["--call", "a.B/C", "--connect-timeout", "5s", &target];
    assert_eq!(load(&[&call[..], words].concat()).status.code(), Some(1));
    server.join().expect("it has seen the call")
}

#[test]
fn without_it_reflection_has_the_metadata_of_the_calls() {
    let of_calls = ["-m", r#"{"x":"<<blue>>"}"#];
    assert!(asked_for_a_schema(&of_calls).contains("<<blue>>"));
    let own = ["--reflect-metadata", r#"{"x":"<<green>>"}"#];
    let asked = asked_for_a_schema(&[&of_calls[..], &own].concat());
    assert!(asked.contains("<<green>>") && !asked.contains("<<blue>>"), "{asked}");
}
