//! Which server meets which caller in a cell, and why some cannot.

use super::server::ServerSpec;
use crate::build::{PreparedSubject, PreparedSubjects};
use crate::cell_error::CellError;
use crate::context::RunContext;
use crate::subject::Variant;
use bookend_contract::environment::Role;
use bookend_contract::transport::Transport;
use bookend_results::suite::{PlannedCell, PlannedSubject, ServerLife, TestedEnd};

/// The two ends of a cell, and the backend of the server.
#[derive(Clone, Copy, Debug)]
pub struct Pairing<'a> {
    /// Which of them is measured.
    pub side: TestedEnd,
    /// The server's name.
    pub server_name: &'a str,
    /// How the server is started.
    pub server: ServerSpec<'a>,
    /// The calling end: an instrument, or a client.
    pub caller: &'a PreparedSubject,
    /// Whether the server is started for this cell alone: as the plan says, as the reference of a
    /// client, and where an overload may leave calls and threads behind that would burden the next
    /// cell.
    pub has_own_server: bool,
}

/// Which server of a round: its name, and what carries its connections, for a process listens in
/// one way.
pub type ServerKey<'a> = (&'a str, Transport);

impl<'a> Pairing<'a> {
    /// Finds both ends of `cell`.
    ///
    /// # Errors
    /// What the row says: an end is missing, or the two cannot do together what is asked.
    pub fn of(context: &'a RunContext, cell: &'a PlannedCell) -> Result<Pairing<'a>, CellError> {
        let RunContext { plan, prepared, .. } = context;
        let planned = plan.subjects.get(cell.subject);
        let subject = prepared.get(&cell.id.subject)?;
        let other = prepared.get(&cell.id.instrument)?;
        let preferred = planned.and_then(|planned| planned.side);
        let Some(side) = side(preferred, &subject.variant, &other.variant) else {
            return Err(cannot_talk(cell, "one must be a server"));
        };
        let (server_name, server, caller) = match side {
            TestedEnd::Server => (&cell.id.subject, subject, other),
            TestedEnd::Client => (&cell.id.instrument, other, subject),
        };
        check(cell, &plan.request.method, server, caller)?;
        let planned_server = planned.filter(|_| side == TestedEnd::Server);
        Ok(Pairing {
            side,
            server_name,
            server: ServerSpec::new(prepared, server, planned_server, cell.case.transport)?,
            caller,
            has_own_server: side == TestedEnd::Client
                || cell.case.calls.is_some()
                || plan.server_life == ServerLife::Cell,
        })
    }

    /// Which server of the round it is.
    pub fn server_key(&self) -> ServerKey<'a> {
        (self.server_name, self.server.transport)
    }
}

impl<'a> ServerSpec<'a> {
    /// A planned subject as a server under test, apart from any cell: in plain text over TCP, if
    /// it can.
    ///
    /// # Errors
    /// It is missing, or its backend is.
    pub fn of(
        prepared: &'a PreparedSubjects,
        planned: &'a PlannedSubject,
    ) -> Result<ServerSpec<'a>, CellError> {
        let server = prepared.get(&planned.name)?;
        let transport = first_transport(&server.variant);
        ServerSpec::new(prepared, server, Some(planned), transport)
    }

    /// `planned` is what the suite says of a server under test.
    fn new(
        prepared: &'a PreparedSubjects,
        server: &'a PreparedSubject,
        planned: Option<&PlannedSubject>,
        transport: Transport,
    ) -> Result<ServerSpec<'a>, CellError> {
        let backend = find_backend(prepared, backend_name(planned, &server.variant))?;
        let processes = planned.and_then(|planned| planned.server_processes);
        Ok(ServerSpec { server, backend, is_tested: planned.is_some(), processes, transport })
    }
}

/// The transport that most programs have, else the first that is declared.
fn first_transport(server: &Variant) -> Transport {
    let has_plain = server.supports_transport(Transport::H2c);
    let first = server.transports.first().copied().unwrap_or_default();
    if has_plain { Transport::H2c } else { first }
}

/// The backend of a server: as the suite says, else as its own declaration does.
pub fn backend_name<'a>(
    planned: Option<&'a PlannedSubject>,
    server: &'a Variant,
) -> Option<&'a String> {
    planned.and_then(|planned| planned.backend.as_ref()).or(server.needs_backend.as_ref())
}

