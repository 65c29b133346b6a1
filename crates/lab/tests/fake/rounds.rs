//! Whole runs with fake servers and fake instruments: how each ends as a row.

use crate::test_folder::{CALL, TestFolder, launcher, processes_with, serve, spawner};
use bookend_contract::build_facts::BuildFacts;
use bookend_contract::latency;
use bookend_lab::context::ProcessTimeouts;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::progress::{ProgressReporter, ProgressShown};
use bookend_lab::run::{RunSettings, RunSummary, run};
use bookend_results::measurement::{Measurement, Outcome, Row};
use bookend_results::store::Store;
use bookend_results::suite::{
    Extent, Plan, PlannedSubject, Request, RequestMessage, ServerLife, ShortWindows, Suite,
    SuiteLimits,
};
use std::fs;
use std::time::Duration;

tests![
    an_honest_server_is_measured,
    a_server_that_fails_at_start_says_why,
    a_server_that_hangs_is_given_up,
    a_server_that_prints_without_a_pause_is_given_up,
    a_server_that_prints_junk_is_quoted,
    a_server_that_lies_is_told_both_numbers,
    a_server_off_by_little_is_marked,
    a_deaf_server_is_marked_and_gone,
    a_server_with_a_daemon_leaves_none,
    a_silent_server_is_found_by_its_port,
    a_server_that_says_what_it_likes_is_found_by_its_port,
    a_port_that_is_told_late_is_no_surprise,
    unsupported_is_no_failure,
    an_instrument_says_what_it_must,
    a_window_without_an_answer_fails_and_keeps_what_it_took,
    foreign_instruments_are_understood,
    a_client_is_measured_against_a_server,
    what_is_not_there_is_missing,
    a_probe_must_be_satisfied_and_is_counted,
    one_bad_subject_does_not_stop_the_others,
    variables_reach_both_ends,
    what_an_interrupt_left_is_resumed,
    a_run_that_began_on_another_machine_is_not_resumed,
];

/// A run of `subjects` with `instrument`, and what is stored of it.
pub struct FakeRun {
    pub test_folder: TestFolder,
    pub settings: RunSettings,
    pub store: Store,
}

const SUITE: &str = r#"
name = "fake"
title = "fake"
analysis = "fake"
instruments = ["load"]
[request]
method = "fake.Service/Method"
proto = "fake.proto"
bytes = "fake.bin"
[limits]
server_cpus = 1.0
[[subjects]]
name = "server"
baseline = true
[full]
warmup = "1ms"
window = "1s"
rounds = 10
grid = [{ connections = 1, concurrency = [1] }]
"#;

impl FakeRun {
    pub fn new(test_folder: TestFolder, subjects: &[&str], instrument: &str) -> FakeRun {
        let folder = test_folder.path().join("fake");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("fake.proto"), "").unwrap();
        fs::write(folder.join("fake.bin"), "abc").unwrap();
        let settings = RunSettings {
            suite: Suite::parse(&folder, SUITE).unwrap(),
            plan: plan(subjects, instrument),
            resume: false,
            subjects: test_folder.path().to_owned(),
            message: None,
            spawner: spawner(),
            probe: None,
            semantics: None,
            command: "bookend run fake".to_owned(),
            seed: Some(7),
            timeouts: ProcessTimeouts {
                ready: None,
                drain: Duration::from_secs(60),
                grace: Duration::from_secs(60),
            },
            isolation: false,
            fleet: None,
            build: BuildFacts {
                version: "0.1.0".to_owned(),
                revision: None,
                profile: "dev".to_owned(),
            },
            build_sources: Vec::new(),
        };
        FakeRun { test_folder, settings, store: Store::in_memory().unwrap() }
    }

    pub fn run(&mut self) -> RunSummary {
        let mut told = Vec::new();
        let mut progress = ProgressReporter::new(&mut told, ProgressShown::Lines);
        let summary = run(&self.settings, &mut self.store, &mut progress).unwrap();
        let left = processes_with(self.test_folder.path().to_str().unwrap());
        assert_eq!(left, [0; 0], "processes are left");
        summary
    }

    pub fn rows(&mut self) -> Vec<Row> {
        let summary = self.run();
        let rows = self.store.rows(summary.id.unwrap()).unwrap();
        assert!(!rows.is_empty());
        rows
    }

    pub fn row(&mut self) -> Row {
        self.rows().remove(0)
    }
}

