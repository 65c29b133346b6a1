//! Both ends and their backends: clients with their reference server, backends, fixed numbers of
//! calls, connections a call, notes, other protocols.

use crate::rounds::{FakeRun, error, marks, measured};
use crate::test_folder::{CALL, TestFolder, serve};
use bookend_results::measurement::{Outcome, Row};
use bookend_results::suite::{Case, TestedEnd};
use std::fs;

tests![
    a_client_that_claims_more_than_its_reference_served_fails,
    a_client_off_by_little_is_marked,
    each_client_has_a_reference_of_its_own,
    a_client_that_cannot_do_a_case_is_unsupported,
    the_suite_may_say_which_end_is_measured,
    a_backend_stands_behind_its_server_and_is_accounted_for,
    a_backend_that_is_needed_is_started_unless_the_suite_names_another,
    a_server_that_goes_past_its_backend_fails,
    a_backend_that_is_not_there_is_named,
    a_backend_that_dies_is_named,
    a_fixed_number_of_calls_is_told_to_a_fresh_server,
    calls_that_failed_do_not_fail_the_row,
    an_overloaded_server_that_must_be_killed_is_only_marked,
    instruments_have_a_command_of_their_own_for_calls,
    a_deadline_is_told_in_both_ways,
    a_connection_a_call_is_told_or_unsupported,
    notes_of_everybody_are_kept,
    lines_of_a_servers_log_are_counted_and_kept,
    too_many_notes_are_too_many,
    another_protocol_is_not_probed,
    two_protocols_cannot_talk,
    what_nobody_serves_is_unsupported,
];

/// A fake client that says it was answered `claimed` calls while its reference served `served`.
fn claim(claimed: u32, served: u32) -> String {
    format!(
        "echo {served} >> ../calls-${{BOOKEND_TARGET##*:}}\necho window start\necho window end\n\
         echo 1000 {claimed}\necho ok {claimed}"
    )
}

/// Writes the variables of the contract that a process got into a file, a line a start.
fn note_variables(name: &str) -> String {
    format!("env | grep BOOKEND_ | sort | tr '\\n' ' ' >> ../{name}.env; echo >> ../{name}.env\n")
}

fn text(fake_run: &FakeRun, name: &str) -> String {
    fs::read_to_string(fake_run.test_folder.path().join(name)).unwrap()
}

fn unsupported(row: &Row) -> &str {
    match &row.outcome {
        Outcome::Unsupported { reason } => reason,
        other => panic!("not unsupported: {other:?}"),
    }
}

fn set_cases(fake_run: &mut FakeRun, cases: &[&str]) {
    let cases = cases.iter().map(|case| case.parse::<Case>().unwrap());
    fake_run.settings.plan.cases = cases.collect();
}

/// One client that runs `text`, against the honest server.
fn with_client(text: &str) -> FakeRun {
    let test_folder = TestFolder::new();
    test_folder.subject("server", "server", &serve(1));
    test_folder.subject("client", "client", text);
    FakeRun::new(test_folder, &["client"], "server")
}

fn with_both(server: &str, instrument: &str) -> FakeRun {
    let test_folder = TestFolder::new();
    test_folder.subject("server", "server", server);
    test_folder.subject("load", "instrument", instrument);
    FakeRun::new(test_folder, &["server"], "load")
}

fn a_client_that_claims_more_than_its_reference_served_fails() {
    let mut fake_run = with_client(&claim(1100, 1000));
    fake_run.test_folder.subject("honest", "client", CALL);
    let honest = FakeRun::new(
        TestFolder::borrowed(fake_run.test_folder.path()),
        &["client", "honest"],
        "server",
    );
    fake_run.settings.plan = honest.settings.plan;
    let rows = fake_run.rows();
    let of = |name: &str| rows.iter().find(|row| row.cell.subject == name).unwrap();
    let expected = "counts differ: the server served 1000, the other end knows 1100";
    assert_eq!(error(of("client")), expected);
    assert_eq!(of("client").served, Some(1000));
    assert_eq!(marks(of("honest")), [""; 0]);
}

fn a_client_off_by_little_is_marked() {
    let row = with_client(&claim(1005, 1000)).row();
    let expected = "counts differ: the server served 1000, the other end knows 1005";
    assert_eq!(marks(&row), [expected]);
    let row = with_client(&claim(1000, 1005)).row();
    assert_eq!(measured(&row).marks.len(), 1);
}

