//! What carries the connections: each server gets its way to listen, its callers get the same, and
//! a program that lacks it says so or is not started.

use crate::rounds::{FakeRun, error, marks, measured};
use crate::test_folder::{CALL, TestFolder, serve};
use bookend_contract::transport::Transport;
use bookend_results::measurement::{Outcome, Row, Spinning};
use bookend_results::suite::Case;
use std::fs;
use std::path::Path;

tests![
    each_transport_has_a_server_of_its_own,
    both_ends_of_tls_get_certificates_of_one_authority,
    a_socket_is_told_to_both_ends_and_gone_after_the_run,
    who_declares_no_such_transport_is_not_started,
    a_subject_may_refuse_a_transport_itself,
    a_server_that_listens_elsewhere_fails,
    command_lines_follow_the_transport,
    the_verified_call_goes_the_same_way,
    what_stands_behind_a_server_is_called_in_plain_text,
    who_spins_is_kept_with_the_row,
];

const ALL: &str = "transports = [\"h2c\", \"tls\", \"unix\"]";

/// Nobody connects, so a number a transport will do to count its calls.
const NUMBER: &str = "\
case ${BOOKEND_TRANSPORT:-h2c} in h2c) number=1; port=1;; tls) number=2; port=2;; \
unix) number=3; port=0;; esac
";

/// A fake server that notes its variables.
fn server() -> String {
    let serve = serve(7).replace("ready 7", "ready $port").replace("calls-7", "calls-$number");
    format!("env | grep BOOKEND_ > ../server-$BOOKEND_TRANSPORT.env\n{NUMBER}{serve}")
}

/// A fake instrument that notes its variables.
fn load() -> String {
    let call = CALL.replace("${BOOKEND_TARGET##*:}", "$number");
    format!("env | grep BOOKEND_ > ../load-$BOOKEND_TRANSPORT.env\n{NUMBER}{call}")
}

/// The fakes under these cases.
fn fake_run(server: &str, load: &str, cases: &[&str]) -> FakeRun {
    let test_folder = TestFolder::new();
    test_folder.subject_with("server", "server", server, ALL);
    test_folder.subject_with("load", "instrument", load, ALL);
    let mut fake_run = FakeRun::new(test_folder, &["server"], "load");
    let cases = cases.iter().map(|case| case.parse::<Case>().unwrap());
    fake_run.settings.plan.cases = cases.collect();
    fake_run
}

fn text(fake_run: &FakeRun, name: &str) -> String {
    fs::read_to_string(fake_run.test_folder.path().join(name)).unwrap()
}

/// The value of a variable that a process has noted; empty where it had none.
fn variable(fake_run: &FakeRun, file: &str, name: &str) -> String {
    let noted = text(fake_run, file);
    let mut lines = noted.lines();
    let start = format!("BOOKEND_{name}=");
    let value = lines.find_map(|line| line.strip_prefix(&start));
    value.unwrap_or_default().to_owned()
}

fn unsupported(row: &Row) -> &str {
    match &row.outcome {
        Outcome::Unsupported { reason } => reason,
        other => panic!("not unsupported: {other:?}"),
    }
}

fn each_transport_has_a_server_of_its_own() {
    let cases = ["C=1 S=1", "C=1 S=1 tls", "C=1 S=2 tls", "C=1 S=1 unix"];
    let mut fake_run = fake_run(&server(), &load(), &cases);
    let rows = fake_run.rows();
    assert_eq!(rows.len(), 4);
    for row in &rows {
        assert_eq!(marks(row), [""; 0], "{row:?}");
        let is_tls = row.cell.case.transport == Transport::Tls;
        let cells = if is_tls { 2 } else { 1 };
        assert_eq!(row.served, Some(10 * cells), "{}", row.cell.case);
    }
    let plain = text(&fake_run, "server-.env");
    assert!(!plain.contains("TLS") && !plain.contains("UNIX"), "{plain}");
}

fn both_ends_of_tls_get_certificates_of_one_authority() {
    let keep = "cp \"$BOOKEND_TLS_CERTIFICATE\" \"$BOOKEND_TLS_KEY\" ..\n";
    let mut fake_run = fake_run(&(keep.to_owned() + &server()), &load(), &["C=1 S=1 tls"]);
    measured(&fake_run.row());
    let of = |file, name| variable(&fake_run, file, name);
    let (server, load) = ("server-tls.env", "load-tls.env");
    assert_eq!(of(server, "TLS_CA"), of(load, "TLS_CA"));
    assert_ne!(of(server, "TLS_KEY"), of(load, "TLS_KEY"));
    assert_eq!(of(load, "TARGET"), "127.0.0.1:2");
    let begins = |name, line: &str| text(&fake_run, name).starts_with(line);
    assert!(begins("server.pem", "-----BEGIN CERTIFICATE-----"));
    assert!(begins("server.key", "-----BEGIN PRIVATE KEY-----"));
    assert!(!Path::new(&of(server, "TLS_KEY")).exists(), "kept");
}

fn a_socket_is_told_to_both_ends_and_gone_after_the_run() {
    let bind = ": > \"$BOOKEND_UNIX_SOCKET\"\n";
    let text = format!("[ ! -e \"$BOOKEND_UNIX_SOCKET\" ] || exit 1\n{bind}{}", server());
    let mut fake_run = fake_run(&text, &load(), &["C=1 S=1 unix"]);
    measured(&fake_run.row());
    let of = |file, name| variable(&fake_run, file, name);
    let socket = of("server-unix.env", "UNIX_SOCKET");
    assert_eq!(of("load-unix.env", "UNIX_SOCKET"), socket);
    assert_eq!(of("load-unix.env", "TARGET"), format!("unix:{socket}"));
    assert!(!Path::new(&socket).exists(), "{socket} is left");
}