fn plan(subjects: &[&str], instrument: &str) -> Plan {
    let subjects = subjects.iter().map(|name| PlannedSubject {
        name: (*name).to_owned(),
        baseline: false,
        calibration: false,
        instruments: vec![instrument.to_owned()],
        concurrency_max: None,
        concurrency: Vec::new(),
        backend: None,
        server_processes: None,
        side: None,
    });
    Plan {
        suite: "fake".to_owned(),
        extent: Extent::Quick,
        request: Request {
            method: "fake.Service/Method".to_owned(),
            proto: "fake.proto".to_owned(),
            message: RequestMessage::Bytes("fake.bin".to_owned()),
        },
        limits: SuiteLimits {
            server_cpus: 1.0,
            server_memory_bytes: None,
            server_processes: None,
            client_cpus: None,
        },
        generator_cpus: None,
        deadline_ms: None,
        drain_ms: None,
        warmup_ms: 1,
        window_ms: 1,
        window_max_ms: None,
        short_windows: ShortWindows::Refused,
        lap_ms: None,
        rounds: 1,
        subjects: subjects.collect(),
        cases: vec!["C=1 S=1".parse().unwrap()],
        instruments_of: std::collections::BTreeMap::new(),
        handler_waits: false,
        server_life: ServerLife::Round,
        variables: std::collections::BTreeMap::new(),
        notes: vec![],
    }
}

/// One server that runs `text`, called by the honest instrument.
pub fn with_server(text: &str) -> FakeRun {
    let test_folder = TestFolder::new();
    test_folder.subject("server", "server", text);
    test_folder.subject("load", "instrument", CALL);
    FakeRun::new(test_folder, &["server"], "load")
}

/// The honest server, called by an instrument that runs `text`.
fn with_instrument(text: &str) -> FakeRun {
    let test_folder = TestFolder::new();
    test_folder.subject("server", "server", &serve(1));
    test_folder.subject("load", "instrument", text);
    FakeRun::new(test_folder, &["server"], "load")
}

pub fn measured(row: &Row) -> &Measurement {
    match &row.outcome {
        Outcome::Measured(measurement) => measurement,
        other => panic!("not measured: {other:?}"),
    }
}

/// The marks of a measured row as they are printed.
pub fn marks(row: &Row) -> Vec<String> {
    let marks = measured(row).marks.iter();
    marks.map(ToString::to_string).collect()
}

pub fn error(row: &Row) -> &str {
    match &row.outcome {
        Outcome::Failed { error, .. } => error,
        other => panic!("not failed: {other:?}"),
    }
}

fn an_honest_server_is_measured() {
    let row = with_server(&serve(1)).row();
    let measured = measured(&row);
    assert_eq!((measured.counts.ok, measured.counts.unfinished), (10, 0));
    assert_eq!(measured.marks, []);
    assert_eq!(row.served, Some(10));
    assert_eq!(measured.ends.server.memory_source.as_deref(), Some("rss"));
    let used = &measured.ends.server;
    assert!(used.memory_peak_bytes > Some(0) && used.threads > Some(0));
    let latencies = latency::decode(&measured.latency_histogram).unwrap();
    assert_eq!((latencies.len(), latencies.max()), (10, 1000));
}

fn a_server_that_fails_at_start_says_why() {
    let row = with_server("echo starting >&2; echo no such option >&2; exit 3").row();
    assert_eq!(error(&row), "no such option (exit status: 3)");
}

