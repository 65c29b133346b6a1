//! The doctor calls every variant over every transport that it declares, each from an end that has
//! it too.

use bookend_contract::transport::Transport;
use bookend_lab::doctor::{CheckSuite, Unchecked, VariantName, check_suites, definitions};
use bookend_lab::subject::Subject;
use std::path::{Path, PathBuf};

fn protos() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto")
}

fn subject(name: &str, role: &str, transports: &str) -> Subject {
    let text = format!(
        "name = \"{name}\"\nlanguage = \"sh\"\ndescription = \"a fake\"\nroles = [\"{role}\"]\n\
         version = [\"x\"]\nrun = [\"x\"]\n{transports}"
    );
    Subject::parse(Path::new(name), &text).expect("well-formed")
}

fn checked(wanted: &Subject, others: &[Subject]) -> (Vec<CheckSuite>, Vec<Unchecked>) {
    let all: Vec<Subject> = others.iter().chain([wanted]).cloned().collect();
    let folder = protos();
    let known = definitions(&folder).expect("the folder is in the tree");
    check_suites(&[wanted], &all, &known, &folder)
}

/// Over what, and between whom.
fn cells(check_suites: &[CheckSuite]) -> Vec<(Transport, String, String)> {
    let mut cells = Vec::new();
    for check_suite in check_suites {
        let [case] = check_suite.suite.full.cases[..] else {
            panic!("not one case: {:?}", check_suite.suite.full.cases);
        };
        for (subject, instrument) in check_suite.about.keys() {
            cells.push((case.transport, subject.clone(), instrument.clone()));
        }
    }
    cells.sort();
    cells
}

const ALL: &str = "transports = [\"h2c\", \"tls\", \"unix\"]";

#[test]
fn a_server_is_called_over_each_of_its_transports() {
    let server = subject("server", "server", ALL);
    let (check_suites, unchecked) = checked(&server, &[]);
    let cell = |transport| (transport, "server/default".into(), "bookend-load".into());
    assert_eq!(cells(&check_suites), Transport::ALL.map(cell));
    assert_eq!(unchecked, []);
}

#[test]
fn who_declares_nothing_is_called_in_plain_text_alone() {
    let server = subject("server", "server", "");
    let (check_suites, _) = checked(&server, &[]);
    assert_eq!(cells(&check_suites).len(), 1);
    assert_eq!(cells(&check_suites)[0].0, Transport::H2c);
}

#[test]
fn a_caller_meets_a_server_that_has_the_transport_too() {
    let caller = subject("caller", "instrument", "transports = [\"h2c\", \"unix\"]");
    let plain = subject("plain", "server", "");
    let both = subject("both", "server", "transports = [\"unix\"]");
    let (check_suites, unchecked) = checked(&caller, &[plain.clone(), both]);
    let cell = |transport, server: &str| (transport, server.into(), "caller/default".into());
    let expected = [cell(Transport::H2c, "plain/default"), cell(Transport::Unix, "both/default")];
    assert_eq!(cells(&check_suites), expected);
    assert_eq!(unchecked, []);

    let (_, unchecked) = checked(&caller, &[plain]);
    let missing = Unchecked {
        variant: VariantName("caller/default".to_owned()),
        reason: "no server here serves helloworld.Greeter/SayHello over unix".to_owned(),
    };
    assert_eq!(unchecked, [missing]);
}