fn each_client_has_a_reference_of_its_own() {
    let mut fake_run = with_client(CALL);
    let server = note_variables("server") + &serve(1);
    fake_run.test_folder.subject("server", "server", &server);
    set_cases(&mut fake_run, &["C=1 S=1", "C=2 S=2"]);
    fake_run.settings.plan.limits.client_cpus = Some(1.5);
    let rows = fake_run.rows();
    assert_eq!(rows.len(), 2);
    for row in &rows {
        let measured = measured(row);
        assert_eq!((row.served, measured.ends.side), (Some(10), TestedEnd::Client));
        assert_eq!(measured.ends.caller.cpu_limit, Some(1.5));
        assert!(measured.ends.caller.cpu_max >= measured.ends.caller.cpu_mean);
        let reference = measured.ends.opposite();
        assert!(reference.memory_peak_bytes > Some(0) && reference.threads > Some(0));
        assert_eq!(measured.tested_cpu_seconds(), measured.ends.caller.cpu_seconds);
    }
    assert_eq!(text(&fake_run, "server.env").lines().count(), 2);
}

fn a_client_that_cannot_do_a_case_is_unsupported() {
    let row = with_client("echo one connection only >&2; exit 89").row();
    assert_eq!(unsupported(&row), "one connection only");
    assert_eq!(row.served, Some(0));
}

fn the_suite_may_say_which_end_is_measured() {
    let test_folder = TestFolder::new();
    let both = format!("if [ $BOOKEND_ROLE = client ]; then\n{CALL}\nelse\n{}\nfi", serve(1));
    test_folder.subject("both", "server\", \"client", &both);
    let mut fake_run = FakeRun::new(test_folder, &["both"], "both");
    assert_eq!(measured(&fake_run.row()).ends.side, TestedEnd::Server);
    fake_run.settings.plan.subjects[0].side = Some(TestedEnd::Client);
    assert_eq!(measured(&fake_run.row()).ends.side, TestedEnd::Client);
}

/// Works without a pause, and counts in a file how far it has come.
const WORK: &str = "\
echo 0 > ../worked
work() {
    turn=0
    while :; do
        step=0
        while [ $step -lt 1000 ]; do step=$((step + 1)); done
        turn=$((turn + 1))
        echo $turn > ../worked.new
        mv ../worked.new ../worked
    done
}
work &
worker=$!
";

/// Has its window while somebody else works for a while.
const CALL_WHILE_OTHERS_WORK: &str = "\
echo 10 >> ../calls-${BOOKEND_TARGET##*:}
echo window start
until=$(($(cat ../worked) + 50))
while [ $(cat ../worked) -lt $until ]; do sleep 0.01; done
echo window end
echo 1000 10
echo ok 10
";

fn a_backend_stands_behind_its_server_and_is_accounted_for() {
    let server = format!("{}{}", note_variables("server"), serve(1));
    let mut fake_run = with_both(&server, CALL_WHILE_OTHERS_WORK);
    let backend = format!(
        "{}{WORK}echo ready 2\ncat > /dev/null\nkill $worker\necho note calls_peak 7\necho served 12",
        note_variables("backend")
    );
    fake_run.test_folder.subject("behind", "backend", &backend);
    fake_run.settings.plan.subjects[0].backend = Some("behind".to_owned());
    let row = fake_run.row();
    let measured = measured(&row);
    assert_eq!(measured.marks, []);
    let used = measured.ends.backend.as_ref().unwrap();
    assert!(used.cpu_seconds > 0.0, "{used:?}");
    assert!(used.memory_peak_bytes > Some(0) && used.threads > Some(0), "{used:?}");
    assert_eq!(row.backend_served, Some(12));
    assert_eq!(row.backend_notes["calls_peak"], 7.0);
    let run = fake_run.store.latest_run().unwrap().unwrap();
    let said = "behind the servers: behind".to_owned();
    assert!(run.notes.contains(&said), "{:?}", run.notes);
    let (server, backend) = (text(&fake_run, "server.env"), text(&fake_run, "backend.env"));
    assert!(server.contains("BOOKEND_BACKEND=127.0.0.1:2 "), "{server}");
    assert!(backend.contains("BOOKEND_ROLE=backend "), "{backend}");
    assert!(!backend.contains("BOOKEND_METHOD"), "{backend}");
}