fn a_server_that_hangs_is_given_up() {
    let mut fake_run = with_server("echo thinking >&2; sleep 1000");
    fake_run.settings.timeouts.ready = Some(Duration::from_millis(300));
    let row = fake_run.row();
    assert!(error(&row).starts_with("the server did not say ready within 300ms"), "{row:?}");
}

fn a_server_that_prints_without_a_pause_is_given_up() {
    for (prints, said) in [
        ("exec yes", "the server did not say ready within 300ms"),
        ("yes & exit 3", "exit status: 3"),
    ] {
        let mut fake_run = with_server(prints);
        fake_run.settings.timeouts.ready = Some(Duration::from_millis(300));
        let row = fake_run.row();
        assert!(error(&row).contains(said), "{prints}: {row:?}");
    }
}

fn a_server_that_prints_junk_is_quoted() {
    let mut mute = with_server("echo Listening on port 1; cat");
    mute.settings.timeouts.ready = Some(Duration::from_millis(300));
    let row = mute.row();
    assert!(error(&row).contains("\"Listening on port 1\""), "{row:?}");
    let late = with_server(": > ../calls-1; echo ready 1; cat > /dev/null; echo bye").row();
    assert!(marks(&late)[0].contains("\"bye\""), "{late:?}");
}

fn a_server_that_lies_is_told_both_numbers() {
    let row = with_server(": > ../calls-1; echo ready 1; cat > /dev/null; echo served 7").row();
    let expected = "counts differ: the server served 7, the other end knows 10";
    assert_eq!(error(&row), expected);
    assert_eq!(row.served, Some(7));
}

fn a_server_off_by_little_is_marked() {
    let mut fake_run = with_server("echo ready 1; cat > /dev/null; echo served 999");
    let text = "echo window start; echo window end; echo 5 1000; echo ok 1000";
    fake_run.test_folder.subject("load", "instrument", text);
    let row = fake_run.row();
    let expected = "counts differ: the server served 999, the other end knows 1000";
    assert_eq!(marks(&row), [expected]);
}

fn a_deaf_server_is_marked_and_gone() {
    let text = "trap '' TERM HUP; : > ../calls-1; echo ready 1; while :; do sleep 1; done";
    let mut fake_run = with_server(text);
    fake_run.settings.timeouts.drain = Duration::from_millis(50);
    let row = fake_run.row();
    assert!(marks(&row)[0].ends_with("and was killed"), "{row:?}");
    assert_eq!(row.served, None);
}

fn a_server_with_a_daemon_leaves_none() {
    let test_folder = TestFolder::new();
    let daemon = test_folder.script("daemon.sh", "echo $$ > \"$0.pid\"; while :; do sleep 1; done");
    let daemon = daemon.display();
    let text = format!(
        "setsid setsid {daemon} < /dev/null > /dev/null 2>&1 &\n\
         while [ ! -s {daemon}.pid ]; do sleep 0.01; done\n{}",
        serve(1)
    );
    test_folder.subject("server", "server", &text);
    test_folder.subject("load", "instrument", CALL);
    let row = FakeRun::new(test_folder, &["server"], "load").row();
    assert_eq!(marks(&row), [""; 0]);
}

fn a_silent_server_is_found_by_its_port() {
    let test_folder = TestFolder::new();
    let listen = format!("exec '{}' {}", launcher().program.display(), crate::LISTEN);
    test_folder.subject("server", "server", &listen);
    let call = format!("echo $BOOKEND_TARGET > ../target\n{CALL}");
    test_folder.subject("load", "instrument", &call);
    let mut fake_run = FakeRun::new(test_folder, &["server"], "load");
    let row = fake_run.row();
    assert_eq!(measured(&row).counts.ok, 10);
    let target = fs::read_to_string(fake_run.test_folder.path().join("target")).unwrap();
    let port = fs::read_to_string(fake_run.test_folder.path().join("server/port")).unwrap();
    assert_eq!(target.trim(), format!("127.0.0.1:{port}"));
}

