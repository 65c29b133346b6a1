//! Whether everything that can be measured here is there and answers: small suites with one cell
//! for every variant of every subject, made of what the subjects declare.
//!
//! A server is called by our own generator, one that speaks something else by a client of its kind;
//! a client calls a server that serves its method; an instrument loads a server; a backend serves
//! a server that needs one.

mod definitions;

pub use definitions::{Definition, DefinitionError, definitions};

use crate::subject::{Protocol, Subject, Variant};
use bookend_contract::environment::Role;
use bookend_contract::transport::Transport;
use bookend_results::suite::{
    Case, PlannedSubject, Request, RequestMessage, Schedule, Suite, SuiteLimits, SuiteSubject,
    TestedEnd,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// What calls servers that speak gRPC.
const CALLER: &str = "bookend-load";

/// What is called where a variant names no method: every server under test has it.
const METHOD: &str = "helloworld.Greeter/SayHello";

/// Long enough for a call on a virtual machine that has just been started.
const WINDOW: Duration = Duration::from_millis(300);

/// A call through a backend that blocks for a second ends in it.
const WINDOW_WITH_BACKEND: Duration = Duration::from_millis(2500);

/// A variant of a subject by its full name: `java-grpc/virtual`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VariantName(pub String);

/// One cell that shows whether a variant answers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Check {
    /// What the cell is about.
    variant: VariantName,
    /// The end that a suite would list.
    subject: String,
    /// The other end.
    instrument: String,
    suite: SuiteKey,
}

/// What all checks of a suite have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SuiteKey {
    method: String,
    backend: Option<String>,
    transport: Transport,
    /// A program that can be both ends may meet itself, once as either.
    is_client: bool,
}

/// A suite of checks, and which cell is about which variant.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckSuite {
    /// The suite: one case, one round, a short window.
    pub suite: Suite,
    /// By subject and instrument of a cell: the variants that it is about.
    pub about: BTreeMap<(String, String), Vec<VariantName>>,
}

/// What cannot be called, and why: nothing declares the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchecked {
    /// The variant.
    pub variant: VariantName,
    /// What is missing.
    pub reason: String,
}

/// The full name of a variant.
pub fn name_of(subject: &Subject, variant: &Variant) -> VariantName {
    VariantName(format!("{}/{}", subject.name, variant.name))
}

/// The suites that check `wanted` with the help of `all`, which `wanted` is part of.
pub fn check_suites(
    wanted: &[&Subject],
    all: &[Subject],
    definitions: &[Definition],
    folder: &Path,
) -> (Vec<CheckSuite>, Vec<Unchecked>) {
    let mut by_suite: BTreeMap<SuiteKey, Vec<Check>> = BTreeMap::new();
    let mut unchecked = Vec::new();
    let variants = wanted
        .iter()
        .flat_map(|subject| subject.variants.iter().map(move |variant| (*subject, variant)));
    for (subject, variant) in variants {
        for check in checks(subject, variant, all) {
            match check {
                Ok(check) => by_suite.entry(check.suite.clone()).or_default().push(check),
                Err(reason) => {
                    unchecked.push(Unchecked { variant: name_of(subject, variant), reason })
                }
            }
        }
    }
    let mut check_suites = Vec::new();
    for (key, checks) in by_suite {
        let method = &key.method;
        match definitions.iter().find(|known| known.serves(method)) {
            Some(definition) => check_suites.push(check_suite(key, checks, definition, folder)),
            None => unchecked.extend(checks.into_iter().map(|check| Unchecked {
                variant: check.variant,
                reason: format!("no service definition has {method}"),
            })),
        }
    }
    (check_suites, unchecked)
}

fn checks(subject: &Subject, variant: &Variant, all: &[Subject]) -> Vec<Result<Check, String>> {
    let roles = [Role::Server, Role::Client, Role::Instrument, Role::Backend];
    let played = roles.into_iter().filter(|&role| variant.has_role(role));
    let over = played.flat_map(|role| {
        let transports = match role {
            // A backend is called over one transport.
            Role::Backend => &[Transport::H2c],
            _ => variant.transports.as_slice(),
        };
        transports.iter().map(move |&transport| (role, transport))
    });
    over.map(|(role, transport)| check(subject, variant, role, transport, all)).collect()
}

fn check(
    subject: &Subject,
    variant: &Variant,
    role: Role,
    transport: Transport,
    all: &[Subject],
) -> Result<Check, String> {
    let name = name_of(subject, variant);
    let own = name.0.clone();
    let peer = Peer { protocol: variant.protocol, transport };
    let mut suite = SuiteKey {
        method: method_of(variant),
        backend: None,
        transport,
        is_client: role == Role::Client,
    };
    let (subject, instrument) = match role {
        Role::Server => {
            suite.backend.clone_from(&variant.needs_backend);
            (own, caller_of(subject, peer, all)?)
        }
        Role::Client => (own, server_for(subject, peer, &suite.method, all)?),
        Role::Instrument => (server_for(subject, peer, &suite.method, all)?, own),
        Role::Backend => {
            let (server, method) = server_before(subject, all)?;
            suite.method = method;
            suite.backend = Some(own);
            (server, CALLER.to_owned())
        }
    };
    Ok(Check { variant: name, subject, instrument, suite })
}

