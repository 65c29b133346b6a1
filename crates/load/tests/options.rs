//! From flags to their meaning: defaults, choices and contradictions.

#[path = "support/flags.rs"]
mod flags;

use bookend_client::targets::LoadBalancingPolicy;
use bookend_io::{Driver, Io};
use bookend_load::flags::pacing::Shape;
use bookend_load::flags::{CallFlags, LoadFlags};
use bookend_load::options::{CallOptions, SchemaSource};
use bookend_load::output::OutputFormat;
use bookend_load::plan::pacing::ASYNC_IN_FLIGHT_MAX;
use bookend_load::plan::{DurationStop, LoadPlan};
use bookend_payload::data::{DataSource, Templates};
use bookend_payload::error_text::choice;
use bookend_wire::Keepalive;
use serde_json::json;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

const PROTO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proto/helloworld.proto");

/// The least that a run needs without asking a server for its schema, and others.
fn with(change: impl FnOnce(&mut LoadFlags)) -> LoadFlags {
    let mut flags: LoadFlags = flags::unwritten();
    flags.call.targets = vec!["localhost:50051".to_owned()];
    flags.call.method = text("helloworld.Greeter/SayHello");
    flags.call.proto = Some(PROTO.into());
    flags.call.insecure = true;
    change(&mut flags);
    flags
}

/// The plan on a machine of four processors.
fn read(flags: &LoadFlags) -> Result<LoadPlan, String> {
    const CPUS: u32 = 4;
    LoadPlan::from_flags(flags, &mut std::io::empty(), CPUS).map_err(|error| error.to_string())
}

fn plan(change: impl FnOnce(&mut LoadFlags)) -> LoadPlan {
    read(&with(change)).unwrap()
}

fn refused(change: impl FnOnce(&mut LoadFlags)) -> String {
    let error = read(&with(change)).unwrap_err();
    assert_eq!(error.lines().count(), 1);
    error
}

