//! From flags to their meaning: defaults, choices and contradictions.

use bookend_io::Driver;
use bookend_load::options::{Flags, Format, Io, Options, SchemaSource, Until};
use bookend_load::payload::{DataSource, Payload, Templates};
use bookend_load::plan::{DurationStop, LoadPlan};
use bookend_load::schema::Schema;
use bookend_load::targets::Strategy;
use bookend_wire::Keepalive;
use serde_json::json;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The least that a run needs.
fn flags() -> Flags {
    Flags {
        target: Some("localhost:50051".to_owned()),
        call: Some("helloworld.Greeter/SayHello".to_owned()),
        insecure: true,
        ..Flags::default()
    }
}

fn refused(flags: Flags) -> String {
    let error = Options::from_flags(flags).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 1);
    error
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn the_defaults_are_those_of_ghz() {
    let options = Options::from_flags(flags()).unwrap();
    assert_eq!(options.authority(), "localhost:50051");
    assert_eq!(options.schema, SchemaSource::Reflection);
    assert_eq!(options.data, DataSource::Nothing);
    assert_eq!(options.templates, Templates::Refuse);
    assert_eq!(
        (options.connections.get(), options.concurrency.get()),
        (1, 50)
    );
    assert_eq!(options.until, Until::Calls(200));
    assert_eq!(options.timeout, Some(Duration::from_secs(20)));
    assert_eq!(options.connect_timeout, Some(Duration::from_secs(10)));
    assert_eq!(options.warmup, Duration::ZERO);
    assert_eq!((options.io, options.threads), (Io::Auto, None));
    assert_eq!(options.format, Format::Summary);
    assert_eq!(options.duration_stop, DurationStop::Ignore);
    assert!(options.tags.is_empty() && options.metadata.constant.is_empty());
}

#[test]
fn a_duration_replaces_the_number_of_calls_and_a_maximum_does_not() {
    let ten = Duration::from_secs(10);
    let until = |flags| Options::from_flags(flags).unwrap().until;
    assert_eq!(
        until(Flags {
            duration: ten,
            total: 5,
            ..flags()
        }),
        Until::Elapsed(ten)
    );
    let either = until(Flags {
        max_duration: ten,
        total: 5,
        ..flags()
    });
    assert_eq!(
        either,
        Until::Either {
            calls: 5,
            elapsed: ten
        }
    );
    assert_eq!((either.calls(), either.elapsed()), (Some(5), Some(ten)));
}

#[test]
fn zero_means_no_limit_where_a_limit_is_not_needed() {
    let zero = Duration::ZERO;
    let options = Options::from_flags(Flags {
        timeout: zero,
        connect_timeout: zero,
        ..flags()
    })
    .unwrap();
    assert_eq!((options.timeout, options.connect_timeout), (None, None));
}

#[test]
fn a_proto_file_wins_over_a_compiled_set() {
    let both = Flags {
        proto: Some("a.proto".into()),
        protoset: Some("a.protoset".into()),
        import_paths: vec!["one, two".to_owned(), "three".to_owned()],
        ..flags()
    };
    let expected = SchemaSource::Proto {
        file: "a.proto".into(),
        import_paths: ["one", "two", "three"].map(PathBuf::from).to_vec(),
    };
    assert_eq!(Options::from_flags(both).unwrap().schema, expected);
}

#[test]
fn data_has_one_source() {
    let data = |flags| Options::from_flags(flags).unwrap().data;
    assert_eq!(
        data(Flags {
            data: text("@"),
            ..flags()
        }),
        DataSource::JsonInput
    );
    assert_eq!(
        data(Flags {
            data: text(" "),
            ..flags()
        }),
        DataSource::Nothing
    );
    assert_eq!(
        data(Flags {
            data: text("{}"),
            ..flags()
        }),
        DataSource::Json("{}".to_owned())
    );
    assert_eq!(
        data(Flags {
            binary: true,
            ..flags()
        }),
        DataSource::BinaryInput
    );
    let file = || Some(PathBuf::from("file"));
    let from_file = data(Flags {
        data_file: file(),
        ..flags()
    });
    assert_eq!(from_file, DataSource::JsonFile("file".into()));
    let from_file = data(Flags {
        binary_file: file(),
        ..flags()
    });
    assert_eq!(from_file, DataSource::BinaryFile("file".into()));
    let both = Flags {
        data: text("{}"),
        binary_file: file(),
        ..flags()
    };
    assert_eq!(
        refused(both),
        "--data and --binary-file exclude each other: give one of them"
    );
}

