//! What carries the connections: each server is told of its way to listen, its callers of the same,
//! and who cannot says so or is not asked.

use crate::rounds::{Performance, error, marks, measured};
use crate::stage::{CALL, Stage, serve};
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
    let serve = serve(7).replace("ready 7", "ready $port");
    let serve = serve.replace("calls-7", "calls-$number");
    format!("env | grep BOOKEND_ > ../server-$BOOKEND_TRANSPORT.env\n{NUMBER}{serve}")
}

/// A fake instrument that notes its variables.
fn load() -> String {
    let call = CALL.replace("${BOOKEND_TARGET##*:}", "$number");
    format!("env | grep BOOKEND_ > ../load-$BOOKEND_TRANSPORT.env\n{NUMBER}{call}")
}

/// The fakes under these cases.
fn performance(server: &str, load: &str, cases: &[&str]) -> Performance {
    let stage = Stage::new();
    stage.subject_with("server", "server", server, ALL);
    stage.subject_with("load", "instrument", load, ALL);
    let mut performance = Performance::new(stage, &["server"], "load");
    let cases = cases.iter().map(|case| case.parse::<Case>().unwrap());
    performance.settings.plan.cases = cases.collect();
    performance
}

fn text(performance: &Performance, name: &str) -> String {
    fs::read_to_string(performance.stage.folder().join(name)).unwrap()
}

/// The value of a variable that a process has noted; empty where it had none.
fn variable(performance: &Performance, file: &str, name: &str) -> String {
    let noted = text(performance, file);
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
    let mut performance = performance(&server(), &load(), &cases);
    let rows = performance.rows();
    assert_eq!(rows.len(), 4);
    for row in &rows {
        assert_eq!(marks(row), [""; 0], "{row:?}");
        let is_tls = row.cell.case.transport == Transport::Tls;
        let cells = if is_tls { 2 } else { 1 };
        assert_eq!(row.served, Some(10 * cells), "{}", row.cell.case);
    }
    let plain = text(&performance, "server-.env");
    assert!(!plain.contains("TLS") && !plain.contains("UNIX"), "{plain}");
}

fn both_ends_of_tls_get_certificates_of_one_authority() {
    let keep = "cp \"$BOOKEND_TLS_CERTIFICATE\" \"$BOOKEND_TLS_KEY\" ..\n";
    let mut performance = performance(&(keep.to_owned() + &server()), &load(), &["C=1 S=1 tls"]);
    measured(&performance.row());
    let of = |file, name| variable(&performance, file, name);
    let (server, load) = ("server-tls.env", "load-tls.env");
    assert_eq!(of(server, "TLS_CA"), of(load, "TLS_CA"));
    assert_ne!(of(server, "TLS_KEY"), of(load, "TLS_KEY"));
    assert_eq!(of(load, "TARGET"), "127.0.0.1:2");
    let begins = |name, line: &str| text(&performance, name).starts_with(line);
    assert!(begins("server.pem", "-----BEGIN CERTIFICATE-----"));
    assert!(begins("server.key", "-----BEGIN PRIVATE KEY-----"));
    assert!(!Path::new(&of(server, "TLS_KEY")).exists(), "kept");
}

fn a_socket_is_told_to_both_ends_and_gone_after_the_run() {
    let bind = ": > \"$BOOKEND_UNIX_SOCKET\"\n";
    let text = format!(
        "[ ! -e \"$BOOKEND_UNIX_SOCKET\" ] || exit 1\n{bind}{}",
        server()
    );
    let mut performance = performance(&text, &load(), &["C=1 S=1 unix"]);
    measured(&performance.row());
    let of = |file, name| variable(&performance, file, name);
    let socket = of("server-unix.env", "UNIX_SOCKET");
    assert_eq!(of("load-unix.env", "UNIX_SOCKET"), socket);
    assert_eq!(of("load-unix.env", "TARGET"), format!("unix:{socket}"));
    assert!(!Path::new(&socket).exists(), "{socket} is left");
}

fn who_declares_no_such_transport_is_not_started() {
    let mut performance = performance(&server(), &load(), &["C=1 S=1 tls"]);
    performance.stage.subject("server", "server", &server());
    let row = performance.row();
    assert_eq!(unsupported(&row), "server does not serve over tls");
    assert!(!performance.stage.folder().join("calls-2").exists());

    let only = "transports = [\"tls\"]";
    performance
        .stage
        .subject_with("server", "server", &server(), only);
    performance.stage.subject("load", "instrument", &load());
    let row = performance.row();
    assert_eq!(unsupported(&row), "load does not call over tls");
}