/// Says who it is, and that every call went through it.
fn backend(name: &str, port: u16) -> String {
    format!("echo {name} > ../behind; echo ready {port}; cat > /dev/null; echo served 10")
}

fn a_server_that_goes_past_its_backend_fails() {
    let mut fake_run = with_both(&serve(1), CALL);
    fake_run.settings.plan.subjects[0].backend = Some("behind".to_owned());
    let idle = "echo ready 2; cat > /dev/null; echo served 1";
    fake_run.test_folder.subject("behind", "backend", idle);
    let row = fake_run.row();
    let expected = "counts differ: the backend served 1, its server answered OK at least 10";
    assert_eq!(error(&row), expected);
    assert_eq!((row.served, row.backend_served), (Some(10), Some(1)));
}

fn a_backend_that_is_needed_is_started_unless_the_suite_names_another() {
    let mut fake_run = with_both("", CALL);
    let test_folder = &fake_run.test_folder;
    test_folder.subject_with("server", "server", &serve(1), "needs_backend = \"own\"");
    test_folder.subject("own", "backend", &backend("own", 2));
    test_folder.subject("other", "backend", &backend("other", 3));
    let row = fake_run.row();
    assert_eq!(row.backend_served, Some(10));
    assert_eq!(text(&fake_run, "behind"), "own\n");
    fake_run.settings.plan.subjects[0].backend = Some("other".to_owned());
    measured(&fake_run.row());
    assert_eq!(text(&fake_run, "behind"), "other\n");
}

fn a_backend_that_is_not_there_is_named() {
    let mut fake_run = with_both(&serve(1), CALL);
    fake_run.settings.plan.subjects[0].backend = Some("nobody".to_owned());
    match fake_run.row().outcome {
        Outcome::Missing { reason } => assert!(reason.starts_with("its backend: "), "{reason}"),
        other => panic!("not missing: {other:?}"),
    }
    fake_run.settings.plan.subjects[0].backend = Some("load".to_owned());
    assert_eq!(error(&fake_run.row()), "load cannot be a backend");
    fake_run.test_folder.subject("bad", "backend", "echo no database >&2; exit 1");
    fake_run.settings.plan.subjects[0].backend = Some("bad".to_owned());
    let expected = "its backend: no database (exit status: 1)";
    assert_eq!(error(&fake_run.row()), expected);
}

fn a_backend_that_dies_is_named() {
    let wait = "while kill -0 $(cat ../behind.pid) 2> /dev/null; do sleep 0.01; done";
    let mut fake_run = with_both(&serve(1), &format!("{CALL}\n{wait}"));
    let dying = "echo $$ > ../behind.pid; echo ready 2\n\
                 while [ ! -s ../calls-1 ]; do sleep 0.01; done\necho out of disk >&2; exit 9";
    fake_run.test_folder.subject("behind", "backend", dying);
    fake_run.settings.plan.subjects[0].backend = Some("behind".to_owned());
    fake_run.settings.timeouts.grace = std::time::Duration::from_secs(2);
    let expected = "the backend of the server ended while it was measured: out of disk (exit \
                    status: 9)";
    assert_eq!(error(&fake_run.row()), expected);
}

fn a_fixed_number_of_calls_is_told_to_a_fresh_server() {
    let server = note_variables("server") + &serve(1);
    let load = note_variables("load") + CALL;
    let mut fake_run = with_both(&server, &load);
    set_cases(&mut fake_run, &["C=1 S=5 calls=10", "C=1 S=2 calls=10"]);
    let rows = fake_run.rows();
    assert_eq!(rows.len(), 2);
    for row in &rows {
        let measured = measured(row);
        assert_eq!((measured.counts.ok, row.served), (10, Some(10)), "a server each");
        assert!(measured.window_seconds > 0.0);
    }
    assert_eq!(text(&fake_run, "server.env").lines().count(), 2);
    for line in text(&fake_run, "load.env").lines() {
        assert!(line.contains("BOOKEND_CALLS=10 "), "{line}");
        assert!(!line.contains("BOOKEND_MEASURE_MS"), "{line}");
    }
}

