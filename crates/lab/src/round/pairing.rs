//! Who meets whom in a cell, and why some cannot.

use super::PreparedSubjects;
use super::server::ServerSpec;
use crate::build::PreparedSubject;
use crate::cell_error::CellError;
use crate::subject::Variant;
use bookend_contract::environment::Role;
use bookend_contract::transport::Transport;
use bookend_results::measurement::Outcome;
use bookend_results::suite::{Case, Plan, PlannedCell, PlannedSubject, Side};

/// The two ends of a cell, and what stands behind the server.
#[derive(Clone, Copy, Debug)]
pub struct Pairing<'a> {
    /// Which of them is measured.
    pub side: Side,
    /// The server's name.
    pub server: &'a str,
    /// How the server is started.
    pub station: ServerSpec<'a>,
    /// Who calls.
    pub caller: &'a PreparedSubject,
}

impl<'a> Pairing<'a> {
    /// The ends of `cell`.
    ///
    /// # Errors
    /// What the row says: somebody is missing, or they cannot do together what is asked.
    pub fn of(
        plan: &'a Plan,
        prepared: &'a PreparedSubjects,
        cell: &'a PlannedCell,
    ) -> Result<Pairing<'a>, CellError> {
        let planned = plan.subjects.get(cell.subject);
        let subject = member(prepared, &cell.id.subject)?;
        let other = member(prepared, &cell.id.instrument)?;
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
        Ok(Pairing {
            side,
            server: name,
            station: ServerSpec {
                server,
                backend: behind(prepared, backend_name(planned, &server.variant))?,
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

impl<'a> ServerSpec<'a> {
    /// A planned subject as a server under test, apart from any cell: in plain text over TCP, if
    /// it can.
    ///
    /// # Errors
    /// It is missing, or what must stand behind it is.
    pub fn of(
        prepared: &'a PreparedSubjects,
        planned: &'a PlannedSubject,
    ) -> Result<ServerSpec<'a>, CellError> {
        let server = member(prepared, &planned.name)?;
        Ok(ServerSpec {
            server,
            backend: behind(prepared, backend_name(Some(planned), &server.variant))?,
            is_tested: true,
            transport: first_transport(&server.variant),
        })
    }
}

/// The transport that most programs have, else the first that is declared.
fn first_transport(server: &Variant) -> Transport {
    match server.supports_transport(Transport::H2c) {
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
    let is_called = other.has_role(Role::Instrument) || other.has_role(Role::Client);
    let can_serve = subject.has_role(Role::Server) && is_called;
    let can_call = subject.has_role(Role::Client) && other.has_role(Role::Server);
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
    server: &PreparedSubject,
    caller: &PreparedSubject,
) -> Result<(), CellError> {
    let (speaks, understands) = (caller.variant.protocol, server.variant.protocol);
    if speaks != understands {
        let why = format!("the server speaks {understands}, the caller {speaks}");
        return Err(cannot_talk(cell, &why));
    }
    if let Some(reason) = ignorance(method, server, caller) {
        return Err(CellError::unsupported(reason));
    }
    let name = caller.subject.row_name(&caller.variant);
    if caller.variant.run_command(cell.case.calls).is_none() {
        let reason = format!("{name} cannot be told a number of calls: it has no `run_calls`");
        return Err(CellError::unsupported(reason));
    }
    let mute = [(server, "serve"), (caller, "call")].into_iter();
    let mut mute = mute.filter(|(end, _)| !end.variant.supports_transport(cell.case.transport));
    if let Some((end, does)) = mute.next() {
        let name = end.subject.row_name(&end.variant);
        let reason = format!("{name} does not {does} over {}", cell.case.transport);
        return Err(CellError::unsupported(reason));
    }
    if cell.case.connection_per_call && !caller.variant.can_connect_per_call() {
        let reason = format!("{name} cannot be told that each call has a connection of its own");
        return Err(CellError::unsupported(reason));
    }
    Ok(())
}

fn ignorance(method: &str, server: &PreparedSubject, caller: &PreparedSubject) -> Option<String> {
    let name = |end: &PreparedSubject| end.subject.row_name(&end.variant);
    if !server.variant.supports_method(method) {
        Some(format!("{} does not serve {method}", name(server)))
    } else if !caller.variant.supports_method(method) {
        Some(format!("{} does not call {method}", name(caller)))
    } else {
        None
    }
}

fn cannot_talk(cell: &PlannedCell, why: &str) -> CellError {
    let (subject, other) = (&cell.id.subject, &cell.id.instrument);
    CellError::failed(format!("{subject} and {other} cannot talk: {why}"))
}

fn behind<'a>(
    prepared: &'a PreparedSubjects,
    name: Option<&String>,
) -> Result<Option<&'a PreparedSubject>, CellError> {
    let Some(name) = name else {
        return Ok(None);
    };
    let backend = member(prepared, name).map_err(|stop| stop.with_prefix("its backend: "))?;
    match backend.variant.has_role(Role::Backend) {
        true => Ok(Some(backend)),
        false => Err(CellError::failed(format!("{name} cannot be a backend"))),
    }
}

/// Somebody who takes part, by name.
///
/// # Errors
/// What the row says: why it could not be made ready.
pub fn member<'a>(
    prepared: &'a PreparedSubjects,
    name: &str,
) -> Result<&'a PreparedSubject, CellError> {
    match prepared.get(name) {
        Some(Ok(prepared)) => Ok(prepared),
        Some(Err(outcome)) => Err(CellError::Outcome(outcome.clone())),
        None => Err(CellError::failed(format!("{name} was never prepared"))),
    }
}

/// What a row says that was stopped; nobody interrupts where nothing is started.
pub fn outcome_of(stop: CellError) -> Outcome {
    match stop {
        CellError::Outcome(outcome) => outcome,
        CellError::Interrupted => Outcome::failed("interrupted"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{IdleStrategy, InstrumentOutput, Protocol};

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
            wait: IdleStrategy::Sleep,
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