fn call(change: impl FnOnce(&mut CallFlags)) -> CallOptions {
    let mut flags = with(|_| ()).call;
    flags.proto = None;
    change(&mut flags);
    CallOptions::from_flags(&flags).unwrap()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn the_defaults_are_those_of_ghz() {
    let call = call(|_| ());
    assert_eq!(call.authority(), "localhost:50051");
    assert_eq!(call.schema, SchemaSource::Reflection);
    assert_eq!(call.data, DataSource::Nothing);
    assert_eq!(call.templates, Templates::Functions);
    assert_eq!(call.timeout, Some(Duration::from_secs(20)));
    assert_eq!(call.connect_timeout, Some(Duration::from_secs(10)));
    assert!(call.metadata.constant.is_empty());
    let flags = with(|_| ());
    assert_eq!((flags.io, flags.threads), (Io::Auto, None));
    assert_eq!(flags.output_format(), Ok(OutputFormat::Summary));
    let plan = plan(|_| ());
    assert_eq!((plan.connections, plan.concurrency), (1, 50));
    assert_eq!((plan.calls, plan.window_ns), (Some(200), None));
    assert_eq!(plan.warmup_ns, 0);
    assert_eq!(plan.duration_stop, DurationStop::Ignore);
    assert!(plan.labels.tags.is_empty());
}

#[test]
fn a_duration_replaces_the_number_of_calls_and_a_maximum_does_not() {
    const TEN: Duration = Duration::from_secs(10);
    let elapsed = plan(|flags| (flags.duration, flags.total) = (Some(TEN), 5));
    assert_eq!((elapsed.calls, elapsed.window_ns), (None, Some(10_000_000_000)));
    let either = plan(|flags| (flags.max_duration, flags.total) = (Some(TEN), 5));
    assert_eq!((either.calls, either.window_ns), (Some(5), Some(10_000_000_000)));
    // As in ghz, whose own examples of configuration have both.
    const FIVE: Duration = Duration::from_secs(5);
    let both = plan(|flags| (flags.duration, flags.max_duration) = (Some(TEN), Some(FIVE)));
    assert_eq!((both.calls, both.window_ns), (None, Some(5_000_000_000)));
    let longer = plan(|flags| (flags.duration, flags.max_duration) = (Some(FIVE), Some(TEN)));
    assert_eq!((longer.calls, longer.window_ns), (None, Some(10_000_000_000)));
}

#[test]
fn zero_means_no_limit_where_a_limit_is_not_needed() {
    const ZERO: Duration = Duration::ZERO;
    let call = call(|flags| (flags.timeout, flags.connect_timeout) = (ZERO, ZERO));
    assert_eq!((call.timeout, call.connect_timeout), (None, None));
}

#[test]
fn a_proto_file_wins_over_a_compiled_set() {
    let both = call(|flags| {
        flags.proto = Some("a.proto".into());
        flags.protoset = Some("a.protoset".into());
        flags.import_paths = vec!["one, two".into(), "three".into()];
    });
    let expected = SchemaSource::Proto {
        file: "a.proto".into(),
        import_paths: ["one", "two", "three"].map(PathBuf::from).to_vec(),
    };
    assert_eq!(both.schema, expected);
}

#[test]
fn data_has_one_source() {
    let data = |change: fn(&mut CallFlags)| call(change).data;
    let json = DataSource::Json("{}".to_owned());
    assert_eq!(data(|flags| flags.data = text("@")), DataSource::JsonInput);
    assert_eq!(data(|flags| flags.data = text(" ")), DataSource::Nothing);
    assert_eq!(data(|flags| flags.data = text("{}")), json);
    assert_eq!(data(|flags| flags.binary = true), DataSource::BinaryInput);
    assert_eq!(
        data(|flags| flags.data_file = Some("file".into())),
        DataSource::JsonFile("file".into())
    );
    assert_eq!(
        data(|flags| flags.binary_file = Some("file".into())),
        DataSource::BinaryFile("file".into())
    );
    let both = refused(|flags| {
        flags.call.data = text("{}");
        flags.call.binary_file = Some("file".into());
    });
    assert_eq!(both, "--data and --binary-file exclude each other: give one of them");
}

/// A way to spoil the flags, and what has to be said about it.
type Mistake = (fn(&mut LoadFlags), &'static str);

#[test]
fn what_is_missing_or_does_nothing_is_named() {
    let mistakes: [Mistake; 7] = [
        (|flags| flags.call.targets.clear(), "add HOST:PORT"),
        (|flags| flags.call.targets = vec!["localhost".to_owned()], "write localhost:50051"),
        (|flags| flags.call.method = None, "--call"),
        (|flags| flags.connections = 0, "--connections 0"),
        (|flags| flags.concurrency = 0, "--concurrency 0"),
        (|flags| flags.total = 0, "--total 0"),
        (|flags| flags.threads = Some(0), "--threads 0"),
    ];
    assert_refused(&mistakes);
}

#[test]
fn fewer_calls_are_left_out_than_there_are() {
    assert_eq!(plan(|flags| (flags.total, flags.skip_first) = (20, 19)).calls_skipped, 19);
    for skipped in [20, 21] {
        let error = refused(|flags| (flags.total, flags.skip_first) = (20, skipped));
        let said = format!("--skipFirst {skipped} leaves none of the 20 calls of --total");
        assert!(error.starts_with(&said), "{error}");
    }
    // How many calls there will be, a duration does not say.
    let elapsed = plan(|flags| {
        (flags.duration, flags.total, flags.skip_first) = (Some(Duration::from_secs(1)), 20, 21);
    });
    assert_eq!((elapsed.calls, elapsed.calls_skipped), (None, 21));
}

#[test]
fn a_folder_for_imports_that_is_not_there_is_passed_over_unless_something_is_missing() {
    plan(|flags| flags.call.import_paths = vec!["absent,.".into(), "other".into()]);
    let error = refused(|flags| {
        flags.call.proto = Some("nowhere.proto".into());
        flags.call.import_paths = vec![".,absent".into()];
    });
    assert_eq!(error, "import path absent is not a folder");
}

#[test]
fn blanks_around_the_method_are_no_part_of_it() {
    let padded = call(|flags| flags.method = text(" a.B/C\t "));
    assert_eq!(padded.method, "a.B/C");
    assert!(refused(|flags| flags.call.method = text("  ")).contains("the method is missing"));
}

#[test]
fn flags_that_contradict_each_other_are_named() {
    let mistakes: [Mistake; 2] = [
        (|flags| flags.connections = 51, "--connections 51 is more than --concurrency 50"),
        (
            |flags| flags.skip_first = 200,
            "--skipFirst 200 leaves none of the 200 calls of --total: give fewer",
        ),
    ];
    assert_refused(&mistakes);
}

#[test]
fn labels_and_metadata_that_make_no_sense_are_named() {
    let mistakes: [Mistake; 4] = [
        (|flags| flags.tags = text("[1]"), "--tags is not a JSON object"),
        (|flags| flags.call.metadata = text("7"), "--metadata is not a JSON object"),
        (
            |flags| flags.call.metadata_file = Some("absent.json".into()),
            "cannot read absent.json: no such file or folder",
        ),
        (|flags| flags.varying_metadata = text("grpc-x"), "metadata cannot set \"grpc-x\""),
    ];
    assert_refused(&mistakes);
}

fn assert_refused(mistakes: &[Mistake]) {
    for (spoil, said) in mistakes {
        let error = refused(spoil);
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn words_of_a_choice_are_read_or_named() {
    assert_eq!("epoll".parse(), Ok(Io::Epoll));
    assert_eq!("uring".parse(), Ok(Io::Uring));
    assert_eq!(choice("wait"), Ok(DurationStop::Wait));
    assert_eq!(OutputFormat::of_name("pretty"), Ok(OutputFormat::Pretty));
    let refused = |text: &str| OutputFormat::of_name(text).unwrap_err();
    let formats = "summary, csv, json, pretty, html, influx-summary, influx-details, prometheus";
    assert_eq!(refused("jsn"), format!("did you mean json? (there is {formats})"));
}

#[test]
fn the_echo_has_how_long_secrets_are_and_all_of_them_where_that_is_asked_for() {
    let secret = |flags: &mut LoadFlags| {
        flags.call.data = text(r#"{"name": "token"}"#);
        flags.call.metadata = text(
            r#"{"Authorization": "Bearer abc", "x-api-key": "{{newUUID}}", "tenant": "blue"}"#,
        );
        flags.tags = text(r#"{"build": "7", "accessToken": "abc"}"#);
        flags.name = text("https://me:abc@host/");
    };
    let masked = plan(secret);
    assert_eq!(
        masked.labels.options["metadata"],
        json!({
            "authorization": "masked (10 bytes)",
            "x-api-key": "masked (11 bytes)",
            "tenant": "blue",
        })
    );
    assert_eq!(masked.labels.options["data"], json!({"name": "token"}));
    assert_eq!(masked.labels.tags["accessToken"], "masked (3 bytes)");
    assert_eq!(masked.labels.tags["build"], "7");
    assert_eq!(masked.labels.name.as_deref(), Some("https://masked (6 bytes)@host/"));
    assert_eq!(masked.labels.options["name"], "https://masked (6 bytes)@host/");
    let call = masked.call.grpc().unwrap();
    assert_eq!(call.run_name, "https://me:abc@host/", "templates have it");
    assert_eq!(call.metadata[0].1, b"Bearer abc", "the server gets it");
    let shown = plan(|flags| {
        secret(flags);
        flags.call.show_secrets = true;
    });
    assert_eq!(shown.labels.options["metadata"]["authorization"], "Bearer abc");
    assert_eq!(shown.labels.options["metadata"]["x-api-key"], "{{newUUID}}");
    assert_eq!(shown.labels.tags["accessToken"], "abc");
    assert_eq!(shown.labels.name.as_deref(), Some("https://me:abc@host/"));
}

#[test]
fn the_echo_has_the_names_of_ghz_and_leaves_out_what_is_unset() {
    let echo = plan(|flags| {
        flags.call.data = text(r#"{"name": "x"}"#);
        flags.call.metadata = text(r#"{"Tenant": "blue"}"#);
        flags.duration = Some(Duration::from_secs(4));
        flags.warmup = Duration::from_secs(1);
    });
    let expected = json!({
        "call": "helloworld.Greeter/SayHello",
        "host": "localhost:50051",
        "proto": PROTO,
        "import-paths": [Path::new(PROTO).parent(), "."],
        "insecure": true,
        "load-schedule": "const",
        "load-start": 0,
        "load-end": 0,
        "load-step": 0,
        "load-step-duration": 0,
        "load-max-duration": 0,
        "concurrency": 50,
        "concurrency-schedule": "const",
        "concurrency-start": 0,
        "concurrency-end": 0,
        "concurrency-step": 0,
        "concurrency-step-duration": 0,
        "concurrency-max-duration": 0,
        "CPUs": 1,
        "total": 2_147_483_647,
        "async": false,
        "connections": 1,
        "duration": 4_000_000_000u64,
        "timeout": 20_000_000_000u64,
        "dial-timeout": 10_000_000_000u64,
        "data": {"name": "x"},
        "binary": false,
        "metadata": {"tenant": "blue"},
        "count-errors": false,
        "duration-stop": "ignore",
        "io": "auto",
        "warmup": 1_000_000_000,
    });
    assert_eq!(echo.labels.options, expected);
}

#[test]
fn paths_that_are_no_text_are_echoed_as_people_see_them() {
    let folder = tempfile::tempdir().unwrap();
    let named = |bytes: &[u8]| folder.path().join(OsStr::from_bytes(bytes));
    // The compiler of schemas takes no such name of a file, but every folder.
    let (inner, data) = (named(b"\xff"), named(b"\xff.json"));
    std::fs::create_dir(&inner).unwrap();
    let proto = inner.join("a.proto");
    std::fs::copy(PROTO, &proto).unwrap();
    std::fs::write(&data, "{}").unwrap();
    let options = plan(|flags| {
        flags.call.proto = Some(proto);
        flags.call.data_file = Some(data);
        flags.call.import_paths = vec![folder.path().into()];
    })
    .labels
    .options;
    let seen = |name: &str| json!(format!("{}/\u{fffd}{name}", folder.path().display()));
    assert_eq!(options["proto"], seen("/a.proto"));
    assert_eq!(options["import-paths"][1], seen(""));
    assert_eq!(options["data-file"], seen(".json"));
}

#[test]
fn data_in_another_encoding_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wide.json");
    std::fs::write(&file, b"\xff\xfe{\0}\0").unwrap();
    let said = "wide.json: it is text in UTF-16: save it in UTF-8";
    let data = refused(|flags| flags.call.data_file = Some(file.clone()));
    assert!(data.ends_with(&format!("{said}; serialized messages are given with -B")), "{data}");
    let metadata = refused(|flags| flags.call.metadata_file = Some(file.clone()));
    assert!(metadata.ends_with(said), "{metadata}");
    let rates = refused(|flags| flags.pacing.rate_file = Some(file));
    assert!(rates.ends_with(said), "{rates}");
}

#[test]
fn no_more_messages_are_kept_than_there_is_room_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("zeros");
    std::fs::write(&file, vec![0; (1 << 22) + 1]).unwrap();
    let said = refused(|flags| flags.call.binary_file = Some(file.clone()));
    assert!(said.contains("zeros has more than 4194304 messages: give fewer"), "{said}");
    std::fs::write(&file, format!("[{}{{}}]", "{},".repeat(1 << 22))).unwrap();
    let said = refused(|flags| flags.call.data_file = Some(file));
    assert!(said.contains("there are more than 4194304 messages: give fewer"), "{said}");
}

/// The driver and threads that a plan gets on a machine of four processors.
fn driver(connections: u32, set: fn(&mut LoadFlags)) -> Result<(Driver, u32), String> {
    let mut flags = with(set);
    (flags.connections, flags.concurrency) = (connections, connections);
    read(&flags).map(|plan| (plan.driver, plan.threads))
}

#[test]
fn keepalive_is_for_silence_and_answer_and_asks_no_sooner_than_after_ten_seconds() {
    const SECOND_NS: u64 = 1_000_000_000;
    let keepalive = |plan: &LoadPlan| plan.call.grpc().unwrap().keepalive;
    for (typed_seconds, time_seconds) in [(60, 60), (1, 10)] {
        let plan = plan(|flags| flags.keepalive = Duration::from_secs(typed_seconds));
        let expected =
            Keepalive { time_ns: time_seconds * SECOND_NS, timeout_ns: typed_seconds * SECOND_NS };
        assert_eq!(keepalive(&plan), Some(expected));
        assert_eq!(plan.labels.options["keepalive"], typed_seconds * SECOND_NS);
    }
    assert_eq!(keepalive(&plan(|_| ())), None);
    let one_shot = refused(|flags| {
        flags.keepalive = Duration::from_secs(60);
        flags.one_shot = true;
    });
    assert_eq!(one_shot, "--one-shot and --keepalive exclude each other: give one of them");
}

#[test]
fn connections_have_threads_of_their_own_while_there_are_processors() {
    assert_eq!(driver(1, |_| ()), Ok((Driver::Blocking, 1)));
    assert_eq!(driver(4, |_| ()), Ok((Driver::Blocking, 4)));
    assert_eq!(driver(5, |_| ()), Ok((Driver::Epoll, 4)));
    assert_eq!(driver(4, |flags| flags.threads = Some(2)), Ok((Driver::Epoll, 2)));
    assert_eq!(driver(1, |flags| flags.io = Io::Epoll), Ok((Driver::Epoll, 1)));
    assert_eq!(driver(9, |flags| flags.io = Io::Uring), Ok((Driver::Uring, 4)));
    assert_eq!(driver(9, |flags| flags.io = Io::Blocking), Ok((Driver::Blocking, 9)));
    let too_few = driver(3, |flags| (flags.io, flags.threads) = (Io::Blocking, Some(2)));
    assert_eq!(
        too_few.unwrap_err(),
        "--io blocking takes a thread for each of --connections 3, and --threads is 2"
    );
}

/// A rate whose calls in flight go from `from` to `to` in steps of one.
fn rate_with_steps(flags: &mut LoadFlags, from: u32, to: u32) {
    flags.pacing.rps = 100.0;
    flags.pacing.concurrency_schedule = Shape::Step;
    (flags.pacing.concurrency_start, flags.pacing.concurrency_end) = (from, to);
    flags.pacing.concurrency_step = if to < from { -1 } else { 1 };
    flags.pacing.concurrency_step_duration = Duration::from_secs(1);
}

#[test]
fn a_rate_may_have_a_schedule_of_the_calls_in_flight_as_in_ghz() {
    let both = plan(|flags| rate_with_steps(flags, 5, 7));
    assert!(both.pacing.open().is_some());
    assert_eq!(both.concurrency, 7);
    let steps: Vec<u32> = both.concurrency_steps.iter().map(|step| step.calls).collect();
    assert_eq!(steps, [5, 6, 7]);
    let unbounded = plan(|flags| {
        rate_with_steps(flags, 5, 7);
        flags.pacing.is_async = true;
    });
    assert!(unbounded.concurrency_steps.is_empty(), "--async waits for nobody");
    assert_eq!(unbounded.concurrency, ASYNC_IN_FLIGHT_MAX);
}

#[test]
fn every_thread_of_a_rate_has_room_for_a_call_at_each_step() {
    let threads = |change: fn(&mut LoadFlags)| {
        let mut flags = with(change);
        flags.connections = 4;
        read(&flags).map(|plan| (plan.driver, plan.threads))
    };
    assert_eq!(threads(|flags| rate_with_steps(flags, 2, 6)), Ok((Driver::Epoll, 2)));
    assert_eq!(threads(|flags| rate_with_steps(flags, 5, 0)), Ok((Driver::Epoll, 1)));
    let too_many = threads(|flags| {
        rate_with_steps(flags, 2, 6);
        flags.io = Io::Blocking;
    });
    let error = too_many.unwrap_err();
    assert!(error.contains("goes down to 2 and there are 4 threads"), "{error}");
}

#[test]
fn a_plan_has_what_the_flags_say() {
    let plan = plan(|flags| {
        flags.call.data = text(r#"[{"name": "a"}, {}]"#);
        flags.call.metadata = text(r#"{"Tenant": "blue"}"#);
        flags.call.authority = text("example.test");
        flags.call.timeout = Duration::ZERO;
        flags.call.connect_timeout = Duration::ZERO;
        flags.varying_metadata = text("x-call");
        flags.max_duration = Some(Duration::from_secs(3));
        flags.warmup = Duration::from_millis(5);
    });
    let call = plan.call.grpc().unwrap();
    assert_eq!(call.path, "/helloworld.Greeter/SayHello");
    assert_eq!(call.authority, "example.test");
    assert_eq!(call.messages, [b"\x0a\x01a".to_vec(), Vec::new()]);
    assert_eq!(call.metadata, [(b"tenant".to_vec(), b"blue".to_vec())]);
    assert_eq!(call.varying_metadata, Some(b"x-call".to_vec()));
    assert_eq!((plan.calls, plan.window_ns), (Some(200), Some(3_000_000_000)));
    assert_eq!((plan.timeout_ns, plan.connect_timeout_ns), (None, u64::MAX));
    assert_eq!((plan.warmup_ns, plan.duration_stop), (5_000_000, DurationStop::Ignore));
}

#[test]
fn a_name_with_two_addresses_is_the_one_that_accepts() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listening = listener.local_addr().unwrap();
    let targets = plan_for(&format!("localhost:{}", listening.port()), |_| ()).targets;
    assert_eq!((targets.count(), targets.of(0)), (1, listening.into()));
}

/// The plan for these targets and others.
fn plan_for(targets: &str, change: impl FnOnce(&mut LoadFlags)) -> LoadPlan {
    plan(|flags| {
        flags.call.targets = vec![targets.to_owned()];
        change(flags);
    })
}

#[test]
fn every_target_gets_a_connection() {
    let three = "ipv4:127.0.0.1:1,unix:echo,[::1]:3";
    let plan = plan_for(three, |_| ());
    assert_eq!((plan.targets.count(), plan.connections), (3, 3));
    let seven = plan_for(three, |flags| flags.connections = 7);
    assert_eq!(seven.connections, 7);
}

#[test]
fn more_targets_than_calls_in_flight_are_refused() {
    let error = refused(|flags| flags.call.targets = vec!["a.invalid:1".to_owned()]);
    assert!(error.starts_with("cannot find the address of a.invalid"), "{error}");
    let error = refused(|flags| {
        flags.call.targets = vec!["[::1]:1,[::1]:2,[::1]:3".to_owned()];
        flags.concurrency = 2;
    });
    assert_eq!(
        error,
        "3 addresses take a connection each, and --concurrency 2 is fewer: some would never get a \
         call"
    );
}

#[test]
fn the_authority_is_the_first_targets_unless_one_is_given() {
    let authority = |targets: &str| call(|flags| flags.targets = vec![targets.to_owned()]);
    assert_eq!(authority("dns:///a:1,b:2").authority(), "a:1");
    assert_eq!(authority("unix:/run/echo").authority(), "localhost");
    let given = call(|flags| flags.authority = text("example.test"));
    assert_eq!(given.authority(), "example.test");
}

#[test]
fn targets_and_strategy_are_echoed_as_ghz_has_them() {
    let targets = "dns:///localhost:1,127.0.0.1:2";
    let with_strategy = plan_for(targets, |flags| {
        flags.lb_strategy = Some(LoadBalancingPolicy::RoundRobin);
    });
    let echo = with_strategy.labels.options;
    assert_eq!(echo["host"], targets);
    assert_eq!(echo["lb-strategy"], "round_robin");
    let without = plan_for("127.0.0.1:1", |_| ()).labels.options;
    assert_eq!(without.get("lb-strategy"), None);
}