fn calls_that_failed_do_not_fail_the_row() {
    let load = "\
echo 6 >> ../calls-${BOOKEND_TARGET##*:}
echo window start
echo window end
echo 1000 4
echo ok 4
echo error DEADLINE_EXCEEDED 6
";
    let mut fake_run = with_both(&serve(1), load);
    set_cases(&mut fake_run, &["C=1 S=5 calls=10"]);
    let row = fake_run.row();
    let measured = measured(&row);
    assert_eq!((measured.counts.ok, measured.counts.errors["DEADLINE_EXCEEDED"]), (4, 6));
    assert_eq!(row.served, Some(6), "two of the failed calls were answered");
    assert_eq!(measured.marks, []);
}

fn an_overloaded_server_that_must_be_killed_is_only_marked() {
    let deaf = "trap '' TERM HUP; : > ../calls-1; echo ready 1; while :; do sleep 1; done";
    let mut fake_run = with_both(deaf, CALL);
    set_cases(&mut fake_run, &["C=1 S=5 calls=10"]);
    fake_run.settings.plan.drain_ms = Some(50);
    let row = fake_run.row();
    let expected = "the server did not end within 50ms of its standard input's end and was killed";
    assert_eq!(marks(&row), [expected]);
}

/// An instrument that gets everything from its command line and prints what ghz prints.
fn with_ghz(more: &str) -> FakeRun {
    let fake_run = with_both(&serve(1), "");
    let ghz = "echo \"$@\" >> ../told\n\
               echo 10 >> ../calls-1\n\
               echo '{\"count\":10,\"total\":2000000000,\
               \"statusCodeDistribution\":{\"OK\":4,\"DeadlineExceeded\":6}}'";
    let run = "run = [\"./run.sh\", \"-c{concurrency}\", \"--connections={connections}\", \
               \"-z{measure_ms}ms\", \"-t{deadline_ms}ms\"]";
    let test_folder = &fake_run.test_folder;
    test_folder.subject_with("load", "instrument", ghz, &format!("output = \"ghz-json\"\n{more}"));
    let file = test_folder.path().join("load/subject.toml");
    let declared = fs::read_to_string(&file).unwrap();
    fs::write(&file, declared.replace("run = [\"./run.sh\"]", run)).unwrap();
    fake_run
}

const RUN_CALLS: &str = "run_calls = [\"./run.sh\", \"-n{calls}\", \"-t{deadline_ms}ms\"]";

fn instruments_have_a_command_of_their_own_for_calls() {
    let mut fake_run = with_ghz(RUN_CALLS);
    set_cases(&mut fake_run, &["C=1 S=5 calls=10"]);
    let row = fake_run.row();
    let measured = measured(&row);
    assert_eq!((measured.counts.ok, measured.counts.errors["DEADLINE_EXCEEDED"]), (4, 6));
    assert_eq!((measured.window_seconds, measured.counts.unfinished), (2.0, 0));
    let warmup_then_calls = "-c5 --connections=1 -z1ms\n-n10\n";
    assert_eq!(text(&fake_run, "told"), warmup_then_calls);

    let mut fake_run = with_ghz("");
    set_cases(&mut fake_run, &["C=1 S=5 calls=10"]);
    let expected = "load cannot make a given number of calls: it has no `run_calls`";
    assert_eq!(unsupported(&fake_run.row()), expected);
}

fn a_deadline_is_told_in_both_ways() {
    let mut fake_run = with_ghz(RUN_CALLS);
    fake_run.settings.plan.warmup_ms = 0;
    fake_run.settings.plan.deadline_ms = Some(20_000);
    measured(&fake_run.row());
    let without_warmup = "-c1 --connections=1 -z1ms -t20000ms\n";
    assert_eq!(text(&fake_run, "told"), without_warmup);

    let mut fake_run = with_both(&serve(1), &(note_variables("load") + CALL));
    fake_run.settings.plan.deadline_ms = Some(20_000);
    fake_run.settings.plan.limits.server_processes = Some(300);
    fake_run.settings.plan.subjects[0].server_processes = Some(200);
    measured(&fake_run.row());
    let notes = fake_run.store.latest_run().unwrap().unwrap().notes;
    for said in [
        "deadline of each call: 20000 ms",
        "300 processes for the server: not limited, no control group can do it",
        "200 processes for server: not limited, no control group can do it",
    ] {
        assert!(notes.contains(&said.to_owned()), "{notes:?}");
    }
    assert!(text(&fake_run, "load.env").contains("BOOKEND_DEADLINE_MS=20000 "));
}

