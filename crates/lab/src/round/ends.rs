//! Who meets whom in a cell, and why some cannot.

use super::Crew;
use super::server::Station;
use crate::build::Prepared;
use crate::stop::Stop;
use crate::subject::{Role, Variant};
use bookend_contract::transport::Transport;
use bookend_results::measurement::Outcome;
use bookend_results::suite::{Case, Plan, PlannedCell, PlannedSubject, Side};

/// The two ends of a cell, and what stands behind the server.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    /// Which of them is measured.
    pub side: Side,
    /// The server's name.
    pub server: &'a str,
    /// How the server is started.
    pub station: Station<'a>,
    /// Who calls.
    pub caller: &'a Prepared,
}

impl<'a> Ends<'a> {
    /// The ends of `cell`.
    ///
    /// # Errors
    /// What the row says: somebody is missing, or they cannot do together what is asked.
    pub fn of(plan: &'a Plan, crew: &'a Crew, cell: &'a PlannedCell) -> Result<Ends<'a>, Stop> {
        let planned = plan.subjects.get(cell.subject);
        let subject = member(crew, &cell.id.subject)?;
        let other = member(crew, &cell.id.instrument)?;
        let preferred = planned.and_then(|planned| planned.side);
        let Some(side) = side(preferred, &subject.variant, &other.variant) else {
            return Err(cannot_talk(cell, "one must be a server"));
        };
        let (name, server, caller) = match side {
            Side::Server => (&cell.id.subject, subject, other),
            Side::Client => (&cell.id.instrument, other, subject),
        };
        check(cell, &plan.request.method, server, caller)?;
        let planned = planned.filter(|_| side == Side::Server);
        Ok(Ends {
            side,
            server: name,
            station: Station {
                server,
                backend: behind(crew, backend_name(planned, &server.variant))?,
                is_tested: side == Side::Server,
                transport: cell.case.transport,
            },
            caller,
        })
    }

    /// Which server of a round it is: a process listens in one way.
    pub fn key(&self) -> (&'a str, Transport) {
        (self.server, self.station.transport)
    }

    /// Whether the server is started for this cell alone: as the witness of a client, and where an
    /// overload may leave calls and threads behind that would burden the next cell.
    pub fn has_own_server(&self, case: Case) -> bool {
        self.side == Side::Client || case.calls.is_some()
    }
}

impl<'a> Station<'a> {
    /// A planned subject as a server under test, apart from any cell: in plain text over TCP, if
    /// it can.
    ///
    /// # Errors
    /// It is missing, or what must stand behind it is.
    pub fn of(crew: &'a Crew, planned: &'a PlannedSubject) -> Result<Station<'a>, Stop> {
        let server = member(crew, &planned.name)?;
        Ok(Station {
            server,
            backend: behind(crew, backend_name(Some(planned), &server.variant))?,
            is_tested: true,
            transport: first_transport(&server.variant),
        })
    }
}

/// The transport that most programs have, else the first that is declared.
fn first_transport(server: &Variant) -> Transport {
    match server.speaks_over(Transport::H2c) {
        true => Transport::H2c,
        false => server.transports.first().copied().unwrap_or_default(),
    }
}

/// What stands behind a server: as the suite says, else as its own declaration does.
pub fn backend_name<'a>(
    planned: Option<&'a PlannedSubject>,
    server: &'a Variant,
) -> Option<&'a String> {
    let suites = planned.and_then(|planned| planned.backend.as_ref());
    suites.or(server.needs_backend.as_ref())
}

/// Which end is measured when the subject meets the other.
pub fn side(preferred: Option<Side>, subject: &Variant, other: &Variant) -> Option<Side> {
    let is_called = other.plays(Role::Instrument) || other.plays(Role::Client);
    let can_serve = subject.plays(Role::Server) && is_called;
    let can_call = subject.plays(Role::Client) && other.plays(Role::Server);
    match preferred {
        Some(Side::Server) => can_serve.then_some(Side::Server),
        Some(Side::Client) => can_call.then_some(Side::Client),
        None if can_serve => Some(Side::Server),
        None => can_call.then_some(Side::Client),
    }
}