fn a_server_that_says_what_it_likes_is_found_by_its_port() {
    let test_folder = TestFolder::new();
    let listen = format!("exec '{}' {}", launcher().program.display(), crate::LISTEN);
    let talks = format!("echo listening on some port; echo 'error: none, really'; {listen}");
    test_folder.subject("server", "server", &talks);
    test_folder.subject("load", "instrument", CALL);
    let row = FakeRun::new(test_folder, &["server"], "load").row();
    assert_eq!(measured(&row).counts.ok, 10);
}

fn a_port_that_is_told_late_is_no_surprise() {
    let test_folder = TestFolder::new();
    let listen = format!("'{}' {}", launcher().program.display(), crate::LISTEN);
    let late = format!("{listen}\necho ready $(cat port)\necho served 10");
    test_folder.subject("server", "server", &late);
    test_folder.subject("load", "instrument", CALL);
    let row = FakeRun::new(test_folder, &["server"], "load").row();
    assert_eq!(marks(&row), [""; 0]);
    assert_eq!(row.served, Some(10));
}

fn unsupported_is_no_failure() {
    let unsupported = |reason: &str| Outcome::Unsupported { reason: reason.to_owned() };
    let row = with_server("echo no TLS here >&2; exit 89").row();
    assert_eq!(row.outcome, unsupported("no TLS here"));
    let row = with_instrument("echo one connection only >&2; exit 89").row();
    assert_eq!(row.outcome, unsupported("one connection only"));
    let row = with_instrument("exit 89").row();
    assert_eq!(row.outcome, unsupported("the subject gave no reason"));
}

fn an_instrument_says_what_it_must() {
    let window = "echo window start; echo window end;";
    let error_of = |text: &str| error(&with_instrument(text).row()).to_owned();
    assert_eq!(error_of("echo ok 1; echo 5 1"), "it ended without `window end`");
    assert_eq!(error_of("echo window end"), "`window end` was said without a start");
    assert_eq!(error_of(window), "it ended without saying `ok N`");
    let few = error_of(&format!("{window} echo 5 1; echo ok 2"));
    assert_eq!(few, "it told 1 latencies of 2 OK calls");
    assert!(error_of("echo Running 10 s test").contains("\"Running 10 s test\""));
    assert_eq!(error_of("echo no route >&2; exit 1"), "no route (exit status: 1)");
}

fn a_window_without_an_answer_fails_and_keeps_what_it_took() {
    let text = "echo window start; echo window end\n\
         echo ok 0; echo error UNAVAILABLE 3; echo warmup 2; echo note tries 9";
    let row = with_instrument(text).row();
    assert_eq!(error(&row), "no call of the window ended OK, but with UNAVAILABLE 3");
    let window = row.outcome.window().expect("what was measured is kept");
    assert_eq!(
        (window.counts.ok, window.counts.errors["UNAVAILABLE"], window.counts.warmup),
        (0, 3, 2)
    );
    assert!(window.window_seconds > 0.0 && window.ends.server.memory_peak_bytes > Some(0));
    assert_eq!(window.notes["tries"], 9.0);
    assert_eq!(with_instrument("exit 1").row().outcome.window(), None);
}

fn foreign_instruments_are_understood() {
    let note = "echo 10 >> ../calls-${BOOKEND_TARGET##*:}";
    let ghz = format!(
        "{note}; echo '{{\"count\":10,\"total\":5000,\"statusCodeDistribution\":{{\"OK\":10}}}}'"
    );
    let h2load = format!(
        "{note}; echo 'finished in 5us, 1 req/s, 1KB/s'\n\
         echo 'requests: 10 total, 10 started, 10 done, 10 succeeded, 0 failed'\n\
         echo 'status codes: 10 2xx, 0 3xx, 0 4xx, 0 5xx'"
    );
    for (output, text) in [("ghz-json", ghz), ("h2load-text", h2load)] {
        let mut fake_run = with_server(&serve(1));
        let more = format!("output = \"{output}\"");
        fake_run.test_folder.subject_with("load", "instrument", &text, &more);
        let row = fake_run.row();
        let measured = measured(&row);
        assert_eq!((measured.counts.ok, measured.counts.warmup), (10, 10), "{output}");
        assert!((measured.window_seconds - 5e-6).abs() < 1e-9, "{output}");
        assert_eq!(row.served, Some(20), "{output}");
        assert_eq!(measured.marks, [], "{output}");
        let id = fake_run.store.latest_run().unwrap().unwrap().id;
        let raw = fake_run.store.raw_outputs(id).unwrap();
        assert_eq!((raw.len(), &raw[0].cell), (1, &row.cell));
        assert!(raw[0].text.contains("10"), "{output}: {}", raw[0].text);
    }
}

