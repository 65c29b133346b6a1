//! Whether everything that can be measured here is there and answers: small suites with one cell
//! for every variant of every subject, made of what the subjects declare.
//!
//! A server is called by our own generator, one that speaks something else by a client of its kind;
//! a client calls a server that serves its method; an instrument loads a server; a backend serves
//! a server that needs one.

mod definitions;
mod variant_states;

pub use definitions::{Definition, DefinitionError, definitions};
pub use variant_states::{VariantState, VariantStates};

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

/// Long enough for a call on a virtual machine that has just been started, and builds something.
const WINDOW: Duration = Duration::from_millis(600);

/// A call through a backend that blocks for a second ends in it.
const WINDOW_WITH_BACKEND: Duration = Duration::from_millis(2500);

/// A variant of a subject by its full name: `java-grpc/virtual`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VariantName(pub String);

/// The two ends of a cell that shows whether a variant answers: the one that a suite would list,
/// and the other.
type Ends = (String, String);

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
    pub about: BTreeMap<Ends, Vec<VariantName>>,
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
    let mut by_suite: BTreeMap<SuiteKey, Vec<(VariantName, Ends)>> = BTreeMap::new();
    let mut unchecked = Vec::new();
    for (subject, each) in variants(wanted.iter().copied()) {
        for (role, transport) in ways(each) {
            let variant = name_of(subject, each);
            match check(subject, each, role, transport, all) {
                Ok((key, ends)) => by_suite.entry(key).or_default().push((variant, ends)),
                Err(reason) => unchecked.push(Unchecked { variant, reason }),
            }
        }
    }
    let mut check_suites = Vec::new();
    for (key, checks) in by_suite {
        let method = &key.method;
        match definitions.iter().find(|known| known.serves(method)) {
            Some(definition) => check_suites.push(check_suite(key, checks, definition, folder)),
            None => unchecked.extend(checks.into_iter().map(|(variant, _)| {
                let reason = format!("no service definition has {method}");
                Unchecked { variant, reason }
            })),
        }
    }
    (check_suites, unchecked)
}

/// The roles in which a variant is checked, each over the transports that it has.
fn ways(variant: &Variant) -> impl Iterator<Item = (Role, Transport)> {
    let played = [Role::Server, Role::Client, Role::Instrument, Role::Backend]
        .into_iter()
        .filter(move |&role| variant.has_role(role));
    played.flat_map(move |role| {
        let transports = match role {
            // A backend is called over one transport.
            Role::Backend => &[Transport::H2c],
            _ => variant.transports.as_slice(),
        };
        transports.iter().map(move |&transport| (role, transport))
    })
}

/// The suite that has the check, and the ends of its cell.
fn check(
    subject: &Subject,
    variant: &Variant,
    role: Role,
    transport: Transport,
    all: &[Subject],
) -> Result<(SuiteKey, Ends), String> {
    let VariantName(own) = name_of(subject, variant);
    let protocol = variant.protocol;
    let mut method = method_of(variant);
    let mut backend = None;
    let understands =
        |other: &Variant| other.protocol == protocol && other.supports_transport(transport);
    // A server that can be called without anything behind it.
    let is_alone = |other: &Variant| {
        understands(other) && other.has_role(Role::Server) && other.needs_backend.is_none()
    };
    let server = |method: &str| {
        let found = nearest(subject, all, |other| is_alone(other) && other.supports_method(method));
        let none = || format!("no server here serves {method} over {transport}");
        found.map(|(server, _)| server).ok_or_else(none)
    };
    let ends = match role {
        Role::Server => {
            backend.clone_from(&variant.needs_backend);
            let mut caller = Some(CALLER.to_owned());
            if protocol != Protocol::Grpc {
                let calls = |other: &Variant| {
                    let can_call = other.has_role(Role::Client) || other.has_role(Role::Instrument);
                    can_call && other.understands(variant) && other.supports_transport(transport)
                };
                caller = nearest(subject, all, calls).map(|(client, _)| client);
            }
            let none = || format!("nothing here calls {protocol} over {transport}");
            (own, caller.ok_or_else(none)?)
        }
        Role::Client => (own, server(&method)?),
        Role::Instrument => {
            // What calls anything calls what there is: a folder may have another call than ours.
            if server(&method).is_err()
                && variant.methods.is_empty()
                && let Some((_, other)) = nearest(subject, all, is_alone)
            {
                method = method_of(other);
            }
            (server(&method)?, own)
        }
        Role::Backend => {
            let needs =
                |other: &Variant| other.has_role(Role::Server) && other.needs_backend.is_some();
            let (server, before) =
                nearest(subject, all, needs).ok_or("no server here needs a backend")?;
            method = method_of(before);
            backend = Some(own);
            (server, CALLER.to_owned())
        }
    };
    let key = SuiteKey { method, backend, transport, is_client: role == Role::Client };
    Ok((key, ends))
}