/// Whether both ends know the call and the case, and each other's language.
fn check(
    cell: &PlannedCell,
    method: &str,
    server: &Prepared,
    caller: &Prepared,
) -> Result<(), Stop> {
    let (speaks, understands) = (caller.variant.protocol, server.variant.protocol);
    if speaks != understands {
        let why = format!("the server speaks {understands}, the caller {speaks}");
        return Err(cannot_talk(cell, &why));
    }
    if let Some(reason) = ignorance(method, server, caller) {
        return Err(Stop::unsupported(reason));
    }
    let name = caller.subject.row_name(&caller.variant);
    if caller.variant.run_command(cell.case.calls).is_none() {
        let reason = format!("{name} cannot be told a number of calls: it has no `run_calls`");
        return Err(Stop::unsupported(reason));
    }
    let mute = [(server, "serve"), (caller, "call")].into_iter();
    let mut mute = mute.filter(|(end, _)| !end.variant.speaks_over(cell.case.transport));
    if let Some((end, does)) = mute.next() {
        let name = end.subject.row_name(&end.variant);
        let reason = format!("{name} does not {does} over {}", cell.case.transport);
        return Err(Stop::unsupported(reason));
    }
    if cell.case.connection_per_call && !caller.variant.can_connect_per_call() {
        let reason = format!("{name} cannot be told that each call has a connection of its own");
        return Err(Stop::unsupported(reason));
    }
    Ok(())
}

fn ignorance(method: &str, server: &Prepared, caller: &Prepared) -> Option<String> {
    let name = |end: &Prepared| end.subject.row_name(&end.variant);
    if !server.variant.knows(method) {
        Some(format!("{} does not serve {method}", name(server)))
    } else if !caller.variant.knows(method) {
        Some(format!("{} does not call {method}", name(caller)))
    } else {
        None
    }
}

fn cannot_talk(cell: &PlannedCell, why: &str) -> Stop {
    let (subject, other) = (&cell.id.subject, &cell.id.instrument);
    Stop::failed(format!("{subject} and {other} cannot talk: {why}"))
}

fn behind<'a>(crew: &'a Crew, name: Option<&String>) -> Result<Option<&'a Prepared>, Stop> {
    let Some(name) = name else {
        return Ok(None);
    };
    let backend = member(crew, name).map_err(|stop| stop.in_front("its backend: "))?;
    match backend.variant.plays(Role::Backend) {
        true => Ok(Some(backend)),
        false => Err(Stop::failed(format!("{name} cannot be a backend"))),
    }
}

/// Somebody who takes part, by name.
///
/// # Errors
/// What the row says: why it could not be made ready.
pub fn member<'a>(crew: &'a Crew, name: &str) -> Result<&'a Prepared, Stop> {
    match crew.get(name) {
        Some(Ok(prepared)) => Ok(prepared),
        Some(Err(outcome)) => Err(Stop::Row(outcome.clone())),
        None => Err(Stop::failed(format!("{name} was never prepared"))),
    }
}

/// What a row says that was stopped; nobody interrupts where nothing is started.
pub fn outcome_of(stop: Stop) -> Outcome {
    match stop {
        Stop::Row(outcome) => outcome,
        Stop::Interrupted => Outcome::failed("interrupted"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{InstrumentOutput, Protocol, Wait};

    fn variant(roles: &[Role]) -> Variant {
        Variant {
            name: "default".to_owned(),
            version: vec![],
            build: vec![],
            run: vec!["x".to_owned()],
            run_calls: None,
            output: InstrumentOutput::Lines,
            roles: roles.to_vec(),
            methods: vec![],
            protocol: Protocol::Grpc,
            needs_backend: None,
            transports: vec![Transport::H2c],
            wait: Wait::Sleep,
        }
    }

    #[test]
    fn a_server_that_is_looked_at_alone_speaks_plain_text_if_it_can() {
        let over = |transports: &[Transport]| Variant {
            transports: transports.to_vec(),
            ..variant(&[Role::Server])
        };
        let both = over(&[Transport::Tls, Transport::H2c]);
        assert_eq!(first_transport(&both), Transport::H2c);
        let other = over(&[Transport::Unix, Transport::Tls]);
        assert_eq!(first_transport(&other), Transport::Unix);
    }

    #[test]
    fn a_subject_that_can_be_both_ends_serves_unless_the_suite_says_otherwise() {
        let both = variant(&[Role::Server, Role::Client]);
        assert_eq!(side(None, &both, &both), Some(Side::Server));
        assert_eq!(side(Some(Side::Client), &both, &both), Some(Side::Client));
        let instrument = variant(&[Role::Instrument]);
        assert_eq!(side(None, &both, &instrument), Some(Side::Server));
        assert_eq!(side(Some(Side::Client), &both, &instrument), None);
    }

    #[test]
    fn two_of_a_kind_cannot_talk() {
        let server = variant(&[Role::Server]);
        let client = variant(&[Role::Client]);
        let backend = variant(&[Role::Backend]);
        assert_eq!(side(None, &server, &server), None);
        assert_eq!(side(None, &client, &client), None);
        assert_eq!(side(None, &client, &backend), None);
        assert_eq!(side(None, &client, &server), Some(Side::Client));
    }
}