fn a_client_is_measured_against_a_server() {
    let test_folder = TestFolder::new();
    test_folder.subject("server", "server", &serve(1));
    let client = format!("[ $BOOKEND_ROLE = client ] || exit 1\n{CALL}");
    test_folder.subject("client", "client", &client);
    test_folder.subject("other", "client", &client);
    let rows = FakeRun::new(test_folder, &["client", "other"], "server").rows();
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!(measured(row).counts.ok, 10);
        assert_eq!(marks(row), [""; 0]);
        assert_eq!(row.served, Some(10), "each client has a server of its own");
    }
}

fn what_is_not_there_is_missing() {
    let reason = |more: &str| {
        let mut fake_run = with_server(&serve(1));
        fake_run.test_folder.subject_with("server", "server", &serve(1), more);
        let summary = fake_run.run();
        assert_eq!((summary.missing, summary.failed, summary.measured), (1, 0, 0));
        assert_eq!(summary.exit_status(), 1);
        let row = fake_run.store.rows(summary.id.unwrap()).unwrap().remove(0);
        match row.outcome {
            Outcome::Missing { reason } => reason,
            other => panic!("not missing: {other:?}"),
        }
    };
    let absent = reason(
        "[[dependencies]]\ncommand = [\"no-such-tool\", \"-v\"]\ninstall = \"apt-get install it\"",
    );
    assert_eq!(absent, "`no-such-tool -v` does not run: apt-get install it");
    let old = reason(
        "[[dependencies]]\ncommand = [\"echo\", \"v1\"]\nregex = \"v2\"\ninstall = \"get v2\"",
    );
    assert_eq!(old, "`echo v1` is another version: get v2");
    let broken =
        "build = [[\"sh\", \"-c\", \"echo error: no E here >&2; echo sorry >&2; exit 1\"]]";
    assert!(reason(broken).ends_with("failed: error: no E here"));
}

fn a_probe_must_be_satisfied_and_is_counted() {
    let mut fake_run = with_server(&serve(1));
    let probe = fake_run.test_folder.script(
        "probe.sh",
        "echo 3 >> calls-${1##*:}; echo \"$@\" > probed; echo '{\"call\": {\"calls_made\": 3}}'",
    );
    let folder = fake_run.test_folder.path().to_owned();
    let words = |text: &str| vec!["sh".to_owned(), "-c".to_owned(), text.to_owned()];
    let here = format!("cd '{}' && {} {{target}} {{method}}", folder.display(), probe.display());
    fake_run.settings.probe = Some(words(&here));
    let row = fake_run.row();
    assert_eq!(marks(&row), [""; 0]);
    assert_eq!((row.served, row.probe_calls), (Some(13), 3));
    let probed = fs::read_to_string(folder.join("probed")).unwrap();
    assert_eq!(probed.trim(), "127.0.0.1:1 fake.Service/Method");
    fake_run.settings.probe = Some(words("echo wrong answer >&2; exit 1"));
    let row = fake_run.row();
    assert_eq!(error(&row), "the verified call failed: wrong answer (exit status: 1)");
}