/// A way to spoil the flags, and what has to be said about it.
type Mistake = (fn(&mut Flags), &'static str);

#[test]
fn what_is_missing_or_does_nothing_is_named() {
    let mistakes: [Mistake; 7] = [
        (|flags| flags.target = None, "add HOST:PORT"),
        (
            |flags| flags.target = text("localhost"),
            "write localhost:50051",
        ),
        (|flags| flags.call = None, "--call"),
        (|flags| flags.connections = 0, "--connections 0"),
        (|flags| flags.concurrency = 0, "--concurrency 0"),
        (|flags| flags.total = 0, "--total 0"),
        (|flags| flags.threads = Some(0), "--threads 0"),
    ];
    assert_refused(&mistakes);
}

#[test]
fn flags_that_contradict_each_other_are_named() {
    const SECOND: Duration = Duration::from_secs(1);
    let mistakes: [Mistake; 2] = [
        (
            |flags| flags.connections = 51,
            "--connections 51 is more than --concurrency 50",
        ),
        (
            |flags| (flags.duration, flags.max_duration) = (SECOND, SECOND),
            "--duration and --max-duration exclude each other",
        ),
    ];
    assert_refused(&mistakes);
}

#[test]
fn labels_and_metadata_that_make_no_sense_are_named() {
    let mistakes: [Mistake; 4] = [
        (
            |flags| flags.tags = text("[1]"),
            "--tags is not a JSON object",
        ),
        (
            |flags| flags.metadata = text("7"),
            "--metadata is not a JSON object",
        ),
        (
            |flags| flags.metadata_file = Some("absent.json".into()),
            "cannot read absent.json: no such file or folder",
        ),
        (
            |flags| flags.varying_metadata = text("grpc-x"),
            "metadata cannot set \"grpc-x\"",
        ),
    ];
    assert_refused(&mistakes);
}

fn assert_refused(mistakes: &[Mistake]) {
    for (spoil, said) in mistakes {
        let mut flags = flags();
        spoil(&mut flags);
        let error = refused(flags);
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn words_of_a_choice_are_read_or_named() {
    assert_eq!("epoll".parse(), Ok(Io::Epoll));
    assert_eq!("uring".parse(), Ok(Io::Uring));
    assert_eq!("wait".parse(), Ok(DurationStop::Wait));
    assert_eq!("pretty".parse(), Ok(Format::Pretty));
    let refused = |text: &str| text.parse::<Format>().unwrap_err();
    assert_eq!(
        refused("jsn"),
        "did you mean json? (there is summary, json, pretty)"
    );
    assert_eq!(
        refused("csv"),
        "csv has a row for every call, and calls are not kept: there is summary, json, pretty"
    );
}

#[test]
fn the_echo_has_the_names_of_ghz_and_leaves_out_what_is_unset() {
    let echo = Options::from_flags(Flags {
        proto: Some("greeter.proto".into()),
        data: Some(r#"{"name": "x"}"#.to_owned()),
        metadata: Some(r#"{"Tenant": "blue"}"#.to_owned()),
        duration: Duration::from_secs(4),
        warmup: Duration::from_secs(1),
        ..flags()
    });
    let expected = json!({
        "call": "helloworld.Greeter/SayHello",
        "host": "localhost:50051",
        "proto": "greeter.proto",
        "insecure": true,
        "load-schedule": "const",
        "concurrency": 50,
        "concurrency-schedule": "const",
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
    assert_eq!(echo.unwrap().echo(), expected);
}

/// The driver and threads that a plan gets on a machine of four processors.
fn driver(connections: u32, set: fn(&mut Flags)) -> Result<(Driver, u32), String> {
    let mut flags = flags();
    (flags.connections, flags.concurrency) = (connections, connections);
    set(&mut flags);
    let plan = plan(&Options::from_flags(flags).unwrap())?;
    Ok((plan.driver, plan.threads))
}

fn plan(options: &Options) -> Result<LoadPlan, String> {
    const CPUS: u32 = 4;
    let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proto/helloworld.proto");
    let schema = Schema::from_proto(Path::new(proto), &[]).unwrap();
    let method = schema.method(&options.call).unwrap();
    let payload = Payload::read(
        &options.data,
        &method,
        options.templates,
        &mut std::io::empty(),
    );
    let target = SocketAddr::from(([127, 0, 0, 1], 50051));
    options
        .to_plan(&method, payload.unwrap(), target, CPUS)
        .map_err(|error| error.to_string())
}

#[test]
fn keepalive_is_for_silence_and_answer_and_asks_no_sooner_than_after_ten_seconds() {
    const SECOND_NS: u64 = 1_000_000_000;
    for (typed_seconds, time_seconds) in [(60, 60), (1, 10)] {
        let keepalive = Duration::from_secs(typed_seconds);
        let options = Options::from_flags(Flags {
            keepalive,
            ..flags()
        });
        let options = options.unwrap();
        let expected = Keepalive {
            time_ns: time_seconds * SECOND_NS,
            timeout_ns: typed_seconds * SECOND_NS,
        };
        assert_eq!(plan(&options).unwrap().keepalive, Some(expected));
        assert_eq!(options.echo()["keepalive"], typed_seconds * SECOND_NS);
    }
    let never = Options::from_flags(flags()).unwrap();
    assert_eq!(plan(&never).unwrap().keepalive, None);
    let one_shot = Options::from_flags(Flags {
        keepalive: Duration::from_secs(60),
        one_shot: true,
        ..flags()
    });
    assert_eq!(
        one_shot.unwrap_err().to_string(),
        "--one-shot and --keepalive exclude each other: give one of them"
    );
}

#[test]
fn connections_have_threads_of_their_own_while_there_are_processors() {
    assert_eq!(driver(1, |_| ()), Ok((Driver::Blocking, 1)));
    assert_eq!(driver(4, |_| ()), Ok((Driver::Blocking, 4)));
    assert_eq!(driver(5, |_| ()), Ok((Driver::Epoll, 4)));
    assert_eq!(
        driver(4, |flags| flags.threads = Some(2)),
        Ok((Driver::Epoll, 2))
    );
    assert_eq!(
        driver(1, |flags| flags.io = Io::Epoll),
        Ok((Driver::Epoll, 1))
    );
    assert_eq!(
        driver(9, |flags| flags.io = Io::Uring),
        Ok((Driver::Uring, 4))
    );
    assert_eq!(
        driver(9, |flags| flags.io = Io::Blocking),
        Ok((Driver::Blocking, 9))
    );
    let too_few = driver(3, |flags| {
        (flags.io, flags.threads) = (Io::Blocking, Some(2))
    });
    assert_eq!(
        too_few.unwrap_err(),
        "--io blocking takes a thread for each of --connections 3, and --threads is 2"
    );
}

#[test]
fn a_plan_has_what_the_flags_say() {
    let options = Options::from_flags(Flags {
        data: text(r#"[{"name": "a"}, {}]"#),
        metadata: text(r#"{"Tenant": "blue"}"#),
        varying_metadata: text("x-call"),
        authority: text("example.test"),
        max_duration: Duration::from_secs(3),
        timeout: Duration::ZERO,
        connect_timeout: Duration::ZERO,
        warmup: Duration::from_millis(5),
        duration_stop: DurationStop::Ignore,
        ..flags()
    });
    let plan = plan(&options.unwrap()).unwrap();
    assert_eq!(plan.path, "/helloworld.Greeter/SayHello");
    assert_eq!(plan.authority, "example.test");
    assert_eq!(plan.messages, [b"\x0a\x01a".to_vec(), Vec::new()]);
    assert_eq!(plan.metadata, [(b"tenant".to_vec(), b"blue".to_vec())]);
    assert_eq!(plan.varying_metadata, Some(b"x-call".to_vec()));
    assert_eq!(
        (plan.calls, plan.window_ns),
        (Some(200), Some(3_000_000_000))
    );
    assert_eq!((plan.timeout_ns, plan.connect_timeout_ns), (None, u64::MAX));
    assert_eq!(
        (plan.warmup_ns, plan.duration_stop),
        (5_000_000, DurationStop::Ignore)
    );
}

#[test]
fn a_name_with_two_addresses_is_the_one_that_accepts() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listening = listener.local_addr().unwrap();
    let mut options = options_for(&format!("localhost:{}", listening.port()), |_| ());
    let targets = options.find_targets().unwrap();
    assert_eq!((targets.count(), targets.of(0)), (1, listening.into()));
}

/// The options for these targets and others.
fn options_for(targets: &str, change: impl FnOnce(&mut Flags)) -> Options {
    let mut flags = Flags {
        target: text(targets),
        ..flags()
    };
    change(&mut flags);
    Options::from_flags(flags).unwrap()
}

#[test]
fn every_target_gets_a_connection() {
    let three = "ipv4:127.0.0.1:1,unix:echo,[::1]:3";
    let mut options = options_for(three, |_| ());
    let targets = options.find_targets().unwrap();
    assert_eq!((targets.count(), options.connections.get()), (3, 3));
    let mut options = options_for(three, |flags| flags.connections = 7);
    options.find_targets().unwrap();
    assert_eq!(options.connections.get(), 7);
}

#[test]
fn more_targets_than_calls_in_flight_are_refused() {
    let mut options = options_for("a.invalid:1", |_| ());
    let error = options.find_targets().unwrap_err().to_string();
    assert!(
        error.starts_with("cannot find the address of a.invalid"),
        "{error}"
    );
    let mut options = options_for("[::1]:1,[::1]:2,[::1]:3", |flags| flags.concurrency = 2);
    assert_eq!(
        options.find_targets().unwrap_err().to_string(),
        "3 addresses take a connection each, and --concurrency 2 is fewer: some would never get a \
         call"
    );
}

#[test]
fn the_authority_is_the_first_targets_unless_one_is_given() {
    let authority = |targets: &str| options_for(targets, |_| ()).authority();
    assert_eq!(authority("dns:///a:1,b:2"), "a:1");
    assert_eq!(authority("unix:/run/echo"), "localhost");
    let given = options_for("unix:echo", |flags| flags.authority = text("example.test"));
    assert_eq!(given.authority(), "example.test");
}

#[test]
fn targets_and_strategy_are_echoed_as_ghz_has_them() {
    let options = options_for("dns:///a:1,b:2", |flags| {
        flags.lb_strategy = Some(Strategy::RoundRobin);
    });
    let echo = options.echo();
    assert_eq!(echo["host"], "dns:///a:1,b:2");
    assert_eq!(echo["lb-strategy"], "round_robin");
    assert_eq!(options_for("a:1", |_| ()).echo().get("lb-strategy"), None);
}