fn a_connection_a_call_is_told_or_unsupported() {
    let mut fake_run = with_both(&serve(1), &(note_variables("load") + CALL));
    set_cases(&mut fake_run, &["C=10 S=10 per-call"]);
    let row = fake_run.row();
    assert_eq!(row.cell.case.to_string(), "C=10 S=10 per-call");
    measured(&row);
    assert!(text(&fake_run, "load.env").contains("BOOKEND_CONNECTION_PER_CALL=1 "));

    let mut fake_run = with_ghz("");
    set_cases(&mut fake_run, &["C=10 S=10 per-call"]);
    let expected = "load cannot open a connection for each call";
    assert_eq!(unsupported(&fake_run.row()), expected);
}

fn notes_of_everybody_are_kept() {
    let server =
        serve(1).replace("cat > /dev/null", "cat > /dev/null; echo note gc_pause_max_ns 812345");
    let server = format!("{server}\necho note gc_cycles 57");
    let load = format!("{CALL}\necho note connections_opened 64\necho note share 0.5");
    let row = with_both(&server, &load).row();
    let measured = measured(&row);
    assert_eq!(measured.marks, []);
    assert_eq!(measured.notes["connections_opened"], 64.0);
    assert_eq!(measured.notes["share"], 0.5);
    assert_eq!(row.server_notes["gc_pause_max_ns"], 812_345.0);
    assert_eq!(row.server_notes["gc_cycles"], 57.0);
    assert!(row.backend_notes.is_empty());
}

fn lines_of_a_servers_log_are_counted_and_kept() {
    let complaint = "for _ in 1 2 3; do echo 'x: no thread for it' >&2; done; ";
    let server = serve(1).replace("cat > /dev/null", &format!("cat > /dev/null; {complaint}"));
    let mut fake_run = with_both(&server, CALL);
    let counted = "log_notes = { threads_refused = \"no thread\", panics = \"panic\" }";
    fake_run.test_folder.subject_with("server", "server", &server, counted);
    let row = fake_run.row();
    assert_eq!(measured(&row).marks, []);
    assert_eq!(row.server_notes["threads_refused"], 3.0);
    assert_eq!(row.server_notes["panics"], 0.0);
}

fn too_many_notes_are_too_many() {
    let log = "i=0; while [ $i -lt 65 ]; do i=$((i + 1)); echo note line_$i 1; done";
    let row = with_both(&serve(1), &format!("{CALL}\n{log}")).row();
    assert_eq!(error(&row), "it noted more than 64 facts");
    let row = with_both(&format!("{}\n{log}", serve(1)), CALL).row();
    assert_eq!(marks(&row), ["the server: it noted more than 64 facts"]);
    assert_eq!(row.server_notes.len(), 64);
}

fn another_protocol_is_not_probed() {
    let mut fake_run = with_both("", "");
    let test_folder = &fake_run.test_folder;
    let thrift = "protocol = \"thrift\"\nmethods = [\"Greeter/say\"]";
    test_folder.subject_with("server", "server", &serve(1), thrift);
    test_folder.subject_with("load", "client", CALL, thrift);
    fake_run.settings.probe = Some(vec!["false".to_owned()]);
    let row = fake_run.row();
    assert_eq!(marks(&row), [""; 0]);
    assert_eq!(row.server_notes["preparing_calls"], 0.0);
    let run = fake_run.store.latest_run().unwrap().unwrap();
    let said = "server speaks Thrift: the lab makes no call itself, callers check every reply";
    assert!(run.notes.contains(&said.to_owned()), "{:?}", run.notes);
}

fn two_protocols_cannot_talk() {
    let mut fake_run = with_both("", CALL);
    let thrift = "protocol = \"thrift\"";
    fake_run.test_folder.subject_with("server", "server", &serve(1), thrift);
    let expected = "server and load cannot talk: the server speaks Thrift, the caller gRPC";
    assert_eq!(error(&fake_run.row()), expected);
}

fn what_nobody_serves_is_unsupported() {
    let mut fake_run = with_both("", CALL);
    let other = "methods = [\"fake.Service/Other\"]";
    fake_run.test_folder.subject_with("server", "server", &serve(1), other);
    let expected = "server does not serve fake.Service/Method";
    assert_eq!(unsupported(&fake_run.row()), expected);
    fake_run.test_folder.subject("server", "server", &serve(1));
    fake_run.test_folder.subject_with("load", "instrument", CALL, other);
    let expected = "load does not call fake.Service/Method";
    assert_eq!(unsupported(&fake_run.row()), expected);
}