fn method_of(variant: &Variant) -> String {
    match variant.protocol {
        Protocol::Grpc => variant.methods.first().map_or(METHOD, String::as_str),
        // Its callers make their own message, or it reads none: any that can be encoded will do.
        Protocol::Thrift | Protocol::Http2 => METHOD,
    }
    .to_owned()
}

/// The first variant that fits, of `subject` itself if there is one, with its name.
fn nearest<'a>(
    subject: &'a Subject,
    all: &'a [Subject],
    fits: impl Fn(&Variant) -> bool,
) -> Option<(String, &'a Variant)> {
    let others = all.iter().filter(|other| other.name != subject.name);
    let (subject, variant) =
        variants(std::iter::once(subject).chain(others)).find(|(_, variant)| fits(variant))?;
    Some((name_of(subject, variant).0, variant))
}

fn variants<'a>(
    subjects: impl Iterator<Item = &'a Subject>,
) -> impl Iterator<Item = (&'a Subject, &'a Variant)> {
    subjects.flat_map(|subject| subject.variants.iter().map(move |variant| (subject, variant)))
}

fn check_suite(
    key: SuiteKey,
    checks: Vec<(VariantName, Ends)>,
    definition: &Definition,
    folder: &Path,
) -> CheckSuite {
    let mut planned: Vec<PlannedSubject> = Vec::new();
    let mut about: BTreeMap<_, Vec<VariantName>> = BTreeMap::new();
    for (variant, ends) in checks {
        about.entry(ends.clone()).or_default().push(variant);
        let (subject, instrument) = ends;
        match planned.iter_mut().find(|known| known.name == subject) {
            Some(known) if known.instruments.contains(&instrument) => {}
            Some(known) => known.instruments.push(instrument),
            None => planned.push(PlannedSubject {
                name: subject,
                instruments: vec![instrument],
                side: Some(if key.is_client { TestedEnd::Client } else { TestedEnd::Server }),
                ..PlannedSubject::default()
            }),
        }
    }
    let subjects =
        planned.into_iter().map(|planned| SuiteSubject { planned, full_only: false }).collect();
    CheckSuite { suite: suite(key, subjects, definition, folder), about }
}

fn suite(
    key: SuiteKey,
    subjects: Vec<SuiteSubject>,
    definition: &Definition,
    folder: &Path,
) -> Suite {
    let handler_waits = key.backend.is_some();
    let case = Case::new(1, 1).expect("one stream on one connection is a case");
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
        handler_waits,
        subjects,
        full: Schedule {
            window: if handler_waits { WINDOW_WITH_BACKEND } else { WINDOW },
            rounds: 1,
            backend: key.backend,
            cases: vec![case.over(key.transport)],
            ..Schedule::default()
        },
        quick: None,
        published: None,
        folder: folder.to_owned(),
        text: String::new(),
    }
}