fn one_bad_subject_does_not_stop_the_others() {
    let test_folder = TestFolder::new();
    test_folder.subject("good", "server", &serve(1));
    test_folder.subject("bad", "server", "exit 1");
    test_folder.subject("better", "server", &serve(2));
    test_folder.subject("load", "instrument", CALL);
    let mut fake_run = FakeRun::new(test_folder, &["good", "bad", "better", "none"], "load");
    fake_run.settings.plan.rounds = 2;
    let summary = fake_run.run();
    assert_eq!((summary.measured, summary.failed, summary.missing), (4, 2, 2));
    assert_eq!((summary.rounds, summary.exit_status()), (2, 4));
    let stored = fake_run.store.run(summary.id.unwrap()).unwrap();
    assert!(stored.finished.is_some());
    assert_eq!(stored.new.versions["good"], "fake 1.0");
    assert!(stored.notes[0].contains("affinity alone"), "{:?}", stored.notes);
}

fn variables_reach_both_ends() {
    let test_folder = TestFolder::new();
    let note = |name: &str| format!("env | grep BOOKEND | sort > ../{name}.env\n");
    test_folder.subject("server", "server", &(note("server") + &serve(1)));
    let read = "cat $BOOKEND_REQUEST_FILE > ../request\n";
    test_folder.subject("load", "instrument", &(note("load") + read + CALL));
    let mut fake_run = FakeRun::new(test_folder, &["server"], "load");
    measured(&fake_run.row());
    let text = |name: &str| fs::read_to_string(fake_run.test_folder.path().join(name)).unwrap();
    let (server, load) = (text("server.env"), text("load.env"));
    for variable in ["CONTRACT=1", "ROLE=server", "VARIANT=default"] {
        assert!(server.contains(&format!("BOOKEND_{variable}\n")), "{variable}: {server}");
    }
    for variable in [
        "CONTRACT=1",
        "ROLE=instrument",
        "TARGET=127.0.0.1:1",
        "METHOD=fake.Service/Method",
        "CONNECTIONS=1",
        "CONCURRENCY=1",
        "WARMUP_MS=1",
        "MEASURE_MS=1",
    ] {
        assert!(load.contains(&format!("BOOKEND_{variable}\n")), "{variable}: {load}");
    }
    assert_eq!(text("request"), "abc");
    assert!(!load.contains("BOOKEND_CALLS"), "{load}");
}

fn what_an_interrupt_left_is_resumed() {
    let mut fake_run = with_server(&serve(1));
    fake_run.settings.plan.rounds = 3;
    fake_run.settings.spawner.interrupt.raise();
    let nothing = fake_run.run();
    assert_eq!((nothing.id, nothing.exit_status()), (None, 130));
    fake_run.settings.spawner.interrupt = Interrupt::new();
    let whole = fake_run.run();
    let rows = fake_run.store.rows(whole.id.unwrap()).unwrap();
    assert_eq!(rows.len(), 3);
    let new = fake_run.store.run(whole.id.unwrap()).unwrap().new;
    let id = fake_run.store.begin_run(&new).unwrap();
    fake_run.store.write_round(id, 1, &rows[1..2]).unwrap();
    fake_run.settings.resume = true;
    let resumed = fake_run.run();
    assert_eq!((resumed.id, resumed.rounds, resumed.measured), (Some(id), 3, 3));
    assert_eq!(fake_run.store.rows(id).unwrap().len(), 3);
}

fn a_run_that_began_on_another_machine_is_not_resumed() {
    let mut fake_run = with_server(&serve(1));
    let begun = fake_run.run().id.unwrap();
    let mut elsewhere = fake_run.store.run(begun).unwrap().new;
    elsewhere.machine.kernel = "Linux 2.6.32".to_owned();
    let id = fake_run.store.begin_run(&elsewhere).unwrap();
    fake_run.settings.resume = true;
    let mut told = Vec::new();
    let mut progress = ProgressReporter::new(&mut told, ProgressShown::Lines);
    let refused = run(&fake_run.settings, &mut fake_run.store, &mut progress).unwrap_err();
    let text = refused.to_string();
    let expected = format!("run {id} did not begin on this machine: the kernel was Linux 2.6.32 ");
    assert!(text.starts_with(&expected), "{text}");
    assert!(fake_run.store.rows(id).unwrap().is_empty(), "nothing was measured");
}