fn method_of(variant: &Variant) -> String {
    match variant.protocol {
        Protocol::Grpc => variant.methods.first().map_or(METHOD, String::as_str),
        // Its callers make their own message, so any that can be encoded will do.
        Protocol::Thrift => METHOD,
    }
    .to_owned()
}

/// What the other end of a check must be able to do.
#[derive(Clone, Copy)]
struct Peer {
    protocol: Protocol,
    transport: Transport,
}

impl Peer {
    fn understands(self, other: &Variant) -> bool {
        other.protocol == self.protocol && other.supports_transport(self.transport)
    }
}

fn caller_of(subject: &Subject, peer: Peer, all: &[Subject]) -> Result<String, String> {
    let (protocol, transport) = (peer.protocol, peer.transport);
    if protocol == Protocol::Grpc {
        return Ok(CALLER.to_owned());
    }
    let found = nearest_first(subject, all)
        .find(|(_, other)| peer.understands(other) && other.has_role(Role::Client));
    let found = found.map(|(subject, other)| name_of(subject, other).0);
    found.ok_or_else(|| format!("no client speaks {protocol} over {transport}"))
}

/// A server that can be called without anything behind it, of the same subject if there is one.
fn server_for(
    subject: &Subject,
    peer: Peer,
    method: &str,
    all: &[Subject],
) -> Result<String, String> {
    let found = nearest_first(subject, all).find(|(_, other)| {
        let answers = peer.understands(other) && other.supports_method(method);
        answers && other.has_role(Role::Server) && other.needs_backend.is_none()
    });
    let found = found.map(|(subject, other)| name_of(subject, other).0);
    found.ok_or_else(|| format!("no server here serves {method} over {}", peer.transport))
}

/// A server that needs something behind it, and what it serves.
fn server_before(subject: &Subject, all: &[Subject]) -> Result<(String, String), String> {
    let needs = |other: &Variant| other.has_role(Role::Server) && other.needs_backend.is_some();
    let found = nearest_first(subject, all).find(|(_, other)| needs(other));
    let found = found.map(|(subject, other)| (name_of(subject, other).0, method_of(other)));
    found.ok_or_else(|| "no server here needs a backend".to_owned())
}

/// Every variant, those of `subject` before those of others.
fn nearest_first<'a>(
    subject: &'a Subject,
    all: &'a [Subject],
) -> impl Iterator<Item = (&'a Subject, &'a Variant)> {
    let others = all.iter().filter(|other| other.name != subject.name);
    let subjects = std::iter::once(subject).chain(others);
    subjects.flat_map(|subject| subject.variants.iter().map(move |each| (subject, each)))
}

fn check_suite(
    key: SuiteKey,
    checks: Vec<Check>,
    definition: &Definition,
    folder: &Path,
) -> CheckSuite {
    let mut subjects: Vec<SuiteSubject> = Vec::new();
    let mut about: BTreeMap<_, Vec<VariantName>> = BTreeMap::new();
    for check in checks {
        let cell = (check.subject.clone(), check.instrument.clone());
        about.entry(cell).or_default().push(check.variant);
        let mut known = subjects.iter_mut().map(|subject| &mut subject.planned);
        let known = known.find(|known| known.name == check.subject);
        match known {
            Some(known) if known.instruments.contains(&check.instrument) => {}
            Some(known) => known.instruments.push(check.instrument),
            None => subjects.push(listed(check.subject, check.instrument, &key)),
        }
    }
    CheckSuite { suite: suite(key, subjects, definition, folder), about }
}

fn listed(name: String, instrument: String, key: &SuiteKey) -> SuiteSubject {
    let planned = PlannedSubject {
        name,
        instruments: vec![instrument],
        side: Some(if key.is_client { TestedEnd::Client } else { TestedEnd::Server }),
        ..PlannedSubject::default()
    };
    SuiteSubject { planned, full_only: false }
}

fn suite(
    key: SuiteKey,
    subjects: Vec<SuiteSubject>,
    definition: &Definition,
    folder: &Path,
) -> Suite {
    let window = if key.backend.is_some() { WINDOW_WITH_BACKEND } else { WINDOW };
    let case = Case::new(1, 1).expect("one stream on one connection is a case");
    let case = case.over(key.transport);
    Suite {
        name: "doctor".to_owned(),
        title: format!("one call of {}", key.method),
        analysis: String::new(),
        request: Request {
            method: key.method,
            proto: definition.proto.clone(),
            message: RequestMessage::Json(definition.json.clone()),
        },
        limits: SuiteLimits {
            server_cpus: 1.0,
            server_memory_bytes: None,
            server_processes: None,
            client_cpus: None,
        },
        instruments: vec![CALLER.to_owned()],
        handler_waits: key.backend.is_some(),
        subjects,
        full: Schedule {
            warmup: Duration::ZERO,
            window,
            rounds: 1,
            deadline: None,
            backend: key.backend,
            drain: None,
            cases: vec![case],
            instruments_of: BTreeMap::new(),
        },
        quick: None,
        published: None,
        folder: folder.to_owned(),
        text: String::new(),
    }
}