fn who_declares_no_such_transport_is_not_started() {
    let mut fake_run = fake_run(&server(), &load(), &["C=1 S=1 tls"]);
    fake_run.test_folder.subject("server", "server", &server());
    let row = fake_run.row();
    assert_eq!(unsupported(&row), "server does not serve over tls");
    assert!(!fake_run.test_folder.path().join("calls-2").exists());

    let only = "transports = [\"tls\"]";
    fake_run.test_folder.subject_with("server", "server", &server(), only);
    fake_run.test_folder.subject("load", "instrument", &load());
    let row = fake_run.row();
    assert_eq!(unsupported(&row), "load does not call over tls");
}

fn a_subject_may_refuse_a_transport_itself() {
    let refusing = "[ -z \"$BOOKEND_TRANSPORT\" ] || { echo not here >&2; exit 89; }\n".to_owned();
    let cases = ["C=1 S=1", "C=1 S=1 unix"];
    let mut fake_run = fake_run(&(refusing + &server()), &load(), &cases);
    let rows = fake_run.rows();
    let of = |case: &str| rows.iter().find(|row| row.cell.case.to_string() == case).unwrap();
    assert_eq!(measured(of("C=1 S=1")).counts.ok, 10);
    assert_eq!(unsupported(of("C=1 S=1 unix")), "not here");
}

fn a_server_that_listens_elsewhere_fails() {
    let mut deaf = fake_run(&serve(7), &load(), &["C=1 S=1 unix"]);
    let said = "the server said `ready 7`: on a Unix socket it is `ready 0`";
    assert_eq!(error(&deaf.row()), said);
    let mut nowhere = fake_run(&serve(0), &load(), &["C=1 S=1"]);
    let row = nowhere.row();
    assert!(error(&row).starts_with("the server said `ready 0`"), "{row:?}");
}

fn command_lines_follow_the_transport() {
    let note = "echo \"$@\" > ../arguments-${BOOKEND_TRANSPORT:-h2c}\n";
    let cases = ["C=1 S=1", "C=1 S=1 tls", "C=2 S=2 unix per-call"];
    let mut fake_run = fake_run(&server(), &(note.to_owned() + &load()), &cases);
    let run = "[[variants]]\nname = \"only\"\nrun = [\"./run.sh\", \"--insecure{if_plaintext}\", \
               \"--cacert={tls_ca}\", \"--one-shot{if_per_call}\", \"{scheme}://{authority}\", \
               \"{connections}\", \"{target}\"]";
    let test_folder = &fake_run.test_folder;
    let load = note.to_owned() + &load();
    test_folder.subject_with("load", "instrument", &load, &format!("{ALL}\n{run}"));
    for row in fake_run.rows() {
        assert_eq!(marks(&row), [""; 0], "{row:?}");
    }
    let said = |name: &str| text(&fake_run, &format!("arguments-{name}")).trim().to_owned();
    assert_eq!(said("h2c"), "--insecure http://127.0.0.1:1 1 127.0.0.1:1");
    let ca = variable(&fake_run, "load-tls.env", "TLS_CA");
    let secured = format!("--cacert={ca} https://127.0.0.1:2 1 127.0.0.1:2");
    assert_eq!(said("tls"), secured);
    let target = variable(&fake_run, "load-unix.env", "TARGET");
    let local = format!("--insecure --one-shot http://localhost 2 {target}");
    assert_eq!(said("unix"), local);
}

fn the_verified_call_goes_the_same_way() {
    let mut fake_run = fake_run(&server(), &load(), &["C=1 S=1 tls"]);
    let folder = fake_run.test_folder.path().display().to_string();
    let words = ["sh", "-c", "echo \"$@\" > \"$0\"; echo '{}'"].map(str::to_owned);
    let more = [format!("{folder}/probed")].into_iter();
    let probe = words.into_iter().chain(more);
    let of_lab = bookend_lab::probe::CALL[2..5].iter().map(|word| (*word).to_owned());
    fake_run.settings.probe = Some(probe.chain(of_lab).collect());
    fake_run.rows();
    let ca = variable(&fake_run, "server-tls.env", "TLS_CA");
    let probed = text(&fake_run, "probed");
    assert_eq!(probed.trim(), format!("127.0.0.1:2 --cacert={ca}"));
}

fn what_stands_behind_a_server_is_called_in_plain_text() {
    let mut fake_run = fake_run(&server(), &load(), &["C=1 S=1 unix"]);
    let behind =
        "env | grep BOOKEND_ > ../behind.env\necho ready 9\ncat > /dev/null\necho served 10";
    fake_run.test_folder.subject("behind", "backend", behind);
    fake_run.settings.plan.subjects[0].backend = Some("behind".to_owned());
    measured(&fake_run.row());
    let address = variable(&fake_run, "server-unix.env", "BACKEND");
    assert_eq!(address, "127.0.0.1:9");
    assert_eq!(variable(&fake_run, "behind.env", "TRANSPORT"), "");
}

fn who_spins_is_kept_with_the_row() {
    let mut fake_run = fake_run(&server(), &load(), &["C=1 S=1"]);
    let asleep = measured(&fake_run.row()).spinning;
    assert_eq!(asleep, Spinning::default());
    let spins = "wait = \"spin\"";
    fake_run.test_folder.subject_with("load", "instrument", &load(), spins);
    let spinning = measured(&fake_run.row()).spinning;
    assert!(spinning.generator && !spinning.server, "{spinning:?}");
    fake_run.test_folder.subject_with("server", "server", &server(), spins);
    let spinning = measured(&fake_run.row()).spinning;
    assert!(spinning.generator && spinning.server, "{spinning:?}");
}