fn find_backend<'a>(
    prepared: &'a PreparedSubjects,
    name: Option<&String>,
) -> Result<Option<&'a PreparedSubject>, CellError> {
    let Some(name) = name else {
        return Ok(None);
    };
    let backend = prepared.get(name).map_err(|error| error.with_prefix("its backend: "))?;
    let can_be_one = backend.variant.has_role(Role::Backend);
    let error = || CellError::failed(format!("{name} cannot be a backend"));
    can_be_one.then_some(Some(backend)).ok_or_else(error)
}

/// Which end is measured when the subject meets the other.
pub fn side(preferred: Option<TestedEnd>, subject: &Variant, other: &Variant) -> Option<TestedEnd> {
    let is_called = other.has_role(Role::Instrument) || other.has_role(Role::Client);
    let can_serve = subject.has_role(Role::Server) && is_called;
    let can_call = subject.has_role(Role::Client) && other.has_role(Role::Server);
    match preferred {
        Some(TestedEnd::Server) => can_serve.then_some(TestedEnd::Server),
        Some(TestedEnd::Client) => can_call.then_some(TestedEnd::Client),
        None if can_serve => Some(TestedEnd::Server),
        None => can_call.then_some(TestedEnd::Client),
    }
}

/// Whether both ends support the call and the case, and each other's protocol.
fn check(
    cell: &PlannedCell,
    method: &str,
    server: &PreparedSubject,
    caller: &PreparedSubject,
) -> Result<(), CellError> {
    if !caller.variant.understands(&server.variant) {
        let (spoken, known) = (server.variant.protocol, caller.variant.protocol);
        let why = format!("the server speaks {spoken}, the caller {known}");
        return Err(cannot_talk(cell, &why));
    }
    let require = |end: &PreparedSubject, can_do: bool, fault: &str| {
        let reason = || format!("{} {fault}", end.row_name());
        can_do.then_some(()).ok_or_else(|| CellError::unsupported(reason()))
    };
    let ends = [(server, "serve"), (caller, "call")];
    for (end, does) in ends {
        let can_do = end.variant.supports_method(method);
        require(end, can_do, &format!("does not {does} {method}"))?;
    }
    let can_count = caller.variant.run_command(cell.case.calls).is_some();
    let fault = "cannot make a given number of calls: it has no `run_calls`";
    require(caller, can_count, fault)?;
    let transport = cell.case.transport;
    for (end, does) in ends {
        let can_do = end.variant.supports_transport(transport);
        require(end, can_do, &format!("does not {does} over {transport}"))?;
    }
    let can_connect = !cell.case.connection_per_call || caller.variant.can_connect_per_call();
    let fault = "cannot open a connection for each call";
    require(caller, can_connect, fault)
}

fn cannot_talk(cell: &PlannedCell, why: &str) -> CellError {
    let (subject, other) = (&cell.id.subject, &cell.id.instrument);
    CellError::failed(format!("{subject} and {other} cannot talk: {why}"))
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
            laps: false,
            roles: roles.to_vec(),
            methods: vec![],
            protocol: Protocol::Grpc,
            needs_backend: None,
            transports: vec![Transport::H2c],
            idle: IdleStrategy::Sleep,
            log_notes: Default::default(),
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
        assert_eq!(side(None, &both, &both), Some(TestedEnd::Server));
        assert_eq!(side(Some(TestedEnd::Client), &both, &both), Some(TestedEnd::Client));
        let instrument = variant(&[Role::Instrument]);
        assert_eq!(side(None, &both, &instrument), Some(TestedEnd::Server));
        assert_eq!(side(Some(TestedEnd::Client), &both, &instrument), None);
    }

    #[test]
    fn only_who_reads_no_status_calls_a_server_that_sends_none() {
        let speaking = |protocol| Variant { protocol, ..variant(&[Role::Server]) };
        let caller = |output| Variant { output, ..variant(&[Role::Instrument]) };
        let h2load = caller(InstrumentOutput::H2loadText);
        assert!(h2load.understands(&speaking(Protocol::Http2)));
        assert!(h2load.understands(&speaking(Protocol::Grpc)));
        assert!(!h2load.understands(&speaking(Protocol::Thrift)));
        assert!(!caller(InstrumentOutput::Lines).understands(&speaking(Protocol::Http2)));
    }

    #[test]
    fn two_of_a_kind_cannot_talk() {
        let server = variant(&[Role::Server]);
        let client = variant(&[Role::Client]);
        let backend = variant(&[Role::Backend]);
        assert_eq!(side(None, &server, &server), None);
        assert_eq!(side(None, &client, &client), None);
        assert_eq!(side(None, &client, &backend), None);
        assert_eq!(side(None, &client, &server), Some(TestedEnd::Client));
    }
}