fn a_subject_may_refuse_a_transport_itself() {
    let refusing = "[ -z \"$BOOKEND_TRANSPORT\" ] || { echo not here >&2; exit 89; }\n".to_owned();
    let cases = ["C=1 S=1", "C=1 S=1 unix"];
    let mut performance = performance(&(refusing + &server()), &load(), &cases);
    let rows = performance.rows();
    let of = |case: &str| {
        rows.iter()
            .find(|row| row.cell.case.to_string() == case)
            .unwrap()
    };
    assert_eq!(measured(of("C=1 S=1")).ok, 10);
    assert_eq!(unsupported(of("C=1 S=1 unix")), "not here");
}

fn a_server_that_listens_elsewhere_fails() {
    let mut deaf = performance(&serve(7), &load(), &["C=1 S=1 unix"]);
    let said = "the server said `ready 7`: on a Unix socket it is `ready 0`";
    assert_eq!(error(&deaf.row()), said);
    let mut nowhere = performance(&serve(0), &load(), &["C=1 S=1"]);
    let row = nowhere.row();
    assert!(
        error(&row).starts_with("the server said `ready 0`"),
        "{row:?}"
    );
}

fn command_lines_follow_the_transport() {
    let note = "echo \"$@\" > ../arguments-${BOOKEND_TRANSPORT:-h2c}\n";
    let cases = ["C=1 S=1", "C=1 S=1 tls", "C=2 S=2 unix per-call"];
    let mut performance = performance(&server(), &(note.to_owned() + &load()), &cases);
    let run = "[[variants]]\nname = \"only\"\nrun = [\"./run.sh\", \"--insecure{if_plaintext}\", \
               \"--cacert={tls_ca}\", \"--one-shot{if_per_call}\", \"{scheme}://{authority}\", \
               \"{connections}\", \"{target}\"]";
    let stage = &performance.stage;
    let load = note.to_owned() + &load();
    stage.subject_with("load", "instrument", &load, &format!("{ALL}\n{run}"));
    for row in performance.rows() {
        assert_eq!(marks(&row), [""; 0], "{row:?}");
    }
    let said = |name: &str| {
        text(&performance, &format!("arguments-{name}"))
            .trim()
            .to_owned()
    };
    assert_eq!(said("h2c"), "--insecure http://127.0.0.1:1 1 127.0.0.1:1");
    let ca = variable(&performance, "load-tls.env", "TLS_CA");
    let secured = format!("--cacert={ca} https://127.0.0.1:2 1 127.0.0.1:2");
    assert_eq!(said("tls"), secured);
    let target = variable(&performance, "load-unix.env", "TARGET");
    let local = format!("--insecure --one-shot http://localhost 2 {target}");
    assert_eq!(said("unix"), local);
}

fn the_verified_call_goes_the_same_way() {
    let mut performance = performance(&server(), &load(), &["C=1 S=1 tls"]);
    let folder = performance.stage.folder().display().to_string();
    let words = ["sh", "-c", "echo \"$@\" > \"$0\"; echo '{}'"].map(str::to_owned);
    let more = [format!("{folder}/probed")].into_iter();
    let probe = words.into_iter().chain(more);
    let of_lab = bookend_lab::probe::CALL[2..5]
        .iter()
        .map(|word| (*word).to_owned());
    performance.settings.probe = Some(probe.chain(of_lab).collect());
    performance.rows();
    let ca = variable(&performance, "server-tls.env", "TLS_CA");
    let probed = text(&performance, "probed");
    assert_eq!(probed.trim(), format!("127.0.0.1:2 --cacert={ca}"));
}

fn what_stands_behind_a_server_is_called_in_plain_text() {
    let mut performance = performance(&server(), &load(), &["C=1 S=1 unix"]);
    let behind =
        "env | grep BOOKEND_ > ../behind.env\necho ready 9\ncat > /dev/null\necho served 10";
    performance.stage.subject("behind", "backend", behind);
    performance.settings.plan.subjects[0].backend = Some("behind".to_owned());
    measured(&performance.row());
    let address = variable(&performance, "server-unix.env", "BACKEND");
    assert_eq!(address, "127.0.0.1:9");
    assert_eq!(variable(&performance, "behind.env", "TRANSPORT"), "");
}

fn who_spins_is_kept_with_the_row() {
    let mut performance = performance(&server(), &load(), &["C=1 S=1"]);
    let asleep = measured(&performance.row()).spinning;
    assert_eq!(asleep, Spinning::default());
    let spins = "wait = \"spin\"";
    performance
        .stage
        .subject_with("load", "instrument", &load(), spins);
    let spinning = measured(&performance.row()).spinning;
    assert!(spinning.generator && !spinning.server, "{spinning:?}");
    performance
        .stage
        .subject_with("server", "server", &server(), spins);
    let spinning = measured(&performance.row()).spinning;
    assert!(spinning.generator && spinning.server, "{spinning:?}");
}
